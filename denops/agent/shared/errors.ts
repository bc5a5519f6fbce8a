/** Expected errors: one line a user can act on, no stack. */

export type ErrorKind =
  | "auth"
  | "not_found"
  | "rate_limited"
  | "overloaded"
  | "bad_request"
  | "filtered"
  | "window_full"
  | "network"
  | "bad_answer"
  | "cut_off"
  | "too_large"
  | "store"
  | "setup";

/** An external failure ends the turn. `message`: "Cannot X: Y. Try …". */
export class TurnError extends Error {
  override readonly name = "TurnError";
  /**
   * @param reason the problem, a complete sentence
   * @param hint what the user can do; omitted while we retry automatically
   */
  constructor(readonly kind: ErrorKind, readonly reason: string, hint: string = "") {
    super(hint === "" ? reason : `${reason} ${hint}`);
  }
}

/** A tool failed. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /**
   * @param message the call's result, for the model
   * @param summary for the user, one line without a full stop; by default the message's first sentence
   */
  constructor(message: string, readonly summary: string = firstSentence(message)) {
    super(message);
  }
}

function firstSentence(text: string): string {
  const [line = ""] = text.split("\n");
  return (/^.*?(?=\.( [A-Z]|$))/.exec(line)?.[0] ?? line).trim();
}

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
