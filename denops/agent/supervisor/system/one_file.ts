/** Reads a file that may change meanwhile, so that its text and its path belong to the same file. */
import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";

/** Attempts to open a file that other processes replace. */
const TRIES = 20;

interface OneFile {
  readonly real: string;
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Opening a pipe must not block. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Checks of a file's name, where the system does not know the path of a handle. */
const LOOKS = 3;

/** Undefined for a missing path, also below a folder that has become a file. */
export function ifThere<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code))) {
      return undefined;
    }
    throw error;
  }
}

/** @param most bytes @throws {Error} one line */
export async function oneFile(path: string, most: number): Promise<OneFile> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const read = await readOnce(path, most);
    if (read !== undefined) return read;
  }
  throw new Error("it was changed while it was read");
}

/** Undefined if another process replaced the file before it was identified. */
async function readOnce(path: string, most: number): Promise<OneFile | undefined> {
  if (!(await Deno.stat(path)).isFile) throw new Error("it is not a file");
  await using file = await open(path, FLAGS);
  const info = await file.stat();
  const { size } = info;
  const real = await nameOf(path, file.fd, info);
  if (real === undefined || !info.isFile()) return undefined;
  if (size > most) throw new Error(`it is larger than ${most / 1024} kB`);
  // Read from the handle from here on, so that the name no longer matters.
  const bytes = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const read = bytes.subarray(0, length);
  return { real, bytes: read, text: new TextDecoder().decode(read) };
}

/**
 * The real path of an open file; undefined if that path names another file by now: Linux then adds "(deleted)" to
 * the path of the handle. Elsewhere a link that is exchanged between all checks would pass.
 */
async function nameOf(path: string, handle: number, { dev, ino }: Stats): Promise<string | undefined> {
  const isLinux = Deno.build.os === "linux";
  const find = () => isLinux ? Deno.readLink(`/proc/self/fd/${handle}`) : Deno.realPath(path);
  const real = await find();
  for (let look = 0; look < (isLinux ? 1 : LOOKS); look++) {
    const info = await Deno.lstat(real).catch(() => undefined);
    const isSame = info?.isFile === true && info.dev === dev && info.ino === ino && await find() === real;
    if (!isSame) return undefined;
  }
  return real;
}
