/** What is masked and summarised, for any log. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { answered, asked, result } from "../../../../../tests/support/entries.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import type { FoldEntry, LogEntry, MessageEntry } from "../../log/entries.ts";
import type { Message } from "../../log/messages.ts";
import { Database } from "../../store/database.ts";
import { StoredSessions } from "../../store/sessions.ts";
import { SqliteStore } from "../../store/sqlite.ts";
import { NOTHING_CHOSEN } from "../chosen.ts";
import { type CallFacts, type Foldable, keptWords, planMasks, tailBegin, usersWords } from "./fold_plan.ts";
import { middleCut } from "../../../shared/text/text.ts";
import { MODES } from "../modes.ts";
import { view } from "../view.ts";
import { HistoryWindow } from "./window.ts";

const LONG = "line\n".repeat(200);

/** Calls of "read" and "write" with a path as arguments, and the lines that are read. */
function about({ name, arguments: given }: { name: string; arguments: string }): CallFacts {
  const [path, lines] = given.split(" ");
  return { title: `${name} ${given}`, path, lines, writes: name === "write" };
}

let calls = 0;

/** One answer with these calls, "read a", and their results. */
function round(...made: readonly string[]): readonly MessageEntry[] {
  const list = made.map((call) => {
    const [name = "", ...given] = call.split(" ");
    return { id: `c${++calls}`, name, arguments: given.join(" ") };
  });
  return [answered("", list), ...list.map(({ id, name }) => result(id, name, LONG))];
}

function foldable(messages: readonly MessageEntry[], masked: Foldable["masked"] = new Map()): Foldable {
  return { messages, masked, about, chosen: NOTHING_CHOSEN };
}

/** The calls whose results are masked. */
function maskedOf(
  messages: readonly MessageEntry[],
  isEnough = (frees: number) => frees > 0,
): readonly string[] {
  const titles = planMasks(foldable(messages), isEnough)?.results.map(({ text }) => text) ?? [];
  return titles.map((text) =>
    /^\[(.*), 201 lines: masked; call it again if you need it\]$/.exec(text)?.[1] ?? text
  );
}

Deno.test("masks: results of older turns first, and no newest state of a file", () => {
  const log = [
    ...[asked("one"), ...round("read a", "read b", "read a"), answered("ok")],
    ...[asked("two"), ...round("read c", "read b"), answered("ok")],
    ...[asked("three"), ...round("read a", "read a"), answered("ok")],
  ];
  assert.deepEqual(maskedOf(log), ["read a", "read b", "read a"]);
});

Deno.test("masks: in one long turn all but the last messages, of files only read the newest state at last", () => {
  const log = [
    asked("one"),
    ...["read a", "read b", "write a", "read c"].flatMap((call) => round(call)),
    ...round("read d", "read e", "read f", "read g", "read h", "read i"),
  ];
  assert.deepEqual(maskedOf(log), ["read b", "read c"]);
  assert.deepEqual(maskedOf([...log.slice(0, 3), ...round("read a"), ...log.slice(3)]), ["read a"]);
  assert.deepEqual(maskedOf(log, (frees) => frees > 1_000_000), []);
});

Deno.test("masks: some lines of a file replace no others, and all of it replaces them", () => {
  const end = round("read d", "read e", "read f", "read g", "read h", "read i");
  const parts = [
    asked("one"),
    ...["read a 1–9", "read a 10–19", "read a 1–9"].flatMap((call) => round(call)),
  ];
  assert.deepEqual(maskedOf([...parts, ...end]), ["read a 1–9"]);
  assert.deepEqual(maskedOf([...parts, ...round("read a"), ...end]), [
    "read a 1–9",
    "read a 10–19",
    "read a 1–9",
  ]);
});

Deno.test("masks: what is short, and what is masked already, stays", () => {
  const log = [asked("one"), ...round("read a", "read a"), asked("two"), asked("three")];
  const [masked] = planMasks(foldable(log), () => true)?.results ?? [];
  assert.ok(masked !== undefined);
  assert.equal(planMasks(foldable(log, new Map([[masked.id, masked.text]])), () => true), undefined);
  const short = log.map((entry) => entry.type === "tool_result" ? { ...entry, text: "short" } : entry);
  assert.equal(planMasks(foldable(short), () => true), undefined);
});

Deno.test("the last six messages stay, fewer where they are long, and never results without their calls", () => {
  const log = [asked("one"), ...round("read a"), ...round("read b"), ...round("read c", "read d", "read e")];
  assert.equal(log[tailBegin(foldable(log), Infinity)], log[3]);
  assert.equal(log[tailBegin(foldable(log), 4_000)], log[5]);
  assert.equal(log[tailBegin(foldable(log), 0)], log[5]);
  assert.equal(tailBegin(foldable(log.slice(0, 3)), Infinity), 0);
});

Deno.test("the user's words: what a filter has refused is none of them", () => {
  const refusal = { ...answered("No"), refused: true } as const;
  const note = { type: "control_note", reason: "context", text: "Date" } as const;
  const log = [asked("One"), answered("Yes"), asked("Two"), note, refusal, asked("Three"), answered("Yes")];
  assert.deepEqual(usersWords(log), ["One", "Three"]);
});

Deno.test("the user's words: the task and the newest, at most 4,000 characters", () => {
  assert.deepEqual(keptWords(["task", "later"]), ["task", "later"]);
  const many = keptWords([
    "task",
    ...Array.from({ length: 300 }, (_, at) => `message ${at} ${"x".repeat(50)}`),
  ]);
  assert.equal(many[0], "task");
  assert.match(many.at(-1) ?? "", /^message 299 /);
  fc.assert(fc.property(fc.array(fc.string({ maxLength: 6_000 })), (words) => {
    const kept = keptWords(words);
    assert.ok(kept.join("").length <= 4_000);
    assert.equal(kept.length > 0, words.length > 0);
  }));
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.nat(200), (text, most) => {
    const cut = middleCut(text, most);
    assert.ok(cut.length <= most);
    assert.ok(!text.isWellFormed() || cut.isWellFormed());
  }));
});

Deno.test("a fork keeps what was folded before it, and not what the other folds later", () => {
  using database = Database.inMemory();
  const store = new SqliteStore(database);
  store.createSession({ id: "s", root: "/p", model: "m" });
  const compaction = { turn: 1, skip: 1, words: [], plan: [], by: "model" } as const;
  const fold = (summary: string) => ({ type: "compaction", ...compaction, summary }) as const;
  store.append("s", { entries: [asked("one"), ...round("read a"), answered("ok")] });
  store.append("s", { entries: [{ type: "turn_done", reason: "end_turn" }, fold("before")] });
  const { id, created } = new StoredSessions(database).fork("s");
  while (Date.now() <= created);
  store.append("s", { entries: [fold("later")] });
  assert.deepEqual(store.folds("s"), [fold("before"), fold("later")]);
  assert.deepEqual(store.folds(id), [fold("before")]);
});

/** One step of a session's life. */
type Step =
  | { readonly type: "say" | "mask" | "summarize" | "undo" }
  | { readonly type: "calls"; readonly count: number; readonly files: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant("calls"),
        count: fc.integer({ min: 1, max: 4 }),
        files: fc.nat(5),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("say", "mask", "summarize", "undo") }) },
  ),
  { maxLength: 40 },
);

function sent(messages: readonly MessageEntry[]): readonly Message[] {
  return view(messages, MODES.agent, { environment: { roots: ["/p"], os: "linux" }, tools: [] }).messages;
}

function assertSound(messages: readonly Message[]): void {
  assert.equal(messages[0]?.role, "user");
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") assert.equal(message.id, open.shift(), "a result of the call before it");
    else assert.deepEqual(open, [], "each call has its result");
    if (message.role === "assistant") open = message.calls.map(({ id }) => id);
  }
  assert.deepEqual(open, []);
}

Deno.test("any life of a session: calls keep their results, only folds change what was sent, and it is read back", () => {
  fc.assert(
    fc.property(steps, (life) => {
      using database = Database.inMemory();
      const store = new SqliteStore(database);
      store.createSession({ id: "s", root: "/p", model: "m" });
      const options = { store, session: "s", window: () => 1_000_000 };
      const history = new HistoryWindow(options, undefined);
      const append = (...entries: readonly LogEntry[]) => {
        store.append("s", { entries });
        history.push(entries);
      };
      append(asked("The task"));
      let turn = 1;
      for (const step of life) {
        const before = sent(history.seen);
        let fold: FoldEntry | undefined;
        switch (step.type) {
          case "say":
            append(answered("Done."), { type: "turn_done", reason: "end_turn" }, asked(`Turn ${++turn}`));
            break;
          case "calls":
            append(
              ...round(...Array.from({ length: step.count }, (_, at) => `read f${(at + step.files) % 6}`)),
            );
            break;
          case "mask": {
            const plan = planMasks(
              { ...history, ...foldable(history.messages, history.folds.masked) },
              () => true,
            );
            if (plan !== undefined) {
              fold = { type: "masking", results: plan.results };
            }
            break;
          }
          case "summarize": {
            const begin = tailBegin(foldable(history.messages, history.folds.masked), 5_000);
            const rest = { summary: "All fine.", words: ["The task"], plan: [], by: "model" } as const;
            if (begin > 0) fold = { type: "compaction", ...history.placeOf(begin), ...rest };
            break;
          }
          case "undo":
            if (history.folds.newest !== undefined) fold = { type: "fold_undone" };
        }
        if (fold === undefined) assert.deepEqual(sent(history.seen).slice(0, before.length), before);
        else append(fold);
        const now = sent(history.seen);
        assertSound(now);
        assert.match(now[0]?.role === "user" ? now[0].text : "", /The task/);
        if (fold !== undefined && fold.type !== "fold_undone") {
          assert.ok(JSON.stringify(now).length < JSON.stringify(before).length + 1_000);
          append({ type: "fold_undone" });
          assert.deepEqual(sent(history.seen), before, "taken back");
          append(fold);
        }
      }
      const again = new HistoryWindow(options, 1);
      assert.deepEqual(again.seen, history.seen);
      const fork = new StoredSessions(database).fork("s");
      assert.deepEqual(new HistoryWindow({ ...options, session: fork.id }, 1).seen, history.seen);
      assert.deepEqual(
        again.placeOf(again.messages.length - 1),
        history.placeOf(history.messages.length - 1),
      );
    }),
    runs(60),
  );
});
