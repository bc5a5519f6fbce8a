import assert from "node:assert/strict";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { assistant, call, PNG_IMAGE, READ_FILE, result, user } from "../../../../tests/support/histories.ts";
import { engineConfig } from "../../../../tests/support/engine_config.ts";
import { checked, KEY, serve } from "../../../../tests/support/model_client.ts";
import { type WireName, WIRES } from "../../protocol/providers.ts";
import { Prompt } from "../core/messages.ts";
import { createModel, type Model } from "./model.ts";

const prompt = new Prompt("Be brief.", [user("Hi")], [READ_FILE]);

async function answer(model: Model, asked = prompt) {
  return checked(await Array.fromAsync(model.stream(asked, new AbortController().signal)));
}

for (const wire of WIRES) {
  Deno.test(`${wire}: the configuration is what is sent`, async () => {
    await using server = await ModelServer.start("say Hello", { secrets: [KEY] });
    const config = engineConfig(server.url, wire, { temperature: 0.1, max_output_tokens: 77 });
    const { text } = await answer(
      createModel({ ...config, provider: { ...config.provider, headers: { "x-team": "7" } } }),
    );
    assert.equal(text, "Hello");
    const [request] = server.requests;
    assert.equal(request?.body.model, "model-1");
    assert.equal(request?.headers["x-team"], "7");
    assert.match(JSON.stringify(request?.body), /"temperature":0\.1.*77|77.*"temperature":0\.1/);
    assert.deepEqual(server.problems, []);
  });
}

Deno.test("a slash at the end of the address does no harm", async () => {
  await using server = await ModelServer.start("say Hello");
  assert.equal((await answer(createModel(engineConfig(`${server.url}/x/`, "ollama")))).text, "Hello");
  assert.equal(server.requests[0]?.path, "/x/api/chat");
});

Deno.test("a temperature that was refused is not sent again", async () => {
  const refusal = 'status 400 {"error":{"message":"temperature is deprecated for this model"}}';
  await using server = await ModelServer.start(`${refusal}\n---\nsay One\n---\nsay Two\nnew-history`);
  const model = createModel(engineConfig(server.url, "openai_chat", { temperature: 0.1 }));
  assert.equal((await answer(model)).text, "One");
  assert.equal((await answer(model)).text, "Two");
  assert.deepEqual(server.requests.map(({ body }) => body.temperature), [0.1, undefined, undefined]);
});

Deno.test("Ollama is asked once what the model can", async () => {
  await using server = await ModelServer.start("say One\n---\nsay Two\nnew-history", {
    model: { capabilities: ["completion", "tools", "thinking"], contextLength: 4_096 },
    secrets: [KEY],
  });
  const model = createModel(engineConfig(server.url, "ollama"));
  assert.equal(model.contextWindow, 32_768);
  await answer(model);
  await answer(model);
  assert.equal(model.contextWindow, 4_096);
  assert.deepEqual(server.lookups, ["POST /api/show"]);
  assert.deepEqual(server.requests.map(({ body }) => body.think), [true, true]);
  assert.match(JSON.stringify(server.requests[0]?.body), /"num_ctx":4096/);
});

Deno.test("the window is the smaller of the user's and the model's", async () => {
  await using server = await ModelServer.start("say One", {
    model: { capabilities: ["tools"], contextLength: 131_072 },
  });
  const model = createModel(engineConfig(server.url, "ollama", { context_window: 9_000 }));
  await answer(model);
  assert.equal(model.contextWindow, 9_000);
  assert.equal(server.requests[0]?.body.think, undefined);
});

Deno.test("whether a model sees: the user's word, else Ollama's, else what its name tells", async () => {
  const sees = async (wire: WireName, name: string, said: readonly string[], vision?: boolean) => {
    await using server = await ModelServer.start("say One", { model: { capabilities: ["tools", ...said] } });
    const changes = { model: name, ...(vision === undefined ? {} : { vision }) };
    const model = createModel(engineConfig(server.url, wire, changes));
    const shown = { ...result("c1", "read_file", "An image."), images: [PNG_IMAGE] };
    const calling = { ...assistant("", [call("c1", "read_file", "{}")]) };
    await answer(model, new Prompt("Be brief.", [user("Hi"), calling, shown], [READ_FILE]));
    assert.deepEqual(server.problems, []);
    // A session that another model has begun: its images are for models that see.
    assert.equal(JSON.stringify(server.requests[0]?.body).includes(PNG_IMAGE.data), model.sees);
    return model.sees;
  };
  assert.ok(await sees("ollama", "llama3", ["vision"]));
  assert.ok(!await sees("ollama", "llava", []));
  assert.ok(!await sees("ollama", "llama3", ["vision"], false));
  assert.ok(await sees("ollama", "llama3", [], true));
  assert.ok(await sees("anthropic_messages", "any", []));
  assert.ok(!await sees("anthropic_messages", "any", [], false));
  assert.ok(await sees("openai_chat", "gpt-5", []));
  assert.ok(!await sees("openai_chat", "model-1", []));
  assert.ok(!await sees("openai_chat", "gpt-5", [], false));
  assert.ok(await sees("openai_chat", "model-1", [], true));
});

Deno.test("a model without tool calls says so, unless none are wanted", async () => {
  await using server = await ModelServer.start("say Hello", { model: { capabilities: ["completion"] } });
  const model = createModel(engineConfig(server.url, "ollama"));
  const { error } = await answer(model);
  assert.equal(
    error?.message,
    'Cannot work with model-1: it has no tool calls. Choose a model with the capability "tools", see: ollama show model-1',
  );
  assert.equal((await answer(model, new Prompt("Be brief.", prompt.messages, []))).text, "Hello");
});

Deno.test("what the model can is asked with the key, and not knowing it ends nothing", async () => {
  const answers = ["", "{", "[]", '{"error": "no such model"}', '{"capabilities": "all"}'];
  for (const body of answers) {
    const asked: string[] = [];
    await using server = serve(async (http, { path, headers }) => {
      asked.push(`${path} ${headers.authorization}`);
      if (path === "/api/show") {
        return await http.respond(body === "" ? 401 : 200, { connection: "close" }, body);
      }
      await http.respond(200, { connection: "close" }, '{"message": {"content": "Hello"}, "done": true}\n');
    });
    assert.equal((await answer(createModel(engineConfig(server.url, "ollama")))).text, "Hello", body);
    assert.deepEqual(asked, [`/api/show Bearer ${KEY}`, `/api/chat Bearer ${KEY}`]);
  }
});

Deno.test("what could not be asked is asked again with the next request", async () => {
  const asked: string[] = [];
  await using server = serve(async (http, { path }) => {
    asked.push(path);
    const body = path === "/api/chat"
      ? '{"message": {"content": "Hello"}, "done": true}\n'
      : '{"error": "busy"}';
    await http.respond(path === "/api/chat" ? 200 : 503, { connection: "close" }, body);
  });
  const model = createModel(engineConfig(server.url, "ollama"));
  await answer(model);
  await answer(model);
  assert.deepEqual(asked, ["/api/show", "/api/chat", "/api/show", "/api/chat"]);
});

Deno.test("a cancel while Ollama is asked what the model can is a cancel", async () => {
  const reached = Promise.withResolvers<void>();
  await using server = serve(async (http) => {
    reached.resolve();
    await new Promise<void>((resolve) => http.gone.addEventListener("abort", () => resolve()));
  });
  const controller = new AbortController();
  reached.promise.then(() => controller.abort());
  const events = await Array.fromAsync(
    createModel(engineConfig(server.url, "ollama")).stream(prompt, controller.signal),
  );
  assert.deepEqual(events, [{ type: "cancelled" }]);
});

Deno.test("the key in a header of the user's is in no message", async () => {
  await using server = await ModelServer.start(`status 401 {"error":{"message":"Wrong key ${KEY}"}}`);
  const { provider, ...config } = engineConfig(server.url);
  const { api_key: _, ...keyless } = provider;
  const model = createModel({
    ...config,
    provider: { ...keyless, headers: { "X-Api-Key": `Bearer ${KEY}` } },
  });
  assert.match((await answer(model)).error?.message ?? "", /Wrong key \[key\]/);
});
