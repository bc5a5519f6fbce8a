/**
 * Stands in for engine/main.ts: an agent that, when prompted, sends the messages that orders.json in its project lists
 * and shows what it was answered. It speaks just enough ACP for that.
 */
const [root = "."] = Deno.args.filter((argument) => !argument.startsWith("--"));
const SESSION = "session";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A message to the client; one that is no request gets no answer. */
export interface Order {
  readonly method: string;
  readonly request: boolean;
  readonly params: Readonly<Record<string, unknown>>;
}

const waiting = new Map<number, (answer: string) => void>();

function send(message: Message): void {
  console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

async function carryOut({ method, request, params }: Order, id: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (request) waiting.set(id, resolve);
  send({ ...(request ? { id } : {}), method, params: { sessionId: SESSION, ...params } });
  return request ? await promise : "";
}

async function turn(): Promise<void> {
  const orders: readonly Order[] = JSON.parse(await Deno.readTextFile(`${root}/orders.json`));
  for (const [index, order] of orders.entries()) {
    const text = `${order.method}: ${await carryOut(order, index + 1)}\n\n`;
    const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } };
    send({ method: "session/update", params: { sessionId: SESSION, update } });
  }
}

async function handle({ id, method, result, error }: Message): Promise<void> {
  if (id === undefined) return;
  if (method === undefined) return waiting.get(id)?.(JSON.stringify(error ?? result));
  if (method === "session/prompt") await turn();
  const answers: Readonly<Record<string, unknown>> = {
    "initialize": { protocolVersion: 1, agentCapabilities: {}, authMethods: [] },
    "session/new": { sessionId: SESSION },
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
