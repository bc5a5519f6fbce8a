/** Questions and approval requests to the user. */
import type { Access } from "../../protocol/access.ts";
import type { CommandAccess } from "../../protocol/commands.ts";
import type { ModeAccess } from "../../protocol/modes.ts";
import type { Diff, ToolStart } from "../log/events.ts";

export interface ApprovalRequest {
  readonly call: ToolStart;
  /** The reason for the question, one line. */
  readonly reason: string;
  /** The user must answer, whatever the rules say. */
  readonly force: boolean;
  /** The answer is for this call alone. */
  readonly isSingle?: true;
  readonly access: Access;
  readonly diff?: Diff;
  /** The requesting sub-agent: its title, and the most that its mode may change. */
  readonly agent?: { readonly title: string; readonly access: ModeAccess };
  /** Names of the call's tool, current and old. */
  readonly tools?: readonly string[];
  /** A hook has changed the call: which one, and what the model asked for. One line. */
  readonly changed?: string;
}

export type ApprovalAnswer =
  /** `command` is set if the user has edited it: only this line may run. */
  | {
    readonly answer: "allow_once" | "allow_session";
    readonly rule?: string;
    readonly command?: string;
    /** The access that the command may use. */
    readonly access?: CommandAccess;
    /** It runs over an overlay. */
    readonly rehearsed?: boolean;
    /** The hosts that it reaches without the network. */
    readonly hosts?: readonly string[];
  }
  | { readonly answer: "reject"; readonly reason?: string; readonly rule?: string }
  | { readonly answer: "cancelled" };

/** Asks the user; never rejects, an aborted wait is "cancelled". */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** Questions to the user. Undefined: no answer was given. */
export interface Questions {
  /** @param toolCall the call that asks */
  ask(
    question: string,
    options: readonly string[],
    toolCall: string,
    signal: AbortSignal,
  ): Promise<string | undefined>;
}
