/**
 * Folders in the state folder, one for each rehearsed command, locked while its supervisor lives. An unlocked
 * one remains from a crash.
 */
import { join } from "node:path";
import { openProgram } from "../../system/programs.ts";
import { isForeign } from "./layer.ts";
import { OpenEntry } from "./open_entry.ts";

const LOCK = "lock";
const OWNER_ONLY = 0o700;

export class RunFolder implements AsyncDisposable {
  readonly path: string;
  /** By the file system's clock: milliseconds since 1970. */
  readonly made: number;
  readonly #lock: Deno.FsFile;

  private constructor(path: string, lock: Deno.FsFile) {
    this.path = path;
    this.made = Deno.lstatSync(join(path, LOCK)).mtime?.getTime() ?? 0;
    this.#lock = lock;
  }

  /** @param state the supervisor's folder, real path */
  static async create(state: string): Promise<RunFolder> {
    const all = join(state, "overlays");
    await Deno.mkdir(all, { recursive: true, mode: OWNER_ONLY });
    using _alone = await alone(all);
    const path = join(all, crypto.randomUUID());
    await Deno.mkdir(path, { mode: OWNER_ONLY });
    const lock = await Deno.open(join(path, LOCK), { createNew: true, write: true });
    await lock.lock(true);
    return new RunFolder(path, lock);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await removeRun(this.path);
    } finally {
      this.#lock.close();
    }
  }
}

/** Removes what dead supervisors have left behind. */
export async function sweepRunFolders(state: string): Promise<void> {
  const all = join(state, "overlays");
  if (await Deno.lstat(all).catch(() => undefined) === undefined) return;
  using _alone = await alone(all);
  for await (const { name, isDirectory } of Deno.readDir(all)) {
    if (!isDirectory) continue;
    const path = join(all, name);
    using lock = await Deno.open(join(path, LOCK), { write: true }).catch(() => undefined);
    if (lock === undefined || await lock.tryLock(true)) await removeRun(path).catch(() => {});
  }
}

/** Serialises the Neovims that create and sweep folders. */
async function alone(all: string): Promise<Disposable> {
  const file = await Deno.open(join(all, LOCK), { create: true, write: true, mode: 0o600 });
  await file.lock(true);
  return file;
}

/** The folder's programs have ended. */
async function removeRun(path: string): Promise<void> {
  try {
    await removeTree(path);
  } catch {
    // A closed folder whose name is not UTF-8 cannot be opened by its path. chmod follows no links below this folder.
    await openProgram("overlay", "/bin/chmod", {
      args: ["-R", "u+rwx", "--", path],
      env: {},
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    await Deno.remove(path, { recursive: true });
  }
}

/** Commands and the kernel leave folders that even their owner cannot list. */
export async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    await open(path);
    await Deno.remove(path, { recursive: true });
  }
}

/** Follows no links, also if a program replaces folders meanwhile. */
async function open(path: string): Promise<void> {
  using folder = new OpenEntry(path);
  folder.setMode(OWNER_ONLY);
  for await (const { name, isDirectory } of Deno.readDir(folder.path)) {
    if (isDirectory && !isForeign(name)) await open(folder.at(name));
  }
}

/** The time by the clock of the folder's file system: milliseconds since 1970. */
export async function timeIn(folder: string): Promise<number> {
  const path = join(folder, `stamp-${crypto.randomUUID()}`);
  await Deno.writeTextFile(path, "", { createNew: true });
  const { mtime } = await Deno.lstat(path);
  await Deno.remove(path);
  return mtime?.getTime() ?? 0;
}
