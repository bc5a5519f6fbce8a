/**
 * Ensures one writer for each session among a project's engines, with the system's file locks: they end with their
 * process and work across namespaces.
 */
import { join } from "node:path";

/** A lock that another engine only tested is free again after this time. */
const PATIENCE_MS = 500;
const PAUSE_MS = 20;

export class SessionLocks {
  /** Undefined for a database that is not shared. */
  readonly #folder: string | undefined;
  readonly #locks = new Map<string, Deno.FsFile>();

  constructor(state: string | undefined) {
    this.#folder = state === undefined ? undefined : join(state, "locks");
  }

  /** False if another engine has the session open. */
  async take(id: string): Promise<boolean> {
    if (this.#folder === undefined || this.#locks.has(id)) return true;
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const file = await tryLock(join(this.#folder, id));
      if (file !== undefined) {
        this.#locks.set(id, file);
        return true;
      }
      if (performance.now() > end) return false;
      await pause();
    }
  }

  async free(id: string): Promise<void> {
    const file = this.#locks.get(id);
    if (file === undefined || this.#folder === undefined) return;
    this.#locks.delete(id);
    // While the lock is held, nobody else can take this file.
    await Deno.remove(join(this.#folder, id)).catch(() => {});
    file.close();
  }

  /** Sessions that other engines have open. A lock that is only tested is free at the second look. */
  async openElsewhere(): Promise<ReadonlySet<string>> {
    const ids = await this.#inUse(await this.#names());
    if (ids.length === 0) return new Set();
    await pause();
    return new Set(await this.#inUse(ids));
  }

  async #inUse(ids: readonly string[]): Promise<readonly string[]> {
    const inUse: string[] = [];
    for (const id of ids) {
      if (this.#locks.has(id) || this.#folder === undefined) continue;
      if (await isHeld(join(this.#folder, id))) inUse.push(id);
    }
    return inUse;
  }

  async #names(): Promise<readonly string[]> {
    if (this.#folder === undefined) return [];
    try {
      return (await Array.fromAsync(Deno.readDir(this.#folder))).map(({ name }) => name);
    } catch {
      return [];
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

/** Tests the lock shared, as the supervisor does at the same time. Removes the file of an engine that has died. */
async function isHeld(path: string): Promise<boolean> {
  using file = await Deno.open(path, { write: true }).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (file === undefined) return false;
  if (!await file.tryLock(false)) return true;
  if (await file.tryLock(true) && await isThere(path, file)) await Deno.remove(path).catch(() => {});
  return false;
}

/** The locked file; undefined if another process has locked it, or it was removed meanwhile. */
async function tryLock(path: string): Promise<Deno.FsFile | undefined> {
  const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
  try {
    if (await file.tryLock(true) && await isThere(path, file)) return file;
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

/** Whether the opened file still has this name. */
async function isThere(path: string, file: Deno.FsFile): Promise<boolean> {
  const [atPath, opened] = await Promise.all([Deno.stat(path).catch(() => undefined), file.stat()]);
  return atPath !== undefined && atPath.ino === opened.ino && atPath.dev === opened.dev;
}
