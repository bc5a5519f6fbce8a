/** Stored sessions over the protocol: several engines on one project, titles, and what a user does with a list. */
import { methods, RequestError } from "../../denops/agent/deps/acp_sdk.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { TITLES } from "../../denops/agent/engine/context/side_prompts.ts";
import { MIGRATIONS } from "../../denops/agent/engine/store/upgrade/migrations.ts";
import { exportJson, exportMarkdown } from "../../denops/agent/engine/acp/export/export.ts";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { StoredSessions } from "../../denops/agent/engine/store/sessions.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { SqliteUsage } from "../../denops/agent/engine/store/usage.ts";
import { PLUGIN, SECRET } from "../support/agent.ts";
import { storeWork } from "../support/stored_work.ts";
import { type WireName, WIRES } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import { objects, string } from "../model/model_messages.ts";
import { inOneEngine } from "../engine/shared_engine.ts";
import { answerText, type EngineClient, engineConfig, startEngine } from "../support/acp.ts";
import { END_TURN, startEngine as startSession } from "../support/engine_session.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import { reached } from "../support/server.ts";

const share = inOneEngine(false);

async function rows(engine: EngineClient, archived = false) {
  return (await engine.ask("session_list", { archived })).sessions;
}

async function titleOf(engine: EngineClient, session: string): Promise<string | undefined> {
  return (await rows(engine)).find(({ sessionId }) => sessionId === session)?.title;
}

/** The titles that the client was told, in order; each turn tells the one that there is. */
function told(engine: EngineClient): readonly string[] {
  const titles = engine.seen.flatMap((entry) =>
    entry.type === "update" && entry.update.sessionUpdate === "session_info_update"
      ? [entry.update.title ?? []].flat()
      : []
  );
  return titles.filter((title, at) => title !== titles[at - 1]);
}

async function refusal(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof RequestError) return error.message;
    throw error;
  }
  throw new Error("it was not refused");
}

Deno.test("several engines on one project", async (test) => {
  await using first = await startEngine({ script: "" });
  await using second = await startEngine({ script: "", beside: first });
  await test.step("two write to one database at once, and nothing of either is missing", () =>
    writeAtOnce(first, second));
  let session = "";
  await test.step("a session has one writer: the other gets one line, until the first has closed it", async () => {
    session = await first.open();
    await haveOneWriter(first, second, session);
  });
  await second.kill();
  const old = await oldSessions(first);
  const config = JSON.stringify({ ...engineConfig(first.server), keep_sessions_days: 30 });
  await using third = await startEngine({ script: "", beside: first, config });
  await test.step("old sessions are deleted if the user wants that, but none that is archived or open", () =>
    deleteOld(third, old));
  await test.step("what was open in an engine that has died is free", async () => {
    first.server.restart("new-history\nsay Three.");
    await third.resume(session);
    assert.equal(await third.prompt(session, "Still there?"), "end_turn");
    assert.deepEqual(first.server.problems, []);
    const locks = await Array.fromAsync(Deno.readDir(first.state.path("locks")));
    assert.ok(locks.some(({ name }) => name === session));
  });
});

/** Of each answer. */
const PIECES = IS_FULL ? 300 : 40;

async function writeAtOnce(first: EngineClient, second: EngineClient): Promise<void> {
  first.server.restart(`flood ${PIECES}\nslow 1\nsay The end.\nrepeat`);
  const engines = [first, second];
  const sessions = await Promise.all(engines.map((engine) => engine.open()));
  const turns = engines.map(async (engine, at) => {
    for (let turn = 1; turn <= 4; turn++) {
      assert.equal(await engine.prompt(sessions[at] ?? "", `Turn ${turn} of ${at}`), "end_turn");
    }
  });
  await Promise.all(turns);
  for (const [at, engine] of engines.entries()) {
    const session = sessions[at] ?? "";
    const other = engines[1 - at] ?? engine;
    const { entries } = await other.ask("session_history", { sessionId: session, turns: 50 });
    const texts = entries.flatMap((entry) =>
      entry.type === "update" && entry.update.sessionUpdate === "agent_message_chunk"
        ? [JSON.parse(JSON.stringify(entry.update)).content.text]
        : []
    );
    assert.equal(texts.length, 4);
    assert.equal(texts.join(""), answerText(engine.seen, session));
    assert.equal(entries.filter(({ type }) => type === "turn_done").length, 4);
  }
  assert.deepEqual((await rows(first)).map(({ turns }) => turns), [4, 4]);
}

/** At the end the second engine has opened the session. */
async function haveOneWriter(first: EngineClient, second: EngineClient, session: string): Promise<void> {
  first.server.restart("say One.\nnew-history\nrepeat");
  await first.prompt(session, "Hello");
  const elsewhere = "This session is open in another program. Close it there, or fork it.";
  assert.equal(await refusal(second.resume(session)), elsewhere);
  const deletion = second.agent.request(methods.agent.session.delete, { sessionId: session });
  assert.match(await refusal(deletion), /open in another program/);
  const isOpen = async (engine: EngineClient) =>
    (await rows(engine)).filter(({ sessionId }) => sessionId === session).map(({ open }) => open);
  assert.deepEqual(await isOpen(second), [true]);
  assert.deepEqual(await isOpen(first), [false], "it is this engine's own");
  // What is open elsewhere can be forked, and read.
  const fork = await second.ask("session_fork", { sessionId: session });
  await second.resume(fork.sessionId);
  assert.equal(await second.prompt(fork.sessionId, "And here?"), "end_turn");
  const read = (engine: EngineClient) => engine.ask("session_history", { sessionId: session, turns: 5 });
  assert.ok((await read(second)).entries.length > 0);
  // A turn that runs in another engine is not complete.
  first.server.play("new-history\nwait here\nsay Two.");
  const running = first.prompt(session, "And now?");
  await reached(first.server, "here");
  assert.deepEqual([(await read(first)).complete, (await read(second)).complete], [2, 1]);
  first.server.release("here");
  await running;
  assert.equal((await read(second)).complete, 2);
  await first.agent.request(methods.agent.session.close, { sessionId: session });
  await second.resume(session);
  assert.deepEqual(first.server.problems, []);
}

/** Sessions that nobody has used for longer than thirty days: one that may go, one that is archived, one that is open. */
async function oldSessions(engine: EngineClient) {
  engine.server.restart("repeat\nsay Yes.");
  const sessions: string[] = [];
  for (const text of ["old", "archived", "open", "new"]) {
    const session = await engine.open();
    await engine.prompt(session, text);
    sessions.push(session);
    if (text !== "open") await engine.agent.request(methods.agent.session.close, { sessionId: session });
  }
  const [old = "", archived = "", held = "", recent = ""] = sessions;
  await engine.ask("session_archive", { sessionId: archived, archived: true });
  using database = await Database.openIn(engine.state.root);
  const longAgo = Date.now() - 31 * 24 * 60 * 60 * 1_000;
  database.run("UPDATE sessions SET updated = ? WHERE id IN (?, ?, ?)", longAgo, old, archived, held);
  const before = new Set((await rows(engine)).map(({ sessionId }) => sessionId));
  assert.ok([old, held, recent].every((session) => before.has(session)));
  return { old, archived, before };
}

async function deleteOld(
  engine: EngineClient,
  { old, archived, before }: Awaited<ReturnType<typeof oldSessions>>,
): Promise<void> {
  await engine.open();
  const ids = async (isArchived: boolean) =>
    (await rows(engine, isArchived)).map(({ sessionId }) => sessionId);
  await waitUntil("the old one to go", async () => !(await ids(false)).includes(old));
  assert.deepEqual(new Set(await ids(false)), before.difference(new Set([old])));
  assert.deepEqual(await ids(true), [archived]);
}

Deno.test("after the first turn the model gives the title, once, and nothing waits for it", async () => {
  await using engine = await share({
    script: "say The parser was wrong.\n---\nsay Two.\n---\nsay Three.",
  });
  engine.server.playTitles('wait title\nsay **"Fix the parser"**.\nsay More words');
  const session = await engine.open();
  assert.equal(await engine.prompt(session, "\nWhy does it fail?\nPlease look."), "end_turn");
  await engine.server.reached("title");
  assert.equal(await titleOf(engine, session), "Why does it fail?");
  assert.equal(await engine.prompt(session, "And now?"), "end_turn");
  engine.server.release("title");
  await waitUntil("the title", async () => await titleOf(engine, session) === "Fix the parser");
  assert.equal(await engine.prompt(session, "And then?"), "end_turn");
  assert.deepEqual(told(engine), ["Why does it fail?", "Fix the parser"]);
  assert.equal(engine.server.titleRequests.length, 1);
  assert.deepEqual(engine.server.problems, []);
});

/** A session without a process, whose model gives titles by this script. */
async function titled(wire: WireName, script: string, titles: string) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await ModelServer.start(script, { secrets: [SECRET], titles }));
  const { provider } = engineConfig(server, wire);
  const engine = stack.use(await startSession({ wire, script: "", config: { provider } }));
  const owned = stack.move();
  return {
    engine,
    server,
    title: () => new StoredSessions(engine.database).get("s1").title,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

for (const wire of WIRES) {
  Deno.test(`${wire}: the request for a title has the first turn and no tools`, async () => {
    await using session = await titled(
      wire,
      "say The parser was wrong.\n---\nsay Two.\n---\nsay Three.",
      'wait title\nsay **"Fix the parser"**.\nsay More words',
    );
    const { engine, server, title } = session;
    assert.deepEqual(await engine.prompt("\nWhy does it fail?\nPlease look."), END_TURN);
    await server.reached("title");
    assert.equal(title(), "Why does it fail?");
    assert.deepEqual(await engine.prompt("And now?"), END_TURN);
    server.release("title");
    await waitUntil("the title", () => title() === "Fix the parser");
    assert.deepEqual(await engine.prompt("And then?"), END_TURN);
    const [asked, ...more] = server.titleRequests;
    assert.deepEqual(more, []);
    const body = JSON.stringify(asked);
    assert.ok(body.includes(TITLES) && body.includes("The parser was wrong."), body);
    assert.ok(!body.includes('"tools"'), body);
    assert.deepEqual(server.problems, []);
  });
}

for (
  const [what, titles] of [
    ["fails", "status 500\nrepeat"],
    ["says nothing", "say  "],
    ["breaks off", "say Half a\ncut"],
  ] as const
) {
  Deno.test(`where the title ${what} the first line of the message stays, and nothing is tried again`, async () => {
    await using session = await titled("openai_chat", "say One.\nrepeat", titles);
    const { engine, server, title } = session;
    await engine.prompt("Why does it fail?");
    await waitUntil("the request", () => server.titleRequests.length === 1);
    await engine.prompt("Again");
    await engine.session.close();
    assert.equal(title(), "Why does it fail?");
    assert.equal(server.titleRequests.length, 1);
  });
}

Deno.test("a title that the user has given stays, and a close does not wait for the model's", async () => {
  await using engine = await share({ script: "say One.\nrepeat" });
  engine.server.playTitles("wait title\nsay Never\nrepeat");
  const session = await engine.open();
  await engine.prompt(session, "Why?");
  await engine.server.reached("title");
  await engine.ask("session_rename", { sessionId: session, title: "Mine" });
  engine.server.release("title");
  await engine.prompt(session, "Go on");
  await engine.agent.request(methods.agent.session.close, { sessionId: session });
  assert.equal(await titleOf(engine, session), "Mine");
  assert.deepEqual(told(engine), ["Why?", "Mine"]);

  // The model does not answer while this one is closed.
  engine.server.play("new-history\nsay Two.");
  const other = await engine.open();
  await engine.prompt(other, "And this?");
  await waitUntil("the request", () => engine.server.titleRequests.length === 2);
  await engine.agent.request(methods.agent.session.close, { sessionId: other });
  assert.equal(await titleOf(engine, other), "And this?");
});

Deno.test("switched off, nothing asks for a title", async () => {
  await using engine = await startSession({ script: "say One.\nrepeat", config: { title: false } });
  for (const text of ["First", "Second"]) await engine.prompt(text);
  await engine.session.close();
  assert.deepEqual(engine.server.titleRequests, []);
});

Deno.test("a turn that failed or was stopped asks for no title", async () => {
  await using engine = await share({ script: "status 401\n---\nsay Half\nwait here\n---\nsay Whole." });
  const session = await engine.open();
  await refusal(engine.prompt(session, "First"));
  const stopped = engine.prompt(session, "Second");
  await engine.server.reached("here");
  await engine.agent.notify(methods.agent.session.cancel, { sessionId: session });
  assert.equal(await stopped, "cancelled");
  assert.equal(engine.server.titleRequests.length, 0);
  await engine.prompt(session, "Third");
  await waitUntil("the title", async () => await titleOf(engine, session) === "Scripted title");
});

Deno.test("renamed, archived, deleted: the list says so, and what is deleted cannot be opened", async () => {
  await using engine = await share({ script: "say One.\nrepeat" });
  const sessions: string[] = [];
  for (const text of ["First", "Second", "Third"]) {
    const session = await engine.open();
    await engine.prompt(session, text);
    await waitUntil("the title", async () => await titleOf(engine, session) === "Scripted title");
    sessions.push(session);
  }
  const [first = "", second = "", third = ""] = sessions;
  const own = async (archived = false) =>
    (await rows(engine, archived)).filter(({ sessionId }) => sessions.includes(sessionId));
  assert.equal(
    (await engine.ask("session_rename", { sessionId: first, title: "A\tna\u001bme\n!" })).title,
    "A na me",
  );
  assert.match(
    await refusal(engine.ask("session_rename", { sessionId: first, title: " \u0007" })),
    /can be seen/,
  );
  assert.equal(
    (await engine.ask("session_rename", { sessionId: second, title: "x".repeat(300) })).title.length,
    80,
  );
  await engine.ask("session_rename", { sessionId: first, title: "A name" });
  await engine.ask("session_archive", { sessionId: second, archived: true });
  await engine.ask("session_delete", { sessionId: third });
  assert.deepEqual((await own()).map(({ title }) => title), ["A name"]);
  assert.deepEqual((await own(true)).map(({ sessionId }) => sessionId), [second]);
  await engine.ask("session_archive", { sessionId: second, archived: false });
  assert.equal((await own()).length, 2);
  assert.match(await refusal(engine.resume(third)), /not found/i);
  assert.match(await refusal(engine.prompt(third, "Hello")), /no such session/);
  assert.match(
    await refusal(engine.ask("session_rename", { sessionId: third, title: "x" })),
    /^This session is not stored any more: it was deleted\.$/,
  );
  assert.match(
    await refusal(engine.ask("checkpoints", { sessionId: third })),
    /^no such session is open; it may have been deleted$/,
  );
  // Deleting what is not there is what was wanted.
  await engine.agent.request(methods.agent.session.delete, { sessionId: third });
  assert.equal(await engine.prompt(first, "Go on"), "end_turn");
});

Deno.test("a fork goes on from where it was made, and the search and the export know both", async () => {
  await using engine = await share({
    project: { "a.ts": "const a = 1;\n" },
    script: 'call read_file {"path": "a.ts"}\n---\nsay It is a *constant*.\n---\n' +
      'call edit_file {"path": "a.ts", "old_str": "= 1", "new_str": "= 2"}\n---\nsay Changed ``` it.\n---\nsay Forked.\nnew-history',
  });
  const session = await engine.open();
  await engine.prompt(session, "What is a?");
  await engine.prompt(session, "Change it");
  const { sessionId: fork } = await engine.ask("session_fork", { sessionId: session, turn: 1 });
  await engine.resume(fork);
  await engine.prompt(fork, "Something else");
  const sent = JSON.stringify(engine.server.requests.at(-1)?.body);
  assert.ok(sent.includes("It is a *constant*.") && !sent.includes("Change it"), sent);
  const { hits } = await engine.ask("session_search", { query: "CONST", limit: 10 });
  assert.deepEqual(new Set(hits.map(({ sessionId }) => sessionId)), new Set([session, fork]));
  assert.ok(hits.every(({ turn }) => turn === 1));
  const markdown = (await engine.ask("session_export", { sessionId: session, format: "markdown" })).text;
  for (
    const part of [
      "## You,",
      "Change it",
      "It is a *constant*.",
      "<details><summary>✓ read a.ts 1 line</summary>",
      "<details><summary>✓ edit a.ts +1 −1</summary>\n\n```diff\n--- a/a.ts\n+++ b/a.ts\n@@ -1,1 +1,1 @@\n" +
      "-const a = 1;\n+const a = 2;\n```\n\n</details>",
      "Changed ``` it.",
    ]
  ) assert.ok(markdown.includes(part), `${part} in ${markdown}`);
  const json = JSON.parse((await engine.ask("session_export", { sessionId: session, format: "json" })).text);
  assert.equal(json.version, 1);
  assert.equal(json.session.id, session);
  const said = json.entries.filter(({ type }: { type: string }) => /_(message|result)$/.test(type));
  assert.deepEqual(said.map(({ turn, type }: { turn: number; type: string }) => `${turn} ${type}`), [
    ...["1 user_message", "1 assistant_message", "1 tool_result", "1 assistant_message"],
    ...["2 user_message", "2 assistant_message", "2 tool_result", "2 assistant_message"],
  ]);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a long session is exported in pieces that make one text", () => {
  using database = Database.inMemory();
  const store = new SqliteStore(database);
  storeWork({ database, store, usage: new SqliteUsage(database) }, {
    id: "s",
    root: "/p",
    turns: 40,
    calls: 20,
  });
  const session = new StoredSessions(database).get("s");
  for (const write of [exportJson, exportMarkdown]) {
    const texts: string[] = [];
    for (let from: number | undefined = 0; from !== undefined;) {
      const piece = write(store, session, from);
      texts.push(piece.text);
      from = piece.next;
    }
    assert.ok(texts.length > 1 && texts.every((text) => text.length < 2_000_000), `${texts.length} pieces`);
    const text = texts.join("");
    if (write === exportMarkdown) assert.equal(text.match(/^## You, /gm)?.length, 40);
    else assert.deepEqual(text, `${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
    if (write === exportJson) assert.equal(JSON.parse(text).entries.length, store.entries("s").length);
  }
});

Deno.test("a long session is read page by page, from its end, and then is whole", async () => {
  await using engine = await share({ script: "say An answer.\nrepeat" });
  const session = await engine.open();
  for (let turn = 1; turn <= 7; turn++) await engine.prompt(session, `Question ${turn}`);
  const questions: string[][] = [];
  let before: number | undefined;
  do {
    const page = await engine.ask("session_history", {
      sessionId: session,
      turns: 3,
      ...(before === undefined ? {} : { before }),
    });
    const texts = [...JSON.stringify(page.entries).matchAll(/Question (\d)/g)].map(([, number]) =>
      number ?? ""
    );
    questions.unshift(texts);
    before = page.before;
  } while (before !== undefined);
  assert.deepEqual(questions, [["1"], ["2", "3", "4"], ["5", "6", "7"]]);
});

Deno.test("a database of a newer version: the engine says so in one line and ends", async () => {
  await using project = await scratch();
  await using state = await scratch();
  {
    using database = await Database.openIn(state.root);
    database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  }
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", join(PLUGIN, "denops/agent/engine/main.ts")]
      .concat([`--state=${state.root}`, project.root]),
    stdin: "null",
  });
  const { code, stderr } = await command.output();
  assert.equal(code, 1);
  const said = new TextDecoder().decode(stderr).trim();
  assert.match(said, /^Cannot open .*agent\.db: a newer agent\.nvim has written it .* Update the plugin\.$/);
});

Deno.test("a fork's first request repeats the session's requests, so the provider's cache serves it", async () => {
  await using engine = await share({ script: "say One.\n---\nsay Two.\n---\nsay Three." });
  const session = await engine.open();
  await engine.prompt(session, "First");
  await engine.prompt(session, "Second");
  const { sessionId: fork } = await engine.ask("session_fork", { sessionId: session });
  await engine.resume(fork);
  await engine.prompt(fork, "Third");
  const [before = [], after = []] = engine.server.requests.slice(-2).map(({ body }) =>
    objects(body.messages)
  );
  assert.deepEqual(after.slice(0, before.length), before);
  // They share the scratch folder that the prompt names.
  const [scratch = ""] = /\/\S+\/scratch\/[\w-]+$/m.exec(string(before[0]?.content) ?? "") ?? [];
  const isThere = () => Deno.lstat(scratch).then(() => true, () => false);
  await engine.ask("session_delete", { sessionId: session });
  assert.ok(await isThere());
  await engine.ask("session_delete", { sessionId: fork });
  assert.ok(!await isThere());
});
