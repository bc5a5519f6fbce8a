/** A session that goes on in another engine process is the session that it would have been in the first. */
import { methods, RequestError, type SessionUpdate } from "../../denops/agent/deps/acp_sdk.ts";
import assert from "node:assert/strict";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import {
  answerText,
  type EngineClient,
  type EngineOptions,
  type Place,
  startEngine,
} from "../support/acp.ts";
import { SECRET } from "../support/agent.ts";
import { END_TURN, startEngine as startSession } from "../support/engine_session.ts";
import { type Scratch, scratch, waitUntil } from "../support/project.ts";
import { sample } from "../support/sample.ts";

const FILES = { "a.ts": "const a = 1;\n", "b.ts": `${"const b = 2;\n".repeat(400)}` };

const TURNS = [
  "think I should look.\nsay I look first: ü😀\n" +
  'call read_files {"paths": ["a.ts", "b.ts"]}\ncall update_plan {"steps": [{"step": "Edit", "status": "in_progress"}]}',
  'call edit_file {"path": "a.ts", "old_str": "a = 1", "new_str": "a = 3"}\ncall read_file {"path": "none.ts"}',
  "rawcall read_file {\"path\": 'a.ts',}",
  "say Done.\nsay All of it.  ",
].join("\n---\n");
// The file that was written in the first turn may be written again without being read: the model knows it.
const SECOND =
  'call edit_file {"path": "a.ts", "old_str": "a = 3", "new_str": "a = 4"}\n---\nexpect Edited a.ts\nsay Again.';

/** A place in the project with a state folder and a model of its own. */
async function place(
  stack: AsyncDisposableStack,
  project: Scratch,
  script: string,
): Promise<Place> {
  const state = stack.use(await scratch());
  const server = stack.use(await ModelServer.start(script, { secrets: [SECRET] }));
  return { project, state, server };
}

/** What the model gets, but for what is random of its session. */
function bodies({ server, project }: Pick<Place, "server" | "project">): readonly string[] {
  const texts = server.requests.map(({ body }) =>
    JSON.stringify(body).replaceAll(server.url, "").replaceAll(project.root, "PROJECT")
  );
  const [, mark = ""] = /<rules_(\w+)>/.exec(texts[0] ?? "") ?? [];
  assert.notEqual(mark, "");
  return texts.map((text) =>
    text.replaceAll(mark, "MARK").replace(/\/[^\s"\\]+\/scratch\/[\w-]+/g, "SCRATCH")
  );
}

async function restart(
  engine: EngineClient,
  sessions: readonly string[],
  options: Omit<EngineOptions, "script">,
) {
  await engine.kill();
  const next = await startEngine({ ...options, script: "", beside: engine });
  for (const session of sessions) await next.resume(session);
  return next;
}

for (const wire of WIRES) {
  Deno.test(`${wire}: what the model gets after the session was opened again is what it would have got without, byte for byte`, async () => {
    const options = { wire, files: FILES, config: { title: false }, script: `${TURNS}\n---\n${SECOND}` };
    await using whole = await startSession(options);
    for (const text of ["Change it", "Again"]) assert.deepEqual(await whole.prompt(text), END_TURN);
    await using parted = await startSession(options);
    assert.deepEqual(await parted.prompt("Change it"), END_TURN);
    const again = parted.again();
    assert.deepEqual(await again.prompt([{ type: "text", text: "Again" }]), END_TURN);
    await again.close();
    assert.deepEqual([whole.server.problems, parted.server.problems], [[], []]);
    assert.equal(bodies(parted).length, 6);
    assert.deepEqual(bodies(parted), bodies(whole));
    assert.equal(await parted.project.read("a.ts"), "const a = 4;\n");
  });
}

for (const wire of sample(WIRES, 1)) {
  Deno.test(`${wire}: what the model gets after a restart is what it would have got without, byte for byte`, async () => {
    await using stack = new AsyncDisposableStack();
    const project = stack.use(await scratch(FILES));
    const whole = await place(stack, project, `${TURNS}\n---\n${SECOND}`);
    {
      await using engine = await startEngine({ script: "", wire, beside: whole });
      const session = await engine.open();
      assert.equal(await engine.prompt(session, "Change it"), "end_turn");
      assert.equal(await engine.prompt(session, "Again"), "end_turn");
    }
    for (const [path, text] of Object.entries(FILES)) await project.write(path, text);
    const parted = await place(stack, project, `${TURNS}\n---\n${SECOND}`);
    await using first = await startEngine({ script: "", wire, beside: parted });
    const session = await first.open();
    assert.equal(await first.prompt(session, "Change it"), "end_turn");
    await using second = await restart(first, [session], { wire });
    assert.equal(await second.prompt(session, "Again"), "end_turn");
    assert.deepEqual([whole.server.problems, parted.server.problems], [[], []]);
    assert.equal(bodies(parted).length, 6);
    assert.deepEqual(bodies(parted), bodies(whole));
    assert.equal(await project.read("a.ts"), "const a = 4;\n");
  });
}

function updates(engine: EngineClient, session: string): readonly SessionUpdate[] {
  return engine.seen.flatMap((entry) =>
    entry.type === "update" && entry.session === session ? [entry.update] : []
  );
}

interface Cut {
  readonly what: string;
  readonly script: string;
  /** True when the engine is to be killed. @param asked how many requests there were before the turn */
  at(engine: EngineClient, session: string, asked: number): boolean;
  /** What the model is told in place of what is missing. */
  readonly expect: readonly string[];
}

const CUTS: readonly Cut[] = [
  {
    what: "before the answer",
    script: "wait here\nsay never",
    at: ({ server }, _, asked) => server.requests.length > asked,
    expect: ["[The answer was interrupted here.]"],
  },
  {
    what: "in the text",
    script: "say Half of it\nwait here\nsay never",
    at: (engine, session) => answerText(engine.seen, session) === "Half of it",
    expect: ["Half of it\n[The answer was interrupted here.]"],
  },
  {
    what: "in a thought",
    script: "think Hm\nwait here\nsay never",
    at: (engine) => JSON.stringify(engine.seen).includes("Hm"),
    expect: ["[The answer was interrupted here.]"],
  },
  {
    what: "while a call waits for the user",
    script:
      'say I write.\ncall read_file {"path": "a.ts"}\ncall write_file {"path": ".env", "content": "x"}\n' +
      'call read_file {"path": "b.ts"}',
    at: ({ seen }) => seen.some(({ type }) => type === "permission"),
    expect: [
      "I write.",
      "1\tconst a = 1;",
      "Interrupted before it had ended",
      "Interrupted before it had ended",
      "[The answer was interrupted here.]",
    ],
  },
];

const CLIENT = {
  capabilities: { session: { notices: {} } },
  permission: () => new Promise<never>(() => {}),
};

Deno.test("sessions go on in another engine, after one that was killed", async (test) => {
  await using first = await startEngine({ ...CLIENT, project: FILES, script: "say One.\nrepeat" });
  await test.step("what is not there cannot be opened; the list has what is", () => openAndList(first));
  const read = await readFile(first);
  const loaded = await changeFile(first);
  const live = updates(first, loaded);
  const { cut, turns } = await cutTurns(first);
  await first.project.write("c.ts", "const c = 1; // mine\n");
  await using second = await restart(first, [], CLIENT);
  await Promise.all(turns);
  await test.step(
    "session/load sends what was sent when it happened, each text and each call in one piece",
    () => load(second, loaded, live),
  );
  for (const session of [read, ...cut]) await second.resume(session);
  await test.step("a file that was changed while the engine was away is not written before it is read again", () =>
    editChanged(second, read));
  second.server.restart(CUTS.map(() => "say Here I am.").join("\n---\n"));
  // A second death before anything else was done changes nothing.
  await using third = await restart(second, cut, CLIENT);
  for (const [index, one] of CUTS.entries()) {
    await test.step(`killed ${one.what}: the turn gets its end, and the next one works`, () =>
      goOn(third, cut[index] ?? "", one));
  }
});

async function readFile(first: EngineClient): Promise<string> {
  await first.project.write("c.ts", "const c = 1;\n");
  first.server.restart('call read_file {"path": "c.ts"}\n---\nsay Read.');
  const session = await first.open();
  await first.prompt(session, "Read");
  return session;
}

async function editChanged(second: EngineClient, session: string): Promise<void> {
  second.server.restart(
    'call edit_file {"path": "c.ts", "old_str": "c = 1", "new_str": "c = 3"}\n---\n' +
      "expect c.ts has changed since you read it\nsay I see.",
  );
  assert.equal(await second.prompt(session, "Edit"), "end_turn");
  assert.deepEqual(second.server.problems, []);
  assert.equal(await second.project.read("c.ts"), "const c = 1; // mine\n");
}

/** One session for each of {@link CUTS}, in the middle of its turn. */
async function cutTurns(first: EngineClient) {
  await first.project.write("a.ts", FILES["a.ts"]);
  first.server.restart(CUTS.map(({ what, script }) => `when Go, killed ${what}\n${script}`).join("\n---\n"));
  const cut: string[] = [];
  const turns: Promise<unknown>[] = [];
  for (const { what, at } of CUTS) {
    const session = await first.open();
    const asked = first.server.requests.length;
    turns.push(first.prompt(session, `Go, killed ${what}`).catch(() => {}));
    await waitUntil(`the moment ${what}`, () => at(first, session, asked));
    cut.push(session);
  }
  return { cut, turns };
}

async function goOn(third: EngineClient, session: string, { what, expect }: Cut): Promise<void> {
  assert.equal(await third.prompt(session, "Go on"), "end_turn");
  const sent = JSON.stringify(third.server.requests.at(-1)?.body);
  assert.ok(sent.includes(`Go, killed ${what}`), sent);
  let from = 0;
  for (const part of expect) {
    const found = sent.indexOf(JSON.stringify(part).slice(1, -1), from);
    assert.ok(found >= 0, `${part} in ${sent}`);
    from = found + 1;
  }
  assert.equal(sent.split("[The answer was interrupted here.]").length, 2, sent);
  assert.deepEqual(third.server.problems, []);
  const { entries } = await third.ask("session_history", { sessionId: session, turns: 10 });
  const ends = entries.flatMap((entry) => entry.type === "turn_done" ? [entry.reason] : []);
  assert.deepEqual(ends, ["interrupted", "end_turn"]);
  const open = entries.filter((entry) =>
    entry.type === "update" && entry.update.sessionUpdate === "tool_call" &&
    !["completed", "failed"].includes(String(entry.update.status))
  );
  assert.deepEqual(open, []);
}

async function changeFile(first: EngineClient): Promise<string> {
  first.server.restart(
    'think Well\nslow 5\nthink then\nsay I look.\nslow 5\nsay Now.\ncall read_file {"path": "a.ts"}\n' +
      'call edit_file {"path": "a.ts", "old_str": "a = 1", "new_str": "a = 3"}\n---\n' +
      "usage 100 5\nsay Done.\n---\nstatus 401",
  );
  const session = await first.open();
  await first.prompt(session, "Change it\nplease");
  await assert.rejects(first.prompt(session, "And now?"), RequestError);
  return session;
}

async function load(second: EngineClient, session: string, live: readonly SessionUpdate[]): Promise<void> {
  const { agentCapabilities } = await second.initialize();
  assert.equal(agentCapabilities?.loadSession, true);
  await second.agent.request(methods.agent.session.load, {
    sessionId: session,
    cwd: second.project.root,
    mcpServers: [],
  });
  await waitUntil(
    "the last update",
    () => JSON.stringify(updates(second, session)).includes("API key was refused"),
  );
  const kinds = updates(second, session).map(({ sessionUpdate }) => sessionUpdate);
  assert.deepEqual(kinds, [
    "user_message_chunk",
    "agent_thought_chunk",
    "agent_thought_chunk",
    "agent_message_chunk",
    "usage_update",
    "tool_call",
    "tool_call",
    "agent_message_chunk",
    "user_message_chunk",
    "notice",
  ]);
  const text = (all: readonly SessionUpdate[], kind: SessionUpdate["sessionUpdate"]) =>
    all.map((update) =>
      update.sessionUpdate === kind && "content" in update && update.content !== null &&
        typeof update.content === "object" && "text" in update.content
        ? update.content.text
        : ""
    ).join("");
  for (const kind of ["agent_message_chunk", "agent_thought_chunk"] as const) {
    assert.equal(text(updates(second, session), kind), text(live, kind));
    assert.notEqual(text(live, kind), "");
  }
  const calls = updates(second, session).flatMap((update) =>
    update.sessionUpdate === "tool_call" ? [update] : []
  );
  for (const call of calls) {
    // What the client knew of the call in the end is what it is told at once.
    const known = live.filter((update) =>
      (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") &&
      update.toolCallId === call.toolCallId
    );
    const meta = Object.assign({}, ...known.map(({ _meta }) => _meta?.["agent.nvim"] ?? {}));
    delete meta.lines;
    // Of the moment: where its text was, and what of it was shown while it came.
    delete meta.draft;
    assert.deepEqual(call, {
      ...Object.assign({}, ...known),
      sessionUpdate: "tool_call",
      _meta: { "agent.nvim": meta },
    });
    assert.equal(call.status, "completed");
  }
}

/** In an engine that has no session yet. */
async function openAndList(engine: EngineClient): Promise<void> {
  const { agent, project } = engine;
  const untouched = await engine.open();
  const cwd = project.root;
  for (const method of [methods.agent.session.load, methods.agent.session.resume] as const) {
    const asked = agent.request(method, { sessionId: "nobody", cwd, mcpServers: [] });
    await assert.rejects(asked, (error) => error instanceof RequestError && error.code === -32002);
  }
  assert.deepEqual((await agent.request(methods.agent.session.list, {})).sessions, []);
  const sent = Date.now();
  await engine.prompt(untouched, "  \nFix the parser, please\nand more");
  const { sessions } = await agent.request(methods.agent.session.list, { cwd });
  assert.deepEqual(sessions.map(({ sessionId, cwd }) => ({ sessionId, cwd })), [{
    sessionId: untouched,
    cwd,
  }]);
  assert.ok(Date.parse(sessions[0]?.updatedAt ?? "") >= sent);
  assert.deepEqual((await agent.request(methods.agent.session.list, { cwd: "/" })).sessions, []);
  await assert.rejects(agent.request(methods.agent.session.list, { cursor: "no" }), RequestError);
  // Closed, it is still there for the next time.
  await agent.request(methods.agent.session.close, { sessionId: untouched });
  await assert.rejects(engine.prompt(untouched, "Hello"), RequestError);
  await engine.resume(untouched);
  assert.equal(await engine.prompt(untouched, "Hello"), "end_turn");
}
