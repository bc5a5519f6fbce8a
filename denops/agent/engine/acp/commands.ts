/**
 * Runs commands over ACP's terminal methods. The client's gate approves each one and runs it in its sandbox.
 */
import { type AgentContext, methods, RequestError } from "../../deps/acp_sdk.ts";
import {
  type ApprovedCommand,
  type CommandEffects,
  TerminalEnd,
  type TerminalMeta,
} from "../../protocol/commands.ts";
import { META, ours } from "../../protocol/extensions.ts";
import { ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { CommandReport, Commands, Effects } from "../ports/commands.ts";
import type { Screen } from "./screen.ts";

export class AcpCommands implements Commands {
  readonly #client: AgentContext;
  readonly #screen: Screen;
  readonly #sessionId: string;
  /** Id of a background command → its terminal. */
  readonly #background = new Map<string, string>();
  /** Calls whose background command is still running. */
  readonly #running = new Set<string>();

  constructor(client: AgentContext, screen: Screen, sessionId: string) {
    this.#client = client;
    this.#screen = screen;
    this.#sessionId = sessionId;
  }

  async run(input: ApprovedCommand, toolCallId: string, signal: AbortSignal): Promise<CommandReport> {
    const terminalId = await this.#create(input, toolCallId);
    const stop = () => void this.#kill(terminalId).catch(() => {});
    signal.addEventListener("abort", stop, { once: true });
    let effects: Effects | undefined;
    try {
      if (signal.aborted) stop();
      // A stopped turn does not wait for a command that is slow to exit.
      await Promise.race([this.#exit(terminalId), aborted(signal)]);
      const { effects: found, ...soFar } = await this.#report(terminalId);
      // The command is being stopped, but may still be running.
      if (signal.aborted) return { ...soFar, end: "stopped" };
      effects = found;
      return { ...soFar, ...defined({ effects }) };
    } finally {
      signal.removeEventListener("abort", stop);
      if (effects === undefined) this.#release(terminalId);
    }
  }

  async startInBackground(input: ApprovedCommand, toolCallId: string): Promise<string> {
    const terminalId = await this.#create(input, toolCallId);
    const id = `cmd_${this.#background.size + 1}`;
    this.#background.set(id, terminalId);
    this.#running.add(toolCallId);
    this.#exit(terminalId).catch(() => {}).finally(() => this.#running.delete(toolCallId));
    return id;
  }

  isRunning(callId: string): boolean {
    return this.#running.has(callId);
  }

  async output(id: string): Promise<CommandReport> {
    return await this.#report(this.#terminalOf(id));
  }

  async stop(id: string): Promise<CommandReport> {
    const terminalId = this.#terminalOf(id);
    await this.#kill(terminalId);
    await this.#exit(terminalId);
    return await this.#report(terminalId);
  }

  async #create(input: ApprovedCommand, toolCallId: string): Promise<string> {
    const meta: TerminalMeta = { ...input, toolCallId };
    try {
      const { terminalId } = await this.#client.request(methods.client.terminal.create, {
        sessionId: this.#sessionId,
        command: "sh",
        args: ["-c", input.command],
        cwd: input.cwd,
        _meta: { [META]: meta },
      });
      return terminalId;
    } catch (error) {
      throw new ToolError(`Cannot run the command: ${reasonOf(error)}.`);
    }
  }

  #exit(terminalId: string) {
    const { waitForExit } = methods.client.terminal;
    return this.#client.request(waitForExit, { sessionId: this.#sessionId, terminalId });
  }

  #kill(terminalId: string) {
    return this.#client.request(methods.client.terminal.kill, { sessionId: this.#sessionId, terminalId });
  }

  #release(terminalId: string): void {
    const { release } = methods.client.terminal;
    this.#client.request(release, { sessionId: this.#sessionId, terminalId }).catch(() => {});
  }

  async #report(terminalId: string): Promise<CommandReport> {
    const { output: method } = methods.client.terminal;
    const answer = await this.#client.request(method, { sessionId: this.#sessionId, terminalId });
    const { output, exitStatus } = answer;
    if (!exitStatus) return { output, end: "still running", failed: false };
    const { text, folder, shell, effects } = ours(TerminalEnd, answer._meta) ?? {};
    const code = exitStatus.exitCode ?? undefined;
    return {
      output,
      end: text ?? (code === undefined ? `ended by ${exitStatus.signal}` : `exit code ${code}`),
      failed: code !== 0,
      ...defined({
        folder,
        shell,
        effects: effects && effectsOf(this.#screen, terminalId, effects, () => this.#release(terminalId)),
      }),
    };
  }

  /** @throws {ToolError} */
  #terminalOf(id: string): string {
    const terminalId = this.#background.get(id);
    if (terminalId !== undefined) return terminalId;
    const known = [...this.#background.keys()].join(", ");
    throw new ToolError(
      `Unknown command id ${id}. ${known === "" ? "None was started." : `Known ids: ${known}.`}`,
    );
  }
}

/** The changes that the client holds under this terminal. @param release lets go of them */
export function effectsOf(
  screen: Screen,
  terminal: string,
  effects: CommandEffects,
  release: () => void,
): Effects {
  return {
    ...effects,
    terminal,
    agreed: (from, signal) => screen.ask("kept_changes", { terminalId: terminal, from }, signal),
    contents: (from, signal) => screen.ask("kept_contents", { terminalId: terminal, from }, signal),
    [Symbol.dispose]: release,
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
