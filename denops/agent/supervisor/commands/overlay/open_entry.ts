/**
 * Files and folders that a hostile program may replace at the same time, for example by links. An open entry stays the same
 * one, and a path below an open folder has a single name, so no link on it is followed. Linux only.
 *
 * Sources: O_PATH in open(2), proc_pid_fd(5).
 */
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";

const O_PATH = 0o10000000;

export class OpenEntry implements Disposable {
  /** When it was opened. */
  readonly info: Deno.FileInfo;
  readonly #descriptor: number;

  /** @param path its last name may be a link, which is opened itself @throws {Error} if nothing is there */
  constructor(path: string) {
    this.#descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
    this.info = Deno.statSync(this.path);
  }

  /** Leads to the entry, also if it has been moved. */
  get path(): string {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  /** @param name of an entry of this folder */
  at(name: string): string {
    return join(this.path, name);
  }

  setMode(mode: number): void {
    Deno.chmodSync(this.path, mode);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/**
 * Opens a folder below a root.
 * @param root a real path, which nobody replaces @param path relative to it
 * @throws {Error} if it is no folder, or a link leads to it
 */
export function openBelow(root: string, path: string): OpenEntry {
  const expected = join(root, path);
  using stack = new DisposableStack();
  const folder = stack.use(new OpenEntry(expected));
  // The kernel knows where the open folder is.
  if (!folder.info.isDirectory || Deno.readLinkSync(folder.path) !== expected) {
    throw new Error("a folder was replaced meanwhile");
  }
  stack.move();
  return folder;
}
