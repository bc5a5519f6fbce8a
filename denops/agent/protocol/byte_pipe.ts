/**
 * Bytes to and from another process. Deno's web streams allocate 64 KiB for each read and take longer than all that is
 * done with a message: a pipe reads into one buffer, and its own standard streams without them.
 */

const LARGEST_READ = 65_536;

export interface BytePipe {
  /** What has come, the caller's own; undefined at the end. @throws {Error} if it breaks off */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Writes all of them, behind what was to be written before. @throws {Error} if the other side is gone */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** The standard streams of this process. */
export function standardPipe(): BytePipe {
  const buffer = new Uint8Array(LARGEST_READ);
  let written = Promise.resolve();
  const writeAll = async (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
  };
  return {
    async read() {
      const length = await Deno.stdin.read(buffer);
      return length === null ? undefined : buffer.slice(0, length);
    },
    write: (bytes) => written = written.then(() => writeAll(bytes)),
  };
}

/** The standard streams of a child. */
export function childPipe({ stdin, stdout }: Pick<Deno.ChildProcess, "stdin" | "stdout">): BytePipe {
  const reader = stdout.getReader({ mode: "byob" });
  const writer = stdin.getWriter();
  let buffer = new Uint8Array(LARGEST_READ);
  return {
    async read() {
      const { done, value } = await reader.read(buffer);
      if (done) return undefined;
      buffer = new Uint8Array(value.buffer);
      return value.slice();
    },
    write: (bytes) => writer.write(bytes),
  };
}
