/** The editor that shows the project's files, and its language servers. */
import type { LspRequest, LspResponse } from "../../protocol/lsp.ts";

/** The editor that shows the project's files. Both answer "nothing open" where no editor takes part. */
export interface Editor {
  /** Text of an open buffer with unsaved changes, with the file's own line endings; else undefined. */
  unsavedText(path: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Whether the unsaved text would stay behind if the file was moved or deleted. Without it, the editor follows the file
   * and keeps the text.
   */
  mustBeSaved?(path: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Merges `text`, made from `base`, into an open buffer. One without unsaved changes is written, if the editor can
   * do that without anything coming between.
   */
  writeUnsaved(path: string, base: string, text: string, signal: AbortSignal): Promise<UnsavedWrite>;
  /**
   * Path → what the user has written last of these files since then, where the editor can say.
   * @param since milliseconds since 1970
   */
  writtenSince?(paths: readonly string[], since: number): Promise<ReadonlyMap<string, string>>;
}

export type UnsavedWrite =
  | { readonly status: "not_open" }
  /** `before` is what the buffer held just before. */
  | { readonly status: "merged"; readonly before: string; readonly text: string; readonly saved: boolean }
  | { readonly status: "conflict"; readonly text: string };

/** The language servers that the editor runs. */
export interface LanguageServers {
  /**
   * For a tool the user may be asked whether a server is started; for others only running ones are asked.
   * Rejects only if the signal is aborted: whatever else goes wrong is an answer of kind "nothing".
   */
  ask(request: LspRequest, signal: AbortSignal, who?: "tool"): Promise<LspResponse>;
}
