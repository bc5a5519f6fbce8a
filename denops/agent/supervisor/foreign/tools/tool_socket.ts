/** Opens the tools' server on a Unix socket, which only one agent's sandbox shows. */
import { join } from "node:path";
import { closeQuietly, writeAll } from "../../network/streams.ts";
import { runFolder } from "../../system/run_folder.ts";
import type { EditorToolPorts } from "./editor_tools.ts";
import { answerLine } from "./tool_server.ts";

/** An agent starts one server for each of its sessions, and perhaps one for each of its own sub-agents. */
const MOST_CONNECTIONS = 8;
/** Messages of all connections that are answered at once. */
const MOST_ANSWERS = 4;
/** Neovim gets no more questions than this allows. */
const SHORTEST_ANSWER_MS = 10;
/** Bytes. */
const LONGEST_MESSAGE = 256 * 1024;
/** Before the next connection is accepted after an error. */
const PAUSE_MS = 100;

const LINE_END = 10;

export class ToolSocket implements AsyncDisposable {
  readonly path: string;
  readonly #folder: string;
  readonly #listener: Deno.UnixListener;
  readonly #ports: EditorToolPorts;
  readonly #open = new Set<Deno.UnixConn>();
  readonly #accepting: Promise<void>;
  #answers = 0;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  private constructor(folder: string, path: string, listener: Deno.UnixListener, ports: EditorToolPorts) {
    this.#folder = folder;
    this.path = path;
    this.#listener = listener;
    this.#ports = ports;
    this.#accepting = this.#accept();
  }

  static async open(ports: EditorToolPorts): Promise<ToolSocket> {
    const folder = join(await runFolder(), `tools-${crypto.randomUUID().slice(0, 8)}`);
    await Deno.mkdir(folder, { mode: 0o700 });
    const path = join(folder, "socket");
    const listener = Deno.listen({ transport: "unix", path });
    await Deno.chmod(path, 0o600);
    return new ToolSocket(folder, path, listener, ports);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    closeQuietly(this.#listener);
    this.#open.forEach(closeQuietly);
    await this.#accepting;
    await Deno.remove(this.#folder, { recursive: true }).catch(() => {});
  }

  async #accept(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const connection = await this.#listener.accept();
        if (this.#open.size >= MOST_CONNECTIONS) closeQuietly(connection);
        else this.#serve(connection).catch(() => {});
      } catch {
        // The process may have too many open files for now.
        if (!this.#isClosed) await pause(PAUSE_MS);
      }
    }
  }

  async #serve(connection: Deno.UnixConn): Promise<void> {
    this.#open.add(connection);
    let written: Promise<void> = Promise.resolve();
    const send = (line: string) => {
      written = written.then(() => writeAll(connection, new TextEncoder().encode(`${line}\n`)));
      return written;
    };
    const answers = new Set<Promise<unknown>>();
    try {
      for await (const line of linesOf(connection)) {
        // Reading stops while all answers are busy, so that nothing piles up.
        await this.#begin();
        const answer = Promise.all([this.#answer(line, send), pause(SHORTEST_ANSWER_MS)])
          .catch(() => closeQuietly(connection))
          .finally(() => {
            answers.delete(answer);
            this.#finish();
          });
        answers.add(answer);
      }
      await Promise.all(answers);
    } finally {
      this.#open.delete(connection);
      closeQuietly(connection);
    }
  }

  async #answer(line: string, send: (line: string) => Promise<void>): Promise<void> {
    const answer = await answerLine(line, this.#ports);
    if (answer !== undefined) await send(answer);
  }

  async #begin(): Promise<void> {
    if (this.#answers >= MOST_ANSWERS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#answers += 1;
  }

  #finish(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#answers -= 1;
    else next();
  }
}

/** @throws {Error} if a line is too long */
async function* linesOf(connection: Deno.UnixConn): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  let pieces: Uint8Array[] = [];
  let size = 0;
  const take = (last: Uint8Array) => {
    const line = new Uint8Array(size + last.length);
    let at = 0;
    for (const piece of [...pieces, last]) {
      line.set(piece, at);
      at += piece.length;
    }
    pieces = [];
    size = 0;
    return decoder.decode(line);
  };
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    let rest = buffer.slice(0, count);
    for (let end = rest.indexOf(LINE_END); end !== -1; end = rest.indexOf(LINE_END)) {
      const line = take(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      if (line.trim() !== "") yield line;
    }
    pieces.push(rest);
    size += rest.length;
    if (size > LONGEST_MESSAGE) throw new Error("a message is too long");
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
