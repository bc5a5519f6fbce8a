/**
 * A scripted model for the agents of others. The user's message carries the script: the last `SCRIPT:` in it, followed by
 * the script (scripted_model/script.ts) as base64. Each request of its turn gets the next answer.
 */
import type { Answer } from "../../denops/agent/scripted_model/answer.ts";
import { parseScript } from "../../denops/agent/scripted_model/script.ts";
import { contentType, countCalls, encode } from "../../denops/agent/scripted_model/wires.ts";
import { conversation, type Dialect, dialectOf, ModelBody, toolCount } from "./dialects.ts";
import { geminiChunks, sideAnswer } from "./gemini.ts";

const SCRIPT = /SCRIPT:([A-Za-z0-9+/]+=*)/g;
/** Gemini cannot load a session in the minute in which it began, so it gets the earlier turns, and their scripts, as text. */
const EARLIER_TURNS = /<earlier_turns>[^]*<\/earlier_turns>/g;

/** A message that makes the model answer so. @param script one answer for each request */
export function scripted(message: string, script: string): string {
  return `${message} SCRIPT:${new TextEncoder().encode(script).toBase64()}`;
}

export interface AgentModel extends AsyncDisposable {
  /** "host:port" */
  readonly host: string;
  /** The bodies of all requests. */
  readonly requests: readonly string[];
}

export function startAgentModel(): AgentModel {
  const requests: string[] = [];
  let calls = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    requests.push(text);
    const other = lookUp(path);
    if (other !== undefined) return Response.json(other);
    const dialect = dialectOf(path);
    if (dialect === undefined) {
      return Response.json({ error: { message: `no path ${path}` } }, { status: 404 });
    }
    const body = ModelBody.parse(JSON.parse(text));
    if (path.endsWith(":generateContent")) {
      return Response.json(geminiChunks(saying(sideAnswer(text)), requests.length)[0]);
    }
    const answer = answerTo(body);
    const firstCall = calls + 1;
    calls += countCalls(answer);
    return respond(dialect, body, answer, { request: requests.length, firstCall });
  });
  const { hostname: host, port } = server.addr;
  return { host: `${host}:${port}`, requests, [Symbol.asyncDispose]: () => server.shutdown() };
}

function lookUp(path: string): unknown {
  if (path.endsWith("count_tokens")) return { input_tokens: 1_000 };
  if (path.endsWith("countTokens")) return { totalTokens: 1_000 };
  if (!path.endsWith("/models")) return undefined;
  const model = { id: "scripted", object: "model", created: 1, owned_by: "test", display_name: "Scripted" };
  return { object: "list", data: [{ ...model, type: "model" }], models: [], has_more: false };
}

function answerTo(body: ModelBody): Answer {
  // Titles and the like.
  if (toolCount(body) < 2) return saying("A title");
  const said = conversation(body).map(({ who, text }) => ({ who, text: text.replace(EARLIER_TURNS, "") }));
  const at = said.findLastIndex(({ who, text }) => who === "user" && text.match(SCRIPT) !== null);
  const [, code = ""] = [...said[at]?.text.matchAll(SCRIPT) ?? []].at(-1) ?? [];
  const { answers } = parseScript(new TextDecoder().decode(Uint8Array.fromBase64(code)));
  // An answer of several messages counts once.
  const round =
    said.slice(at + 1).filter(({ who }, index, all) => who === "model" && all[index - 1]?.who !== "model")
      .length;
  return answers[round] ?? saying("The script has ended.");
}

function saying(text: string): Answer {
  const [answer] = parseScript(`say ${text}`).answers;
  if (answer === undefined) throw new Error("an empty script");
  return answer;
}

interface Numbers {
  readonly request: number;
  readonly firstCall: number;
}

function respond(dialect: Dialect, body: ModelBody, answer: Answer, numbers: Numbers): Response {
  if (dialect === "gemini") {
    const chunks = geminiChunks(answer, numbers.request).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    return new Response(chunks.join(""), { headers: { "content-type": "text/event-stream" } });
  }
  const { model = "scripted" } = body;
  if (body.stream !== true) return Response.json(whole(dialect, model, answer));
  const steps = encode(dialect, answer, {
    ...{ model, ...numbers, created: 1, promptTokens: 1_200, includeUsage: true, encrypted: false },
  });
  const bytes = ReadableStream.from(steps).pipeThrough(
    new TransformStream({
      async transform(step, controller) {
        if (step.kind === "slow") await new Promise((resolve) => setTimeout(resolve, step.milliseconds));
        if (step.kind === "send") controller.enqueue(step.bytes);
      },
    }),
  );
  return new Response(bytes, { headers: { "content-type": contentType(dialect) } });
}

/** An answer that is not streamed: of side requests only. */
function whole(dialect: Exclude<Dialect, "gemini">, model: string, { parts }: Answer) {
  const text = parts.map((part) => part.kind === "say" ? part.text : "").join("");
  if (dialect === "anthropic_messages") {
    return {
      ...{ id: "msg_1", type: "message", role: "assistant", model, stop_reason: "end_turn" },
      ...{ content: [{ type: "text", text }], stop_sequence: null },
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  const message = { role: "assistant", content: text };
  return { id: "c1", object: "chat.completion", created: 1, model, choices: [{ index: 0, message }] };
}
