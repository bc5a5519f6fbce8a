/** Turns that the model ends without a word. */
import assert from "node:assert/strict";
import { ModelServer } from "../../../../../tests/model/model_server.ts";
import { engineConfig } from "../../../../../tests/support/engine_config.ts";
import { property } from "../../../../../tests/model/model_messages.ts";
import {
  CANCELLED,
  checkEvents,
  END_TURN,
  startEngine,
} from "../../../../../tests/support/engine_session.ts";
import { answered, asked } from "../../../../../tests/support/entries.ts";
import { WIRES } from "../../../protocol/providers.ts";
import type { AgentEvent } from "../../log/events.ts";
import { createModel } from "../../llm/model.ts";
import { type Mode, MODES } from "../../context/modes.ts";
import { view } from "../../context/view.ts";
import type { MessageEntry } from "../../log/entries.ts";
import { Database } from "../../store/database.ts";
import { SqliteUsage } from "../../store/usage.ts";
import { Spending } from "./budget.ts";
import { summarize } from "./finish.ts";
import { Meter } from "./meter.ts";
import { TurnWork } from "./turn_work.ts";

const FILES = { "a.txt": "alpha\n" };
const WRITE = 'call write_file {"path": "new.txt", "content": "omega\\nlast\\n"}';

function shown(events: readonly AgentEvent[]): string {
  return events.flatMap((event) => event.type === "token" ? [event.text] : []).join("");
}

for (const wire of WIRES) {
  Deno.test(`${wire}: an answer of nothing is followed by a summary, which is the answer`, async () => {
    await using engine = await startEngine({
      wire,
      files: FILES,
      config: { title: false },
      script: [
        `${WRITE}\nusage 100 10`,
        "stop end_turn\nusage 120 1",
        "expect Your answer was empty\nsay I wrote it.\nusage 130 5",
        "expect And now?\nexpect-not Your answer was empty\nsay Nothing more.",
      ].join("\n---\n"),
    });
    assert.deepEqual(await engine.prompt("Go"), END_TURN);
    assert.equal(shown(engine.events), "I wrote it.");
    assert.deepEqual(engine.messages().at(-1)?.text, "I wrote it.");
    assert.deepEqual(await engine.prompt("And now?"), END_TURN);
    assert.deepEqual(engine.server.problems, [], "each request begins with all of the one before");
    checkEvents(engine.events);

    const bodies = engine.server.requests.map(({ body }) => body);
    const tools = bodies.map((body) => JSON.stringify(property(body, "tools")));
    assert.equal(new Set(tools).size, 1, "the provider's cache holds the tools");
    const choices = bodies.map((body) => property(body, "tool_choice"));
    const [auto, none] = wire.startsWith("openai")
      ? ["auto", "none"]
      : [undefined, wire === "ollama" ? undefined : { type: "none" }];
    assert.deepEqual(choices, [auto, auto, none, auto]);
    const [turn, next] = engine.usage.report("s1").turns.toReversed();
    assert.deepEqual([turn?.requests, turn?.input, turn?.tools], [3, 350, [{ name: "write", count: 1 }]]);
    assert.deepEqual([next?.requests, next?.name], [1, "And now?"]);
  });
}

const silences: readonly (readonly [what: string, script: string])[] = [
  ["is empty too", "stop end_turn"],
  ["fails", 'status 400 {"error":{"message":"no"}}'],
  ["is a call", 'call delete_file {"path": "new.txt"}'],
];

for (const [what, script] of silences) {
  Deno.test(`if the summary ${what}, the last calls are named`, async () => {
    await using engine = await startEngine({
      files: FILES,
      script: `${WRITE}\ncall read_file {"path": "b.txt"}\n---\nstop end_turn\n---\n${script}\n---\nsay Yes.`,
    });
    assert.deepEqual(await engine.prompt("Go"), END_TURN);
    const text = engine.messages().at(-1)?.text ?? "";
    assert.match(text, /^Done: write new\.txt \+2; read b\.txt failed: does not exist\.$/);
    assert.equal(shown(engine.events), text);
    assert.equal(await engine.project.read("new.txt"), "omega\nlast\n");
    assert.deepEqual(await engine.prompt("And now?"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
  });
}

const NOTHING = "The model answered with nothing. Ask again in other words.";

Deno.test("where nothing was done either, that is said", async () => {
  for (const wire of WIRES) {
    await using engine = await startEngine({
      wire,
      script: "stop end_turn\n---\nthink Hm.\nstop end_turn\n---\nsay Hello",
    });
    assert.deepEqual(await engine.prompt("Hi"), { ...END_TURN, problem: NOTHING });
    const notices = engine.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
    assert.deepEqual(notices, ["The model answered with nothing. Ask again in other words."]);
    assert.deepEqual(await engine.prompt("Hi?"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
  }
});

Deno.test("a stop ends the wait for a summary at once, and what came is kept", async () => {
  await using engine = await startEngine({
    files: FILES,
    script:
      `${WRITE}\n---\nstop end_turn\n---\nsay I have\nslow 1\nflood 3\nwait never\n---\nexpect Go on\nsay Done`,
    publish: (event) =>
      void (event.type === "token" && event.text.includes("word3") && engine.session.cancel()),
  });
  assert.deepEqual(await engine.prompt("Go"), CANCELLED);
  assert.match(engine.messages().at(-1)?.text ?? "", /^I have[^]*\[The answer was interrupted here\.\]$/);
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  checkEvents(engine.events);
});

Deno.test("over a cap no summary is asked for", async () => {
  await using engine = await startEngine({
    files: FILES,
    config: { max_tokens_per_turn: 100 },
    script: `${WRITE}\nusage 50 10\n---\nstop end_turn\nusage 60 1`,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.equal(engine.server.requests.length, 2);
  assert.equal(engine.messages().at(-1)?.text, "Done: write new.txt +2.");
});

Deno.test("of many calls the last six are named", () => {
  const work = new TurnWork();
  assert.equal(work.summary(), undefined);
  for (let number = 1; number <= 9; number++) {
    const id = `c${number}`;
    const call = {
      id,
      tool: "run_terminal_command",
      title: `run ${id}`,
      kind: "execute",
      paths: [],
    } as const;
    work.note({ type: "tool_start", call });
    work.note({ type: "tool_done", id, status: "completed", summary: "exit code 0", output: "" });
  }
  const last = [4, 5, 6, 7, 8, 9].map((number) => `run c${number}: exit code 0`);
  assert.equal(work.summary(), `Done: ${last.join("; ")}.`);
});

const slow = [
  ["begun", "say I have", "I have", 1_000],
  ["not begun", "", "[No answer.]", 50],
] as const;

for (const [what, begun, kept, milliseconds] of slow) {
  Deno.test(`a summary that takes too long, and is ${what}, is not waited for`, async () => {
    await using server = await ModelServer.start(`${begun}\nwait never\nsay more`);
    using database = Database.inMemory();
    const history: MessageEntry[] = [asked("Go"), answered("")];
    const model = createModel(engineConfig(server.url));
    const emit = () => {};
    const meter = new Meter({
      session: "s1",
      turn: () => 1,
      model,
      spending: new Spending({}, 0, "2026-01-01"),
      log: new SqliteUsage(database),
      emit,
    });
    const inputs = { environment: { roots: [], os: "" }, tools: [] };
    const ports = {
      ...{ model, tools: [], meter, emit },
      sent: () => {},
      view: (mode: Mode) => view(history, mode, inputs),
      newCallId: (id: string) => id,
      append: (message: MessageEntry) => void history.push(message),
    };
    const signal = new AbortController().signal;
    const mode = { ...MODES.summary, limits: { milliseconds } };
    assert.deepEqual(
      await summarize(ports, new TurnWork(), signal, mode),
      kept === "[No answer.]" ? { problem: NOTHING } : undefined,
    );
    assert.deepEqual(history.slice(2).map(({ type }) => type), ["control_note", "assistant_message"]);
    const last = history.at(-1);
    assert.equal(last?.type === "assistant_message" && last.text, kept);
  });
}
