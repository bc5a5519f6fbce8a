/**
 * The project's files as the tools see them: the text on the user's screen where a buffer has unsaved
 * changes, else the bytes on disk.
 */
import type { Decision } from "../../../policy/file_access.ts";
import { PathError, type ResolvedPath, resolvePath } from "../../../policy/path.ts";
import { messageOf, ToolError } from "../../core/errors.ts";
import type { FileChange } from "../../core/events.ts";
import type { Editor, LanguageServers } from "../../core/ports.ts";
import { type FileInfo, fileInfo, lookups, writeAtomic } from "./disk.ts";
import { decodeText, encodeText, PLAIN, type TextFormat } from "./text.ts";

/** Larger files are not edited: a diff of them helps nobody. */
const LARGEST_TEXT = 20_000_000;

export interface TextFile {
  readonly path: ResolvedPath;
  readonly text: string;
  readonly format: TextFormat;
  readonly mode?: number;
  /** The text comes from a buffer with unsaved changes. */
  readonly unsaved: boolean;
  /** What the model has seen of the file: a whole new content was made from this. */
  readonly seen: string;
}

export interface WorkspaceOptions {
  /** Real path of the project. */
  readonly root: string;
  readonly editor: Editor;
  readonly servers: LanguageServers | undefined;
  /** May the model see what is in this path? */
  mayRead(path: ResolvedPath): Decision;
}

export class Workspace {
  readonly root: string;
  /** The editor's language servers; undefined if it has none. */
  readonly servers: LanguageServers | undefined;
  readonly #mayRead: (path: ResolvedPath) => Decision;
  readonly #editor: Editor;
  /** Texts of unsaved buffers as the model was last shown them, by path. */
  readonly #shown = new Map<string, string>();

  constructor(options: WorkspaceOptions) {
    this.root = options.root;
    this.#mayRead = options.mayRead;
    this.#editor = options.editor;
    this.servers = options.servers;
  }

  /** @throws {ToolError} if the path leads out of the project. */
  async resolve(path: string): Promise<ResolvedPath> {
    try {
      return await resolvePath(path, this.root, lookups);
    } catch (error) {
      if (error instanceof PathError) throw new ToolError(error.message);
      throw error;
    }
  }

  /** As `resolve`, for a tool whose result shows the model what is there. */
  async resolveReadable(path: string): Promise<ResolvedPath> {
    const resolved = await this.resolve(path);
    const decision = this.#mayRead(resolved);
    if (decision.verdict !== "allow") {
      throw new ToolError(`Cannot read ${shownPath(resolved)}: ${decision.reason}.`);
    }
    return resolved;
  }

  /** Paths that may not be read are not named in listings either. */
  mayList(path: ResolvedPath): boolean {
    return this.#mayRead(path).verdict === "allow";
  }

  info(path: ResolvedPath): Promise<FileInfo | undefined> {
    return fileInfo(path.path);
  }

  /** Text of an open buffer with unsaved changes, for a tool that shows it to the model. */
  async showUnsaved(path: ResolvedPath, signal: AbortSignal): Promise<string | undefined> {
    const text = await this.#editor.unsavedText(path.path, signal);
    if (text === undefined) this.#shown.delete(path.path);
    else this.#shown.set(path.path, text);
    return text;
  }

  /** The file as text; undefined if there is none. @throws {ToolError} for folders, binaries and giants. */
  async readText(path: ResolvedPath, signal: AbortSignal): Promise<TextFile | undefined> {
    const info = await this.info(path);
    const unsaved = await this.#editor.unsavedText(path.path, signal);
    const shown = this.#shown.get(path.path);
    if (info === undefined) {
      return unsaved === undefined
        ? undefined
        : { path, text: unsaved, format: PLAIN, unsaved: true, seen: shown ?? "" };
    }
    if (info.kind !== "file") throw new ToolError(`${shownPath(path)} is a ${info.kind}, not a file.`);
    if (info.size > LARGEST_TEXT) {
      throw new ToolError(`${shownPath(path)} is too large to edit (${info.size} bytes).`);
    }
    const decoded = decodeText(await this.#bytes(path, signal));
    if (decoded === undefined) throw new ToolError(`${shownPath(path)} is a binary file.`);
    const { text, encoding, bom } = decoded;
    const mode = info.mode === undefined ? {} : { mode: info.mode };
    return {
      path,
      text: unsaved ?? text,
      format: { encoding, bom },
      unsaved: unsaved !== undefined,
      seen: shown ?? text,
      ...mode,
    };
  }

  async #bytes(path: ResolvedPath, signal: AbortSignal): Promise<Uint8Array> {
    try {
      return await Deno.readFile(path.path, { signal });
    } catch (error) {
      throw new ToolError(`Cannot read ${shownPath(path)}: ${messageOf(error)}`);
    }
  }

  /**
   * Writes `text` over what was read as `before` (undefined: the file must not exist yet). Refused if the file
   * has changed since, so that an approval holds for exactly what was shown.
   * @param base the text that `text` was made from; an unsaved buffer's other changes are merged with it
   */
  async writeText(
    path: ResolvedPath,
    before: TextFile | undefined,
    text: string,
    base: string,
    signal: AbortSignal,
  ): Promise<FileChange> {
    const again = await this.resolve(path.path);
    if (again.path !== path.path) {
      throw new ToolError(`${shownPath(path)} was replaced meanwhile; nothing was written.`);
    }
    const merged = await this.#editor.writeUnsaved(path.path, base, text, signal);
    if (merged.status === "conflict") {
      const both = this.mayList(path)
        ? `
${merged.text}`
        : "";
      throw new ToolError(
        `The user has unsaved changes on the same lines of ${shownPath(path)}; nothing was written.${both}`,
      );
    }
    if (merged.status === "merged") {
      if (this.#shown.has(path.path)) this.#shown.set(path.path, merged.text);
      const kind = before === undefined ? "created" : "modified";
      return { path: path.path, kind, ...textBefore(before), after: merged.text, onDisk: merged.saved };
    }
    const now = await this.readText(again, signal);
    if (now?.text !== before?.text) {
      throw new ToolError(`${shownPath(path)} changed meanwhile; nothing was written. Read it again.`);
    }
    signal.throwIfAborted();
    await this.#write(path, text, now);
    return {
      path: path.path,
      kind: now === undefined ? "created" : "modified",
      ...textBefore(before),
      after: text,
      onDisk: true,
    };
  }

  async #write(path: ResolvedPath, text: string, now: TextFile | undefined): Promise<void> {
    try {
      await writeAtomic(path.path, encodeText(text, now?.format ?? PLAIN), now?.mode);
    } catch (error) {
      throw new ToolError(`Cannot write ${shownPath(path)}: ${messageOf(error)}`);
    }
  }
}

function textBefore(before: TextFile | undefined): { before?: string } {
  return before === undefined ? {} : { before: before.text };
}

/** A path for messages: the project's folder itself is ".". */
export function shownPath(path: ResolvedPath): string {
  return path.named === "" ? "." : path.named;
}
