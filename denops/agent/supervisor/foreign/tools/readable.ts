/** The files that an agent may hear about: names for its arguments and for results. */
import { mayRead, type ReadOptions } from "../../../policy/file_access.ts";
import { PathError } from "../../../policy/path.ts";
import { resolveInRoots, type RootedPath } from "../../../policy/roots.ts";
import { splitLines } from "../../../shared/text/text.ts";
import { lookups } from "../../system/lookups.ts";
import { oneFile } from "../../system/one_file.ts";

/** Bytes of a file whose lines are quoted. */
const LARGEST_FILE = 5 * 1024 * 1024;
/** Files whose lines are quoted by one call. */
const MOST_FILES = 50;

interface ReadableOptions {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly rules: ReadOptions;
  unsavedText(path: string): Promise<string | undefined>;
}

/** Of one call. */
export class Readable {
  readonly #options: ReadableOptions;
  readonly #lines = new Map<string, Promise<readonly string[]>>();

  constructor(options: ReadableOptions) {
    this.#options = options;
  }

  /** The real path of an argument. @throws {Error} one line, if it is unreadable */
  async path(argument: string): Promise<string> {
    const path = await this.#resolve(argument);
    const decision = mayRead(path, this.#options.rules);
    if (decision.verdict !== "allow") throw new Error(decision.reason);
    return path.path;
  }

  /**
   * The name of a path that Neovim has answered, and whether it is in the project. Undefined: the agent must not know
   * it.
   */
  async nameOf(path: string): Promise<{ readonly name: string; readonly isInside: boolean } | undefined> {
    try {
      const found = await this.#resolve(path);
      if (mayRead(found, this.#options.rules).verdict !== "allow") return undefined;
      return { name: found.named, isInside: true };
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      return { name: path, isInside: false };
    }
  }

  /** A line of a file that {@link nameOf} has found inside; "" if it has none. */
  async lineOf(path: string, line: number): Promise<string> {
    const known = this.#lines.get(path);
    if (known === undefined && this.#lines.size >= MOST_FILES) return "";
    const lines = known ?? this.#read(path).catch(() => []);
    this.#lines.set(path, lines);
    return (await lines)[line - 1]?.trim() ?? "";
  }

  async #read(path: string): Promise<readonly string[]> {
    const { path: real } = await this.#resolve(path);
    const unsaved = await this.#options.unsavedText(real);
    if (unsaved !== undefined) return splitLines(unsaved);
    const file = await oneFile(real, LARGEST_FILE);
    return file.real === real ? splitLines(file.text) : [];
  }

  #resolve(path: string): Promise<RootedPath> {
    return resolveInRoots(path, this.#options.roots, lookups);
  }
}
