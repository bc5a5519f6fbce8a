/** What somebody else makes of the files that the model has in mind, between its turns. */
import type { Edit } from "../context/moment.ts";
import type { Workspace } from "../tools/files/workspace.ts";

/** Files that are looked at, those used last. */
const MOST_FILES = 200;

/** For all of them: an editor that waits for a key keeps no turn from its end. */
const LONGEST_MS = 300;

export class UserEdits {
  readonly #workspace: Workspace;
  /** Absolute path → the text that the turn has left there. */
  #left: ReadonlyMap<string, string> = new Map();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Is any file looked at? */
  get isWatching(): boolean {
    return this.#left.size > 0;
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

  /** What has changed since then. @returns edits by absolute path, those of the files used last first */
  async since(signal: AbortSignal): Promise<ReadonlyMap<string, Edit>> {
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
