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

/** A server may ask the user for more before it answers a call, which is then repeated with the user's words. */
const MOST_ROUNDS = 10;
/** Calls whose repetitions are known. */
const MOST_CALLS = 100;

export interface CallPorts {
  /** The session that sends. */
  readonly session: string;
  /** Uses up the approval of a call. @param input its arguments as JSON */
  spend(tool: string, input: string): boolean;
  /** The session reads foreign text from the server. */
  reads(): void;
}

/** The messages of one pipe. */
export class CallCheck {
  /** Approved calls → their remaining repetitions. */
  readonly #calls = new Map<string, number>();

  /**
   * Checks lines of JSON-RPC. @returns the text to send: exactly what was checked
   * @throws {Error} one line, if anything must not be sent
   */
  text(text: string, ports: CallPorts): string {
    if (!text.endsWith("\n")) throw new Error("the engine sent a part of a line to an MCP server");
    const lines = text.slice(0, -1).split("\n");
    return lines.map((line) => `${JSON.stringify(this.#message(line, ports))}\n`).join("");
  }

  #message(line: string, ports: CallPorts): unknown {
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
    if (!this.#isApproved(isRecord(message.params) ? message.params : {}, ports)) {
      throw new Error("this call of a tool was not approved");
    }
    ports.reads();
    return message;
  }

  #isApproved(params: Readonly<Record<string, unknown>>, { session, spend }: CallPorts): boolean {
    const { name, arguments: args = {}, inputResponses, requestState } = params;
    if (typeof name !== "string") return false;
    const input = JSON.stringify(args);
    const key = JSON.stringify([session, name, input]);
    const rounds = this.#calls.get(key) ?? 0;
    const isRound = (inputResponses ?? requestState) !== undefined && rounds > 0;
    if (!isRound && !spend(name, input)) return false;
    this.#calls.delete(key);
    this.#calls.set(key, isRound ? rounds - 1 : MOST_ROUNDS);
    for (const oldest of this.#calls.keys()) if (this.#calls.size > MOST_CALLS) this.#calls.delete(oldest);
    return true;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
