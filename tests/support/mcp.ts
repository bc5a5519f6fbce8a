/** Scripted MCP servers in this process: what the client writes, and what the server sends whenever it likes. */
import { ServerPool } from "../../denops/agent/engine/mcp/server_pool.ts";
import type { Pipe } from "../../denops/agent/engine/mcp/pipe_transport.ts";

export interface Received {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown } & Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: unknown;
  /** The session that the request was made for. */
  readonly session?: string | undefined;
}

/** A server's side of a pipe. */
export interface ServerEnd {
  /** Sends a message. */
  send(message: unknown): void;
  /** Sends text as it is. */
  raw(text: string): void;
  result(to: Received, result: unknown): void;
  end(reason?: string): void;
}

/** What a server does with a message; false: the usual. */
export type Play = (message: Received, server: ServerEnd) => boolean | void;

export interface ServerScript {
  readonly tools?: readonly unknown[];
  readonly resources?: readonly unknown[];
  readonly prompts?: readonly unknown[];
  readonly instructions?: string;
  /** Content of a call's result; the tool's name unless told. */
  readonly answer?: (message: Received) => unknown;
  readonly play?: Play;
  /** When the server starts. */
  readonly begin?: (server: ServerEnd) => void;
}

export const TOOL = {
  name: "echo",
  description: "Says it again.",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
};

/** A running server: its pipe, and everything that it received. */
export class ScriptedServer implements Pipe, ServerEnd {
  readonly received: Received[] = [];
  readonly #script: ServerScript;
  #output: string[] = [];
  #ended: string | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(script: ServerScript) {
    this.#script = script;
    script.begin?.(this);
  }

  get isClosed(): boolean {
    return this.#ended !== undefined;
  }

  calls(): readonly Received[] {
    return this.received.filter(({ method }) => method === "tools/call");
  }

  write(text: string, session: string | undefined): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(new Error("the program has ended"));
    for (const line of text.trimEnd().split("\n")) {
      const message: Received = { ...JSON.parse(line), session };
      this.received.push(message);
      if (this.#script.play?.(message, this) !== true) this.#answer(message);
    }
    return Promise.resolve();
  }

  async read() {
    while (this.#output.length === 0 && this.#ended === undefined) await this.#wake.promise;
    const text = this.#output.join("").slice(0, 1_000_000);
    const rest = this.#output.join("").slice(text.length);
    this.#output = rest === "" ? [] : [rest];
    return rest === "" && this.#ended !== undefined ? { text, ended: this.#ended } : { text };
  }

  close(): void {
    this.end("closed");
  }

  send(message: unknown): void {
    this.raw(`${JSON.stringify(message)}\n`);
  }

  raw(text: string): void {
    this.#output.push(text);
    this.#woken();
  }

  result(to: Received, result: unknown): void {
    this.send({ jsonrpc: "2.0", id: to.id, result });
  }

  end(reason = "exit code 1"): void {
    this.#ended ??= reason;
    this.#woken();
  }

  #woken(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  #answer(message: Received): void {
    const { tools = [TOOL], resources = [], prompts = [], instructions, answer } = this.#script;
    if (message.id === undefined || message.method === undefined) return;
    switch (message.method) {
      case "initialize":
        return this.result(message, {
          protocolVersion: "2025-11-25",
          serverInfo: { name: "scripted", version: "1" },
          capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
          ...instructions === undefined ? {} : { instructions },
        });
      case "tools/list":
        return this.result(message, { tools });
      case "resources/list":
        return this.result(message, { resources });
      case "resources/templates/list":
        return this.result(message, { resourceTemplates: [] });
      case "prompts/list":
        return this.result(message, { prompts });
      case "tools/call": {
        const content = answer?.(message) ?? [{ type: "text", text: `${message.params?.name} ran` }];
        return this.result(message, { content });
      }
      default:
        return this.send({
          jsonrpc: "2.0",
          id: message.id,
          error: { code: -32601, message: "Method not found" },
        });
    }
  }
}

export interface ScriptedServers {
  readonly servers: ServerPool;
  /** The starts of each server, by name. */
  readonly started: ReadonlyMap<string, readonly ScriptedServer[]>;
  readonly notices: readonly string[];
  /** The newest start of a server. */
  last(name?: string): ScriptedServer;
}

/** @param scripts name → script, or the scripts of its starts, of which the last one repeats */
export function scriptedServers(
  scripts: Readonly<Record<string, ServerScript | readonly ServerScript[]>>,
): ScriptedServers {
  const started = new Map<string, ScriptedServer[]>();
  const notices: string[] = [];
  const entries = Object.keys(scripts).map((name) => ({ name }));
  const servers = new ServerPool(entries, ["/project"], {
    open(name) {
      const own = started.getOrInsert(name, []);
      const all = [scripts[name] ?? {}].flat() as readonly ServerScript[];
      const server = new ScriptedServer(all[Math.min(own.length, all.length - 1)] ?? {});
      own.push(server);
      return Promise.resolve(server);
    },
    notice: (_, text) => void notices.push(text),
  });
  return {
    servers,
    started,
    notices,
    last: (name = "fs") => started.get(name)?.at(-1) ?? new ScriptedServer({}),
  };
}
