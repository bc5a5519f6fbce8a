/** Requests embeddings of texts from a provider. */
import * as z from "../deps/zod.ts";
import { WIRE_FACTS } from "../protocol/providers.ts";
import type { Fetch, Provider } from "./ask_models.ts";
import { connectionProblem } from "./connection_problem.ts";

const LIMIT_MS = 30_000;

const Vector = z.array(z.number()).min(1).max(16_000);
/** The forms of Ollama and of OpenAI. */
const Answer = z.union([
  z.object({ embeddings: z.array(Vector) }),
  z.object({ data: z.array(z.object({ index: z.int().optional(), embedding: Vector })) }),
]);

/** @returns a vector for each text, of length 127 @throws {Error} one line, without the key */
export async function embed(
  provider: Provider,
  model: string,
  texts: readonly string[],
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly Int8Array[]> {
  const { name, wire, base_url: address, key_source: keySource } = provider;
  const either = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  try {
    const vectors = await request(provider, model, texts, fetch, either);
    if (vectors.length !== texts.length) throw new AnswerError("its answer has another number of vectors");
    return vectors.map(quantized);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof AnswerError
      ? error.message
      : either.aborted
      ? `no answer within ${LIMIT_MS / 1_000} s`
      : connectionProblem(error, { keySource, proxy: provider.proxy }).reason;
    const next = WIRE_FACTS[wire].install === undefined
      ? "Check the option search.embeddings."
      : `Try \`ollama pull ${model}\`.`;
    throw new Error(`Cannot ask ${name} for embeddings at ${address}: ${reason}. ${next}`);
  }
}

/** Half a sentence. */
class AnswerError extends Error {}

async function request(
  { wire, base_url, headers, api_key }: Provider,
  model: string,
  texts: readonly string[],
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> {
  const { embeddings: path } = WIRE_FACTS[wire];
  if (path === undefined) throw new AnswerError("it has no embeddings");
  const key = api_key === undefined ? {} : WIRE_FACTS[wire].key(api_key);
  const response = await fetch(base_url + path, {
    method: "POST",
    // A redirect must not receive the key.
    redirect: "manual",
    headers: { "content-type": "application/json", ...key, ...headers },
    body: JSON.stringify({ model, input: texts }),
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new AnswerError(`it answered HTTP ${response.status}`);
  }
  const json: unknown = await response.json().catch(() => undefined);
  const parsed = Answer.safeParse(json);
  if (!parsed.success) throw new AnswerError("its answer has no embeddings");
  if ("embeddings" in parsed.data) return parsed.data.embeddings;
  return parsed.data.data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ embedding }) =>
    embedding
  );
}

/** The direction of the vector, in bytes. */
function quantized(vector: readonly number[]): Int8Array {
  const length = Math.hypot(...vector) || 1;
  return Int8Array.from(vector, (value) => Math.round(127 * value / length));
}
