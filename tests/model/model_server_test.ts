import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { runs } from "../support/runs.ts";
import { objects, property } from "./model_messages.ts";
import { ask, frames, stream } from "./model_requests.ts";

import { ModelServer } from "./model_server.ts";

const story = `think Look
think first.
say I will *look* ü😀.
call read_file {"path": "a.ts"}
call list
usage 1200 85 200
`;

Deno.test("split: every piece is a read of its own and all of them are the body", async () => {
  await using server = await ModelServer.start(`${story}---\nsplit 3\n${story}---\nsplit 1\n${story}`);
  const reads: Uint8Array[][] = [];
  for (let at = 0; at < 3; at++) {
    const { body } = await ask(server.url, "ollama", "Hi");
    assert.ok(body);
    reads.push(await Array.fromAsync(body));
  }
  const [whole, threes, ones] = reads.map((parts) =>
    Buffer.concat(parts).toString().replaceAll(/"created_at":"[^"]*"|call_\d/g, "")
  );
  assert.equal(threes, whole);
  assert.equal(ones, whole);
  // Lines are not multiples of 3: their last pieces are shorter.
  assert.ok(reads[1]?.every((part) => part.length <= 3));
  assert.ok(reads[2]?.every((part) => part.length === 1));
});

Deno.test("split holds for any size and any text", async () => {
  await using server = await ModelServer.start("");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 50 }), async (raw, size) => {
      const text = raw.replaceAll(/[\r\n]/g, "");
      server.play(`split ${size}\npieces ${size}\nsay ${text}`);
      const lines = objects(await stream(server, "ollama"));
      assert.equal(lines.map((line) => property(line.message, "content")).join(""), text);
    }),
    runs(30),
  );
});

Deno.test("cut is a network error, eof and nodone are a proper end", async () => {
  await using server = await ModelServer.start(
    "say Half\ncut\n---\nsay Half\neof\n---\nsay Whole\nnodone\n---\nsay Next",
  );
  const response = await ask(server.url, "openai_chat", "Hi");
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  const eof = await stream(server, "openai_chat");
  assert.ok(JSON.stringify(eof).includes("Half") && !JSON.stringify(eof).includes('"stop"'));
  const noDone = await stream(server, "openai_chat");
  assert.ok(JSON.stringify(noDone).includes('"stop"') && noDone.at(-1) !== "[DONE]");
  assert.equal((await stream(server, "openai_chat")).at(-1), "[DONE]");
  assert.ok(server.requests.every((request) => !request.aborted && request.doneAt !== undefined));
});

Deno.test("slow stops at once when the client goes away", async () => {
  await using server = await ModelServer.start("slow 3600000\nsay one two three");
  const client = new AbortController();
  const response = await ask(server.url, "anthropic_messages", "Hi", { signal: client.signal });
  const reader = response.body?.getReader();
  assert.equal((await reader?.read())?.done, false);
  client.abort();
  await server.aborted();
  const [request] = server.requests;
  assert.equal(request?.aborted, true);
  assert.ok(request.doneAt !== undefined && request.doneAt >= request.at);
  await reader?.read().catch(() => {});
});

Deno.test("wait holds the stream until it is released", async () => {
  await using server = await ModelServer.start("say one\nwait here\nsay two\n---\nwait before\nstatus 503");
  const response = await ask(server.url, "ollama", "Hi");
  await server.reached("here");
  assert.equal(server.requests[0]?.doneAt, undefined);
  server.release("here");
  assert.equal(objects(frames(await response.text())).length, 3);
  server.release("before");
  const refused = await ask(server.url, "ollama", "Hi");
  assert.equal(refused.status, 503);
  assert.ok(await refused.text());
});

Deno.test("wait ends when the client goes away", async () => {
  await using server = await ModelServer.start("say one\nwait here\neof");
  const client = new AbortController();
  const response = await ask(server.url, "ollama", "Hi", { signal: client.signal });
  await server.reached("here");
  client.abort();
  assert.equal((await server.aborted()).aborted, true);
  await assert.rejects(response.text());
});

Deno.test("when, repeat and play choose the answer", async () => {
  await using server = await ModelServer.start(
    "say first\n---\nwhen weather\nrepeat\nsay sunny\n---\nsay last\nrepeat",
  );
  const said = async (text: string) => JSON.stringify(await stream(server, "ollama", text));
  assert.match(await said("What is the weather?"), /sunny/);
  assert.match(await said("Hi"), /first/);
  assert.match(await said("weather again"), /sunny/);
  assert.match(await said("Hi 2"), /last/);
  assert.match(await said("Hi 3"), /last/);
  server.play("say new");
  assert.match(await said("weather 3"), /new/);
  assert.deepEqual(server.problems, []);
});

Deno.test("a script that has run out is a problem and an error", async () => {
  await using server = await ModelServer.start("");
  const response = await ask(server.url, "openai_chat", "Anyone?");
  assert.equal(response.status, 500);
  assert.match(await response.text(), /The script has no answer left for request 1\./);
  assert.deepEqual(server.problems, [
    "request 1 (openai_chat): the script has no answer left; the request says Anyone?",
  ]);
});

Deno.test("expectations look at what is new, and say their line", async () => {
  await using server = await ModelServer.start(
    "expect export\nexpect-not secret\nsay a\n---\nexpect new\nexpect-not old\nsay b",
  );
  await (await ask(server.url, "openai_chat", "my secret")).text();
  const messages = [
    { role: "user", content: "my secret" },
    { role: "assistant", content: "old" },
    { role: "user", content: [{ type: "text", text: "what is new?" }] },
  ];
  await (await ask(server.url, "openai_chat", messages)).text();
  assert.deepEqual(server.problems, [
    'request 1 (openai_chat): script:1: expected "export", the request says my secret',
    'request 1 (openai_chat): script:2: expected no "secret", the request says my secret',
  ]);
  assert.equal(server.requests[1]?.text, "what is new?");
});

Deno.test("a history that was changed is a problem unless the script says so", async () => {
  await using server = await ModelServer.start("say a\n---\nsay b\n---\nsay c\nnew-history");
  const messages = [{ role: "user", content: "Hi" }, { role: "assistant", content: "a" }, {
    role: "user",
    content: "Go",
  }];
  await stream(server, "openai_chat");
  await (await ask(server.url, "openai_chat", [{ role: "system", content: "S" }, ...messages])).text();
  await (await ask(server.url, "openai_chat", messages)).text();
  assert.deepEqual(server.problems, [
    'request 2 (openai_chat): message 0 is not what it was: {"role":"user","content":"Hi"} became {"role":"system","content":"S"}',
  ]);
});

Deno.test("a key in a body, and a call without a result, are problems", async () => {
  await using server = await ModelServer.start("call list\n---\nsay done", { secrets: ["sk-123"] });
  await stream(server, "openai_chat");
  const call = { id: "call_1", type: "function", function: { name: "list", arguments: "{}" } };
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "user", content: "The key is sk-123" },
  ];
  await (await ask(server.url, "openai_chat", messages)).text();
  assert.deepEqual(server.problems, [
    "request 2 (openai_chat): call call_1 has no result right after it",
    "request 2 (openai_chat): secret 1 is in the body",
  ]);
});

Deno.test("requests are told in order, with what was sent", async () => {
  await using server = await ModelServer.start("say a\n---\nsay b");
  const first = server.nextRequest();
  await stream(server, "ollama");
  await stream(server, "anthropic_messages", "Hello");
  assert.equal((await first).wire, "ollama");
  const second = await server.nextRequest();
  assert.equal(second.text, "Hello");
  assert.equal(second.body.max_tokens, 1024);
  assert.equal(second.headers["anthropic-version"], "2023-06-01");
  assert.ok(second.at >= (server.requests[0]?.at ?? Infinity));
});

Deno.test("models can be looked up", async () => {
  await using server = await ModelServer.start("", {
    model: { capabilities: ["completion"], contextLength: 4096 },
  });
  const json = async (path: string, init?: RequestInit): Promise<unknown> =>
    (await fetch(server.url + path, init)).json();
  const show = await json("/api/show", { method: "POST", body: '{"model":"scripted"}' });
  assert.deepEqual(property(show, "capabilities"), ["completion"]);
  assert.equal(property(property(show, "model_info"), "scripted.context_length"), 4096);
  assert.equal(objects(property(await json("/api/tags"), "models"))[0]?.name, "scripted");
  assert.equal(objects(property(await json("/v1/models"), "data"))[0]?.object, "model");
  const anthropic = await json("/v1/models", { headers: { "anthropic-version": "2023-06-01" } });
  assert.equal(property(anthropic, "has_more"), false);
  assert.deepEqual(server.lookups, ["POST /api/show", "GET /api/tags", "GET /v1/models", "GET /v1/models"]);
  assert.equal(
    (await fetch(`${server.url}/v2/chat`).then((response) => response.text())).includes("not found"),
    true,
  );
  assert.deepEqual(server.problems, ["GET /v2/chat: there is no such endpoint"]);
});

Deno.test("a server with a wrong script does not start", async () => {
  await assert.rejects(ModelServer.start("shout"), { name: "ScriptError" });
});
