/** The quality of models' edits: their attempts, and the user's review. */
import type { RequestResult } from "../../protocol/requests.ts";
import type { Diff } from "./events.ts";

/** One call that should have written files. */
export interface EditTried {
  readonly call: string;
  readonly provider: string;
  readonly model: string;
  /** The form of an edit, otherwise the tool's name. */
  readonly form: string;
  /** False: it did not fit, or was unreadable. */
  readonly written: boolean;
  /** The files that it wrote. */
  readonly files: readonly EditedFile[];
}

export type EditedFile = Pick<Diff, "path" | "added" | "removed">;

export type EditReport = RequestResult<"usage">["edits"][number];
export type LanguageReport = RequestResult<"usage">["languages"][number];
export type TurnEdits = NonNullable<RequestResult<"usage">["turns"][number]["edits"]>;
export type HunkOutcomes = Pick<EditReport, "kept" | "changed" | "undone">;

export interface EditLog {
  /** @throws {TurnError} if storing fails */
  tried(session: string, turn: number, edit: EditTried): void;
  /** The call is known, but its hunks in this file are not reviewed. */
  isOpen(session: string, call: string, path: string): boolean;
  settled(session: string, call: string, path: string, outcomes: HunkOutcomes): void;
  /** By model and form, last used first. */
  report(): readonly EditReport[];
  /** By the extension of the files, most changed lines first. */
  languages(): readonly LanguageReport[];
  /** By turn. */
  turns(session: string): ReadonlyMap<number, TurnEdits>;
}
