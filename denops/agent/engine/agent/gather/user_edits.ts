/** What somebody else makes of the files that the model has in mind, between its turns. */
import type { Edit } from "../../context/moment.ts";
import type { Views } from "../../tools/files/views.ts";
import type { Workspace } from "../../tools/files/workspace.ts";

/** Files that are looked at, those used last. */
const MOST_FILES = 200;

/** For all of them: an editor that waits for a key keeps no turn from its end. */
const LONGEST_MS = 300;

export class UserEdits {
  readonly #workspace: Workspace;
  readonly #views: Views;
  /** Absolute path → the text that the turn has left there. */
  #left: ReadonlyMap<string, string> = new Map();
  #hasLookedBack = false;

  constructor(workspace: Workspace, views: Views) {
    this.#workspace = workspace;
    this.#views = views;
  }

  /** Is any file looked at? */
  get isWatching(): boolean {
    return this.#left.size > 0 || !this.#hasLookedBack;
  }

  /** The model is told of these files otherwise, and is to read them again. @param paths absolute */
  forget(paths: readonly string[]): void {
    this.#left = new Map([...this.#left].filter(([path]) => !paths.includes(path)));
    for (const path of paths) this.#views.outdate(path);
  }

  /** To be called at the end of a turn. */
  async leave(): Promise<void> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const paths = [...this.#workspace.held].slice(-MOST_FILES);
    const texts = await Promise.all(paths.map((path) => this.#workspace.textNow(path, signal)));
    this.#left = new Map(
      texts.flatMap((found, at) => found?.text === undefined ? [] : [[paths[at] ?? "", found.text]]),
    );
  }

  /**
   * What has changed since then, the first time also while the session was closed.
   * @returns edits by absolute path, those of the files used last first
   */
  async since(signal: AbortSignal): Promise<ReadonlyMap<string, Edit>> {
    const closed = this.#hasLookedBack ? new Map<string, Edit>() : await this.#whileClosed(signal);
    this.#hasLookedBack = true;
    return new Map([...closed, ...await this.#sinceLeft(signal)]);
  }

  /** Of what was read before only hashes are known. What has changed is to be read again. */
  async #whileClosed(signal: AbortSignal): Promise<ReadonlyMap<string, Edit>> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    const edits = new Map<string, Edit>();
    for (const path of [...this.#views.remembered].slice(-MOST_FILES).reverse()) {
      if (inTime.aborted) break;
      const now = await this.#workspace.textNow(path, inTime);
      if (now === undefined) continue;
      const isSame = now.text !== undefined && await this.#views.of(path, now.text) !== undefined;
      if (!isSame) edits.set(path, { path: now.named, before: undefined, after: now.text });
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
      return [[path, { path: now.named, before, after: now.text }]];
    }));
    return new Map(edits.flat());
  }
}
