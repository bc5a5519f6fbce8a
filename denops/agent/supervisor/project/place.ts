/** The scope of a search, and the files that it skips. */
import { basename, relative } from "node:path";
import { type FileDecision, mayRead, type ReadOptions } from "../../policy/file_access.ts";
import { resolveInRoots } from "../../policy/roots.ts";
import { lookups } from "../system/lookups.ts";
import type { RunPlace } from "../system/run.ts";

export interface SearchOptions {
  readonly roots: readonly string[];
  readonly rules: ReadOptions;
  /** False runs the programs without bubblewrap. */
  readonly sandboxed: boolean;
}

export class SearchPlace implements RunPlace {
  readonly root: string;
  readonly roots: readonly string[];
  readonly sandboxed: boolean;
  /** Relative to the root; "." for the root itself. */
  readonly within: string;
  /** The prefix of paths in a secondary root: "lib/". */
  readonly prefix: string;
  readonly rules: ReadOptions;
  readonly #decisions = new Map<string, FileDecision>();

  private constructor(
    root: string,
    within: string,
    prefix: string,
    { roots, rules, sandboxed }: SearchOptions,
  ) {
    this.root = root;
    this.roots = roots;
    this.within = within;
    this.prefix = prefix;
    this.rules = rules;
    this.sandboxed = sandboxed;
  }

  /**
   * @param path absolute, or "" for the primary root
   * @throws {Error} one line if the place cannot be searched
   */
  static async find(path: string, options: SearchOptions): Promise<SearchPlace> {
    const { roots, rules } = options;
    const found = await resolveInRoots(path === "" ? "." : path, roots, lookups);
    const decision = mayRead(found, rules);
    if (decision.verdict === "deny") throw new Error(decision.reason);
    // In a folder, each file is judged separately.
    if (decision.verdict === "ask" && await lookups.kind(found.path) !== "directory") {
      const reason = `${found.named} is read only after the user is asked (${decision.rule}); use read`;
      throw new Error(reason);
    }
    const prefix = found.root === roots[0] ? "" : `${basename(found.root)}/`;
    return new SearchPlace(found.root, relative(found.root, found.path) || ".", prefix, options);
  }

  /** @param path relative to the root, as a program prints it */
  judge(path: string): FileDecision {
    const known = this.#decisions.get(path);
    if (known !== undefined) return known;
    const name = this.prefix + path;
    const decision = mayRead({ relative: name, named: name }, this.rules);
    this.#decisions.set(path, decision);
    return decision;
  }

  /** Skipped files: those that are unreadable, and those that need approval. */
  get hidden(): readonly string[] {
    return [...this.rules.deny_read, ...this.rules.read_rules.deny, ...this.rules.read_rules.ask];
  }

  /** Globs of `hidden` that ripgrep and git interpret as we do; the others are applied to their output. */
  get plain(): readonly string[] {
    return this.hidden.filter((glob) => this.#isPlain(glob));
  }

  get hasOdd(): boolean {
    return this.hidden.some((glob) => !this.#isPlain(glob));
  }

  #isPlain(glob: string): boolean {
    // The programs run in the root, so that they see no prefix.
    return !/[!\\()[\]{}|\n]/.test(glob) && (this.prefix === "" || glob.startsWith("**/"));
  }
}
