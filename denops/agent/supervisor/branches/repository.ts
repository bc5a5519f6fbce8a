/**
 * The repository whose work tree is the project, and git in it: fixed arguments, a clean environment and no
 * hooks, and the sandbox limits what it can write.
 */
import { join } from "node:path";
import { visible } from "../screen/visible.ts";
import { hookSetting } from "../system/git/git_settings.ts";
import { findProgram } from "../system/sandbox.ts";
import { findRepository, type Repository } from "../system/git/repository.ts";
import { complaint, printed, run, type RunPlace, type Writes } from "../system/run.ts";

export interface BranchOptions {
  /** Real paths, the project first: only its repository is used. */
  readonly roots: readonly string[];
  /** False runs git without bubblewrap. */
  readonly sandboxed: boolean;
}

type OwnRepository =
  | { readonly type: "repository"; readonly repository: Repository }
  /** Half a sentence. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "no_repository" };

/** The repository whose work tree the project's folder is. */
export async function ownRepository({ root, roots }: Pick<Git, "root" | "roots">): Promise<OwnRepository> {
  const found = await findRepository(root, roots);
  if (found.type === "none") return { type: "no_repository" };
  if (found.type === "refused") return found;
  const { repository } = found;
  const refused = (why: string): OwnRepository => ({ type: "refused", why });
  if (repository.top !== root) {
    const why = `the project is a folder of the repository ${repository.top}, all of which would be switched`;
    return refused(why);
  }
  if (await findProgram("git", roots) === undefined) return refused("git is not installed");
  if (repository.kind === "submodule") return refused("it is a submodule");
  return { type: "repository", repository };
}

/** The writable folders, except what makes git run programs. */
export async function writesOf({ common }: Repository): Promise<Writes> {
  const guarded: string[] = [];
  for (const name of ["hooks", "config"]) {
    if (await exists(join(common, name))) guarded.push(join(common, name));
  }
  return { bound: [common], guarded };
}

/** Permissions beyond reading; `longest` in milliseconds. */
type GitOptions = Pick<RunPlace, "writes" | "direct" | "longest">;

interface Ran {
  readonly code: number;
  readonly text: string;
  readonly complaint: string;
}

export class Git {
  readonly root: string;
  readonly roots: readonly string[];
  readonly #place: RunPlace;

  constructor({ roots, sandboxed }: BranchOptions) {
    const [root = ""] = roots;
    this.root = root;
    this.roots = roots;
    this.#place = { root, roots, sandboxed };
  }

  /** The lines of its output, joined. */
  async run(args: readonly string[], options: GitOptions = {}): Promise<Ran> {
    if (options.direct === true) {
      const hook = await this.#configuredHook();
      if (hook !== undefined) return { code: 1, text: "", complaint: visible(hook) };
    }
    return await this.#run(args, options);
  }

  /** The reason if a setting makes git run a program; `core.hooksPath` does not disable these hooks. */
  async #configuredHook(): Promise<string | undefined> {
    const found = await findRepository(this.root, this.roots);
    if (found.type !== "repository") return undefined;
    const { own, common } = found.repository;
    const key = await hookSetting([join(common, "config"), join(own, "config.worktree")], this.roots);
    return key && `the setting ${key} can run a program`;
  }

  async #run(args: readonly string[], options: GitOptions): Promise<Ran> {
    const lines: string[] = [];
    const { signal } = new AbortController();
    const { code, stderr } = await run("git", args, { ...this.#place, ...options }, signal, (line) => {
      lines.push(line);
      return true;
    });
    return { code, text: lines.join("\n"), complaint: visible(complaint(stderr)) };
  }

  /** Undefined if it fails, or prints more. */
  async bytes(args: readonly string[], most: number): Promise<Uint8Array | undefined> {
    return await printed("git", args, this.#place, most);
  }
}

export async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
