/** Sessions in a real database: what goes in comes out, in this process and the next. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../tests/support/any_character.ts";
import { answered, asked, result } from "../../../../tests/support/entries.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { MODES } from "../context/modes.ts";
import { view } from "../context/view.ts";
import { TurnError } from "../../shared/errors.ts";
import { type LogEntry, wordsOf } from "../log/entries.ts";
import { isEvent, isMessage } from "../log/entry_kinds.ts";
import type { Stored } from "../ports/store.ts";
import { Database } from "./database.ts";
import { runsOf } from "./log/merge.ts";
import { StoredSessions } from "./sessions.ts";
import { SqliteStore } from "./sqlite.ts";
import { sweep } from "./sweep.ts";

const LONG = "a long text ".repeat(900);

function open() {
  return storesOf(Database.inMemory());
}

function storesOf(database: Database) {
  return { database, store: new SqliteStore(database), sessions: new StoredSessions(database) };
}

function begin(store: SqliteStore, id: string, text = "Question"): void {
  store.createSession({ id, root: "/project", model: "m" });
  beginTurn(store, id, text);
}

function beginTurn(store: SqliteStore, id: string, text: string): void {
  store.append(id, { entries: [asked(text)] });
}

function record<Shape>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }): fc.Arbitrary<Shape> {
  return fc.record<Shape>(shape, { noNullPrototype: true }) as fc.Arbitrary<Shape>;
}

const text = fc.oneof(fc.string({ unit: ANY_CHARACTER, maxLength: 8 }), fc.constant(LONG));
const id = fc.constantFrom("1", "2");
const entry: fc.Arbitrary<LogEntry> = fc.oneof(
  { weight: 6, arbitrary: record({ type: fc.constant("token"), message: id, text }) },
  { weight: 3, arbitrary: record({ type: fc.constant("thought"), message: id, text }) },
  record({
    type: fc.constant("user_message"),
    origin: fc.constant("user"),
    parts: fc.array(
      fc.oneof(
        record({ type: fc.constant("text"), text }),
        record({ type: fc.constant("file"), uri: text, text }),
        record({ type: fc.constant("link"), uri: text }),
      ),
      { maxLength: 3 },
    ),
  }),
  record({ type: fc.constant("turn_done"), reason: fc.constantFrom("end_turn", "interrupted") }),
  record({ type: fc.constant("turn_failed"), kind: fc.constant("auth"), message: text }),
  record({ type: fc.constant("approval_answered"), id, answer: fc.constant("reject"), rule: text }),
  record({ type: fc.constant("notice"), severity: fc.constant("info"), text }),
  record({
    type: fc.constant("tool_done"),
    id,
    status: fc.constant("completed"),
    summary: text,
    output: text,
    diff: record({ path: text, before: text, after: text, added: fc.nat(), removed: fc.nat() }),
  }),
  record({ type: fc.constant("control_note"), reason: fc.constant("need_fixes"), text }),
  record({
    type: fc.constant("assistant_message"),
    text,
    calls: fc.array(
      record({
        id,
        name: text,
        arguments: text,
        extra: fc.dictionary(text, text, { noNullPrototype: true }),
      }),
      { maxLength: 2 },
    ),
    reasoning: fc.array(record({ type: fc.constant("signed"), text, signature: text }), { maxLength: 2 }),
  }),
  record({ type: fc.constant("tool_result"), id, name: text, text, isError: fc.boolean() }),
);

/** The log as a reader sees it: runs of pieces are one piece where their turn has ended. */
function read(log: readonly LogEntry[]): readonly LogEntry[] {
  const turns: LogEntry[][] = [[]];
  for (const one of log) {
    if (one.type === "user_message") turns.push([]);
    turns.at(-1)?.push(one);
  }
  return turns.flatMap((turn) => {
    const events = turn.map((entry, place) => ({ place, entry })).filter(({ entry }) => isEvent(entry));
    const runs = runsOf(events);
    const merged = new Map(runs.map(({ place, event }) => [place, event]));
    const gone = new Set(runs.flatMap(({ others }) => others));
    return turn.flatMap((entry, place) => gone.has(place) ? [] : [merged.get(place) ?? entry]);
  });
}

Deno.test("any session comes back as it was, from this process and from the next", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(id, entry), { maxLength: 40 }), async (log) => {
      await using state = await scratch();
      const logs: Record<string, LogEntry[]> = { 1: [], 2: [] };
      {
        const { database, store } = storesOf(await Database.openIn(state.root));
        using _ = database;
        for (const session of ["1", "2"]) store.createSession({ id: session, root: "/p", model: "m" });
        for (const [session, one] of log) {
          store.append(session, { entries: [one] });
          logs[session]?.push(one);
        }
      }
      const { database, store } = storesOf(await Database.openIn(state.root));
      using _ = database;
      for (const session of ["1", "2"]) {
        const expected = logs[session] ?? [];
        const stored = store.entries(session);
        // Runs of turns that go on are still in pieces.
        assert.deepEqual(read(stored.map(({ entry }) => entry)), read(expected));
        assert.deepEqual(store.messages(session), expected.filter(isMessage));
        assert.deepEqual(
          read(store.events(session).map(({ entry }) => entry)),
          read(expected.filter(isEvent)),
        );
        assert.equal(store.turn(session), expected.filter(({ type }) => type === "user_message").length);
        assert.ok(stored.every(({ turn }, at) => turn >= (stored[at - 1]?.turn ?? 0)));
      }
    }),
    { seed: 3, ...runs(60) },
  );
});

Deno.test("the pieces of a text are one row when their turn has ended, and blobs take what is long", () => {
  const { database, store } = open();
  using _ = database;
  begin(store, "1");
  for (let piece = 0; piece < 2_000; piece++) {
    store.append("1", { entries: [{ type: "token", message: "m", text: `word${piece} ` }] });
  }
  const rows = () => Number(database.get("SELECT count(*) AS count FROM log")?.count);
  const before = store.events("1").flatMap(({ entry }) => entry.type === "token" ? [entry.text] : []).join(
    "",
  );
  assert.equal(rows(), 2_001);
  store.append("1", { entries: [{ type: "turn_done", reason: "end_turn" }] });
  assert.equal(rows(), 0);
  assert.equal(store.events("1").length, 3);
  const [, answer] = store.events("1").map(({ entry }) => entry);
  assert.deepEqual(answer, { type: "token", message: "m", text: before });
  assert.ok(Number(database.get("SELECT max(length(log)) AS most FROM turns")?.most) < 400);
});

Deno.test("what belongs together is stored together or not at all, and the disk's words become a line", () => {
  const { database, store } = open();
  using _ = database;
  begin(store, "1");
  const pages = Number(database.get("PRAGMA page_count")?.page_count);
  database.get(`PRAGMA max_page_count = ${pages + 4}`);
  const entries = [
    answered("small"),
    answered(Array.from({ length: 20_000 }, (_, at) => at * 7_919).join(" ")),
  ];
  const memory = [{ topic: "folder", name: "", value: "x" }];
  assert.throws(() => store.append("1", { entries, memory }), (error) => {
    assert.ok(error instanceof TurnError);
    assert.match(error.message, /^Cannot save the session: .*full.* Free some space/);
    return true;
  });
  assert.equal(store.messages("1").length, 1);
  assert.deepEqual(store.remembered("1"), []);
  database.get("PRAGMA max_page_count = 1000000");
  store.append("1", { entries, memory });
  assert.deepEqual(store.messages("1").slice(1), entries);
  assert.deepEqual(store.remembered("1"), memory);
});

Deno.test("the search takes any text for words, and finds the beginning of the last one", () => {
  const { database, store, sessions } = open();
  using _ = database;
  begin(store, "1", 'Fix the "Parser" of naïve_names, it says NEAR AND OR NOT');
  store.append("1", { entries: [answered("The lexer\nwas wrong.")] });
  store.append("1", {
    entries: [result("c", "read_file", `${"x ".repeat(3_000)}hidden`)],
  });
  const found = (query: string) => sessions.search(query, 10).map(({ role }) => role);
  assert.deepEqual(found("parser"), ["user"]);
  assert.deepEqual(found("naive_na"), ["user"]);
  assert.deepEqual(found("pars fix"), []);
  assert.deepEqual(found("fix pars"), ["user"]);
  assert.deepEqual(found("lexer wro"), ["assistant"]);
  assert.equal(sessions.search("lexer", 10)[0]?.text, "The lexer was wrong.");
  for (const query of ["near and OR", '"parser" and', "fix*", "NOT"]) {
    assert.deepEqual(found(query), ["user"], query);
  }
  assert.deepEqual(found("hidden"), [], "a tool's long output is not searched to its end");
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 20 }), (query) => void sessions.search(query, 5)),
    { seed: 5, ...runs(500) },
  );
  for (const query of ["", " ", '"', "*", "()", "text:", "-", "a:b", "^a", "{a b}", "\0"]) {
    sessions.search(query, 5);
  }
});

Deno.test("a deleted session leaves nothing, and no content that another one names goes with it", async () => {
  const { database, store, sessions } = open();
  using _ = database;
  const shared = `${LONG} shared`;
  const kept = `${LONG} of a checkpoint`;
  for (const session of ["1", "2"]) {
    begin(store, session, "Fix it");
    store.append(session, {
      entries: [
        result("c", "read_file", shared),
        { type: "notice", severity: "info", text: `${LONG} own ${session}` },
        { type: "approval_answered", id: "c", answer: "reject", rule: "r" },
        { type: "turn_done", reason: "end_turn" },
      ],
      memory: [{ topic: "shown", name: "/a", value: `${LONG} memory ${session}` }],
    });
    const { lastInsertRowid } = database.run(
      "INSERT INTO checkpoints (session, turn, kind, time) VALUES (?, 1, 'tool', 0)",
      session,
    );
    database.run(
      "INSERT INTO checkpoint_files (checkpoint, path, before_type, before_blob) VALUES (?, '/a', 'file', ?)",
      lastInsertRowid,
      store.blobs.putText(kept),
    );
  }
  const count = (table: string) => Number(database.get(`SELECT count(*) AS count FROM ${table}`)?.count);
  const whole = { entries: store.entries("2"), memory: store.remembered("2") };
  assert.equal(count("blobs"), 6);
  assert.equal(sessions.list(false)[0]?.files, 1);
  sessions.remove("1");
  // Whoever has found a content stored may still be about to name it.
  assert.equal(await sweep(database), 0);
  assert.equal(await sweep(database, -1), 2);
  for (const table of ["sessions", "turns", "approvals", "checkpoints", "checkpoint_files", "memory"]) {
    assert.equal(count(table), 1, table);
  }
  assert.deepEqual(sessions.search("fix", 10).map(({ sessionId }) => sessionId), ["2"]);
  database.run("INSERT INTO search (search) VALUES ('integrity-check')");
  assert.deepEqual({ entries: store.entries("2"), memory: store.remembered("2") }, whole);
  assert.equal(
    store.blobs.getText(String(database.get("SELECT before_blob FROM checkpoint_files")?.before_blob)),
    kept,
  );
  // A first look at the project has kept what is in it.
  const image = { type: "file", mode: 0o644, blob: store.blobs.putText("looked at") } as const;
  const stat = { size: 9, mtime: 1, ctime: 1, ino: 1, settled: true };
  store.checkpoints.setScanned([{ path: "/project/a", image, ...stat }], []);
  assert.equal(await sweep(database, -1), 0);
  sessions.remove("2");
  assert.equal(await sweep(database, -1), 5);
  assert.equal(count("blobs"), 0);
});

Deno.test("what came back into an input no other engine can log; what was logged before stays logged", async () => {
  await using state = await scratch();
  const one = storesOf(await Database.openIn(state.root));
  const other = storesOf(await Database.openIn(state.root));
  using _ = one.database;
  using __ = other.database;
  begin(one.store, "1");
  const log = (id: string) =>
    one.store.append("1", {
      entries: [asked(`text ${id}`)],
      memory: [{ topic: "message", name: id, value: true }],
    });
  log("m1");
  assert.deepEqual(other.sessions.withdrawUnlogged(["m1", "m2"], Date.now()), ["m1"]);
  const before = one.store.messages("1");
  assert.throws(
    () => log("m2"),
    (error) => error instanceof TurnError && /back in an input/.test(error.message),
  );
  assert.deepEqual(one.store.messages("1"), before);
  log("m3");
  assert.deepEqual(one.sessions.withdrawUnlogged(["m2", "m3", "m1"], Date.now()), ["m1", "m3"]);
});

Deno.test("a fork is the session up to a turn, and goes its own way", async () => {
  const { database, store, sessions } = open();
  using _ = database;
  store.createSession({ id: "1", root: "/project", model: "m", branch: "agent/one" });
  beginTurn(store, "1", `${LONG} first`);
  store.append("1", {
    entries: [
      { type: "plan", steps: [{ step: "One", status: "completed" }] },
      { type: "turn_done", reason: "end_turn" },
    ],
    memory: [
      { topic: "tool", name: "think", value: false },
      { topic: "known", name: "/a", value: "v" },
      { topic: "folder", name: "", value: "sub" },
      { topic: "spent", name: "", value: { amount: 1, raised: 0 } },
    ],
  });
  beginTurn(store, "1", "second");
  const early = sessions.fork("1", 1);
  const late = sessions.fork("1");
  assert.deepEqual([early.turns, late.turns, early.parent], [1, 2, "1"]);
  assert.deepEqual([early.branch, late.branch], ["agent/one", "agent/one"]);
  assert.deepEqual(store.messages(early.id), store.messages("1").slice(0, 1));
  assert.deepEqual(store.events(early.id), store.events("1", { last: 1 }));
  assert.deepEqual(store.events(late.id), store.events("1"));
  const remembered = (id: string) =>
    store.remembered(id).map(({ topic, name, value }) => [topic, name, value]).sort();
  assert.deepEqual(remembered(early.id), [
    ["plan", "", [{ step: "One", status: "completed" }]],
    ["titled", "", true],
    ["tool", "think", false],
  ]);
  assert.deepEqual(remembered(late.id), [
    ["folder", "", "sub"],
    ["known", "/a", "v"],
    ["titled", "", true],
    ["tool", "think", false],
  ]);
  // Each goes on with the turn that they were made in.
  store.append(late.id, { entries: [answered("other", [{ id: "c", name: "think", arguments: "" }])] });
  store.append("1", {
    entries: [answered("more"), { type: "turn_done", reason: "end_turn" }],
  });
  assert.deepEqual([store.hasCall(late.id, "c"), store.hasCall("1", "c")], [true, false]);
  const words = (id: string) =>
    store.messages(id).map((entry) =>
      (entry.type === "user_message" ? wordsOf(entry) : entry.text).slice(-6)
    );
  assert.deepEqual(words("1"), [" first", "second", "more"]);
  assert.deepEqual(words(late.id), [" first", "second", "other"]);
  assert.deepEqual(store.turnsBegun(late.id).map(({ turn }) => turn), [1, 2]);
  assert.throws(() => sessions.fork("1", 3), /has 2 turns only/);
  assert.throws(() => sessions.fork("nobody"), /not stored any more/);
  // What is in common stays as long as anyone has it.
  const again = sessions.fork(late.id, 1);
  for (const id of ["1", late.id]) sessions.remove(id);
  assert.throws(() => sessions.get("1"), /not stored any more/);
  await sweep(database, -1);
  for (const { id } of [early, again]) assert.deepEqual(store.messages(id)[0], asked(`${LONG} first`));
  assert.deepEqual(sessions.search("second", 10), []);
  const found = sessions.search("first", 10).map(({ sessionId }) => sessionId);
  assert.deepEqual(new Set(found), new Set([early.id, again.id]));
  for (const { id } of [early, again]) sessions.remove(id);
  await sweep(database, -1);
  for (const table of ["sessions", "turns", "log", "calls", "search_texts", "payload_blobs", "blobs"]) {
    assert.equal(database.get(`SELECT count(*) AS count FROM ${table}`)?.count, 0, table);
  }
});

Deno.test("what cannot be read is said in one line, and costs nothing else", () => {
  const { database, store, sessions } = open();
  using _ = database;
  begin(store, "1", "First");
  const token = { type: "token", message: "m", text: "One" } as const;
  store.append("1", { entries: [token, answered("One"), { type: "turn_done", reason: "end_turn" }] });
  beginTurn(store, "1", "Second");
  const think = { id: "c", name: "think", arguments: "{}" };
  const later = [answered("Two", [think]), result("c", "think", "Hm"), answered("Three")];
  store.append("1", { entries: [{ type: "notice", severity: "info", text: "Hm" }, ...later] });
  const [first] = store.entries("1", { last: 1 });
  const whole = store.entries("1", { first: 2 });
  const lost = (entries: readonly Stored<LogEntry>[]) =>
    entries.filter(({ entry }) => entry.type === "notice" && entry.text.includes("cannot be read"));
  // A later version has stored two of them, and one has lost a field.
  database.run("UPDATE log SET version = version + 1 WHERE kind = 'tool_result' OR kind = 'notice'");
  database.run(
    `UPDATE log SET payload = '{"type": "assistant_message"}' WHERE kind = 'assistant_message' AND seq = 5`,
  );
  assert.deepEqual(store.entries("1", { last: 1 })[0], first);
  assert.equal(store.entries("1", { first: 2 }).length, whole.length - 2, "one line for the three");
  assert.equal(lost(store.events("1")).length, 1);
  assert.deepEqual(
    store.messages("1", { first: 2 }).map(({ type }) => type),
    ["user_message", "assistant_message", "control_note"],
  );
  const { messages } = view(store.messages("1"), MODES.agent, {
    environment: { roots: [], os: "" },
    tools: [],
  });
  assert.deepEqual(messages.map(({ role }) => role), [
    "user",
    "assistant",
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  // A whole turn is broken: the others are not.
  database.run("UPDATE turns SET log = x'00ff' WHERE turn = 1");
  store.append("1", { entries: [{ type: "turn_done", reason: "end_turn" }] });
  assert.deepEqual(lost(store.events("1")).map(({ turn }) => turn), [1, 2]);
  assert.equal(store.events("1", { first: 1, last: 1 }).length, 1);
  assert.deepEqual(sessions.search("second", 5).map(({ turn }) => turn), [2]);
  assert.deepEqual(sessions.search("one", 5), []);
});

Deno.test("the list: newest first, without what was never begun, archived apart, page by page", () => {
  const { database, store, sessions } = open();
  using _ = database;
  for (let number = 1; number <= 5; number++) {
    begin(store, `${number}`, `\n  Question ${number}\nmore`);
    database.run("UPDATE sessions SET updated = ? WHERE id = ?", number < 3 ? 1 : number, `${number}`);
  }
  store.createSession({ id: "empty", root: "/p", model: "m" });
  database.run(
    "INSERT INTO usage (session, turn, purpose, provider, model, input, output, cached_read, cached_write, reported, all_ms, time) " +
      "VALUES ('4', 1, 'agent', 'p', 'm', 10, 5, 0, 0, 1, 1, 1), ('4', 1, 'agent', 'p', 'm', 20, 5, 0, 0, 1, 1, 1)",
  );
  sessions.archive("5", true);
  sessions.rename("3", "Renamed");
  const rows = sessions.list(false).map(({ id, title, tokens, turns }) => [id, title, tokens, turns]);
  assert.deepEqual(rows, [
    ["4", "Question 4", 40, 1],
    ["3", "Renamed", 0, 1],
    ["1", "Question 1", 0, 1],
    ["2", "Question 2", 0, 1],
  ]);
  assert.deepEqual(sessions.list(true).map(({ id }) => id), ["5"]);
  const paged: string[] = [];
  for (let page = sessions.page(undefined, 1); page[0] !== undefined; page = sessions.page(page[0], 1)) {
    paged.push(page[0].id);
  }
  assert.deepEqual(paged, ["4", "3", "1", "2"]);
  assert.throws(() => sessions.rename("empty", "x"), /not stored any more/);
  assert.ok(!store.retitle("3", "Question 3", "A title"), "the user's own title stays");
  assert.ok(store.retitle("4", "Question 4", "A title"));
});
