/**
 * The project's files as the tools see them: the text on the user's screen where a buffer has unsaved
 * changes, else the bytes on disk.
 */
import { dirname } from "node:path";
import type { Decision } from "../../../policy/file_access.ts";
import { PathError, type ResolvedPath } from "../../../policy/path.ts";
import { resolveInRoots, type RootedPath } from "../../../policy/roots.ts";
import { messageOf, ToolError } from "../../core/errors.ts";
import type { FileChange } from "../../core/events.ts";
import type { Editor, UnsavedWrite, WriteJournal } from "../../core/ports.ts";
import { decodeText, encodeText, PLAIN, type TextFormat } from "../../core/text.ts";
import { writeAtomic } from "../../core/write_atomic.ts";
import { type FileInfo, fileInfo, lookups } from "./disk.ts";

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
  readonly roots: readonly string[];
  readonly editor: Editor;
  readonly journal: WriteJournal;
  /** May the model see what is in this path, by the rules of this moment? */
  mayRead(path: ResolvedPath): Decision;
}

/** Asks the user whether this file may be read. @throws {ToolError} if not; it says why. */
export type AskRead = (path: ResolvedPath, reason: string) => Promise<void>;

/** What the model knows of the files. */
export interface ReadFiles {
  /** Texts of unsaved buffers as the model was last shown them, by path. */
  readonly shown: Map<string, string>;
  /** Versions of files that the model has read or written, by path. */
  readonly known: Map<string, string>;
}

export class Workspace {
  /** The project's own folder. */
  readonly root: string;
  readonly #roots: readonly string[];
  readonly #options: WorkspaceOptions;
  readonly #editor: Editor;
  readonly #journal: WriteJournal;
  readonly #shown: Map<string, string>;
  readonly #known: Map<string, string>;
  readonly #askRead: AskRead | undefined;
  /** Real paths that the user has let this call read. */
  readonly #granted = new Set<string>();

  constructor(
    options: WorkspaceOptions,
    memory: ReadFiles = { shown: new Map(), known: new Map() },
    askRead?: AskRead,
  ) {
    this.#roots = options.roots;
    this.root = options.roots[0] ?? "";
    this.#options = options;
    this.#editor = options.editor;
    this.#journal = options.journal;
    this.#shown = memory.shown;
    this.#known = memory.known;
    this.#askRead = askRead;
  }

  /** The same for one tool call: what the user lets it read holds for this call only. */
  forCall(askRead: AskRead): Workspace {
    return new Workspace(this.#options, { shown: this.#shown, known: this.#known }, askRead);
  }

  /** @throws {ToolError} if the path leads out of the project. */
  async resolve(path: string): Promise<RootedPath> {
    try {
      return await resolveInRoots(path, this.#roots, lookups);
    } catch (error) {
      if (error instanceof PathError) throw new ToolError(error.message);
      throw error;
    }
  }

  /** As `resolve`, for a tool whose result shows the model what is there. Where a rule asks, the user is asked. */
  async resolveReadable(path: string): Promise<RootedPath> {
    const resolved = await this.#resolveSeen(path);
    const decision = this.mayRead(resolved);
    if (decision.verdict !== "ask") return resolved;
    if (this.#askRead === undefined) throw refusal(resolved, decision.reason);
    await this.#askRead(resolved, decision.reason);
    this.#granted.add(resolved.path);
    return resolved;
  }

  /** As `resolve`, for a search or a listing: of what is there each file is judged by itself. */
  resolveListed(path: string): Promise<RootedPath> {
    return this.#resolveSeen(path);
  }

  async #resolveSeen(path: string): Promise<RootedPath> {
    const resolved = await this.resolve(path);
    const decision = this.mayRead(resolved);
    if (decision.verdict === "deny") throw refusal(resolved, decision.reason);
    return resolved;
  }

  /** By the rules, and by what the user has let this call read. */
  mayRead(path: ResolvedPath): Decision {
    const decision = this.#options.mayRead(path);
    const granted = decision.verdict === "ask" && this.#granted.has(path.path);
    return granted ? { verdict: "allow", rule: "asked" } : decision;
  }

  /** May the model see this file unasked? What may not be read is not named in listings either. */
  mayShow(path: ResolvedPath): boolean {
    return this.mayRead(path).verdict === "allow";
  }

  info(path: ResolvedPath): Promise<FileInfo | undefined> {
    return fileInfo(path.path);
  }

  /**
   * Notes that the model now reads this file as it is.
   * @returns the text of an open buffer with unsaved changes, which is what it is to be shown
   */
  async noteRead(path: ResolvedPath, signal: AbortSignal): Promise<string | undefined> {
    const text = await this.#unsavedText(path, signal);
    if (text === undefined) this.#shown.delete(path.path);
    else this.#shown.set(path.path, text);
    const version = text === undefined ? await versionOnDisk(path.path) : await versionOfText(text);
    if (version !== undefined) this.#known.set(path.path, version);
    return text;
  }

  async #unsavedText(path: ResolvedPath, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#editor.unsavedText(path.path, signal);
    } catch (error) {
      throw new ToolError(`Cannot read ${shownPath(path)}: ${messageOf(error)}`);
    }
  }

  /** @throws {ToolError} unless the model has read the file, as it is now */
  async checkRead(file: TextFile): Promise<void> {
    const known = this.#known.get(file.path.path);
    if (known === undefined) {
      throw new ToolError(`You have not read ${shownPath(file.path)} yet. Read it before you change it.`);
    }
    if (!await this.#isKnown(file)) {
      throw new ToolError(`${shownPath(file.path)} has changed since you read it. Read it again.`);
    }
  }

  /** Has the model read the file, as it is now? */
  async #isKnown({ path, text, unsaved }: TextFile): Promise<boolean> {
    const now = unsaved ? await versionOfText(text) : await versionOnDisk(path.path);
    return now !== undefined && this.#known.get(path.path) === now;
  }

  /** A language server writes files too that the model has not read: such a one stays unread. */
  #noteWritten(path: ResolvedPath, version: string | undefined): void {
    if (version === undefined) this.#known.delete(path.path);
    else this.#known.set(path.path, version);
  }

  /** The file as text; undefined if there is none. @throws {ToolError} for folders, binaries and giants. */
  async readText(path: ResolvedPath, signal: AbortSignal): Promise<TextFile | undefined> {
    const info = await this.info(path);
    const unsaved = await this.#unsavedText(path, signal);
    const shown = this.#shown.get(path.path);
    if (info === undefined) {
      return unsaved === undefined
        ? undefined
        : { path, text: unsaved, format: PLAIN, unsaved: true, seen: shown ?? "" };
    }
    if (info.kind === "directory") throw new ToolError(`${shownPath(path)} is a folder, not a file.`);
    if (info.kind === "other") throw new ToolError(`${shownPath(path)} is not a regular file.`);
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

  /** As `readText`; undefined for what is no text too. */
  async readIfText(path: ResolvedPath, signal: AbortSignal): Promise<TextFile | undefined> {
    try {
      return await this.readText(path, signal);
    } catch (error) {
      if (error instanceof ToolError) return undefined;
      throw error;
    }
  }

  /** Deletes a file as it was read in `before`. A symbolic link itself is deleted, not its target. */
  async remove(path: RootedPath, before: TextFile | undefined, signal: AbortSignal): Promise<FileChange> {
    await this.#unchanged(path, before, signal);
    const { link } = path;
    const isLink = await lookups.kind(link) === "symlink";
    await act(`delete ${shownPath(path)}`, () => Deno.remove(isLink ? link : path.path));
    return {
      path: isLink ? link : path.path,
      kind: "deleted",
      ...textBefore(isLink ? undefined : before),
      onDisk: true,
    };
  }

  /** Moves a file as it was read in `before` to a place where nothing is. */
  async move(
    from: ResolvedPath,
    to: ResolvedPath,
    before: TextFile | undefined,
    signal: AbortSignal,
  ): Promise<FileChange> {
    await this.#unchanged(from, before, signal);
    await act(`move ${shownPath(from)}`, async () => {
      await Deno.mkdir(dirname(to.path), { recursive: true });
      // A link fails where something is; a rename would replace it.
      await Deno.link(from.path, to.path);
      await Deno.remove(from.path);
    });
    const text = before === undefined || before.unsaved ? {} : { before: before.text, after: before.text };
    return { path: to.path, kind: "renamed", from: from.path, ...text, onDisk: true };
  }

  async #unchanged(path: ResolvedPath, before: TextFile | undefined, signal: AbortSignal): Promise<void> {
    const again = await this.resolve(path.path);
    const now = await this.readIfText(again, signal);
    if (again.path !== path.path || !again.exists || now?.text !== before?.text) {
      throw new ToolError(`${shownPath(path)} changed meanwhile; nothing was done. Look at it again.`);
    }
    signal.throwIfAborted();
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
    const known = before === undefined || await this.#isKnown(before);
    const merged = await this.#writeInEditor(path, base, text, signal);
    if (merged.status === "conflict") {
      const both = this.mayShow(path)
        ? `
${merged.text}`
        : "";
      throw new ToolError(
        `The user has unsaved changes on the same lines of ${shownPath(path)}; nothing was written.${both}`,
      );
    }
    if (merged.status === "merged") {
      this.#noteWritten(path, known ? await versionOfText(merged.text) : undefined);
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
    this.#noteWritten(path, known ? await versionOnDisk(path.path) : undefined);
    return {
      path: path.path,
      kind: now === undefined ? "created" : "modified",
      ...textBefore(before),
      after: text,
      onDisk: true,
    };
  }

  async #writeInEditor(
    path: ResolvedPath,
    base: string,
    text: string,
    signal: AbortSignal,
  ): Promise<UnsavedWrite> {
    try {
      return await this.#editor.writeUnsaved(path.path, base, text, signal);
    } catch (error) {
      throw new ToolError(`Cannot write ${shownPath(path)}: ${messageOf(error)}`);
    }
  }

  async #write(path: ResolvedPath, text: string, now: TextFile | undefined): Promise<void> {
    try {
      await writeAtomic(path.path, encodeText(text, now?.format ?? PLAIN), now?.mode, this.#journal);
    } catch (error) {
      // Inside of the project it is .git alone that the engine may not write.
      const isClosed = error instanceof Deno.errors.NotCapable;
      const reason = isClosed ? ".git is closed to tools. Use git's own commands" : messageOf(error);
      throw new ToolError(`Cannot write ${shownPath(path)}: ${reason}`);
    }
  }
}

/** Larger files are told apart by size and time. */
const LARGEST_HASHED = 20_000_000;

async function versionOnDisk(path: string): Promise<string | undefined> {
  try {
    const info = await Deno.stat(path);
    if (!info.isFile) return undefined;
    if (info.size > LARGEST_HASHED) return `${info.size} ${info.mtime?.getTime()}`;
    return await digest(await Deno.readFile(path));
  } catch {
    return undefined;
  }
}

/** Never the version of a file on disk, even with the same text: the buffer may be saved in other bytes. */
async function versionOfText(text: string): Promise<string> {
  return `unsaved ${await digest(new TextEncoder().encode(text))}`;
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function act(what: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new ToolError(`Cannot ${what}: ${messageOf(error)}`);
  }
}

function textBefore(before: TextFile | undefined): { before?: string } {
  return before === undefined ? {} : { before: before.text };
}

function refusal(path: ResolvedPath, reason: string): ToolError {
  return new ToolError(`Cannot read ${shownPath(path)}: ${reason}.`);
}

/** A path for messages: the project's folder itself is ".". */
export function shownPath(path: ResolvedPath): string {
  return path.named === "" ? "." : path.named;
}
