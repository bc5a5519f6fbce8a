/**
 * Reads and writes bytes of another process. Deno's web streams allocate 64 KiB for each read and take longer
 * than the processing of a message: a pipe reads into one buffer, and this process's standard streams avoid
 * web streams.
 */

const LARGEST_READ = 65_536;
/**
 * Bytes that are written synchronously if nothing waits: another thread would take longer, and a pipe has
 * room for more.
 */
const LARGEST_NOW = 8_192;

export interface BytePipe {
  /** The next bytes, owned by the caller; undefined at the end. @throws {Error} if the connection breaks */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Writes all bytes, after earlier ones. @throws {Error} if the other side has closed */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** The standard streams of this process. */
export function standardPipe(): BytePipe {
  const buffer = new Uint8Array(LARGEST_READ);
  let written = Promise.resolve();
  let waiting = 0;
  const writeAll = async (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
    waiting -= 1;
  };
  return {
    async read() {
      const length = await Deno.stdin.read(buffer);
      return length === null ? undefined : buffer.slice(0, length);
    },
    write(bytes) {
      const done = waiting === 0 && bytes.length <= LARGEST_NOW ? writeNow(bytes) : 0;
      if (done === bytes.length) return written;
      waiting += 1;
      return written = written.then(() => writeAll(bytes.subarray(done)));
    },
  };
}

/** Number of bytes written. */
function writeNow(bytes: Uint8Array): number {
  try {
    return Deno.stdout.writeSync(bytes);
  } catch {
    // Not now, or never again: the waiting write finds out.
    return 0;
  }
}

export interface ChildPipe extends BytePipe {
  /** Closes the input of the child. */
  close(): void;
}

/** The standard streams of a child. */
export function childPipe({ stdin, stdout }: Pick<Deno.ChildProcess, "stdin" | "stdout">): ChildPipe {
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
    // It may have ended already.
    close: () => void writer.close().catch(() => {}),
  };
}
