/** How well models edit: what they have tried, and what the user has made of it. */

import type { RequestResult } from "../../protocol/requests.ts";

/** One call that was to write files. */
export interface EditTried {
  readonly call: string;
  readonly provider: string;
  readonly model: string;
  /** Of edit_file how it was written, else the tool's name. */
  readonly form: string;
  /** False: it did not fit, or could not be read. */
  readonly written: boolean;
}

export type EditReport = RequestResult<"usage">["edits"][number];
export type TurnEdits = NonNullable<RequestResult<"usage">["turns"][number]["edits"]>;
export type HunkOutcomes = Pick<EditReport, "kept" | "changed" | "undone">;

export interface EditLog {
  /** @throws {TurnError} if it cannot be stored */
  tried(session: string, turn: number, edit: EditTried): void;
  /** The call is known, and what has become of its hunks in this file is not yet. */
  isOpen(session: string, call: string, path: string): boolean;
  settled(session: string, call: string, path: string, outcomes: HunkOutcomes): void;
  /** By model and form, the one used last first. */
  report(): readonly EditReport[];
  /** By turn of the session. */
  turns(session: string): ReadonlyMap<number, TurnEdits>;
}
