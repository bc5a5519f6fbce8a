/** The engine is an ACP agent like any other: what a plain client of the protocol gets from it. */
import { methods, RequestError, type SessionUpdate } from "../../denops/agent/deps/acp_sdk.ts";
import assert from "node:assert/strict";
import { ALLOW, answerText, type EngineClient, type Seen, startEngine } from "../support/acp.ts";
import { pngFile } from "../support/pictures.ts";
import { waitUntil } from "../support/project.ts";
import { disconnected } from "../support/server.ts";
import { inOneEngine } from "./shared_engine.ts";

const share = inOneEngine(false);

const WRITE_ENV = `call write_file {"path": ".env", "content": "A=1\\n"}\n---\n`;

/** A tool call's life as the client was told of it: "pending", "permission", "in_progress", … */
function life(seen: readonly Seen[]): readonly string[] {
  const stages = seen.flatMap((entry) => {
    if (entry.type === "permission") return ["permission"];
    const { update } = entry;
    const told = update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update";
    return told && update.status ? [update.status] : [];
  });
  return stages.filter((stage, at) => stage !== stages[at - 1]);
}

function updates(seen: readonly Seen[]): readonly SessionUpdate[] {
  return seen.flatMap((entry) => entry.type === "update" ? [entry.update] : []);
}

async function refusal(asked: Promise<unknown>): Promise<RequestError> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

Deno.test("initialize answers version 1, whatever is asked for", async () => {
  await using engine = await share({ script: "" });
  for (const protocolVersion of [1, 7]) {
    const answer = await engine.agent.request(methods.agent.initialize, { protocolVersion });
    assert.equal(answer.protocolVersion, 1);
    assert.equal(answer.agentInfo?.name, "agent.nvim");
    assert.equal(answer.agentCapabilities?.promptCapabilities?.embeddedContext, true);
  }
});

Deno.test("a session is only for the engine's own project", async () => {
  await using engine = await share({ script: "" });
  const open = (cwd: string) => engine.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  await engine.open();
  for (const cwd of ["/", `${engine.project.root}/src`, `${engine.project.root}/nowhere`]) {
    const { code, message } = await refusal(open(cwd));
    assert.equal(code, -32602);
    assert.match(message, new RegExp(`this engine works in ${engine.project.root} only`));
  }
  assert.notEqual((await open(`${engine.project.root}/src/..`)).sessionId, "");
});

Deno.test("a configuration that is missing or wrong is told in one line", async () => {
  for (
    const [config, problem] of [
      ["{", /AGENT_CONFIG: it is not JSON/],
      ['{"model": "x"}', /AGENT_CONFIG: provider: /],
    ] as const
  ) {
    await using engine = await startEngine({ script: "", config });
    const { message } = await refusal(engine.open());
    assert.match(message, problem);
    assert.ok(!message.includes("\n"));
  }
});

Deno.test("a prompt of text, a resource and a link; the answer comes in pieces, before its end", async () => {
  await using engine = await share({
    script: "expect Explain it.\nexpect Contents of file:///a.ts\nexpect const a = 1;\n" +
      "expect See file:///b.ts\nsay One two three\nwait here\nsay four five.",
  });
  const sessionId = await engine.open();
  const answer = engine.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "Explain it." },
      { type: "resource", resource: { uri: "file:///a.ts", text: "const a = 1;\n" } },
      { type: "resource_link", uri: "file:///b.ts", name: "b.ts" },
    ],
  });
  await waitUntil("the first half", () => answerText(engine.seen, sessionId) === "One two three");
  engine.server.release("here");
  assert.equal((await answer).stopReason, "end_turn");
  assert.equal(answerText(engine.seen, sessionId), "One two three\nfour five.");
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a client of the protocol hands over files of the project, lines of them and images", async () => {
  const png = pngFile(16, 16);
  await using engine = await startEngine({
    script: `expect Contents of src/a.ts:L2-L2
expect two
expect Contents of b.ts (already provided, do not read again)
expect pasted is a PNG image
call edit_file {"path": "b.ts", "old_str": "b", "new_str": "c"}
---
say Done.`,
    project: { "src/a.ts": "one\ntwo\nthree\n", "b.ts": "b\n" },
    wire: "anthropic_messages",
  });
  const sessionId = await engine.open();
  const uri = (name: string) => `file://${engine.project.path(name)}`;
  const { stopReason } = await engine.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "Look." },
      { type: "resource_link", uri: `${uri("src/a.ts")}#L2-L2`, name: "a.ts" },
      { type: "resource_link", uri: uri("b.ts"), name: "b.ts" },
      { type: "resource_link", uri: "file:///etc/hosts", name: "hosts" },
      { type: "image", data: png.toBase64(), mimeType: "image/png", uri: "clipboard:///pasted" },
    ],
  });
  assert.equal(stopReason, "end_turn");
  assert.equal(await engine.project.read("b.ts"), "c\n");
  const [request] = engine.server.requests;
  assert.ok(JSON.stringify(request?.body).includes(png.toBase64()));
  assert.match(request?.text ?? "", /See file:\/\/\/etc\/hosts/);
  assert.doesNotMatch(request?.text ?? "", /localhost/);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("an allowed call: pending, permission, in_progress, completed, in this order", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<typeof ALLOW>();
  await using engine = await share({
    script: `${WRITE_ENV}expect Created .env\nsay Done.`,
    permission: () => {
      asked.resolve();
      return answer.promise;
    },
  });
  const session = await engine.open();
  const turn = engine.prompt(session, "Write it");
  await asked.promise;
  assert.deepEqual(life(engine.seen), ["pending", "permission"]);
  await assert.rejects(engine.project.read(".env"), Deno.errors.NotFound);
  const [request] = engine.seen.flatMap((entry) => entry.type === "permission" ? [entry.request] : []);
  const diff = { type: "diff", path: engine.project.path(".env"), oldText: null, newText: "A=1\n" };
  assert.deepEqual(request?.toolCall.content, [diff]);
  assert.deepEqual(request?.options.map(({ kind }) => kind), ["allow_once", "allow_always", "reject_once"]);
  answer.resolve(ALLOW);
  assert.equal(await turn, "end_turn");
  assert.deepEqual(life(engine.seen), ["pending", "permission", "in_progress", "completed"]);
  assert.equal(await engine.project.read(".env"), "A=1\n");
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("locations have the line of a range that was read, and the first changed line of an edit", async () => {
  await using engine = await share({
    script: `call read {"path": "src/a.ts"}
---
call read {"path": "src/a.ts", "offset": 3, "limit": 2}
call edit {"path": "src/a.ts", "edits": [{"old_str": "five", "new_str": "5"}, {"old_str": "two\\n", "new_str": ""}]}
call write {"path": ".env", "content": "A=1\\n"}
---
say Done.`,
    project: { "src/a.ts": "one\ntwo\nthree\nfour\nfive\n" },
    permission: () => Promise.resolve(ALLOW),
  });
  assert.equal(await engine.prompt(await engine.open(), "Edit it"), "end_turn");
  const path = engine.project.path("src/a.ts");
  const ends = updates(engine.seen).flatMap((update) =>
    update.sessionUpdate === "tool_call_update" && update.status === "completed" ? [update.locations] : []
  );
  const env = engine.project.path(".env");
  assert.deepEqual(ends, [[{ path }], [{ path, line: 3 }], [{ path, line: 2 }], [{ path: env, line: 1 }]]);
  const [request] = engine.seen.flatMap((entry) => entry.type === "permission" ? [entry.request] : []);
  assert.deepEqual(request?.toolCall.locations, [{ path: env, line: 1 }]);
});

Deno.test("a rejected call is not run, and the model is told", async () => {
  await using engine = await share({
    script: `${WRITE_ENV}expect The user rejected this\nsay As you like.`,
    permission: () => Promise.resolve({ outcome: { outcome: "selected", optionId: "reject" } }),
  });
  assert.equal(await engine.prompt(await engine.open(), "Write it"), "end_turn");
  assert.deepEqual(life(engine.seen), ["pending", "permission", "failed"]);
  await assert.rejects(engine.project.read(".env"), Deno.errors.NotFound);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a turn that is cancelled while it asks: cancelled, and the next one works", async () => {
  const asked = Promise.withResolvers<void>();
  await using engine = await share({
    script: `${WRITE_ENV}expect And now?\nsay All is well.`,
    permission: () => {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const sessionId = await engine.open();
  const turn = engine.prompt(sessionId, "Write it");
  await asked.promise;
  await engine.agent.notify(methods.agent.session.cancel, { sessionId });
  assert.equal(await turn, "cancelled");
  assert.deepEqual(life(engine.seen), ["pending", "permission", "failed"]);
  assert.equal(await engine.prompt(sessionId, "And now?"), "end_turn");
  await assert.rejects(engine.project.read(".env"), Deno.errors.NotFound);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a turn that is cancelled while it streams ends with stopReason cancelled", async () => {
  await using engine = await share({
    script: "say One two three\nwait here\nsay four\n---\nsay Next.",
  });
  const sessionId = await engine.open();
  const turn = engine.prompt(sessionId, "Hello");
  const waiting = engine.prompt(sessionId, "and this waits for it");
  await waitUntil("the first half", () => answerText(engine.seen, sessionId) === "One two three");
  await engine.agent.notify(methods.agent.session.cancel, { sessionId });
  assert.deepEqual([await turn, await waiting], ["cancelled", "cancelled"]);
  await disconnected(engine.server);
  assert.equal(await engine.prompt(sessionId, "Next"), "end_turn");
  assert.equal(engine.server.requests.length, 2);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a failure of the provider is the answer's error, in one line", async () => {
  await using engine = await share({ script: "status 401\n---\nsay Fine." });
  const session = await engine.open();
  const { message, data } = await refusal(engine.prompt(session, "Hello"));
  assert.match(message, /^Cannot use test: the API key was refused .* Check TEST_API_KEY\.$/);
  assert.deepEqual(data, { kind: "auth" });
  assert.equal(await engine.prompt(session, "Hello"), "end_turn");
});

Deno.test("an unknown session is an error, and a cancel of one is nothing", async () => {
  await using engine = await share({ script: "say Hi." });
  const session = await engine.open();
  const { code, message } = await refusal(engine.prompt("nobody", "Hello"));
  assert.equal(code, -32602);
  assert.match(message, /no such session is open/);
  await engine.agent.notify(methods.agent.session.cancel, { sessionId: "nobody" });
  assert.equal(await engine.prompt(session, "Hello"), "end_turn");
});

async function noticesOf(engine: EngineClient): Promise<readonly SessionUpdate[]> {
  assert.equal(await engine.prompt(await engine.open(), "Hello"), "end_turn");
  return updates(engine.seen).filter(({ sessionUpdate }) => sessionUpdate === "notice");
}

Deno.test("notices go to a client that has offered to take them, to others as text", async () => {
  const script = "status 429 retry-after=0\n---\nsay Here I am.";
  await using offers = await startEngine({ script, capabilities: { session: { notices: {} } } });
  const [notice] = await noticesOf(offers);
  assert.ok(notice?.sessionUpdate === "notice");
  assert.match(notice.title, /^Rate limit reached .* Retrying in 0 s, attempt 2 of 5\.$/);
  await using plain = await share({ script });
  assert.deepEqual(await noticesOf(plain), []);
  assert.ok(JSON.stringify(plain.seen).includes("Retrying in 0 s, attempt 2 of 5."));
});
