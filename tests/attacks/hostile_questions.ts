/**
 * Stands in for engine/main.ts: an agent that, when prompted, sends the messages that orders.json in its project lists
 * and shows what it was answered. It speaks just enough ACP for that.
 */
const [root = "."] = Deno.args.filter((argument) => !argument.startsWith("--"));

interface Rpc {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A message to the client; one that is no request gets no answer. */
export interface Message {
  readonly method: string;
  readonly request: boolean;
  readonly params: Readonly<Record<string, unknown>>;
  /** So often, with the number in the place of each "#". */
  readonly times?: number;
  /** Nobody waits for the answers, and none is shown. */
  readonly unanswered?: boolean;
}

/** One line of so many letters. */
interface LongLine {
  readonly letters: number;
}

/** A tool call whose input is nested so deep. */
interface Nested {
  readonly depth: number;
}

/** Moves a file with the engine's own permissions. */
interface Move {
  readonly from: string;
  readonly to: string;
}

export type Order = Message | LongLine | Nested | Move;

const waiting = new Map<number, (answer: string) => void>();

function send(message: Omit<Rpc, "params"> & { readonly params?: unknown }): void {
  console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

let lastId = 0;

/** What is shown of it. */
async function carryOut(order: Order, sessionId: string): Promise<string> {
  if ("letters" in order) {
    console.log("x".repeat(order.letters));
    return "";
  }
  if ("depth" in order) {
    const update = `{"sessionUpdate":"tool_call","toolCallId":"deep","title":"deep","rawInput":`;
    const nested = "[".repeat(order.depth) + "]".repeat(order.depth);
    const head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":`;
    console.log(`${head}${update}${nested}}}}`);
    return "";
  }
  if ("from" in order) {
    return await Deno.rename(order.from, order.to).then(
      () => "moved",
      (error) => `not moved: ${error.message}`,
    );
  }
  const { method, request, params, times = 1, unanswered } = order;
  const text = JSON.stringify({ sessionId, ...params });
  const answers: Promise<string>[] = [];
  for (let number = 0; number < times; number++) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const id = ++lastId;
    if (request) waiting.set(id, resolve);
    if (request && !unanswered) answers.push(promise);
    send({
      ...(request ? { id } : {}),
      method,
      params: JSON.parse(times === 1 ? text : text.replaceAll("#", String(number))),
    });
  }
  return `${method}: ${(await Promise.all(answers)).join("\n")}`;
}

async function turn(sessionId: string): Promise<void> {
  const orders: readonly Order[] = JSON.parse(await Deno.readTextFile(`${root}/orders.json`));
  for (const order of orders) {
    const text = `${await carryOut(order, sessionId)}\n\n`;
    const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } };
    send({ method: "session/update", params: { sessionId, update } });
  }
}

async function handle({ id, method, params, result, error }: Rpc): Promise<void> {
  if (id === undefined) return;
  if (method === undefined) return waiting.get(id)?.(JSON.stringify(error ?? result));
  if (method === "session/prompt") await turn(params?.sessionId ?? "");
  const answers: Readonly<Record<string, unknown>> = {
    "initialize": { protocolVersion: 1, agentCapabilities: {}, authMethods: [] },
    // Each chat has its own, of this engine and of those after it.
    "session/new": { sessionId: crypto.randomUUID() },
    "session/prompt": { stopReason: "end_turn" },
  };
  send({ id, result: answers[method] ?? {} });
}

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) handle(JSON.parse(line));
}
