/** Finds unreadable files that git tracks: their text is in git's objects. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { ifThere } from "../system/one_file.ts";
import { namedBy } from "../git/folders.ts";
import { textOf } from "../git/folder_tree.ts";
import { run } from "../system/run.ts";

interface Known {
  readonly key: string;
  readonly name: string | undefined;
}

const LONGEST_MS = 10_000;
/** Bytes of a `.git` file. */
const LONGEST_LINE = 10_000;
/** Returned if git cannot list its files: any of them may be unreadable. */
const UNKNOWN = "files that git does not list";

export class TrackedFiles {
  readonly #known = new Map<string, Known>();

  /**
   * One such file, relative to the root; undefined if none exists.
   * @param rules identifies the rules, because the cached result depends on them
   */
  async find(
    root: string,
    rules: string,
    isDenied: (name: string) => boolean,
  ): Promise<string | undefined> {
    const index = ifThere(() => statSync(join(gitFolder(root), "index")));
    if (index === undefined) return undefined;
    const key = JSON.stringify([rules, index.ino, index.size, index.mtimeMs]);
    const known = this.#known.get(root);
    if (known?.key === key) return known.name;
    const found = await denied(root, isDenied);
    if (found === "unknown") return UNKNOWN;
    this.#known.set(root, { key, name: found.name });
    return found.name;
  }
}

/** In a linked worktree or a submodule, `.git` is a file with the folder's path. */
function gitFolder(root: string): string {
  const git = join(root, ".git");
  return namedBy(git, textOf(git, LONGEST_LINE)) ?? git;
}

async function denied(
  root: string,
  isDenied: (name: string) => boolean,
): Promise<{ readonly name: string | undefined } | "unknown"> {
  let found: string | undefined;
  let rest = "";
  const take = (name: string) => {
    if (found === undefined && isDenied(name)) found = name;
  };
  const place = { root, roots: [root], sandboxed: true };
  const ended = await run("git", ["ls-files", "-z"], place, AbortSignal.timeout(LONGEST_MS), (line) => {
    const names = (rest + line).split("\0");
    rest = names.pop() ?? "";
    names.forEach(take);
    return found === undefined;
  }).catch(() => undefined);
  return found === undefined && ended?.code !== 0 ? "unknown" : { name: found };
}
