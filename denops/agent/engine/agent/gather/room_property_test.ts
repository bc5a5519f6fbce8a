/** Any session in any window: no request exceeds it. Without a network: the model is a function. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { answered, asked, result } from "../../../../../tests/support/entries.ts";
import { engineConfig } from "../../../../../tests/support/engine_config.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import { allOf, sizesOf } from "../../context/estimate.ts";
import { MODES } from "../../context/modes.ts";
import { view } from "../../context/view.ts";
import { HistoryWindow } from "../../context/folding/window.ts";
import type { LogEntry } from "../../log/entries.ts";
import type { Prompt } from "../../log/model_request.ts";
import type { Model } from "../../llm/model.ts";
import { Database } from "../../store/database.ts";
import { SqliteStore } from "../../store/sqlite.ts";
import { TOOLS } from "../../tools/registry.ts";
import { Spending } from "../turn/budget.ts";
import { Meter } from "../turn/meter.ts";
import { NOTHING_CHOSEN } from "../../context/chosen.ts";
import { Room } from "./room.ts";
import type { EditLog } from "../../log/edits.ts";

const NO_EDITS: EditLog = {
  tried: () => {},
  isOpen: () => false,
  settled: () => {},
  report: () => [],
  languages: () => [],
  turns: () => new Map(),
};

const DAY = "2026-01-02";
const SIGNAL = new AbortController().signal;

interface Life {
  /** Tokens. */
  readonly window: number;
  readonly bytesAToken: number;
  readonly compaction: "auto" | number;
  /** The model answers the question for a summary. */
  readonly answers: boolean;
  /** Of each round the bytes of its results; without any the user says something. */
  readonly rounds: readonly (readonly number[])[];
}

const lives: fc.Arbitrary<Life> = fc.record({
  window: fc.integer({ min: 8_000, max: 40_000 }),
  bytesAToken: fc.integer({ min: 2, max: 6 }),
  compaction: fc.constantFrom<Life["compaction"]>("auto", 0.5, 0.9),
  answers: fc.boolean(),
  rounds: fc.array(fc.array(fc.oneof(fc.nat(500), fc.nat(8_000), fc.nat(200_000)), { maxLength: 4 }), {
    minLength: 20,
    maxLength: 60,
  }),
});

Deno.test("any session in any window: no request exceeds it, and the task stays", async () => {
  await fc.assert(fc.asyncProperty(lives, live), runs(15));
});

async function live({ window, bytesAToken, compaction, answers, rounds }: Life): Promise<void> {
  using database = Database.inMemory();
  const store = new SqliteStore(database);
  store.createSession({ id: "s", root: "/p", model: "m" });
  const history = new HistoryWindow({ store, session: "s", window: () => window }, undefined);
  const append = (...entries: readonly LogEntry[]) => {
    store.append("s", { entries });
    history.push(entries);
  };
  const tokens = (prompt: Prompt) => Math.ceil(allOf(sizesOf(prompt)) / bytesAToken);
  const check = (prompt: Prompt) => assert.ok(tokens(prompt) <= window, `${tokens(prompt)} of ${window}`);
  const model: Model = {
    ...{
      provider: "p",
      author: { wire: "openai_chat", provider: "test", model: "test" },
      name: "m",
      ...{ windowFrom: "", small: false, oneByOne: false, prepare: () => Promise.resolve() },
      contextWindow: window,
      textForm: undefined,
      sees: true,
    },
    async *stream(prompt) {
      check(prompt);
      const text = answers ? "# Current state\nFine.\n".repeat(300) : "";
      yield await Promise.resolve({ type: "deltas", deltas: [{ type: "text", text }] });
      yield { type: "done" };
    },
  };
  const emit = () => {};
  const ports: Parameters<Room["make"]>[1] = {
    mode: MODES.agent,
    ...{ model, history, emit, tools: TOOLS, state: { plan: [] }, newCallId: (id) => id },
    chosen: NOTHING_CHOSEN,
    meter: new Meter({
      ...{ session: "s", turn: () => 1, model, emit },
      spending: new Spending(engineConfig("http://x"), 0, DAY, { amount: 0, raised: 0 }),
      log: { record: () => {}, edits: NO_EDITS },
    }),
    view: (mode, more = []) =>
      view([...history.seen, ...more], mode, { environment: { roots: ["/p"], os: "linux" }, tools: [] }),
    fold: (entry) => append(entry),
  };
  const room = new Room(compaction);
  let calls = 0;
  append(asked("The task"));
  for (const sizes of rounds) {
    await room.make({ type: "full" }, ports, SIGNAL);
    const prompt = ports.view(MODES.agent);
    check(prompt);
    room.learn(prompt, tokens(prompt));
    assert.match(JSON.stringify(prompt.messages[0]), /The task/);
    if (sizes.length === 0) {
      append(answered("Done."), { type: "turn_done", reason: "end_turn" }, asked("Go on"));
      continue;
    }
    const made = sizes.map((bytes) => {
      const id = `c${++calls}`;
      return { call: { id, name: "read_file", arguments: `{"path": "f${calls % 9}.ts"}` }, bytes };
    });
    append(answered("I look.", made.map(({ call }) => call)));
    const results = made.map(({ call, bytes }) =>
      result(call.id, call.name, "some text ".repeat(bytes / 10))
    );
    append(...await room.fit(results, ports, SIGNAL));
  }
}
