import assert from "node:assert/strict";
import type { Provider } from "./ask_models.ts";
import { embed } from "./embeddings.ts";

const PROVIDER = {
  name: "own",
  headers: {},
  base_url: "http://x/v1",
  key_source: "the option",
  api_key: "secret",
};

/** What a server gets and gives. */
async function exchange(wire: Provider["wire"], status: number, answer: unknown) {
  const requests: { readonly url: string; readonly body: unknown; readonly key: string | null }[] = [];
  const send = (url: string, init: RequestInit) => {
    const key = new Headers(init.headers).get("authorization");
    requests.push({ url, body: JSON.parse(String(init.body)), key });
    return Promise.resolve(new Response(JSON.stringify(answer), { status }));
  };
  const provider: Provider = { ...PROVIDER, wire };
  const vectors = await embed(provider, "m", ["a", "b"], send, new AbortController().signal)
    .then((found) => found.map((vector) => [...vector]), (error: Error) => error.message);
  return { requests, vectors };
}

Deno.test("vectors of an OpenAI-compatible server come in the order of the texts, as bytes", async () => {
  const data = [{ index: 1, embedding: [0, -5] }, { index: 0, embedding: [3, 4] }];
  const { requests, vectors } = await exchange("openai_chat", 200, { data });
  assert.deepEqual(requests, [{
    url: "http://x/v1/embeddings",
    body: { model: "m", input: ["a", "b"] },
    key: "Bearer secret",
  }]);
  assert.deepEqual(vectors, [[76, 102], [0, -127]]);
});

Deno.test("Ollama has an address and an answer of its own", async () => {
  const { requests, vectors } = await exchange("ollama", 200, { embeddings: [[1, 0], [0, 0]] });
  assert.equal(requests[0]?.url, "http://x/v1/api/embed");
  assert.deepEqual(vectors, [[127, 0], [0, 0]]);
});

Deno.test("whatever goes wrong is one line", async () => {
  const start = "Cannot ask own for embeddings at http://x/v1: ";
  const end = " Check the option search.embeddings.";
  const lineOf = async (status: number, answer: unknown) =>
    (await exchange("openai_chat", status, answer)).vectors;
  assert.equal(await lineOf(404, {}), `${start}it answered HTTP 404.${end}`);
  assert.equal(
    await lineOf(200, { data: [{ embedding: [1] }] }),
    `${start}its answer has another number of vectors.${end}`,
  );
  assert.equal(await lineOf(200, "nonsense"), `${start}its answer has no embeddings.${end}`);
  const { vectors } = await exchange("anthropic_messages", 200, {});
  assert.equal(vectors, `${start}it has no embeddings.${end}`);
});
