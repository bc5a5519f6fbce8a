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
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
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

  /** Sessions that other engines have open. */
  async openElsewhere(): Promise<ReadonlySet<string>> {
    const open = new Set<string>();
    for (const id of await this.#names()) {
      if (this.#locks.has(id) || this.#folder === undefined) continue;
      const path = join(this.#folder, id);
      using file = await tryLock(path);
      if (file === undefined) open.add(id);
      // Its engine has died.
      else await Deno.remove(path).catch(() => {});
    }
    return open;
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
