/** The engine's MCP servers over the screen's requests for pipes, and the answers about them. */
import type { AgentContext } from "../../../deps/acp_sdk.ts";
import { method } from "../../../protocol/extensions.ts";
import { type McpClient, ServerPool } from "../../mcp/server_pool.ts";
import type { Pipe } from "../../mcp/pipe_transport.ts";
import type { McpPort } from "../../ports/mcp.ts";
import type { ConnectedClient } from "../connected_client.ts";
import type { Answers } from "../requests.ts";
import { Screen } from "../screen.ts";
import { type Capabilities, UpdateSender } from "../updates.ts";

export class AcpMcp {
  readonly #roots: readonly string[];
  readonly #connected: Pick<ConnectedClient, "can" | "config">;
  #servers: ServerPool | undefined;

  /** @param roots real paths, the project first */
  constructor(roots: readonly string[], connected: Pick<ConnectedClient, "can" | "config">) {
    this.#roots = roots;
    this.#connected = connected;
  }

  /** The servers for a session; undefined if there are none, or the client does not start them. */
  join(session: string, client: AgentContext): McpPort | undefined {
    return this.#of(client)?.join(session);
  }

  leave(session: string): void {
    this.#servers?.leave(session);
  }

  get answers(): Answers {
    return {
      mcp: ({ sessionId, change }, client) =>
        Promise.resolve().then(() => ({ servers: this.#of(client)?.states(sessionId, change) ?? [] })),
    };
  }

  /** They are made late, because the client sends their names. */
  #of(client: AgentContext): ServerPool | undefined {
    const { can, config: { mcp } } = this.#connected;
    if (mcp.length === 0 || !can.extensions.has(method("pipe_open"))) return undefined;
    return this.#servers ??= new ServerPool(
      mcp,
      this.#roots,
      mcpClient(client, can, () => this.#servers?.session ?? ""),
    );
  }
}

/** @param open the id of an open session */
function mcpClient(client: AgentContext, can: Capabilities, open: () => string): McpClient {
  const screenOf = (session: string) => new Screen(client, session, can.extensions);
  return {
    async open(name, session, signal): Promise<Pipe | undefined> {
      const { pipe } = await screenOf(session).ask("pipe_open", { kind: "mcp", name }, signal);
      return pipe === undefined ? undefined : {
        async write(text, session = open()) {
          await screenOf(session).ask("pipe_write", { pipe, text });
        },
        read: () => screenOf(open()).ask("pipe_read", { pipe }),
        close() {
          screenOf(open()).ask("pipe_close", { pipe }).catch(() => {});
        },
      };
    },
    notice: (session, text) =>
      new UpdateSender(client, session, can).send({ type: "notice", severity: "warning", text }),
  };
}
