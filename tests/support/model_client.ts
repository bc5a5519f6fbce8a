/** The real model client against a real HTTP server, and what it tells. */
import assert from "node:assert/strict";
import { Assembly } from "../../denops/agent/engine/llm/assemble.ts";
import { type ModelEvent, streamModel } from "../../denops/agent/engine/llm/client.ts";
import { Refusals, type Refused } from "../../denops/agent/engine/llm/failures/refusals.ts";
import { wire } from "../../denops/agent/engine/llm/registry.ts";
import type { ModelRequest } from "../../denops/agent/engine/log/model_request.ts";
import type { TurnError } from "../../denops/agent/shared/errors.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import { HttpConnection, type ReceivedRequest } from "../../denops/agent/scripted_model/http_connection.ts";
import { request, user } from "./histories.ts";
import { KEY } from "./key.ts";

export interface Asked {
  readonly wire?: WireName;
  readonly request?: ModelRequest;
  readonly signal?: AbortSignal;
  /** Seconds of silence. */
  readonly timeout?: number;
  /** Seconds of silence until the user is told. */
  readonly quiet?: number;
  readonly key?: string;
  readonly fetch?: typeof fetch;
}

export interface HeardStream {
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly assembly: Assembly;
  readonly retries: readonly Extract<ModelEvent, { type: "retry" }>[];
  readonly end: "done" | "cancelled" | "failed";
  readonly error: TurnError | undefined;
  /** For which the request was sent again without them. */
  readonly refused: readonly Refused[];
}

/** @param url the server's address, without the path that the wire adds */
export function stream(url: string, asked: Asked = {}, told: Refused[] = []) {
  const { wire: name = "openai_chat", key = KEY } = asked;
  const refusals = new Refusals({
    abilities: { parallel: true, imagesRefused() {}, callsRefused() {}, memoryRefused: () => undefined },
    inText: () => undefined,
    notice() {},
    provider: "test",
  });
  const options = {
    wire: wire(name),
    endpoint: { baseUrl: name.startsWith("openai") ? `${url}/v1` : url, apiKey: key, headers: {} },
    target: { baseUrl: url, provider: "test", model: "model-1", keySource: "TEST_API_KEY", secrets: [key] },
    timeout: asked.timeout ?? 30,
    quiet: asked.quiet ?? 30,
    fetch: asked.fetch ?? fetch,
    keyRefused: () => Promise.resolve(false),
    otherwise(refused: readonly Refused[], current: ModelRequest) {
      const other = refusals.otherwise(refused, current);
      if (other !== undefined) told.push(...refused);
      return other;
    },
    windowTold: () => {},
  };
  const signal = asked.signal ?? new AbortController().signal;
  return streamModel(asked.request ?? request([user("Hi")]), options, signal);
}

/** Listens to the end and checks what holds for every stream. */
export async function listen(url: string, asked: Asked = {}): Promise<HeardStream> {
  const refused: Refused[] = [];
  const events = await Array.fromAsync(stream(url, asked, refused));
  return { ...checked(events, asked.key ?? KEY), refused };
}

/** Exactly one end, at the end; no key in any event; errors of one short line. */
export function checked(
  events: readonly ModelEvent[],
  key = KEY,
): Omit<HeardStream, "refused"> {
  const assembly = new Assembly();
  const retries: HeardStream["retries"][number][] = [];
  for (const event of events) {
    if (event.type === "retry") retries.push(event);
    if (event.type !== "deltas") continue;
    assert.ok(event.deltas.length > 0, "an event without deltas");
    for (const delta of event.deltas) assembly.add(delta);
  }
  const ends = events.filter(({ type }) => type === "done" || type === "cancelled" || type === "failed");
  assert.equal(ends.length, 1, "a stream has one end");
  const last = events.at(-1);
  assert.ok(
    last !== undefined && last === ends[0] && last.type !== "deltas" && last.type !== "retry" &&
      last.type !== "notice",
  );
  const error = last.type === "failed" ? last.error : undefined;
  if (error !== undefined) checkError(error.message);
  // What helps is not said as long as we try again ourselves.
  for (const { reason } of retries) checkLine(reason);
  assert.ok(!JSON.stringify([events, error?.message]).includes(key), "the key is in an event");
  return { events, text: assembly.text, assembly, retries, end: last.type, error };
}

/** One line under 300 characters that names what to check or to do. */
export function checkError(message: string): void {
  checkLine(message);
  assert.match(message, /\b(?:Check|Choose|Try|Set|Ask|Quit)\b|Is the server|send "continue"/);
}

function checkLine(message: string): void {
  assert.ok(message.length < 300, `${message.length} characters: ${message}`);
  // deno-lint-ignore no-control-regex -- they must not reach the screen
  assert.doesNotMatch(message, /[\u0000-\u001f\u007f-\u009f]/);
}

/**
 * A server for answers that no script can tell: each connection's first request is answered by `answer`. What is asked
 * about models it does not know.
 */
export function serve(
  answer: (http: HttpConnection, request: ReceivedRequest) => Promise<void>,
): AsyncDisposable & { readonly url: string } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const tasks = new Set<Promise<void>>();
  async function one(conn: Deno.Conn): Promise<void> {
    using http = new HttpConnection(conn);
    // A client that goes away in the middle is what some tests are about.
    const request = await http.next();
    if (request?.method === "GET") {
      return void await http.respond(404, { connection: "close" }, "").catch(() => {});
    }
    if (request !== undefined) await answer(http, request).catch(() => {});
  }
  const accepting = (async () => {
    for await (const conn of listener) tasks.add(one(conn));
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      await Promise.all(tasks);
    },
  };
}
