/** What the engine does with a client's own abilities, with two sessions, and with a pipe that misbehaves. */
import { methods } from "../../denops/agent/deps/acp_sdk.ts";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { answerText, type EngineProcess, spawnEngine, startEngine } from "../support/acp.ts";
import { DEFAULT_TIMEOUT, waitUntil, within } from "../support/project.ts";
import { reached } from "../support/server.ts";
import { type EnginePart, inOneEngine } from "./shared_engine.ts";

const withEditor = inOneEngine(true);
const withoutEditor = inOneEngine(false);

/** An editor with files open in it: what it shows is not what is on disk. */
class Editor {
  readonly written: [path: string, content: string][] = [];
  constructor(readonly shown: Record<string, string>) {}

  readonly options: Omit<EnginePart, "script"> = {
    readTextFile: ({ path }) => {
      const content = Object.entries(this.shown).find(([name]) => path.endsWith(`/${name}`))?.[1];
      return content === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve({ content });
    },
    writeTextFile: async ({ path, content }) => {
      this.written.push([path, content]);
      await Deno.writeTextFile(path, content);
    },
  };
}

Deno.test("the model reads the text that stands in the client's editor", async () => {
  const editor = new Editor({ "src/a.ts": "unsaved line\n" });
  await using engine = await withEditor({
    ...editor.options,
    project: { "src/a.ts": "line on disk\n" },
    script:
      'call read_file {"path": "src/a.ts"}\n---\nexpect unsaved line\nexpect-not line on disk\nsay Read.',
  });
  assert.equal(await engine.prompt(await engine.open(), "Read it"), "end_turn");
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("writes go through the client: into unsaved text, into files as they are, and new ones", async () => {
  const editor = new Editor({ "a.ts": "one\ntwo, unsaved\n", "b.ts": "three\n" });
  await using engine = await withEditor({
    ...editor.options,
    project: { "a.ts": "one\ntwo\n", "b.ts": "three\n" },
    script: 'call read_files {"paths": ["a.ts", "b.ts"]}\n---\n' +
      'call edit_file {"path": "a.ts", "old_str": "one", "new_str": "1"}\n' +
      'call edit_file {"path": "b.ts", "old_str": "three", "new_str": "3"}\n' +
      'call write_file {"path": "new/c.ts", "content": "four\\n"}\n---\n' +
      "expect Edited a.ts\nexpect Edited b.ts\nexpect Created new/c.ts\nsay Done.",
  });
  assert.equal(await engine.prompt(await engine.open(), "Edit it"), "end_turn");
  assert.deepEqual(engine.server.problems, []);
  assert.deepEqual(editor.written, [
    [engine.project.path("a.ts"), "1\ntwo, unsaved\n"],
    [engine.project.path("b.ts"), "3\n"],
    [engine.project.path("new/c.ts"), "four\n"],
  ]);
});

Deno.test("a write that the client refuses is a failed call, and nothing is written", async () => {
  const editor = new Editor({});
  await using engine = await withEditor({
    ...editor.options,
    writeTextFile: () => Promise.reject(new Error("the disk is full")),
    script: 'call write_file {"path": "c.ts", "content": "four\\n"}\n---\n' +
      "expect Cannot write c.ts\nexpect the disk is full\nsay Too bad.",
  });
  assert.equal(await engine.prompt(await engine.open(), "Write it"), "end_turn");
  assert.deepEqual(engine.server.problems, []);
  await assert.rejects(engine.project.read("c.ts"), Deno.errors.NotFound);
});

Deno.test("a client that refuses to show a file is obeyed", async () => {
  const editor = new Editor({ "open.ts": "open\n" });
  await using engine = await withEditor({
    ...editor.options,
    project: { "secret.ts": "hidden\n", "open.ts": "open\n" },
    script:
      'call read_file {"path": "secret.ts"}\ncall edit_file {"path": "secret.ts", "old_str": "hidden", ' +
      '"new_str": "seen"}\ncall write_file {"path": "secret.ts", "content": "mine\\n"}\n' +
      'call read_file {"path": "open.ts"}\n---\n' +
      "expect Cannot read secret.ts: no such file\nexpect open\nexpect-not hidden\nsay I see.",
  });
  assert.equal(await engine.prompt(await engine.open(), "Read it"), "end_turn");
  assert.deepEqual(engine.server.problems, []);
  assert.equal(await engine.project.read("secret.ts"), "hidden\n");
});

Deno.test("a file that the prompt has handed over counts as read, whole or in part", async () => {
  await using engine = await withoutEditor({
    project: { "a.ts": "one\r\ntwo\r\n", "b.ts": "three\n", "c.ts": "four\n", "d.ts": "five\n" },
    script: 'call edit_file {"path": "a.ts", "old_str": "one", "new_str": "1"}\n' +
      'call edit_file {"path": "b.ts", "old_str": "three", "new_str": "3"}\n' +
      'call edit_file {"path": "c.ts", "old_str": "four", "new_str": "4"}\n' +
      'call edit_file {"path": "d.ts", "old_str": "five", "new_str": "5"}\n---\n' +
      "expect Edited a.ts\nexpect Edited b.ts\nexpect Edited c.ts\nexpect You have not read d.ts yet\nsay Done.",
  });
  const sessionId = await engine.open();
  const resource = (name: string, text: string) => ({
    type: "resource" as const,
    resource: { uri: `${pathToFileURL(engine.project.root)}/${name}`, text },
  });
  const answer = await engine.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "Edit them" },
      resource("a.ts", "one\ntwo\n"),
      resource("b.ts#L1", "thr"),
      { type: "resource_link", name: "c.ts", uri: `${pathToFileURL(engine.project.root)}/c.ts` },
    ],
  });
  assert.deepEqual(answer, { stopReason: "end_turn" });
  assert.deepEqual(engine.server.problems, []);
  assert.equal(await engine.project.read("a.ts"), "1\r\ntwo\r\n");
});

Deno.test("a turn is cancelled even if the client's editor never answers", async () => {
  const asked = Promise.withResolvers<void>();
  const editor = new Editor({});
  await using engine = await withEditor({
    ...editor.options,
    readTextFile: () => {
      asked.resolve();
      return new Promise(() => {});
    },
    script: 'call read_file {"path": "src/greet.ts"}\n---\nexpect And now?\nsay Fine.',
  });
  const sessionId = await engine.open();
  const turn = engine.prompt(sessionId, "Read it");
  await asked.promise;
  await engine.agent.notify(methods.agent.session.cancel, { sessionId });
  assert.equal(await turn, "cancelled");
  assert.equal(await engine.prompt(sessionId, "And now?"), "end_turn");
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("two sessions at once: one waits, the other goes on, and neither hears the other", async () => {
  await using engine = await withoutEditor({
    script: "when first question\nsay First half,\nwait here\nsay answer.\n---\n" +
      "when second question\nexpect-not first question\nsay Second answer.",
  });
  const first = await engine.open();
  const second = await engine.open();
  const slow = engine.prompt(first, "first question");
  await waitUntil("the first half", () => answerText(engine.seen, first) === "First half,");
  assert.equal(await engine.prompt(second, "second question"), "end_turn");
  assert.equal(answerText(engine.seen, second), "Second answer.");
  await engine.agent.notify(methods.agent.session.cancel, { sessionId: second });
  engine.server.release("here");
  assert.equal(await slow, "end_turn");
  assert.equal(answerText(engine.seen, first), "First half,\nanswer.");
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("1,000 pieces arrive complete, in order and before the end of the turn", async () => {
  // A pause after each, so that hardly two of them are one read; they are gathered for 32 ms.
  await using engine = await withoutEditor({ script: "slow 1\nflood 1000" });
  const session = await engine.open();
  assert.equal(await engine.prompt(session, "Count"), "end_turn");
  const words = Array.from({ length: 1000 }, (_, at) => `word${at + 1} `);
  assert.equal(answerText(engine.seen, session), words.join(""));
  assert.ok(engine.seen.length > 20, `${engine.seen.length} updates`);
});

/** The lines that the engine writes, as JSON. */
async function* answers({ process }: EngineProcess): AsyncGenerator<Record<string, unknown>> {
  let rest = "";
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };

Deno.test("garbage on stdin is answered with an error, and the engine goes on", async () => {
  await using engine = await spawnEngine({ script: "" });
  const writer = engine.process.stdin.getWriter();
  const lines = ["this is no JSON", "\u0000\ufffd", "[]", "42", '{"jsonrpc":"2.0","method":"no/such"}', ""];
  for (const line of [...lines, JSON.stringify(INITIALIZE)]) {
    await writer.write(new TextEncoder().encode(`${line}\n`));
  }
  const codes: unknown[] = [];
  for await (const { id, error } of answers(engine)) {
    if (id === 1) break;
    codes.push(typeof error === "object" && error !== null && "code" in error ? error.code : error);
  }
  assert.deepEqual(codes, [-32700, -32700, -32600, -32600]);
  await writer.close();
  assert.equal((await engine.process.status).code, 0);
});

for (const when of ["idle", "in the middle of a turn"]) {
  Deno.test(`the engine ends when its stdin does, ${when}`, async () => {
    await using engine = await spawnEngine({ script: "say One\nwait here\nsay two" });
    const { process, project, server } = engine;
    const writer = process.stdin.getWriter();
    const send = (message: unknown) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...Object(message) })}\n`));
    const received = answers(engine);
    await send(INITIALIZE);
    await received.next();
    await send({ id: 2, method: "session/new", params: { cwd: project.root, mcpServers: [] } });
    const { value } = await received.next();
    if (when !== "idle") {
      const { sessionId } = Object(value?.result);
      const prompt = [{ type: "text", text: "Hello" }];
      await send({ id: 3, method: "session/prompt", params: { sessionId, prompt } });
      await reached(server, "here");
    }
    await writer.close();
    const ended = await within(DEFAULT_TIMEOUT, process.status);
    assert.ok(ended.done && ended.value.code === 0);
    await received.return(undefined);
  });
}

Deno.test("calls that a model writes into its text are calls to any client, and the mark of the end is not shown", async () => {
  await using engine = await startEngine({
    nativeTools: false,
    script:
      'say I write.\nsay <tool_call>\nsay {"name": "write_file", "arguments": {"path": "c.ts", "content": "four"}}\n' +
      "say </tool_call>\n---\nexpect Created c.ts\nsay Done.\nsay [TASK_COMPLETE]",
  });
  const session = await engine.open();
  assert.equal(await engine.prompt(session, "Write it"), "end_turn");
  assert.equal(answerText(engine.seen, session), "I write.Done.");
  const updates = engine.seen.flatMap((one) => one.type === "update" ? [one.update] : []);
  const calls = updates.filter((update) => update.sessionUpdate === "tool_call");
  assert.equal(calls.length, 1);
  assert.ok(updates.some((update) => "title" in update && update.title === "write c.ts"));
  const ids = updates.flatMap((update) =>
    update.sessionUpdate === "tool_call_update" ? [update.toolCallId] : []
  );
  assert.deepEqual([...new Set(ids)], calls.map(({ toolCallId }) => toolCallId));
  assert.equal(
    updates.findLast((update) => update.sessionUpdate === "tool_call_update")?.status,
    "completed",
  );
  assert.equal(await engine.project.read("c.ts"), "four");
  assert.deepEqual(engine.server.problems, []);
});
