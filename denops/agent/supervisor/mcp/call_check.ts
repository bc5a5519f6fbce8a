/**
 * Checks each message from an engine to an MCP server. The engine is not trusted: a call of a tool needs an approval for exactly
 * this session, tool and arguments, and a method that is not listed here is refused.
 */
import { isRecord } from "../../shared/records.ts";

/** Requests and notifications that call no tool. Source: modelcontextprotocol.io/specification, "Schema reference". */
const PLAIN: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "ping",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
  "prompts/list",
  "completion/complete",
  "logging/setLevel",
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
]);

/** Their results come from the server and reach the model. */
const READS: ReadonlySet<string> = new Set(["resources/read", "prompts/get"]);

export interface CallPorts {
  /** Uses up the approval of a call. @param input its arguments as JSON */
  spend(tool: string, input: string): boolean;
  /** The session reads text from the server. */
  reads(): void;
}

/**
 * Checks lines of JSON-RPC. @returns what is sent: exactly what was checked
 * @throws {Error} one line, if anything must not be sent
 */
export function checkedText(text: string, ports: CallPorts): string {
  if (!text.endsWith("\n")) throw new Error("the engine sent a part of a line to an MCP server");
  return text.slice(0, -1).split("\n").map((line) => `${JSON.stringify(checked(line, ports))}\n`).join("");
}

function checked(line: string, ports: CallPorts): unknown {
  const message = parsed(line);
  if (!isRecord(message)) throw new Error("the engine sent something else than a JSON-RPC message");
  const { method } = message;
  // An answer to the server's own request. Lines without an id are the supervisor's.
  if (method === undefined && message.id !== undefined) return message;
  if (typeof method === "string" && PLAIN.has(method)) return message;
  if (typeof method === "string" && READS.has(method)) {
    ports.reads();
    return message;
  }
  if (method !== "tools/call") throw new Error(`the engine must not send ${JSON.stringify(method)}`);
  const params = isRecord(message.params) ? message.params : {};
  const { name, arguments: input = {} } = params;
  if (typeof name !== "string" || !ports.spend(name, JSON.stringify(input))) {
    throw new Error("this call of a tool was not approved");
  }
  ports.reads();
  return message;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
