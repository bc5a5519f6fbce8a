/** Folders to work in and conditions to wait for, for tests of the whole program. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { assertNoMarks, GUARDS, mine } from "./mines.ts";

/** A folder with files in it that is removed at dispose. */
export interface Scratch extends AsyncDisposable {
  /** The real path, without symbolic links. */
  readonly root: string;
  path(...parts: readonly string[]): string;
  read(path: string): Promise<string>;
  /** Makes the folders that are missing on the way. */
  write(path: string, content: string | Uint8Array): Promise<void>;
}

export interface WaitOptions {
  /** Milliseconds; a minute by default. */
  readonly timeout?: number;
}

/** What came of waiting: a value, or the limit. */
export type Outcome<T> = { readonly done: true; readonly value: T } | { readonly done: false };

type Nothing = undefined | null | false;

/**
 * The limit of every wait, in milliseconds. It matters only when a test fails: on a machine with thirty times as much
 * to do as it has cores, what takes a second takes half a minute.
 */
export const DEFAULT_TIMEOUT = 60_000;

interface ScratchOptions {
  /** The files are the first commit on `main`. */
  readonly git?: boolean;
  /** Whether the repository is mined; it is, unless a test says why not. */
  readonly mined?: boolean;
}

/** A scratch folder with these files (path → content). Its disposal fails if one of its mines went off. */
export async function scratch(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: ScratchOptions = {},
): Promise<Scratch> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent-" }));
  const path = (...parts: readonly string[]) => join(root, ...parts);
  const write = async (relative: string, content: string | Uint8Array) => {
    await Deno.mkdir(dirname(path(relative)), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path(relative), content);
    else await Deno.writeFile(path(relative), content);
  };
  const folder: Scratch = {
    root,
    path,
    write,
    read: (relative) => Deno.readTextFile(path(relative)),
    async [Symbol.asyncDispose]() {
      await removeTree(root);
      await assertNoMarks(root);
    },
  };
  try {
    for (const [relative, content] of Object.entries(files)) await write(relative, content);
    if (options.git) await commitAll(root, options.mined);
  } catch (error) {
    await removeTree(root);
    throw error;
  }
  return folder;
}

/**
 * Removes a folder with all that is in it; no error if it is gone. Processes that are just ending may
 * still put files into it, so it is tried again for a while.
 */
export async function removeTree(root: string): Promise<void> {
  await waitUntil(`${root} to be removed`, async () => {
    try {
      await Deno.remove(root, { recursive: true });
    } catch (error) {
      return error instanceof Deno.errors.NotFound;
    }
    return true;
  });
}

/**
 * Calls `probe` until it gives something (neither undefined, null nor false) and returns that. The
 * error at the limit says what was waited for; a probe that throws ends the wait.
 */
export async function waitUntil<T>(
  what: string | (() => string),
  probe: () => T | Nothing | Promise<T | Nothing>,
  options: WaitOptions = {},
): Promise<T> {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT;
  const end = performance.now() + timeout;
  for (let left = timeout; left > 0; left = end - performance.now()) {
    const outcome = await within(left, Promise.resolve(probe()));
    if (!outcome.done) break;
    const { value } = outcome;
    if (value !== undefined && value !== null && value !== false) return value;
    await pauseBetweenLooks(timeout - left);
  }
  throw new Error(`Waited ${timeout} ms for ${typeof what === "string" ? what : what()}`);
}

/** The promise's value, if it comes in time; its rejection too. A promise that is late is left alone. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<Outcome<T>> {
  const { promise: limit, resolve } = Promise.withResolvers<Outcome<T>>();
  const timer = setTimeout(() => resolve({ done: false }), milliseconds);
  try {
    return await Promise.race([promise.then((value): Outcome<T> => ({ done: true, value })), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Looks are frequent at first. Later ones may be rarer, for each costs CPU time. @param waited milliseconds so far */
export function pauseBetweenLooks(waited: number): Promise<void> {
  return pause(Math.min(60, 5 + waited / 10));
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const USER = "[user]\n\tname = Test\n\temail = test@example.invalid\n";

/** @param mined as in `scratch` */
export async function commitAll(root: string, mined = true): Promise<void> {
  await initialize(root);
  // In the repository itself, so that a commit works there whatever else is configured.
  await Deno.writeTextFile(join(root, ".git/config"), USER, { append: true });
  await git(root, "add", "--all");
  await git(root, "commit", "--quiet", "--allow-empty", "--message=Start");
  if (mined) mine(root);
}

/** What an empty repository has. */
const FOLDERS = ["hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"];

let initial: Promise<readonly (readonly [path: string, text: string])[]> | undefined;

/** `git init`, by the files of a repository that is made once: a process takes much longer than they do. */
async function initialize(root: string): Promise<void> {
  const own = join(root, ".git");
  for (const folder of FOLDERS) await Deno.mkdir(join(own, folder), { recursive: true });
  // A test may have files of its own there.
  if (["HEAD", "config"].some((name) => existsSync(join(own, name)))) return await gitInit(root);
  initial ??= initialFiles();
  for (const [name, text] of await initial) await Deno.writeTextFile(join(own, name), text);
}

async function gitInit(root: string): Promise<void> {
  // Without the examples of hooks.
  await git(root, "init", "--quiet", "--initial-branch=main", "--template=");
}

async function initialFiles() {
  const root = await Deno.makeTempDir({ prefix: "agent-" });
  try {
    await gitInit(root);
    const read = (name: string) => Deno.readTextFile(join(root, ".git", name));
    return [["HEAD", await read("HEAD")], ["config", await read("config")]] as const;
  } finally {
    await removeTree(root);
  }
}

/** What git prints, without the user's own configuration. @throws {Error} with its complaint */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  // Within a git hook, GIT_DIR and its like would lead to another repository.
  const inherited = Object.entries(Deno.env.toObject()).filter(([name]) => !name.startsWith("GIT_"));
  const env = {
    ...Object.fromEntries(inherited),
    ...GUARDS,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const command = new Deno.Command("git", { args: [...args], cwd, env, clearEnv: true });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(`Cannot run git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trimEnd();
}
