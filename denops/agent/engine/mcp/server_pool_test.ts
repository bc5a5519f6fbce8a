/** The life of servers: start, end, restart, lists that change, requests that are cancelled. */
import assert from "node:assert/strict";
import { scriptedServers, type ServerScript, TOOL } from "../../../../tests/support/mcp.ts";
import type { McpCall } from "../ports/mcp.ts";

const NOBODY = new AbortController().signal;
const CALL: McpCall = { id: "c1", progress: () => {} };
const ECHO = { server: "fs", tool: "echo" };

/** Timers end a hundred times as soon. */
function impatient(): Disposable {
  const { setTimeout: own } = globalThis;
  globalThis.setTimeout = ((run: () => void, milliseconds = 0) => own(run, milliseconds / 100)) as typeof own;
  return { [Symbol.dispose]: () => void (globalThis.setTimeout = own) };
}

async function started(scripts: Readonly<Record<string, ServerScript | readonly ServerScript[]>>) {
  const all = scriptedServers(scripts);
  const port = all.servers.join("s1");
  port.start();
  await port.settled(60_000, NOBODY);
  const [state] = all.servers.states("s1");
  assert.ok(state !== undefined);
  return { ...all, port, state };
}

/** Waits until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("a server that speaks the older protocol is connected, listed and called", async () => {
  const { port, state, last } = await started({ fs: { instructions: "Be kind." } });
  assert.deepEqual([state.state, state.title, state.protocol], ["ready", "scripted 1", "2025-11-25"]);
  assert.deepEqual(state.tools, [{
    name: "fs__echo",
    description: "MCP server fs: Says it again.",
    listed: true,
  }]);
  assert.equal(port.servers[0]?.instructions, "Be kind.");
  const { text, failed } = await port.call(ECHO, { text: "x" }, CALL, NOBODY);
  assert.deepEqual([text, failed], ["echo ran", false]);
  assert.deepEqual(last().calls().map(({ params, session }) => [params?.arguments, session]), [[
    { text: "x" },
    "s1",
  ]]);
});

Deno.test("a server that ends at an unknown request is started again as an old one", async () => {
  const first: ServerScript = {
    play: ({ method }, server) => {
      if (method === "server/discover") server.end();
      return true;
    },
  };
  const { state, started: starts } = await started({ fs: [first, {}] });
  assert.equal(state.state, "ready");
  assert.deepEqual(starts.get("fs")?.[1]?.received[0]?.method, "initialize");
});

Deno.test("a server that ends is started again, three times; a call in between says so, and no longer runs", async () => {
  using _ = impatient();
  const dies: ServerScript = {
    play: ({ method }, server) => {
      if (method !== "tools/call") return false;
      server.end("signal SIGSEGV: no memory");
      return true;
    },
  };
  const { port, servers, started: starts } = await started({ fs: dies });
  for (let start = 1; start <= 4; start++) {
    await until(() => port.servers[0]?.state === "ready" && starts.get("fs")?.length === start);
    await assert.rejects(
      port.call(ECHO, {}, CALL, NOBODY),
      /The MCP server fs ended during the call: signal SIGSEGV: no memory\./,
    );
  }
  await until(() => port.servers[0]?.state === "failed");
  assert.equal(port.servers[0]?.problem, "signal SIGSEGV: no memory");
  await assert.rejects(
    port.call(ECHO, {}, CALL, NOBODY),
    /The MCP server fs is not running: signal SIGSEGV: no memory. Go on without it, or tell the user./,
  );
  assert.deepEqual(port.tools, []);
  assert.match(servers.states("s1")[0]?.log.at(-1) ?? "", /It ended: signal SIGSEGV/);
  servers.states("s1", { name: "fs", to: "restart" });
  await until(() => port.servers[0]?.state === "ready");
});

Deno.test("a server that must not start fails at once, with the reason", async () => {
  const { ServerPool } = await import("./server_pool.ts");
  let starts = 0;
  const pool = new ServerPool([{ name: "fs" }, { name: "idle", off: true }], [], {
    open: () => {
      starts += 1;
      return Promise.reject(new Error("the user did not approve it"));
    },
    notice: () => {},
  });
  const port = pool.join("s1");
  port.start();
  await port.settled(60_000, NOBODY);
  assert.deepEqual(port.servers.map(({ state, problem }) => [state, problem]), [
    ["failed", "the user did not approve it"],
    ["off", undefined],
  ]);
  assert.equal(starts, 1);
  assert.throws(() => pool.states("s1", { name: "other", to: "start" }), /No MCP server is called other./);
});

Deno.test("a call that is stopped is cancelled at the server; a silent server times out", async () => {
  using _ = impatient();
  const silent: ServerScript = { play: ({ method }) => method === "tools/call" };
  const { port, last } = await started({ fs: silent });
  const controller = new AbortController();
  const call = port.call(ECHO, {}, CALL, controller.signal);
  await until(() => last().calls().length === 1);
  controller.abort();
  await assert.rejects(call);
  const cancelled = () => last().received.filter(({ method }) => method === "notifications/cancelled");
  await until(() => cancelled().length === 1);
  assert.equal(cancelled()[0]?.params?.requestId, last().calls()[0]?.id);
  await assert.rejects(port.call(ECHO, {}, CALL, NOBODY), /did not answer in time. The call was cancelled./);
  await until(() => cancelled().length === 2);
});

Deno.test("progress is shown, and a changed list is read again", async () => {
  const tools: unknown[] = [TOOL];
  const lines: string[] = [];
  const { port, last } = await started({
    fs: {
      tools,
      play: (message, server) => {
        if (message.method !== "tools/call") return false;
        const meta = message.params?._meta as { readonly progressToken: number };
        const params = { progressToken: meta.progressToken, progress: 1, total: 4, message: "one\nof four" };
        server.send({ jsonrpc: "2.0", method: "notifications/progress", params });
        setTimeout(() => server.result(message, { content: [] }), 1);
        return true;
      },
    },
  });
  await port.call(ECHO, {}, { ...CALL, progress: (line) => void lines.push(line) }, NOBODY);
  assert.deepEqual(lines, ["25 % one of four"]);
  const before = port.tools;
  tools.push({ ...TOOL, name: "late" });
  last().send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await until(() => port.tools !== before);
  assert.deepEqual(port.tools.map(({ name }) => name), ["fs__echo", "fs__late"]);
});

Deno.test("a server reads the project's folders, and gets no answer of a model", async () => {
  const { last, servers } = await started({ fs: {} });
  last().send({ jsonrpc: "2.0", id: 71, method: "roots/list" });
  last().send({
    jsonrpc: "2.0",
    id: 72,
    method: "sampling/createMessage",
    params: { messages: [], maxTokens: 1 },
  });
  last().send({ jsonrpc: "2.0", id: 73, method: "ping" });
  last().send({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "error", data: "no\u001b[0m disk" },
  });
  const answers = () => last().received.filter(({ id = 0, method }) => method === undefined && id > 70);
  await until(() => answers().length === 3);
  assert.deepEqual(answers().find(({ id }) => id === 71)?.result, {
    roots: [{ uri: "file:///project", name: "project" }],
  });
  assert.ok(answers().find(({ id }) => id === 72)?.error !== undefined);
  assert.deepEqual(answers().find(({ id }) => id === 73)?.result, {});
  assert.deepEqual(servers.states("s1")[0]?.log.slice(-2).sort(), [
    "It asked for a model's answer, which was refused.",
    "error: no disk",
  ]);
});

Deno.test("resources and prompts are read for the session that asks", async () => {
  const { port, last, state } = await started({
    fs: {
      resources: [{ uri: "x:1", name: "One" }, { uri: "x:\u202e2", name: "hidden" }],
      prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }],
      play: (message, server) => {
        if (message.method === "resources/read") {
          server.result(message, { contents: [{ uri: "x:1", text: "T" }] });
        } else if (message.method === "prompts/get") {
          const content = { type: "text", text: JSON.stringify(message.params) };
          server.result(message, { messages: [{ role: "user", content }] });
        } else return false;
        return true;
      },
    },
  });
  assert.deepEqual(state.resources, [{ uri: "x:1", name: "One" }]);
  assert.equal((await port.resource("fs", "x:1", NOBODY)).text, "[Resource x:1]\nT");
  assert.equal(
    (await port.prompt("fs", "greet", "Ada", NOBODY)).text,
    '{"name":"greet","arguments":{"who":"Ada"}}',
  );
  await assert.rejects(port.prompt("fs", "greet", "", NOBODY), /the prompt greet needs who=…/);
  await assert.rejects(port.prompt("fs", "nope", "", NOBODY), /the MCP server fs has no prompt nope/);
  const reads = last().received.filter(({ method }) =>
    method === "resources/read" || method === "prompts/get"
  );
  assert.deepEqual(reads.map(({ session }) => session), ["s1", "s1"]);
});

/** Resolves after real milliseconds. */
function elapsed(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  AbortSignal.timeout(milliseconds).addEventListener("abort", () => resolve());
  return promise;
}

Deno.test("a server of the newest protocol asks within a call; nothing times out while the user thinks", async () => {
  using _ = impatient();
  const complete = { resultType: "complete" };
  const fields = { name: { type: "string" } };
  const form = { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: fields } };
  const who = { method: "elicitation/create", params: form };
  const { port, state, last } = await started({
    fs: {
      play: (message, server) => {
        if (message.method === "server/discover") {
          const capabilities = { tools: {} };
          server.result(message, { ...complete, supportedVersions: ["2026-07-28"], capabilities });
        } else if (message.method === "tools/list") server.result(message, { ...complete, tools: [TOOL] });
        else if (message.method !== "tools/call") return false;
        else if (message.params?.inputResponses === undefined) {
          server.result(message, { resultType: "input_required", inputRequests: { who }, requestState: "s" });
        } else server.result(message, { ...complete, content: [{ type: "text", text: "Ordered." }] });
        return true;
      },
    },
  });
  assert.deepEqual([state.state, state.protocol], ["ready", "2026-07-28"]);
  const ask = () => elapsed(900).then(() => "Ada");
  const { text } = await port.call(ECHO, { text: "x" }, { ...CALL, questions: { ask } }, NOBODY);
  assert.match(text, /Ordered\.$/);
  assert.deepEqual(
    last().calls().map(({ params, session }) => [params?.arguments, params?.inputResponses, session]),
    [
      [{ text: "x" }, undefined, "s1"],
      [{ text: "x" }, { who: { action: "accept", content: { name: "Ada" } } }, "s1"],
    ],
  );
});
