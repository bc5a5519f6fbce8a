/** Opens the file that was judged: its content is read from a handle, so no later change of its name matters. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { ToolError } from "../../shared/errors.ts";

/** No open waits for the other end of a pipe. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Deno does not tell a sandboxed process what a handle is called. A folder that becomes a link and a folder again
 * between every two of these looks would pass. One look in some twenty did, and three in one of 4,000 tries.
 */
const LOOKS = 8;

class OpenFile implements Disposable {
  readonly #handle: number;
  /** Bytes, when it was opened. */
  readonly size: number;

  constructor(handle: number, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /** @returns bytes read; 0 at the end of the file */
  read(buffer: Uint8Array): number {
    return readSync(this.#handle, buffer);
  }

  /** The next bytes, fewer at the end of the file. */
  take(most: number): Uint8Array {
    const bytes = new Uint8Array(most);
    let length = 0;
    for (let count = -1; count !== 0 && length < most; length += count) {
      count = this.read(bytes.subarray(length));
    }
    return bytes.subarray(0, length);
  }

  [Symbol.dispose](): void {
    closeSync(this.#handle);
  }
}

/**
 * @param path real
 * @throws {ToolError} if a link leads elsewhere by now, or if it is no regular file
 * @throws {Deno.errors.NotFound} and the like, as `Deno.openSync`
 */
export function openByRealPath(path: string): OpenFile {
  const handle = asDeno(() => openSync(path, FLAGS));
  const { dev, ino, size } = fstatSync(handle);
  if (Array.from({ length: LOOKS }).every(() => isNamed(path, dev, ino))) return new OpenFile(handle, size);
  closeSync(handle);
  throw new ToolError("another file took its place at this moment; nothing was read. Try again.");
}

function isNamed(path: string, dev: number, ino: number): boolean {
  try {
    const named = lstatSync(path);
    return named.isFile() && named.dev === dev && named.ino === ino && Deno.realPathSync(path) === path;
  } catch {
    return false;
  }
}

const DENO_ERRORS: Readonly<Record<string, new (message: string) => Error>> = {
  EACCES: Deno.errors.PermissionDenied,
  EPERM: Deno.errors.PermissionDenied,
  ENOENT: Deno.errors.NotFound,
  ENOTDIR: Deno.errors.NotADirectory,
  ELOOP: Deno.errors.FilesystemLoop,
};

/** Node's functions name an error by its code, Deno's by its class. */
function asDeno<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    const { code = "", message = "" } = error as { code?: string; message?: string };
    const Class = DENO_ERRORS[code];
    throw Class === undefined ? error : new Class(message);
  }
}
