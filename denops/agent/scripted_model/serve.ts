/**
 * A scripted model in a separate process, for `:Agent tutor`: OpenAI's chat completions on 127.0.0.1. It
 * prints its base URL on stdout. Each line of JSON on stdin is an order, see `Order`, and is answered with
 * the line "done". Each turn restarts the script, so that a stopped one can be repeated. The process exits
 * when stdin ends, and removes the folder that it was started with.
 */
import * as z from "../deps/zod.ts";
import { Gates, ScriptedAnswers } from "./answers.ts";
import { ClientGone, deliver, isDisconnection } from "./delivery.ts";
import { HttpConnection, type ReceivedRequest } from "./http_connection.ts";
import { parseScript } from "./script.ts";
import { countCalls, encode, errorBody } from "./wires.ts";

/** Other processes that use the folder are exiting too, and may write there until then. */
const ENDING_MS = 500;

const WIRE = "openai_chat";
const MODEL = "scripted-model";

const Body = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
});

const Order = z.union([
  /** Plays a script from the next turn on. */
  z.object({ play: z.string() }),
  /** Releases answers that wait for this name. */
  z.object({ release: z.string() }),
]);

const gates = new Gates();
let script = parseScript("");
let answers = new ScriptedAnswers(script);
let requests = 0;
let calls = 0;

/** Whether this is the first request after a message of the user. */
function beginsTurn(roles: readonly string[]): boolean {
  return !roles.slice(roles.lastIndexOf("assistant") + 1).includes("tool");
}

const [noClaim] = parseScript('say {"claims_change": false}').answers;

/** The engine asks whether an answer claims a change; this does not belong to any turn. */
function asksForClaim([system]: z.infer<typeof Body>["messages"]): boolean {
  return typeof system?.content === "string" && system.content.includes('"claims_change"');
}

async function answer(http: HttpConnection, request: ReceivedRequest): Promise<void> {
  const body = Body.parse(JSON.parse(request.body));
  if (beginsTurn(body.messages.map(({ role }) => role)) && !asksForClaim(body.messages)) {
    answers = new ScriptedAnswers(script);
    gates.closeOpened();
  }
  const next = asksForClaim(body.messages) ? noClaim : answers.take("");
  requests += 1;
  if (next === undefined) return await refuse(http, 500, "The script has no answer left.");
  const firstCall = calls + 1;
  calls += countCalls(next);
  const steps = encode(WIRE, next, {
    model: MODEL,
    request: requests,
    firstCall,
    created: Math.floor(Date.now() / 1000),
    promptTokens: Math.ceil(request.body.length / 4),
    includeUsage: body.stream_options?.include_usage === true,
    encrypted: false,
  });
  await deliver(http, WIRE, steps, gates);
}

async function refuse(http: HttpConnection, code: number, why: string): Promise<void> {
  await http.respond(code, { "content-type": "application/json" }, errorBody(WIRE, code, why, requests));
}

async function serve(conn: Deno.TcpConn): Promise<void> {
  conn.setNoDelay(true);
  using http = new HttpConnection(conn);
  try {
    for (let request; (request = await http.next()) !== undefined;) {
      const isChat = request.method === "POST" && request.path.endsWith("/chat/completions");
      await (isChat ? answer(http, request) : refuse(http, 404, "Unknown endpoint."));
    }
  } catch (error) {
    if (!(error instanceof ClientGone) && !isDisconnection(error)) throw error;
  }
}

function take(order: z.infer<typeof Order>): void {
  if ("play" in order) script = parseScript(order.play);
  else gates.release(order.release);
}

async function remove(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  for (let tries = 0; tries < 2; tries++) {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, ENDING_MS));
  }
  await Deno.remove(folder, { recursive: true }).catch(() => {});
}

async function accept(listener: Deno.TcpListener): Promise<void> {
  for await (const conn of listener) serve(conn);
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
accept(listener);
console.log(`http://127.0.0.1:${listener.addr.port}/v1`);
let begun = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (begun + text).split("\n");
  begun = lines.pop() ?? "";
  for (const line of lines) {
    take(Order.parse(JSON.parse(line)));
    console.log("done");
  }
}
await remove(Deno.args[0]);
Deno.exit(0);
