/** Searches the project. */
import type { FoundLine, SearchRequest } from "../../protocol/search.ts";
import type { LeftOut } from "./commands.ts";

export interface GrepResult {
  readonly leftOut?: LeftOut | undefined;
  readonly lines: readonly FoundLine[];
  /** Matching lines in all; `more` if counting was given up. */
  readonly total: number;
  readonly more: boolean;
}

/** ripgrep and git, run by the other side with fixed arguments. @throws {ToolError} */
export interface Search {
  grep(query: Query<"grep">, signal: AbortSignal): Promise<GrepResult>;
  files(
    query: Query<"files">,
    signal: AbortSignal,
  ): Promise<{
    readonly paths: readonly string[];
    readonly more: boolean;
    readonly leftOut?: LeftOut | undefined;
  }>;
  changes(
    query: Query<"changes">,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly leftOut?: LeftOut | undefined }>;
}

type Query<Op extends SearchRequest["op"]> = Omit<Extract<SearchRequest, { op: Op }>, "op">;
