/** Commands over ACP's terminal methods; the other side's gate lets each in and runs it in its sandbox. */
import { type AgentContext, methods, RequestError } from "../../deps/acp_sdk.ts";
import {
  type ApprovedCommand,
  type CommandEffects,
  TerminalEnd,
  type TerminalMeta,
} from "../../protocol/commands.ts";
import { META, ours } from "../../protocol/extensions.ts";
import { ToolError } from "../../shared/errors.ts";
import type { CommandReport, Commands, Effects } from "../ports.ts";
import type { Screen } from "./screen.ts";

export function acpCommands(client: AgentContext, screen: Screen, sessionId: string): Commands {
  const background = new Map<string, string>();
  /** Calls whose background command has not ended. */
  const running = new Set<string>();

  const create = async (input: ApprovedCommand, toolCallId: string): Promise<string> => {
    const meta: TerminalMeta = { ...input, toolCallId };
    try {
      const { terminalId } = await client.request(methods.client.terminal.create, {
        sessionId,
        command: "sh",
        args: ["-c", input.command],
        cwd: input.cwd,
        _meta: { [META]: meta },
      });
      return terminalId;
    } catch (error) {
      throw new ToolError(`Cannot run the command: ${reasonOf(error)}.`);
    }
  };

  const release = (terminalId: string) =>
    void client.request(methods.client.terminal.release, { sessionId, terminalId }).catch(() => {});

  const effectsOf = (terminal: string, effects: CommandEffects): Effects => ({
    ...effects,
    terminal,
    agreed: (from, signal) => screen.ask("kept_changes", { terminalId: terminal, from }, signal),
    contents: (from, signal) => screen.ask("kept_contents", { terminalId: terminal, from }, signal),
    [Symbol.dispose]: () => release(terminal),
  });

  const report = async (terminalId: string): Promise<CommandReport> => {
    const answer = await client.request(methods.client.terminal.output, { sessionId, terminalId });
    const { output, exitStatus } = answer;
    const end = ours(TerminalEnd, answer._meta);
    if (!exitStatus) return { output, end: "still running", failed: false };
    const code = exitStatus.exitCode ?? undefined;
    const text = end?.text ?? (code === undefined ? `ended by ${exitStatus.signal}` : `exit code ${code}`);
    return {
      output,
      end: text,
      failed: code !== 0,
      ...(end?.folder === undefined ? {} : { folder: end.folder }),
      ...(end?.effects === undefined ? {} : { effects: effectsOf(terminalId, end.effects) }),
    };
  };

  const terminalOf = (id: string): string => {
    const terminalId = background.get(id);
    if (terminalId === undefined) {
      const known = [...background.keys()].join(", ");
      throw new ToolError(
        `Unknown command id ${id}. ${known === "" ? "None was started." : `Known ids: ${known}.`}`,
      );
    }
    return terminalId;
  };

  return {
    async run(input, toolCallId, signal) {
      const terminalId = await create(input, toolCallId);
      const stop = () =>
        void client.request(methods.client.terminal.kill, { sessionId, terminalId }).catch(() => {});
      signal.addEventListener("abort", stop, { once: true });
      let effects: Effects | undefined;
      try {
        if (signal.aborted) stop();
        const exit = client.request(methods.client.terminal.waitForExit, { sessionId, terminalId });
        // A stopped turn does not wait for a command that takes its time to die.
        await Promise.race([exit, aborted(signal)]);
        const { effects: found, ...soFar } = await report(terminalId);
        // It is being stopped, though it may not have ended yet.
        if (signal.aborted) return { ...soFar, end: "stopped" };
        effects = found;
        return effects === undefined ? soFar : { ...soFar, effects };
      } finally {
        signal.removeEventListener("abort", stop);
        if (effects === undefined) release(terminalId);
      }
    },
    async startInBackground(input, toolCallId) {
      const terminalId = await create(input, toolCallId);
      const id = `cmd_${background.size + 1}`;
      background.set(id, terminalId);
      running.add(toolCallId);
      client.request(methods.client.terminal.waitForExit, { sessionId, terminalId }).catch(() => {})
        .finally(() => running.delete(toolCallId));
      return id;
    },
    isRunning: (callId) => running.has(callId),
    async output(id) {
      return await report(terminalOf(id));
    },
    async stop(id) {
      const terminalId = terminalOf(id);
      await client.request(methods.client.terminal.kill, { sessionId, terminalId });
      await client.request(methods.client.terminal.waitForExit, { sessionId, terminalId });
      return await report(terminalId);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof RequestError) return error.message.replace(/^Invalid params: /, "");
  return error instanceof Error ? error.message : String(error);
}
