/** Queue, cancel and approvals of the real session. */
import assert from "node:assert/strict";
import fc from "fast-check";
import * as z from "../deps/zod.ts";
import {
  CANCELLED,
  checkEvents,
  END_TURN,
  type RunningEngine,
  startEngine,
} from "../../../tests/support/engine_session.ts";
import { DEFAULT_TIMEOUT, scratch, within } from "../../../tests/support/project.ts";
import { runs } from "../../../tests/support/runs.ts";
import { sample } from "../../../tests/support/sample.ts";
import { type WireName, WIRES } from "../protocol/providers.ts";
import type { AgentEvent } from "./log/events.ts";
import type { Entries } from "./ports/store.ts";
import type { ApprovalAnswer } from "./ports/approvals.ts";
import { Database } from "./store/database.ts";
import { SqliteStore } from "./store/sqlite.ts";
import { defineTool, NOTHING } from "./tools/define.ts";

const FILES = { "a.txt": "alpha\n", ".env": "KEY=1\n" };

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** A tool that lasts until it is cancelled. */
const endless = defineTool({
  name: "endless",
  description: "Waits.",
  kind: "other",
  readOnly: true,
  schema: z.object({}),
  title: () => "endless",
  prepare: () =>
    Promise.resolve({
      access: NOTHING,
      async run(signal) {
        await aborted(signal);
        throw signal.reason;
      },
    }),
});

/** Answers nothing until it is cancelled, as the real asker does. */
async function noAnswer(_: unknown, signal: AbortSignal): Promise<ApprovalAnswer> {
  await aborted(signal);
  return { answer: "cancelled" };
}

interface Phase {
  readonly what: string;
  readonly script: string;
  /** Cancels at the first of these events, or when the answer has come to `wait here`. */
  readonly at: AgentEvent["type"] | "here";
  readonly results: readonly string[];
  readonly kept?: string;
}

const cancelled = "Cancelled by the user.";
const write = 'call write_file {"path": ".env", "content": "KEY=2\\n"}';
const read = 'call read_file {"path": "a.txt"}';

const phases: readonly Phase[] = [
  { what: "before the answer", script: "wait here\nsay never", at: "here", results: [] },
  { what: "in a thought", script: "think Hm\nwait here\nsay never", at: "thought", results: [] },
  {
    what: "in the text",
    script: "say Half\nwait here\nsay never",
    at: "token",
    results: [],
    kept: "Half",
  },
  {
    what: "in a call that is written",
    script: `${read}\nwait here\nsay never`,
    at: "tool_writing",
    results: [],
  },
  { what: "while it waits to try again", script: "status 503 retry-after=590", at: "retry", results: [] },
  {
    what: "while a tool runs",
    script: "say Half\ncall endless",
    at: "tool_running",
    results: [cancelled],
    kept: "Half",
  },
  {
    what: "while the first of several runs",
    script: `${read}\ncall endless\n${write}\n${read}`,
    at: "tool_running",
    results: ["1\talpha", cancelled, cancelled, cancelled],
  },
  {
    what: "while the user is asked",
    script: `${write}\n${write.replace("KEY=2", "KEY=3")}`,
    at: "approval_requested",
    results: [cancelled, cancelled],
  },
];

for (const phase of phases) {
  for (const wire of WIRES) {
    Deno.test(`${wire}: cancelled ${phase.what}: it is over, and the history can go on`, async () => {
      await cancelIn(phase, wire);
    });
  }
}

/** `scripts/bench` measures how soon a turn ends. */
async function cancelIn({ script, at, results, kept }: Phase, wire: WireName): Promise<void> {
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
    engine.session.cancel();
  };
  await using engine: RunningEngine = await startEngine({
    wire,
    script,
    files: FILES,
    tools: [endless],
    ask: noAnswer,
    publish: (event) => event.type === at && !isCancelled && cancel(),
  });
  if (at === "here") engine.server.reached("here").then(cancel);
  assert.deepEqual(await within(DEFAULT_TIMEOUT, engine.prompt("Go")), { done: true, value: CANCELLED });
  // What ran at the same time may have ended before.
  assert.deepEqual(engine.results().slice(-1), results.slice(-1), wire);
  if (at === "approval_requested") assert.equal(await engine.project.read(".env"), "KEY=1\n");
  assert.ok(engine.asked.length <= 1, "nobody is asked after a cancel");
  engine.server.play("expect Go on\nsay Done");
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  const sent = JSON.stringify(engine.server.requests.at(-1)?.body);
  assert.ok(sent.includes(kept ?? "[The answer was interrupted here.]"), sent);
  assert.deepEqual(engine.server.problems, [], wire);
  checkEvents(engine.events);
}

Deno.test("prompts run one after the other", async () => {
  await using engine = await startEngine({
    script: "wait here\nsay One\n---\nexpect second\nsay Two\n---\nexpect third\nsay Three",
  });
  const turns = ["first", "second", "third"].map((text) => engine.prompt(text));
  await engine.server.reached("here");
  assert.equal(engine.server.requests.length, 1);
  engine.server.release("here");
  assert.deepEqual(await Promise.all(turns), [END_TURN, END_TURN, END_TURN]);
  const texts = engine.messages().map((message) => message.text);
  assert.deepEqual(texts, ["first", "One", "second", "Two", "third", "Three"]);
  assert.deepEqual(engine.server.problems, []);
  checkEvents(engine.events);
});

Deno.test("a cancel ends what runs and what waits, but not what is asked later", async () => {
  await using engine = await startEngine({ script: "wait here\nsay One\n---\nsay Three" });
  const turns = ["first", "second"].map((text) => engine.prompt(text));
  await engine.server.reached("here");
  engine.session.cancel();
  const third = engine.prompt("third");
  assert.deepEqual(await Promise.all(turns), [CANCELLED, CANCELLED]);
  assert.deepEqual(await third, END_TURN);
  assert.deepEqual(engine.messages().filter(({ role }) => role === "user").map(({ text }) => text), [
    "first",
    "third",
  ]);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a turn that failed does not hold the next", async () => {
  await using engine = await startEngine({ script: "status 401\n---\nsay Two" });
  const [first, second] = await Promise.all([engine.prompt("first"), engine.prompt("second")]);
  assert.equal(first?.type, "failed");
  assert.deepEqual(second, END_TURN);
});

const answers: readonly (readonly [answer: ApprovalAnswer, result: RegExp, written: boolean])[] = [
  [{ answer: "allow_once" }, /^Replaced \.env/, true],
  [{ answer: "allow_session" }, /^Replaced \.env/, true],
  [{ answer: "reject" }, /^The user rejected this\. Do not try it again/, false],
  [
    { answer: "reject", reason: "Use config.ts instead" },
    /^The user rejected this: Use config\.ts instead$/,
    false,
  ],
  [{ answer: "cancelled" }, /^Cancelled by the user\.$/, false],
];

for (const [answer, result, written] of answers) {
  Deno.test(`the user's answer reaches the model: ${JSON.stringify(answer)}`, async () => {
    await using engine = await startEngine({
      files: FILES,
      script: `${write}\n---\nsay Done`,
      ask: () => answer,
    });
    assert.deepEqual(await engine.prompt("Write"), END_TURN);
    assert.match(engine.results()[0] ?? "", result);
    assert.match(engine.server.requests[1]?.text ?? "", result);
    assert.equal(await engine.project.read(".env"), written ? "KEY=2\n" : "KEY=1\n");
    assert.equal(engine.asked[0]?.diff?.after, "KEY=2\n");
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
  });
}

Deno.test("what is allowed for the session is not asked again, and nothing else is allowed with it", async () => {
  const other = 'call write_file {"path": "sub/.env.local", "content": "x"}';
  await using engine = await startEngine({
    files: FILES,
    script: `${write}\n${
      write.replace("KEY=2", "KEY=3")
    }\n${other}\n---\nsay Done\n---\n${write}\n---\nsay Done`,
    ask: () => ({ answer: "allow_session" }),
  });
  await engine.prompt("Write");
  assert.deepEqual(engine.asked.map(({ call }) => call.title), ["write .env", "write sub/.env.local"]);
  await engine.prompt("Again");
  assert.equal(engine.asked.length, 2);
  assert.equal(await engine.project.read(".env"), "KEY=2\n");
});

Deno.test("what may not be read is refused without a question", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: 'call read_file {"path": ".env"}\n---\nsay Done',
  });
  await engine.prompt("Read");
  assert.match(engine.results()[0] ?? "", /may hold secrets and is not readable/);
  assert.deepEqual(engine.asked, []);
});

const fragments = [
  "say Some text",
  "think Hm",
  read,
  write,
  'call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}',
  'call edit_file {"path": "a.txt", "old_str": "gamma", "new_str": "x"}',
  "call list_directory",
  'rawcall write_file {"path": "b.txt", "content": "}',
  "call functions.none",
  "call endless",
  "pieces 1",
  "interleave",
  "nodone",
  "stop length",
] as const;
const endings = ["", "", "", "cut", "eof", "error Sorry", "status 429 retry-after-ms=1", "html"] as const;
const answer = fc.tuple(
  fc.uniqueArray(fc.constantFrom(...fragments), { maxLength: 5 }),
  fc.constantFrom(...endings),
)
  .map(([lines, end]) =>
    [...(/^(status|html)/.test(end) ? [] : lines), end].filter((line) => line !== "").join("\n")
  )
  .map((script) => script === "" ? "say a" : script);
const approvals = fc.constantFrom<ApprovalAnswer>({ answer: "allow_once" }, { answer: "reject" }, {
  answer: "allow_session",
});

Deno.test("whatever a model does and whenever it is cancelled, the next request is sound", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { minLength: 1, maxLength: 3 }),
      fc.constantFrom<WireName>(...WIRES),
      fc.nat(25),
      approvals,
      async (scripts, wire, stop, approval) => {
        let first = true;
        let count = 0;
        const stuck = new Set<string>();
        await using engine: RunningEngine = await startEngine({
          wire,
          files: FILES,
          tools: [endless],
          script: `${scripts.join("\n---\n")}\n---\nsay Done\nrepeat`,
          ask: () => approval,
          publish(event) {
            if (event.type === "tool_start" && event.call.tool === "endless") stuck.add(event.call.id);
            const waits = event.type === "retry" || (event.type === "tool_running" && stuck.has(event.id));
            if (first && (++count === stop || waits)) engine.session.cancel();
          },
        });
        const end = await engine.prompt("Go");
        first = false;
        engine.server.play("expect Go on\nsay Done\nrepeat");
        assert.deepEqual(await engine.prompt("Go on"), END_TURN, JSON.stringify(end));
        assert.deepEqual(engine.server.problems, []);
        checkEvents(engine.events);
      },
    ),
    runs(60),
  );
});

for (const at of ["user_message", "token", "tool_start", "tool_running", "tool_done", "plan"] as const) {
  Deno.test(`a state folder that cannot be written from ${at} on: one line, and what happened is shown and kept`, async () => {
    let broken = false;
    await using engine: RunningEngine = await startEngine({
      files: FILES,
      script:
        `say I look.\n${read}\n${read}\ncall update_plan {"steps": [{"step": "One", "status": "pending"}]}` +
        "\n---\nsay Done",
      publish(event) {
        if (event.type !== at || broken) return;
        broken = true;
        engine.database.get("PRAGMA query_only = ON");
      },
    });
    const end = await engine.prompt("Go");
    assert.ok(end.type === "failed");
    assert.match(
      end.error.message,
      /^Cannot save the session: attempt to write a readonly database\. Free/,
    );
    const unstored = () => {
      const stored = new Set(engine.stored().map((event) => JSON.stringify(event)));
      const said = (events: readonly AgentEvent[]) =>
        events.map((event) => event.type === "token" ? event.text : "").join("");
      assert.equal(said(engine.stored()), said(engine.events));
      const shown = engine.events.filter(({ type }) => !["tool_writing", "title", "token"].includes(type));
      return new Set(shown.filter((event) => !stored.has(JSON.stringify(event))).map(({ type }) => type));
    };
    for (const type of unstored()) assert.ok(["tool_done", "notice"].includes(type), type);
    const shown = engine.events.length;
    const again = await engine.prompt("Still");
    assert.ok(again.type === "failed");
    assert.equal(engine.events.length, shown);
    engine.database.get("PRAGMA query_only = OFF");
    engine.server.play("expect Go on\nsay Here I am");
    assert.deepEqual(await engine.prompt("Go on"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
    assert.ok([...unstored()].every((type) => type === "notice"));
    assert.equal(engine.stored().filter(({ type }) => type === "turn_done").length, 2);
  });
}

Deno.test("a locked database while a file is written: it is told, and saved when the lock is gone", async () => {
  await using state = await scratch();
  const database = await Database.openIn(state.root);
  using other = await Database.openIn(state.root);
  database.get("PRAGMA busy_timeout = 10");
  await using engine: RunningEngine = await startEngine({
    database,
    files: FILES,
    script: 'call write_file {"path": "new.txt", "content": "new"}\n---\nsay Written',
  });
  // Another process takes the lock when the file is written.
  engine.store.checkpoints.finish = () => {
    other.run("BEGIN IMMEDIATE");
    throw new Error("database is locked");
  };
  const end = await engine.prompt("Go");
  assert.ok(end.type === "failed");
  assert.match(end.error.message, /^Cannot save the session: database is locked/);
  const kinds = engine.events.map(({ type }) => type);
  assert.ok(kinds.includes("file_modified") && kinds.includes("tool_done"), kinds.join());
  assert.ok(!engine.stored().some(({ type }) => type === "tool_done"));
  other.run("ROLLBACK");
  engine.server.play("expect Go on\nsay Here I am");
  assert.deepEqual(await engine.prompt("Go on"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  assert.ok(engine.stored().some(({ type }) => type === "file_modified"));
  assert.deepEqual(engine.results().length, 1);
});

/** Notes everything that is stored, as it is stored. */
class Recorder extends SqliteStore {
  readonly log: Entries[] = [];

  override append(session: string, entries: Entries): void {
    super.append(session, entries);
    this.log.push(entries);
  }
}

Deno.test("wherever a process dies, what it has stored is mended once, and the next request is sound", async () => {
  const recorder: Recorder[] = [];
  {
    await using engine = await startEngine({
      files: FILES,
      script: `think Hm\nsay I look.\n${read}\n${write}\n${read}\n---\nsay I go on.\n` +
        'call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}\n---\n' +
        "say Cut\nstop length\n---\nsay off\ncall functions.none\n---\nsay Done",
      store: (database) => {
        const store = new Recorder(database);
        recorder.push(store);
        return store;
      },
    });
    assert.deepEqual(await engine.prompt("Go"), END_TURN);
  }
  const log = recorder[0]?.log ?? [];
  assert.ok(log.length > 30);
  const whole = log.length;
  const counts = log.map((_, at) => at + 1);
  for (const count of [...sample(counts.slice(0, -1), 12), whole]) {
    await using engine = await startEngine({
      files: FILES,
      script: "say Here I am\nrepeat",
      config: { title: false },
      store: (database) => {
        const store = new SqliteStore(database);
        store.createSession({ id: "s1", root: "/", model: "m" });
        for (const entries of log.slice(0, count)) store.append("s1", entries);
        return store;
      },
    });
    const mended = [engine.stored(), engine.messages()];
    engine.again();
    assert.deepEqual([engine.stored(), engine.messages()], mended);
    checkEvents(engine.stored());
    assert.equal(engine.messages().at(-1)?.role, "assistant");
    assert.deepEqual(await engine.prompt("Go on"), END_TURN);
    assert.deepEqual(engine.server.problems, [], `after ${count} of ${whole}`);
    assert.deepEqual(engine.messages().slice(0, 1), [{ role: "user", text: "Go" }]);
    const ends = engine.stored().flatMap((event) => event.type === "turn_done" ? [event.reason] : []);
    assert.deepEqual(ends, [count === whole ? "end_turn" : "interrupted", "end_turn"]);
  }
});

Deno.test("the state folder is deleted between two turns: it is said, made again, and holds everything", async () => {
  await using state = await scratch();
  const folder = state.path("project");
  await Deno.mkdir(folder);
  await using engine = await startEngine({
    database: await Database.openIn(folder),
    script: "say One\n---\nexpect Second\nsay Two\n---\nexpect Third\nsay Three",
    config: { title: false },
  });
  await engine.prompt("First");
  await Deno.remove(folder, { recursive: true });
  await engine.prompt("Second");
  await engine.prompt("Third");
  const notices = engine.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
  assert.deepEqual(notices, [
    "The folder with your sessions was deleted. It was made again; nothing is lost.",
  ]);
  assert.deepEqual(engine.server.problems, []);
  using other = await Database.openIn(folder);
  assert.deepEqual(new SqliteStore(other).entries("s1"), engine.store.entries("s1"));
  assert.deepEqual(engine.messages().map(({ text }) => text), [
    ...["First", "One", "Second", "Two", "Third", "Three"],
  ]);
});
