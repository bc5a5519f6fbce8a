/** The project's files for tools: the text on screen if a buffer has unsaved changes, otherwise the disk. */
import { dirname } from "node:path";
import type { FileDecision } from "../../../policy/file_access.ts";
import { PathError, type ResolvedPath } from "../../../policy/path.ts";
import { resolveInRoots, type RootedPath } from "../../../policy/roots.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { FileChange } from "../../log/events.ts";
import type { WriteJournal } from "../../ports/store.ts";
import type { Editor, UnsavedWrite } from "../../ports/editor.ts";
import { encodeText, lineEnding, PLAIN, withEnding } from "../../../shared/text/text.ts";
import { conflictText, merge3 } from "../../../shared/text/merge.ts";
import { writeAtomic, type Written } from "../../files/write_atomic.ts";
import { namesIn } from "../../files/names.ts";
import { type FileInfo, fileInfo, isStill, lookups, stampOf } from "./disk.ts";
import type { Scratch } from "./scratch.ts";
import { type DiskFile, shownPath, type TextFile, textOnDisk } from "./text_file.ts";
import { Views } from "./views.ts";

interface WrittenFile extends FileChange {
  /** Metadata that the write could not keep: one sentence. */
  readonly note?: string;
}

const NOTES: Readonly<Record<Written, string | undefined>> = {
  "written": undefined,
  "changed meanwhile": undefined,
  "other owner": "The system did not let it keep its owner.",
  "other names": "Its other names (hard links) outside of the project keep the old text.",
};

interface WorkspaceOptions {
  /** Real path of the project. */
  readonly roots: readonly string[];
  readonly editor: Editor;
  readonly journal: WriteJournal;
  readonly scratch?: Scratch | undefined;
  /** Whether the model may see this path by the current rules. */
  mayRead(path: ResolvedPath): FileDecision;
}

const TWO_PLACES =
  "Nothing is moved between the project and the scratch folder: read it there and write it here.";

/** Asks the user whether this file may be read. @throws {ToolError} the reason, if not */
export type AskRead = (path: RootedPath, reason: string) => Promise<void>;

/** Attempts of a read or a write while the file changes. */
const MOST_TRIES = 5;

export class Workspace {
  /** The project's own folder. */
  readonly root: string;
  /** Real paths, the project's own folder first. */
  readonly roots: readonly string[];
  readonly #options: WorkspaceOptions;
  readonly #editor: Editor;
  readonly #journal: WriteJournal;
  readonly #views: Views;
  readonly #askRead: AskRead | undefined;
  /** Real paths that the user let this call read. */
  readonly #granted = new Set<string>();

  constructor(
    options: WorkspaceOptions,
    views: Views = new Views(),
    askRead?: AskRead,
  ) {
    this.roots = options.roots;
    this.root = options.roots[0] ?? "";
    this.#options = options;
    this.#editor = options.editor;
    this.#journal = options.journal;
    this.#views = views;
    this.#askRead = askRead;
  }

  /** The workspace of one tool call; the user's permissions to read hold for this call only. */
  forCall(askRead: AskRead): Workspace {
    return new Workspace(this.#options, this.#views, askRead);
  }

  /** @throws {ToolError} if the path leads out of the project and of the scratch folder */
  async resolve(path: string): Promise<RootedPath> {
    try {
      return await this.#options.scratch?.resolve(path) ?? await resolveInRoots(path, this.roots, lookups);
    } catch (error) {
      if (error instanceof PathError) throw new ToolError(error.message);
      throw error;
    }
  }

  /** Like `resolve`, for a tool that shows the file to the model. Asks the user if a rule asks. */
  async resolveReadable(path: string): Promise<RootedPath> {
    const resolved = await this.#resolveSeen(path);
    const decision = this.mayRead(resolved);
    if (decision.verdict !== "ask") return resolved;
    if (this.#askRead === undefined) throw refusal(resolved, decision.reason);
    await this.#askRead(resolved, decision.reason);
    this.#granted.add(resolved.path);
    return resolved;
  }

  /** Like `resolve`, for searches and listings, which check each file separately. */
  resolveListed(path: string): Promise<RootedPath> {
    return this.#resolveSeen(path);
  }

  async #resolveSeen(path: string): Promise<RootedPath> {
    const resolved = await this.resolve(path);
    const decision = this.mayRead(resolved);
    if (decision.verdict === "deny") throw refusal(resolved, decision.reason);
    return resolved;
  }

  /** By the rules, and the user's answers for this call. */
  mayRead(path: ResolvedPath): FileDecision {
    const decision = this.#options.mayRead(path);
    const granted = decision.verdict === "ask" && this.#granted.has(path.path);
    return granted ? { verdict: "allow", rule: "asked" } : decision;
  }

  /** Whether the model may see this file without a question. Listings omit all others. */
  mayShow(path: ResolvedPath): boolean {
    return this.mayRead(path).verdict === "allow";
  }

  info(path: ResolvedPath): FileInfo | undefined {
    return fileInfo(path.path);
  }

  /**
   * The text for the model, which is recorded as read; undefined for a missing file, or one that is not text of an
   * editable size. @throws {ToolError} if the editor refuses to show it
   */
  async read(
    path: ResolvedPath,
    signal: AbortSignal,
  ): Promise<Pick<TextFile, "text" | "unsaved"> | undefined> {
    const { disk, unsaved } = await this.#versions(
      path,
      signal,
      () => unlessRefused(() => textOnDisk(path)),
    );
    const text = unsaved ?? disk?.text;
    if (text === undefined) return undefined;
    await this.#views.note(path.path, text);
    return { text, unsaved: unsaved !== undefined };
  }

  /** Records that the model got the file: this text of it, or the current one. Ignores files outside of the project. */
  async noteGiven(name: string, text: string | undefined, signal: AbortSignal): Promise<void> {
    const path = await unlessRefused(() => this.resolve(name));
    const now = path === undefined ? undefined : (await this.readIfText(path, signal))?.text;
    if (path === undefined || now === undefined) return;
    // The sender may have normalised line endings.
    const ending = lineEnding(now);
    const isNow = text === undefined || (ending !== undefined && withEnding(text, ending) === now);
    await this.#views.note(path.path, isNow ? now : text);
  }

  /** Absolute paths of files whose text the model knows, the most recently used last. */
  get knownPaths(): Iterable<string> {
    return this.#views.texts.keys();
  }

  /** The model saw somebody's edit of this text; it knows the new text if it knew the old one. */
  async noteEdit(path: string, before: string, after: string): Promise<void> {
    if (this.#views.texts.get(path) === before) await this.#views.note(path, after);
  }

  /** The file's current text, absent for a missing file. Undefined if it is unknown or not freely readable. */
  async textNow(name: string, signal: AbortSignal): Promise<{ name: string; text?: string } | undefined> {
    const path = await unlessRefused(() => this.resolve(name));
    if (path === undefined || !this.mayShow(path)) return undefined;
    const file = await this.readIfText(path, signal);
    if (file === undefined && (path.exists || signal.aborted)) return undefined;
    return { name: path.named, ...(file === undefined ? {} : { text: file.text }) };
  }

  /** The model's own file, which no editor shows and nothing records. */
  isScratch({ path }: Pick<ResolvedPath, "path">): boolean {
    return this.#options.scratch?.holds(path) === true;
  }

  async #unsavedText(path: ResolvedPath, signal: AbortSignal): Promise<string | undefined> {
    if (this.isScratch(path)) return undefined;
    try {
      return await this.#editor.unsavedText(path.path, signal);
    } catch (error) {
      throw new ToolError(`Cannot read ${shownPath(path)}: ${messageOf(error)}`);
    }
  }

  /** The text that the model knows. @throws {ToolError} if it has not read the file */
  async seen(file: TextFile): Promise<string> {
    const name = shownPath(file.path);
    const { path } = file.path;
    if (!this.#views.has(path)) {
      throw new ToolError(
        `You have not read ${name} yet. Read it before you change it.`,
        "refused: file not read yet",
      );
    }
    const seen = await this.#views.of(path, file.text);
    if (seen === undefined) {
      throw new ToolError(
        `${name} has changed since you read it. Read it again.`,
        "refused: the file has changed since it was read",
      );
    }
    return seen;
  }

  /**
   * The new text of a file: `text` was made from `seen`, and later changes stay. @throws {ToolError} if both changed
   * the same lines
   */
  merged(file: TextFile, seen: string, text: string): string {
    const merged = merge3(seen, file.text, text);
    if (merged.ok) return merged.text;
    throw new ToolError(
      `${
        shownPath(file.path)
      } has changed since you read it, on the lines of this edit; nothing was written. ` +
        `Read it again.\n${conflictText(merged.conflicts, "now", "this edit")}`,
    );
  }

  /** The file as text; undefined if it is missing. @throws {ToolError} for folders, binaries and very large files */
  async readText(path: ResolvedPath, signal: AbortSignal): Promise<TextFile | undefined> {
    const { disk, unsaved } = await this.#versions(path, signal, () => textOnDisk(path));
    if (disk !== undefined) return { ...disk, text: unsaved ?? disk.text, unsaved: unsaved !== undefined };
    return unsaved === undefined ? undefined : { path, text: unsaved, format: PLAIN, unsaved: true };
  }

  /**
   * The file on disk and the editor's unsaved text. An editor that answers is not writing the file at the moment: a
   * file that is the same before and after the answer is whole.
   */
  async #versions(
    path: ResolvedPath,
    signal: AbortSignal,
    onDisk: () => DiskFile | undefined | Promise<DiskFile | undefined>,
  ): Promise<{ disk: DiskFile | undefined; unsaved: string | undefined }> {
    for (let tries = 1;; tries++) {
      const stamp = stampOf(path.path);
      const disk = await onDisk();
      const unsaved = await this.#unsavedText(path, signal);
      if (unsaved !== undefined || tries === MOST_TRIES || stampOf(path.path) === stamp) {
        return { disk, unsaved };
      }
    }
  }

  /** Like `readText`; undefined also for other files than text. */
  async readIfText(path: ResolvedPath, signal: AbortSignal): Promise<TextFile | undefined> {
    return await unlessRefused(() => this.readText(path, signal));
  }

  /** Deletes a file that still equals `before`. A symbolic link itself is deleted, not its target. */
  async remove(path: RootedPath, before: TextFile | undefined, signal: AbortSignal): Promise<FileChange> {
    const isLink = await lookups.kind(path.link) === "symlink";
    if (!isLink) await this.checkSaved(before, signal);
    const check = await this.#unchanged(path, before, signal);
    act(`delete ${shownPath(path)}`, () => {
      check();
      Deno.removeSync(isLink ? path.link : path.path);
    });
    return {
      path: isLink ? path.link : path.path,
      kind: "deleted",
      ...textBefore(isLink ? undefined : before),
      onDisk: true,
    };
  }

  /** Moves a file that still equals `before` to a free path. */
  async move(
    from: ResolvedPath,
    to: ResolvedPath,
    before: TextFile | undefined,
    signal: AbortSignal,
  ): Promise<FileChange> {
    if (this.isScratch(from) !== this.isScratch(to)) throw new ToolError(TWO_PLACES);
    await this.checkFree(to, signal);
    await this.checkSaved(before, signal);
    const check = await this.#unchanged(from, before, signal);
    act(`move ${shownPath(from)}`, () => {
      Deno.mkdirSync(dirname(to.path), { recursive: true });
      check();
      // Unlike a rename, a link fails if the path exists.
      Deno.linkSync(from.path, to.path);
      Deno.removeSync(from.path);
    });
    const text = before === undefined || before.unsaved ? {} : { before: before.text, after: before.text };
    return { path: to.path, kind: "renamed", from: from.path, ...text, onDisk: true };
  }

  /** @throws {ToolError} if the user has unsaved text for this new file */
  async checkFree(path: ResolvedPath, signal: AbortSignal): Promise<void> {
    if (await this.#unsavedText(path, signal) === undefined) return;
    throw new ToolError(
      `The user has unsaved text for ${shownPath(path)} in the editor. Choose another name, or ask the user.`,
    );
  }

  /** Before a file is moved or deleted. @throws {ToolError} if the editor's unsaved text of it would be lost */
  async checkSaved(file: TextFile | undefined, signal: AbortSignal): Promise<void> {
    if (!file?.unsaved || !await this.#editor.mustBeSaved?.(file.path.path, signal)) return;
    throw new ToolError(`${shownPath(file.path)} has unsaved changes in the editor: save it first.`);
  }

  /** @returns a check to run right before the file is changed. @throws {ToolError} if it has changed */
  async #unchanged(
    path: ResolvedPath,
    before: TextFile | undefined,
    signal: AbortSignal,
  ): Promise<() => void> {
    const error = new ToolError(`${shownPath(path)} changed meanwhile; nothing was done. Look at it again.`);
    const seen = stampOf(path.path);
    const again = await this.resolve(path.path);
    const now = await this.readIfText(again, signal);
    if (again.path !== path.path || !again.exists || now?.text !== before?.text) throw error;
    signal.throwIfAborted();
    return () => {
      if (stampOf(path.path) !== seen) throw error;
    };
  }

  /**
   * Writes `text`, which was made from `before` (undefined: the file must not exist yet). Later changes on other lines
   * stay, so that an approval holds for exactly the shown diff.
   * @param own the text that the model expects afterwards @throws {ToolError} if the same lines have changed since
   */
  async writeText(
    path: ResolvedPath,
    before: TextFile | undefined,
    text: string,
    signal: AbortSignal,
    own: string = text,
  ): Promise<WrittenFile> {
    const base = before?.text ?? "";
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const again = await this.resolve(path.path);
      if (again.path !== path.path) {
        throw new ToolError(`${shownPath(path)} was replaced meanwhile; nothing was written.`);
      }
      const written = await this.#writeInEditor(path, base, text, signal);
      if (written.status === "conflict") throw this.#conflict(path, written.text);
      const change = written.status === "merged"
        ? {
          path: path.path,
          kind: before === undefined ? "created" as const : "modified" as const,
          ...(before === undefined && written.before === "" ? {} : { before: written.before }),
          after: written.text,
          onDisk: written.saved,
        }
        : await this.#writeOnDisk(path, before, text, signal);
      if (change === undefined) continue;
      const isKnown = before === undefined || await this.#views.of(path.path, before.text) === before.text;
      if (own !== text || isKnown) await this.#views.note(path.path, own);
      return change;
    }
    throw new ToolError(`${shownPath(path)} keeps changing; nothing was written. Try again.`);
  }

  #conflict(path: ResolvedPath, both: string): ToolError {
    const excerpt = this.mayShow(path) ? `\n${both}` : "";
    return new ToolError(
      `The user has changed the same lines of ${shownPath(path)}; nothing was written.${excerpt}`,
    );
  }

  /** Undefined if the file changed during the write; then it is left unchanged. */
  async #writeOnDisk(
    path: ResolvedPath,
    before: TextFile | undefined,
    text: string,
    signal: AbortSignal,
  ): Promise<WrittenFile | undefined> {
    const now = textOnDisk(path);
    const merged = now === undefined || before === undefined
      ? undefined
      : merge3(before.text, now.text, text);
    if (merged === undefined ? now !== undefined || before !== undefined : !merged.ok) {
      // An editor that answers is not writing the file at the moment.
      await this.#unsavedText(path, signal);
      if (!isStill(path.path, now?.bytes)) return undefined;
      if (merged?.ok === false) {
        throw this.#conflict(path, conflictText(merged.conflicts, "now", "this edit"));
      }
      throw new ToolError(`${shownPath(path)} changed meanwhile; nothing was written. Read it again.`);
    }
    signal.throwIfAborted();
    const after = merged?.ok ? merged.text : text;
    const written = await this.#write(path, after, now);
    if (written === "changed meanwhile") return undefined;
    return {
      path: path.path,
      kind: now === undefined ? "created" : "modified",
      ...(now === undefined ? {} : { before: now.text }),
      after,
      onDisk: true,
      ...(NOTES[written] === undefined ? {} : { note: NOTES[written] }),
    };
  }

  async #writeInEditor(
    path: ResolvedPath,
    base: string,
    text: string,
    signal: AbortSignal,
  ): Promise<UnsavedWrite> {
    if (this.isScratch(path)) return { status: "not_open" };
    try {
      return await this.#editor.writeUnsaved(path.path, base, text, signal);
    } catch (error) {
      throw new ToolError(`Cannot write ${shownPath(path)}: ${messageOf(error)}`);
    }
  }

  async #write(path: ResolvedPath, text: string, now: DiskFile | undefined): Promise<Written> {
    try {
      return await writeAtomic(path.path, encodeText(text, now?.format ?? PLAIN), now?.mode, this.#journal, {
        isUnchanged: () => isStill(path.path, now?.bytes),
        isNew: now === undefined,
        sameOwner: true,
        sameNames: now !== undefined && (await namesIn(path.path, this.roots)).isAll,
      });
    } catch (error) {
      // Inside of the project, only .git is closed to the engine.
      const isClosed = error instanceof Deno.errors.NotCapable;
      const reason = isClosed ? ".git is closed to tools. Use git's own commands" : messageOf(error);
      throw new ToolError(`Cannot write ${shownPath(path)}: ${reason}`);
    }
  }
}

async function unlessRefused<T>(act: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

/** Synchronous, so that nothing comes between a check and the operation. */
function act(what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`Cannot ${what}: ${messageOf(error)}`);
  }
}

function textBefore(before: TextFile | undefined): { before?: string } {
  return before === undefined ? {} : { before: before.text };
}

function refusal(path: ResolvedPath, reason: string): ToolError {
  return new ToolError(`Cannot read ${shownPath(path)}: ${reason}.`);
}

/**
 * The location of the written text for the model, as the end of a sentence. @param own the text that the model wrote
 */
export function outcomeOf({ onDisk, after, note }: WrittenFile, own: string): string {
  const where = onDisk ? "" : " in the user's buffer, which has unsaved changes; not saved to disk";
  const merged = after === own
    ? ""
    : " What the user has changed meanwhile was kept: read it before you go on there.";
  return `${where}.${merged}${note === undefined ? "" : ` ${note}`}`;
}
