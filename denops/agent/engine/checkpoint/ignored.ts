/** Decides which of a project's files are examined: those that git would show, even outside of a repository. */
import ignore, { type Ignore } from "../../deps/ignore.ts";
import { join } from "node:path";
import { openByRealPath } from "../files/open_file.ts";

/** Folders that never hold the project's own files. */
const NEVER: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj", "node_modules"]);

export function isNeverSeen(name: string): boolean {
  return NEVER.has(name.toLowerCase());
}

/** Larger files cannot be rules. */
const LARGEST_RULES = 1_000_000;
/** Characters of one rule: a longer one could take minutes on a hostile name. Its files are then examined. */
const LONGEST_RULE = 500;
const MOST_DEEP_STARS = 2;
const MOST_STARS = 6;

/** The ignore rules at one moment; each folder's are read on first use. */
export class Ignored {
  readonly #root: string;
  readonly #rules = new Map<string, Ignore | undefined>();
  readonly #hidden = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  /** @param folder relative to the root with "/", "" for the root; not ignored itself */
  has(folder: string, name: string, isFolder: boolean): boolean {
    if (isNeverSeen(name)) return true;
    const path = folder === "" ? name : `${folder}/${name}`;
    let ignored = false;
    for (let at = "";; at = path.slice(0, path.indexOf("/", at.length + 1))) {
      const rules = this.#rulesOf(at);
      if (rules !== undefined) {
        const below = (at === "" ? path : path.slice(at.length + 1)) + (isFolder ? "/" : "");
        const found = rules.test(below);
        if (found.ignored) ignored = true;
        else if (found.unignored) ignored = false;
      }
      if (at === folder) return ignored;
    }
  }

  /** Whether the file or one of its folders is ignored. @param path relative to the root with "/" */
  hides(path: string): boolean {
    const [folder, name] = split(path);
    return (folder !== "" && this.#hidesFolder(folder)) || this.has(folder, name, false);
  }

  #hidesFolder(path: string): boolean {
    const known = this.#hidden.get(path);
    if (known !== undefined) return known;
    const [folder, name] = split(path);
    const hidden = (folder !== "" && this.#hidesFolder(folder)) || this.has(folder, name, true);
    this.#hidden.set(path, hidden);
    return hidden;
  }

  #rulesOf(folder: string): Ignore | undefined {
    if (this.#rules.has(folder)) return this.#rules.get(folder);
    const files = folder === "" ? [".git/info/exclude", ".gitignore"] : [".gitignore"];
    const texts = files.map((file) => readText(join(this.#root, folder, file))).filter((text) => text !== "");
    // The library takes "a\b" for a Windows path.
    const rules = texts.length === 0 ? undefined : ignore().add(texts.join("\n").split("\n").filter(isCheap));
    this.#rules.set(folder, rules);
    return rules;
  }
}

function isCheap(rule: string): boolean {
  const count = (of: RegExp) => rule.match(of)?.length ?? 0;
  return rule.length <= LONGEST_RULE && count(/\*\*+/g) <= MOST_DEEP_STARS && count(/\*+|\?+/g) <= MOST_STARS;
}

function split(path: string): readonly [folder: string, name: string] {
  const at = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
}

function readText(path: string): string {
  try {
    using file = openByRealPath(path);
    return file.size <= LARGEST_RULES ? new TextDecoder().decode(file.take(file.size)) : "";
  } catch {
    return "";
  }
}
