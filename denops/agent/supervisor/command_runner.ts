/** Runs one shell command in its sandbox: streams what it prints, ends it in time, and everything it started. */
import { processTree, signalAll } from "./process_tree.ts";
import { OutputBuffer, plainText } from "./command_output.ts";

/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;
/** Processes of one command at most; looked at four times a second. */
const MOST_PROCESSES = 512;
const WATCH_MS = 250;

export interface CommandSpec {
  /** The sandbox's program and its own arguments; the shell and the line follow. */
  readonly sandbox: readonly [program: string, ...args: string[]] | undefined;
  readonly shell: string;
  readonly line: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Puts right what the sandbox could not prevent; what was done, one line each. */
  sweep(): Promise<readonly string[]>;
}

export type CommandEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "signalled"; readonly signal: string }
  | { readonly type: "timed_out"; readonly seconds: number }
  | { readonly type: "stopped" }
  | { readonly type: "too_many_processes"; readonly limit: number };

/** Ends the output with the folder that the command ended in, behind a mark that nothing else prints. */
const WRAPPER = "exec 2>&1; __mark=$AGENT_MARK; unset AGENT_MARK; " +
  'trap \'printf "%s%s\\n" "$__mark" "$PWD"\' EXIT; eval "$1"';

export class RunningCommand implements AsyncDisposable {
  readonly ended: Promise<CommandEnd>;
  readonly #process: Deno.ChildProcess;
  readonly #buffer = new OutputBuffer();
  readonly #mark: string;
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  #reason: CommandEnd | undefined;
  #swept: readonly string[] = [];

  /** @param onOutput called after each read; takes no argument, the text is in `output` */
  constructor(spec: CommandSpec, onOutput: () => void) {
    this.#mark = `\u0001${crypto.randomUUID()}\u0001`;
    const [program, ...args] = spec.sandbox === undefined
      ? [spec.shell] as const
      : [...spec.sandbox, spec.shell] as const;
    this.#process = new Deno.Command(program, {
      args: [...args, "-c", WRAPPER, "sh", spec.line],
      cwd: spec.cwd,
      env: { ...spec.env, AGENT_MARK: this.#mark },
      clearEnv: true,
      // A group of its own: what the shell leaves behind is found by that where no sandbox ends it.
      detached: Deno.build.os !== "windows",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#timers.push(setTimeout(() => {
      this.#end({ type: "timed_out", seconds: spec.timeoutMs / 1_000 });
    }, spec.timeoutMs));
    this.#timers.push(setInterval(() => this.#countProcesses(), WATCH_MS));
    this.ended = this.#run(onOutput, () => spec.sweep());
  }

  /** What was printed so far, plain. */
  get output(): string {
    const text = this.#buffer.text;
    const at = text.lastIndexOf(this.#mark);
    const printed = plainText(at === -1 ? text : text.slice(0, at));
    return printed + this.#swept.map((line) => `\n[${line}]`).join("");
  }

  /** The folder that the command ended in, as it says itself; undefined if it did not. */
  get endFolder(): string | undefined {
    const text = this.#buffer.text;
    const at = text.lastIndexOf(this.#mark);
    return at === -1 ? undefined : text.slice(at + this.#mark.length).split("\n")[0];
  }

  /** SIGTERM to all that the command started, two seconds later SIGKILL. */
  stop(): void {
    this.#end({ type: "stopped" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.ended;
  }

  #end(reason: CommandEnd): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    processTree(this.#process.pid).then((tree) => {
      // The sandbox itself is left for the last: when it goes, everything in it is killed at once.
      signalAll(tree.filter((pid) => pid !== this.#process.pid), "SIGTERM");
      if (reason.type === "too_many_processes" || tree.length <= 1) this.#kill();
    });
    this.#timers.push(setTimeout(() => this.#kill(), GRACE_MS));
  }

  async #kill(): Promise<void> {
    const tree = await processTree(this.#process.pid);
    signalAll([this.#process.pid, ...tree, -this.#process.pid], "SIGKILL");
  }

  async #countProcesses(): Promise<void> {
    const tree = await processTree(this.#process.pid);
    if (tree.length > MOST_PROCESSES) this.#end({ type: "too_many_processes", limit: MOST_PROCESSES });
  }

  async #run(onOutput: () => void, sweep: CommandSpec["sweep"]): Promise<CommandEnd> {
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const bytes of stream) {
        this.#buffer.push(bytes);
        onOutput();
      }
    };
    const reading = Promise.allSettled([read(this.#process.stdout), read(this.#process.stderr)]);
    const status = await this.#process.status;
    // Without a pid namespace something may still hold the pipe open; it is not waited for.
    await this.#killRest();
    await Promise.race([
      reading,
      new Promise((resolve) => Deno.unrefTimer(Number(setTimeout(resolve, 500)))),
    ]);
    this.#buffer.finish();
    this.#swept = await sweep();
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#reason !== undefined) return this.#reason;
    return status.signal === null
      ? { type: "exited", code: status.code }
      : { type: "signalled", signal: status.signal };
  }

  async #killRest(): Promise<void> {
    const below = (await processTree(this.#process.pid)).filter((pid) => pid !== this.#process.pid);
    signalAll([...below, -this.#process.pid], "SIGKILL");
  }
}
