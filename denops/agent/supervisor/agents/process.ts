/** A process that speaks ACP on its standard streams. */
import { MessageTooLargeError, type Stream } from "../../deps/acp_sdk.ts";
import { type ChildPipe, childPipe } from "../../shared/byte_pipe.ts";
import { messageStream, type Passing } from "../../shared/message_stream.ts";
import { endOf, pauseForEnd } from "./process_end.ts";
import { throttled } from "./throttle.ts";

export class AgentProcess implements AsyncDisposable {
  /** How it ended, as one line; never rejects. */
  readonly ended: Promise<string>;
  readonly #process: Deno.ChildProcess;
  readonly #pipe: ChildPipe;
  #killedBecause: string | undefined;
  #hasExited = false;

  /** @param process all of its streams are piped */
  constructor(process: Deno.ChildProcess) {
    this.#process = process;
    this.#pipe = childPipe(process);
    process.status.then(() => this.#hasExited = true);
    this.ended = endOf(this.#process).then((how) => this.#killedBecause ?? how);
  }

  /** Bubblewrap may exit before its child closes the streams. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Call this only once. */
  messages(passing: Passing): Stream {
    return messageStream(throttled(this.#pipe), passing);
  }

  /** How it ended, if it has ended or does so right now. */
  async hasEnded(): Promise<string | undefined> {
    return await Promise.race([this.ended, pauseForEnd()]);
  }

  /** @param why the reason that `ended` then gives */
  kill(why: string): void {
    this.#killedBecause ??= why;
    this.#end();
  }

  /**
   * Called when the connection has ended; usually the process has too. @param reason of the connection's end
   */
  async silenced(reason: unknown): Promise<void> {
    if (await this.hasEnded() !== undefined) return;
    this.kill(
      reason instanceof MessageTooLargeError
        ? `it sent a message of more than ${Math.round(reason.maxMessageBytes / 2 ** 20)} MB`
        : "it closed its output",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await this.ended;
  }

  #end(): void {
    // Bubblewrap's child survives if bubblewrap is killed very early: it ends when its input closes.
    this.#pipe.close();
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}
