/** The standard streams of programs that the supervisor runs for the engine. */
import type { EngineAnswers } from "../../agents/engine.ts";
import { pluginModules } from "../../agents/launch.ts";
import { hiddenFiles } from "../../../policy/rules.ts";
import { McpHost } from "../../mcp/mcp_host.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { NO_CHAT, type ProjectPermissions } from "../permissions.ts";
import { CallCheck } from "../../mcp/call_check.ts";
import { describeServer } from "../../mcp/trust.ts";
import { startAgent } from "./agents.ts";
import type { ClientContext } from "../context.ts";

export function projectMcp(permissions: ProjectPermissions): McpHost {
  const { roots, user, sandbox } = permissions;
  return new McpHost({
    roots,
    user,
    sandbox,
    environment: neovimEnvironment(),
    modules: () => pluginModules(user.state_dir),
    denied: () => hiddenFiles(permissions.files(NO_CHAT)),
    deniedHosts: () =>
      permissions.rules.rules(NO_CHAT).flatMap(({ kind, verdict, pattern }) =>
        kind === "host" && verdict === "deny" ? [pattern] : []
      ),
  });
}

export function pipeAnswers(
  client: ClientContext,
): Pick<
  EngineAnswers,
  "pipe_open" | "pipe_write" | "pipe_read" | "pipe_close"
> {
  const { ports: { ownerOf, gate, trustOf }, pipes, mcp, agents } = client;
  const open = new Map<string, { readonly server: string; readonly calls: CallCheck }>();
  const close = (pipe: string) => {
    open.delete(pipe);
    agents.close(pipe);
    pipes.close(pipe);
  };
  return {
    async pipe_open(sessionId, { kind, name }, signal) {
      pipes.assertRoom();
      if (kind === "agent") {
        return closeUnlessAwaited(await startAgent(client, sessionId, name, signal), close, signal);
      }
      const program = await mcp.start(name, (server) => confirmServer(client, sessionId, name, server));
      if (program === undefined) return {};
      const pipe = pipes.add(program, mcp.errorsOf(name));
      open.set(pipe, { server: name, calls: new CallCheck() });
      return closeUnlessAwaited(pipe, close, signal);
    },
    async pipe_write(sessionId, { pipe, text }) {
      // The sandbox of an agent holds it, whatever it is told.
      if (agents.isAgent(pipe)) {
        await pipes.write(pipe, text);
        return {};
      }
      const { server, calls } = open.get(pipe) ?? { server: "", calls: new CallCheck() };
      const chat = ownerOf(sessionId);
      await pipes.write(
        pipe,
        calls.text(text, {
          session: sessionId,
          spend: (tool, input) =>
            chat !== undefined &&
            gate.approved.spendCall(chat, sessionId, { kind: "mcp", server, tool, input }),
          reads: () => {
            if (chat === undefined) throw new Error("no chat has this session");
            trustOf(client, chat, sessionId).taint("mcp");
          },
        }),
      );
      return {};
    },
    pipe_read: (_, { pipe }) => pipes.read(pipe),
    pipe_close(_, { pipe }) {
      close(pipe);
      return Promise.resolve({});
    },
  };
}

/** The engine does not learn of a program that starts after it has stopped waiting. */
function closeUnlessAwaited(
  pipe: string,
  close: (pipe: string) => void,
  signal: AbortSignal,
): { readonly pipe: string } {
  if (signal.aborted) close(pipe);
  signal.throwIfAborted();
  return { pipe };
}

/** Undefined if the user has stopped the turn. */
async function confirmServer(
  client: ClientContext,
  sessionId: string,
  name: string,
  server: Parameters<typeof describeServer>[0],
): Promise<boolean | undefined> {
  const chat = client.ports.chatOf(sessionId);
  if (chat === undefined) return undefined;
  const context = await client.gateContext(chat, sessionId);
  const reason = "the model can use its tools; this approves exactly this entry, until it changes";
  const detail = describeServer(server).join("\n");
  return await client.ports.gate.confirm(`start the MCP server ${name}`, reason, context, detail);
}
