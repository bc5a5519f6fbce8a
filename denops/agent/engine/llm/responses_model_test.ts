/** Models of OpenAI's responses: what they are asked for, and without what they are asked again. */
import assert from "node:assert/strict";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { objects, property } from "../../../../tests/model/model_messages.ts";
import { assistant, READ_FILE, user } from "../../../../tests/support/histories.ts";
import { engineConfig } from "../../../../tests/support/engine_config.ts";
import { KEY } from "../../../../tests/support/key.ts";
import { checked } from "../../../../tests/support/model_client.ts";
import { Prompt } from "../log/model_request.ts";
import { Assembly } from "./assemble.ts";
import { createModel, type Model } from "./model.ts";

const prompt = new Prompt("Be brief.", [user("Hi")], [READ_FILE]);

async function answer(model: Model, asked = prompt) {
  return checked(await Array.fromAsync(model.stream(asked, new AbortController().signal)));
}

function modelAt(url: string, name: string): Model {
  return createModel(engineConfig(url, "openai_responses", { model: name }));
}

Deno.test("models that reason are asked for their thoughts, encrypted and as a summary; others are not", async () => {
  for (
    const [name, reasons] of [["gpt-5", true], ["gpt-4.1", false], ["gpt-5-chat-latest", false]] as const
  ) {
    await using server = await ModelServer.start("think Hm.\nsay Hello", { secrets: [KEY] });
    assert.equal((await answer(modelAt(server.url, name))).text, "Hello");
    const [sent] = server.requests.map(({ body }) => body);
    assert.equal(property(sent?.reasoning, "summary"), reasons ? "auto" : undefined);
    assert.deepEqual(sent?.include, reasons ? ["reasoning.encrypted_content"] : undefined);
    assert.deepEqual(server.problems, []);
  }
});

const refusals: readonly (readonly [what: string, error: object, kept: readonly string[]])[] = [
  [
    "a summary that an organization may not see",
    {
      message: "Your organization must be verified to generate reasoning summaries.",
      param: "reasoning.summary",
      code: "unsupported_value",
    },
    ["include"],
  ],
  [
    "encrypted content where a model has none",
    { message: "Encrypted content is not supported with this model.", param: "include", code: null },
    ["reasoning"],
  ],
];

for (const [what, error, kept] of refusals) {
  Deno.test(`${what} is not asked for again`, async () => {
    const refusal = `status 400 ${JSON.stringify({ error })}`;
    await using server = await ModelServer.start(`${refusal}\n---\nsay One\n---\nsay Two\nnew-history`);
    const model = modelAt(server.url, "o3");
    assert.equal((await answer(model)).text, "One");
    assert.equal((await answer(model)).text, "Two");
    const asked = server.requests.map(({ body }) => ["reasoning", "include"].filter((name) => name in body));
    assert.deepEqual(asked, [["reasoning", "include"], kept, kept]);
  });
}

Deno.test("thoughts that the provider can read no more are left out, and the answer comes", async () => {
  for (
    const error of [
      {
        message: "The encrypted content gAAA...DQ== could not be verified.",
        code: "invalid_encrypted_content",
      },
      { message: "reasoning `encrypted_content` was not issued to this caller", code: null },
      {
        message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        code: null,
      },
    ]
  ) {
    const refusal = `status 400 ${JSON.stringify({ error })}`;
    await using server = await ModelServer.start(`${refusal}\n---\nsay One\nnew-history`);
    const model = modelAt(server.url, "gpt-5");
    const thought = { type: "encrypted", summary: [], data: "ZGF0YQ==", text: 0, calls: 0 } as const;
    const said = { ...assistant("So."), reasoning: [thought], by: model.author };
    const { text } = await answer(model, new Prompt("Be brief.", [user("Hi"), said, user("Well?")], []));
    assert.equal(text, "One");
    const kinds = server.requests.map(({ body }) => objects(body.input).map(({ type }) => type));
    const message = "message";
    assert.deepEqual(kinds, [[message, "reasoning", message, message], [message, message, message]]);
  }
});

Deno.test("what is refused twice is an error", async () => {
  const refusal = 'status 400 {"error": {"message": "reasoning.summary is no good"}}';
  await using server = await ModelServer.start(`${refusal}\n---\n${refusal}`);
  const events = await Array.fromAsync(
    modelAt(server.url, "gpt-5").stream(prompt, new AbortController().signal),
  );
  assert.deepEqual(events.map(({ type }) => type), ["failed"]);
  assert.equal(server.requests.length, 2);
});

Deno.test("a provider with two wires is asked in the one for the model, unless one is set", async () => {
  await using server = await ModelServer.start(
    "say One\n---\nsay Two\nnew-history\n---\nsay Three\nnew-history",
  );
  const config = engineConfig(server.url, "openai_chat");
  const wires = [{ models: "^gpt-5", wire: "openai_responses" as const }];
  const both = { ...config, provider: { ...config.provider, wires } };
  for (
    const one of [{ ...both, model: "gpt-5.6-sol" }, { ...both, model: "gpt-4.1" }, {
      ...config,
      model: "gpt-5",
    }]
  ) {
    const model = createModel(one);
    await answer(model);
    assert.equal(model.author.wire, server.requests.at(-1)?.wire);
  }
  assert.deepEqual(server.requests.map(({ path }) => path), [
    "/v1/responses",
    "/v1/chat/completions",
    "/v1/chat/completions",
  ]);
});

Deno.test("a thought stands where it came, also where the text before it may have been the start of a call", async () => {
  // The end of the text is not shown before it is known to be no call.
  await using server = await ModelServer.start("pieces 100\nsay I see <tool\nthink Hm.\nsay  and a box.");
  const model = modelAt(server.url, "gpt-5");
  const events = await Array.fromAsync(model.stream(prompt, new AbortController().signal));
  const assembly = new Assembly();
  for (const event of events) {
    if (event.type === "deltas") event.deltas.forEach((delta) => assembly.add(delta));
  }
  const { text, reasoning } = assembly.message({ withCalls: true });
  const [thought] = reasoning;
  assert.ok(thought?.type === "encrypted");
  assert.equal(text.slice(0, thought.text), "I see <tool");
});
