/** Requests to stop: signals, and a reader of standard output that is gone. */

/** Exit codes: for signals as a shell reports them, 128 and the signal's number. */
const CODES = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143, failure: 1 } as const;
type StopReason = keyof typeof CODES;

const LISTENED = Deno.build.os === "windows" ? ["SIGINT"] as const : ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Signals implements Disposable {
  /** Stops the turn. Until it is set, a signal ends the process. */
  onStop: (() => void) | undefined;
  #code: number | undefined;
  readonly #listeners: ReadonlyMap<Deno.Signal, () => void>;

  constructor() {
    this.#listeners = new Map(LISTENED.map((name) => [name, () => this.stop(name)]));
    for (const [name, listener] of this.#listeners) Deno.addSignalListener(name, listener);
  }

  /** Undefined unless something has asked to stop. */
  get exitCode(): number | undefined {
    return this.#code;
  }

  /** A second request does not wait for the turn's end. The engine and its commands end with this process. */
  stop(reason: StopReason): void {
    const isSecond = this.#code !== undefined && reason !== "SIGPIPE" && reason !== "failure";
    if (this.onStop === undefined || isSecond) Deno.exit(CODES[reason]);
    this.#code ??= CODES[reason];
    this.onStop();
  }

  [Symbol.dispose](): void {
    for (const [name, listener] of this.#listeners) Deno.removeSignalListener(name, listener);
  }
}
