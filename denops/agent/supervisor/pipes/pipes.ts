/** Programs that the supervisor runs for an engine, which reads and writes their standard streams by requests. */
import { type ChildPipe, childPipe } from "../../shared/byte_pipe.ts";
import { killGroup } from "../system/programs.ts";

/** Time between the end of a program's input and its end by force. */
const END_MS = 2_000;
/** Lines of its error output that are kept, and characters of each. */
const MOST_LINES = 50;
const LONGEST_LINE = 500;
/** Programs of one engine. */
const MOST_PIPES = 64;

export interface PipeProgram {
  readonly process: Deno.ChildProcess;
  /** Input before the engine's. */
  readonly first?: string;
  /** Takes a line of the error output that is for the supervisor. @returns false for any other line */
  takes?(line: string, write: (text: string) => Promise<void>): boolean;
  /** Called once, after its end. */
  ended?(): Promise<unknown>;
}

interface OpenPipe {
  readonly program: PipeProgram;
  readonly streams: ChildPipe;
  readonly decoder: TextDecoder;
  readonly errors: ErrorLines;
  isReading: boolean;
  hasBegun: boolean;
}

export class Pipes implements AsyncDisposable {
  readonly #open = new Map<string, OpenPipe>();
  readonly #ending = new Set<Promise<unknown>>();

  /** @param errors receives the program's error output @returns the pipe's id @throws {Error} one line */
  add(program: PipeProgram, errors: ErrorLines): string {
    const pipe = crypto.randomUUID();
    const streams = childPipe(program.process);
    // By default it would drop a byte order mark in every piece, not only the first one of the output.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    this.#open.set(pipe, { program, streams, errors, decoder, isReading: false, hasBegun: false });
    const write = (text: string) => streams.write(new TextEncoder().encode(text));
    if (program.first !== undefined) write(program.first).catch(() => {});
    const takes = (line: string) => program.takes?.(line, write) === true;
    errors.read(program.process.stderr, takes).catch(() => {});
    return pipe;
  }

  /** @throws {Error} one line, if the engine has too many */
  assertRoom(): void {
    if (this.#open.size >= MOST_PIPES) throw new Error(`at most ${MOST_PIPES} programs at once`);
  }

  /** @throws {Error} one line */
  async write(pipe: string, text: string): Promise<void> {
    await this.#of(pipe).streams.write(new TextEncoder().encode(text)).catch(() => {
      throw new Error("the program has ended");
    });
  }

  /** The next output; `ended` says how the program ended. @throws {Error} one line */
  async read(pipe: string): Promise<{ text: string; ended?: string }> {
    const open = this.#of(pipe);
    if (open.isReading) throw new Error("the program's output is already being read");
    open.isReading = true;
    try {
      for (;;) {
        const bytes = await open.streams.read().catch(() => undefined);
        if (bytes === undefined) return { text: open.decoder.decode(), ended: await endOf(open) };
        const text = open.decoder.decode(bytes, { stream: true });
        // Bytes can end in the middle of a character.
        if (text === "") continue;
        const isFirst = !open.hasBegun;
        open.hasBegun = true;
        return { text: isFirst ? text.replace(/^\uFEFF/, "") : text };
      }
    } finally {
      open.isReading = false;
    }
  }

  /** Ends the program; unknown pipes are ignored. */
  close(pipe: string): void {
    const open = this.#open.get(pipe);
    if (open === undefined) return;
    this.#open.delete(pipe);
    const ending = end(open).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [pipe, { program: { process } }] of this.#open) {
      killGroup(process);
      this.close(pipe);
    }
    await Promise.all(this.#ending);
  }

  #of(pipe: string): OpenPipe {
    const open = this.#open.get(pipe);
    if (open === undefined) throw new Error("this pipe is not open");
    return open;
  }
}

async function end({ program: { process, ended }, streams }: OpenPipe): Promise<void> {
  streams.close();
  const timer = setTimeout(() => killGroup(process), END_MS);
  await process.status;
  clearTimeout(timer);
  // Its own children may live on.
  killGroup(process);
  await ended?.().catch(() => {});
}

async function endOf({ program: { process }, errors }: OpenPipe): Promise<string> {
  // A program that closes its output may live on.
  const status = await Promise.race([process.status, pause(END_MS)]);
  const how = status === undefined
    ? "it closed its output"
    : status.signal === null
    ? `exit code ${status.code}`
    : `signal ${status.signal}`;
  const { lines } = errors;
  const telling = lines.find((line) => /error|cannot|can't|denied|not found/i.test(line)) ?? lines.at(-1);
  return telling === undefined ? how : `${how}: ${telling}`;
}

function pause(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => Deno.unrefTimer(setTimeout(() => resolve(undefined), milliseconds)));
}

/** The last lines of a program's error output, also after restarts. */
export class ErrorLines {
  #lines: string[] = [];
  #rest = "";

  get lines(): readonly string[] {
    return this.#rest.trim() === "" ? this.#lines : [...this.#lines, this.#rest];
  }

  /** @param takes whether a line is not for the user */
  async read(
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    takes: (line: string) => boolean,
  ): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (this.#rest + text).split("\n");
      this.#rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
      const kept = lines.map((line) => line.trimEnd().slice(0, LONGEST_LINE)).filter((line) =>
        line !== "" && !takes(line)
      );
      this.#lines = [...this.#lines, ...kept].slice(-MOST_LINES);
    }
  }
}
