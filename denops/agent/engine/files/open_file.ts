/**
 * Opens the file that was checked and reads it through a handle, so that later changes of its name do not
 * matter.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { ToolError } from "../../shared/errors.ts";

/** Opening a pipe must not block. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Deno does not tell a sandboxed process the path of a handle, so the path is checked repeatedly. Only a
 * folder that is exchanged with a link between every two checks would pass. One check missed one exchange in
 * twenty, three checks missed one in 4,000.
 */
const LOOKS = 8;

class OpenFile implements Disposable {
  readonly #handle: number;
  /** Bytes at the time of opening. */
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
 * @throws {ToolError} if a link now leads elsewhere, or if it is not a regular file
 * @throws {Deno.errors.NotFound} and others, as `Deno.openSync`
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
    const info = lstatSync(path);
    return info.isFile() && info.dev === dev && info.ino === ino && Deno.realPathSync(path) === path;
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

/** Node's functions identify an error by its code, Deno's by its class. */
function asDeno<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    const { code = "", message = "" } = error as { code?: string; message?: string };
    const Class = DENO_ERRORS[code];
    throw Class === undefined ? error : new Class(message);
  }
}
