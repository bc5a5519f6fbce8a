/** The list of a project's files, begun while its engine starts: the engine's first session asks for it at once. */
import type { SearchOptions } from "./place.ts";
import { listed, LONGEST_MS } from "./surroundings.ts";

/** An older list is made again. Milliseconds. */
const LONGEST_AGE_MS = 5_000;

type Files = ReturnType<typeof listed>;

export class FirstFiles {
  readonly #listed: typeof listed;
  #first: { readonly key: string; readonly at: number; readonly files: Files } | undefined;

  /** @param lister how files are listed */
  constructor(lister: typeof listed = listed) {
    this.#listed = lister;
  }

  /** Begins a list; {@link list} returns it once. */
  begin(options: SearchOptions): void {
    const files = this.#listed(options, AbortSignal.timeout(LONGEST_MS));
    files.catch(() => {});
    this.#first = { key: keyOf(options), at: performance.now(), files };
  }

  /** The files under these rules, `late` if the time was too short for all of them. @throws {Error} one line */
  async list(options: SearchOptions, signal: AbortSignal): Files {
    const first = this.#first;
    this.#first = undefined;
    const isUsable = first?.key === keyOf(options) && performance.now() - first.at < LONGEST_AGE_MS;
    const files = isUsable ? await first.files.catch(() => undefined) : undefined;
    return files ?? await this.#listed(options, signal);
  }
}

/** Lists with the same key name the same files. */
function keyOf({ roots, sandboxed, rules: { deny_read, read_rules } }: SearchOptions): string {
  return JSON.stringify([roots, sandboxed, deny_read, read_rules]);
}
