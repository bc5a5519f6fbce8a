/** Runs commands and keeps their changes. */
import type { ApprovedCommand, CommandEffects, TerminalEnd } from "../../protocol/commands.ts";
import type { FileChange } from "../log/events.ts";
import type { TurnFile } from "../../protocol/requests.ts";
import type { ScreenParams, ScreenResult } from "../../protocol/screen_requests.ts";

/** The start of a session's next commands, as the supervisor reports it. */
export type ShellState = NonNullable<TerminalEnd["shell"]>;

export interface CommandReport {
  /** Shortened, plain text. */
  readonly output: string;
  /** "exit code 0", "timed out after 120 s", "still running". */
  readonly end: string;
  readonly failed: boolean;
  /** The command's last folder, relative to the root. */
  readonly folder?: string;
  readonly shell?: ShellState;
  /** The caller settles and disposes of them. */
  readonly effects?: Effects;
}

/** Changes of a rehearsed command. The supervisor holds them until this is disposed of. */
export interface Effects extends CommandEffects, Disposable {
  /** ACP's id. */
  readonly terminal: string;
  /** The approved changes, see protocol/screen_requests.ts. @throws {Error} one line */
  agreed(from: number, signal: AbortSignal): Promise<ScreenResult<"kept_changes">>;
  contents(
    from: ScreenParams<"kept_contents">["from"],
    signal: AbortSignal,
  ): Promise<ScreenResult<"kept_contents">>;
}

/** The reason for a change that is not kept because somebody else changed the file. */
export const CHANGED_MEANWHILE = "changed meanwhile";

export interface Kept {
  /** Lines are counted where there are few files. */
  readonly files: readonly (Pick<TurnFile, "path"> & Partial<TurnFile>)[];
  /** Unchanged files with the reason, half a sentence each; `leftMore` counts further ones. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
  readonly leftMore: number;
  /** Changes for open buffers. */
  readonly changes: readonly FileChange[];
}

/** Applies the approved changes of a command, with a checkpoint. */
export interface Keeper {
  /**
   * After the first written file it ignores the signal and continues to the end.
   * @throws {Error} one line, if nothing was kept
   * @throws {ToolError} one line for the model, if it cannot tell whether anything was kept
   */
  keep(effects: Effects, toolCall: string, signal: AbortSignal): Promise<Kept>;
}

/** Shell commands. The supervisor judges each again and runs it in its sandbox. @throws {ToolError} */
export interface Commands {
  run(command: ApprovedCommand, callId: string, signal: AbortSignal): Promise<CommandReport>;
  /** @returns the command's id, for `output` and `stop` */
  startInBackground(command: ApprovedCommand, callId: string, signal: AbortSignal): Promise<string>;
  output(id: string): Promise<CommandReport>;
  stop(id: string): Promise<CommandReport>;
  /** Whether a background command of this call is running. */
  isRunning(callId: string): boolean;
}

/** Files that a search has skipped, because the rules require a question before they are read. */
export interface LeftOut {
  readonly count: number;
  /** "read(private/**)" */
  readonly rules: readonly string[];
}
