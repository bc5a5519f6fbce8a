/** How the engine's parts reach the world; main.ts gives the real ones. */
import type { AgentEvent, Diff, ToolStart } from "./events.ts";
import type { LspRequest, LspResponse } from "../../protocol/lsp.ts";
import type { Message } from "./messages.ts";

/** The editor that shows the project's files. Both answer "nothing open" where no editor takes part. */
export interface Editor {
  /** Text of an open buffer with unsaved changes, with the file's own line endings; else undefined. */
  unsavedText(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Merges `text`, made from `base`, into an open buffer with unsaved changes. */
  writeUnsaved(path: string, base: string, text: string, signal: AbortSignal): Promise<UnsavedWrite>;
}

export type UnsavedWrite =
  | { readonly status: "not_open" }
  | { readonly status: "merged"; readonly text: string; readonly saved: boolean }
  | { readonly status: "conflict"; readonly text: string };

/** The language servers that the editor runs. */
export interface LanguageServers {
  /** Rejects only if the signal is aborted: whatever else goes wrong is an answer of kind "nothing". */
  ask(request: LspRequest, signal: AbortSignal): Promise<LspResponse>;
}

export interface ApprovalRequest {
  readonly call: ToolStart;
  /** Why a person is asked, one line. */
  readonly reason: string;
  readonly diff?: Diff;
}

export type ApprovalAnswer =
  | { readonly answer: "allow_once" }
  | { readonly answer: "allow_session" }
  | { readonly answer: "reject"; readonly reason?: string }
  | { readonly answer: "cancelled" };

/** Asks the user; never rejects, an aborted wait is "cancelled". */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface StoredSession {
  readonly id: string;
  readonly root: string;
}

/**
 * Where conversations are kept. Append, then publish: what is on screen is in the store.
 */
export interface Store {
  createSession(session: StoredSession): void;
  session(id: string): StoredSession | undefined;
  appendEvent(session: string, event: AgentEvent): void;
  events(session: string): readonly AgentEvent[];
  appendMessage(session: string, message: Message): void;
  messages(session: string): readonly Message[];
}
