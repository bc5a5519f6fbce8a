/** Searches the project by meaning. */
import type { IndexChange, IndexState } from "../../protocol/results/index.ts";
import type { LeftOut } from "./commands.ts";
import type { Search } from "./search.ts";

export interface MeaningQuery {
  readonly question: string;
  /** Files to report. */
  readonly most: number;
  /** Whether a file may be a result; absent: each may. @param name as the project's list has it */
  readonly accepts?: ((name: string) => boolean) | undefined;
  /** The real path of a file, if it exists and the model may see it now. */
  pathOf(name: string): Promise<string | undefined>;
  /** Shows one line while the index is being built. */
  readonly progress?: ((line: string) => void) | undefined;
}

/** Lines of a file, as they are now. */
export interface MeaningHit {
  readonly name: string;
  /** Real path. */
  readonly path: string;
  /** Counted from 1; both are included. */
  readonly first: number;
  readonly last: number;
  /** The best of these lines. */
  readonly lines: readonly { readonly line: number; readonly text: string; readonly isMatch: boolean }[];
}

export interface MeaningAnswer {
  /** Best first. */
  readonly hits: readonly MeaningHit[];
  /** Reasons for missing files, one line each. */
  readonly notes: readonly string[];
  readonly leftOut?: LeftOut | undefined;
}

/** Makes vectors of texts; similar texts have similar vectors. */
export interface Embedder {
  /** "provider/model" */
  readonly model: string;
  /** @throws {Error} one line */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Int8Array[]>;
}

/** Makes the project's index usable for sessions. */
export interface ProjectIndexes {
  /**
   * @param search lists the files that the session's model may see
   * @param embedder undefined: answers are ranked by words alone
   */
  of(search: Search, embedder?: Embedder): CodeIndex;
}

/** The project's index, as one session uses it. */
export interface CodeIndex {
  /** Builds the index if there is none, and waits some seconds for that. @throws {ToolError} */
  ask(query: MeaningQuery, signal: AbortSignal): Promise<MeaningAnswer>;
  /** The state of the index, after a change. @throws {ToolError} */
  state(change?: IndexChange): Promise<IndexState>;
  /** Files may have changed. */
  changed(): void;
}
