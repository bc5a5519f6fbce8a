/** Finds changes that others make between turns to files that the model knows. */
import type { Edit } from "../../context/moment.ts";
import type { Views } from "../../tools/files/views.ts";
import type { Workspace } from "../../tools/files/workspace.ts";

/** Watched files, the most recently used ones. */
const MOST_FILES = 200;

/** Limit for all files: an editor that waits for a key must not delay the end of a turn. */
const LONGEST_MS = 300;

export class UserEdits {
  readonly #workspace: Workspace;
  readonly #views: Views;
  /** Absolute path → text at the end of the turn. */
  #left: ReadonlyMap<string, string> = new Map();
  #hasLookedBack = false;

  constructor(workspace: Workspace, views: Views) {
    this.#workspace = workspace;
    this.#views = views;
  }

  /** Whether any file is watched. */
  get isWatching(): boolean {
    return this.#left.size > 0 || !this.#hasLookedBack;
  }

  /** The model must read these files again, and hears of them elsewhere. @param paths absolute */
  forget(paths: readonly string[]): void {
    this.#left = new Map([...this.#left].filter(([path]) => !paths.includes(path)));
    for (const path of paths) this.#views.outdate(path);
  }

  /** Call it at the end of a turn. */
  async leave(): Promise<void> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const paths = [...this.#workspace.knownPaths].slice(-MOST_FILES);
    const texts = await Promise.all(paths.map((path) => this.#workspace.textNow(path, signal)));
    this.#left = new Map(
      texts.flatMap((found, at) => found?.text === undefined ? [] : [[paths[at] ?? "", found.text]]),
    );
  }

  /**
   * Changes since then, at first also those made while the session was closed. @returns edits by absolute path, most
   * recently used files first
   */
  async since(signal: AbortSignal): Promise<ReadonlyMap<string, Edit>> {
    const closed = this.#hasLookedBack ? new Map<string, Edit>() : await this.#whileClosed(signal);
    this.#hasLookedBack = true;
    return new Map([...closed, ...await this.#sinceLeft(signal)]);
  }

  /** Only hashes of these files are known, so the model must read changed ones again. */
  async #whileClosed(signal: AbortSignal): Promise<ReadonlyMap<string, Edit>> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    const edits = new Map<string, Edit>();
    for (const path of [...this.#views.remembered].slice(-MOST_FILES).reverse()) {
      if (inTime.aborted) break;
      const now = await this.#workspace.textNow(path, inTime);
      if (now === undefined) continue;
      const isSame = now.text !== undefined && await this.#views.of(path, now.text) !== undefined;
      if (!isSame) edits.set(path, { path: now.name, before: undefined, after: now.text });
    }
    for (const path of edits.keys()) this.#views.outdate(path);
    return edits;
  }

  async #sinceLeft(signal: AbortSignal): Promise<ReadonlyMap<string, Edit>> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    const left = [...this.#left].reverse();
    const edits = await Promise.all(left.map(async ([path, before]): Promise<readonly [string, Edit][]> => {
      const now = await this.#workspace.textNow(path, inTime);
      if (now === undefined || now.text === before) return [];
      return [[path, { path: now.name, before, after: now.text }]];
    }));
    return new Map(edits.flat());
  }
}
