/**
 * Runs one shell command in its sandbox: streams its output, enforces the time limit, and ends all its
 * processes.
 */
import { memoryOf, processTree, signalAll } from "./process_tree.ts";
import type { Rehearsal } from "./rehearsal.ts";
import type { AllowProxy } from "../network/allow_proxy.ts";
import { openProgram } from "../system/programs.ts";
import { OutputBuffer, plainText } from "../system/output.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;
/** Processes of one command; checked four times a second. */
const MOST_PROCESSES = 512;
const WATCH_MS = 250;
/** Characters, with control sequences. */
const NEWEST_OUTPUT = 32_000;
const MOST_MEMORY = Math.max(2 * 1024 ** 3, Deno.systemMemoryInfo().total / 2);

export interface CommandSpec {
  /** The program to start: the shell, or the one that starts it in a sandbox. */
  readonly program: string;
  /** Arguments up to the shell's own. */
  readonly args: readonly string[];
  /** Input of the sandbox itself. The command gets none. */
  readonly input?: Uint8Array<ArrayBuffer>;
  /** Shell code that runs first and sets limits. */
  readonly prelude?: string | undefined;
  readonly line: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Bytes of memory for all processes together; by default half of the machine's, and at least 2 GiB. */
  readonly mostMemory?: number;
  /** Set if it runs over an overlay. */
  readonly rehearsal?: Rehearsal;
  /** Set if it reaches some hosts. */
  readonly proxy?: AllowProxy;
  /** Repairs what the sandbox could not prevent; returns its actions, one line each. */
  sweep(): Promise<readonly string[]>;
}

export type CommandEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "signalled"; readonly signal: string }
  | { readonly type: "timed_out"; readonly seconds: number }
  | { readonly type: "stopped" }
  | { readonly type: "too_many_processes"; readonly limit: number }
  | { readonly type: "too_much_memory"; readonly limit: number }
  | { readonly type: "wrote_too_much" };

/**
 * The command's output and errors use one pipe. The other pipe is closed for the command; at its end the
 * shell writes its current folder and the variables that it exports there. 126: they are too long to start a
 * program with, which an empty variable says.
 */
const WRAPPER = `exec 5>&2 2>&1; trap '{ printf "\\0%s\\0" "$PWD"
/usr/bin/env -0 || case $? in 126) printf "\\0";; esac; } 2>/dev/null >&5' EXIT; eval "$1" 5>&-`;
/** No folder and no variable contains it. */
const END = "\0";
/** Characters of the second pipe that are kept, from its start. */
const LONGEST_ASIDE = 100_000;

/** The shell's state at its end. It is a claim, because the command can write anything there. */
export interface ShellClaim {
  readonly folder: string;
  /** "NAME=value", in no order; undefined if they were not reported in full. */
  readonly variables: readonly string[] | undefined;
}

export class RunningCommand implements AsyncDisposable {
  readonly ended: Promise<CommandEnd>;
  readonly #process: Deno.ChildProcess;
  readonly #buffer = new OutputBuffer();
  /** Content of the second pipe: errors of the sandbox, then the claim. */
  #aside = "";
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  #reason: CommandEnd | undefined;
  #swept: readonly string[] = [];

  /** @param onOutput called after each read; the text is in `output` */
  constructor(spec: CommandSpec, onOutput: () => void) {
    this.#process = openProgram("command", spec.program, {
      args: [...spec.args, "-c", [spec.prelude ?? ":", WRAPPER].join("\n"), "sh", spec.line],
      cwd: spec.cwd,
      env: spec.env,
      // Its own session, without a terminal, and its own process group, which finds left-over processes if no
      // sandbox ends them.
      leadsGroup: true,
      stdin: spec.input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    // A sandbox that has already ended reports its own error.
    if (spec.input !== undefined) feed(this.#process.stdin, spec.input).catch(() => {});
    this.#timers.push(setTimeout(() => {
      this.#end({ type: "timed_out", seconds: spec.timeoutMs / 1_000 });
    }, spec.timeoutMs));
    this.#timers.push(setInterval(() => this.#watch(spec), WATCH_MS));
    this.ended = this.#run(onOutput, () => spec.sweep());
  }

  /** The output so far as plain text. */
  get output(): string {
    const [problems = ""] = this.#aside.split(END, 1);
    const printed = plainText(this.#buffer.text + problems);
    return printed + this.#swept.map((line) => `\n[${line}]`).join("");
  }

  /** The end of its output so far, as plain text: all of it would be converted again for each read. */
  get newestOutput(): string {
    return plainText(this.#buffer.last(NEWEST_OUTPUT));
  }

  /** Undefined if its shell reported nothing, as when it was killed. */
  get claim(): ShellClaim | undefined {
    const [, folder, ...variables] = this.#aside.split(END);
    // Each one ends with the character, so the last part is empty.
    if (folder === undefined || variables.length === 0) return undefined;
    const isWhole = variables.pop() === "" && this.#aside.length < LONGEST_ASIDE && !variables.includes("");
    return { folder, variables: isWhole ? variables : undefined };
  }

  /** Sends SIGTERM to all processes of the command, and SIGKILL two seconds later. */
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
    if (reason.type === "stopped" || reason.type === "timed_out") this.#terminate();
    else this.#kill();
  }

  async #terminate(): Promise<void> {
    this.#timers.push(setTimeout(() => this.#kill(), GRACE_MS));
    const tree = await processTree(this.#process.pid);
    // Leave the sandbox for last: its end kills everything in it immediately.
    signalAll(tree.filter((pid) => pid !== this.#process.pid), "SIGTERM");
    if (tree.length <= 1) this.#kill();
  }

  /** The search is bounded: a fork bomb outruns it, and ends with its sandbox or process group. */
  async #kill(): Promise<void> {
    const tree = await processTree(this.#process.pid, MOST_PROCESSES);
    signalAll([this.#process.pid, -this.#process.pid, ...tree], "SIGKILL");
  }

  async #watch({ mostMemory = MOST_MEMORY, rehearsal }: CommandSpec): Promise<void> {
    const tree = await processTree(this.#process.pid, MOST_PROCESSES);
    if (tree.length > MOST_PROCESSES) this.#end({ type: "too_many_processes", limit: MOST_PROCESSES });
    else if (memoryOf(tree) > mostMemory) this.#end({ type: "too_much_memory", limit: mostMemory });
    else if (await rehearsal?.isPastLimits()) this.#end({ type: "wrote_too_much" });
  }

  async #run(onOutput: () => void, sweep: CommandSpec["sweep"]): Promise<CommandEnd> {
    const read = async (stream: ReadableStream<Uint8Array>, take: (bytes: Uint8Array) => void) => {
      for await (const bytes of stream) take(bytes);
    };
    const decoder = new TextDecoder();
    const reading = Promise.allSettled([
      read(this.#process.stdout, (bytes) => {
        this.#buffer.push(bytes);
        onOutput();
      }),
      read(this.#process.stderr, (bytes) => {
        this.#aside = (this.#aside + decoder.decode(bytes, { stream: true })).slice(0, LONGEST_ASIDE);
      }),
    ]);
    const status = await this.#process.status;
    // From here on the process id may be another process's, so send it no more signals.
    this.#reason ??= status.signal === null
      ? { type: "exited", code: status.code }
      : { type: "signalled", signal: status.signal };
    // Without a pid namespace a process may still hold the pipe open; do not wait for it.
    await this.#killRest();
    await Promise.race([
      reading,
      new Promise((resolve) => Deno.unrefTimer(Number(setTimeout(resolve, 500)))),
    ]);
    this.#buffer.finish();
    this.#swept = await sweep();
    for (const timer of this.#timers) clearTimeout(timer);
    return this.#reason;
  }

  async #killRest(): Promise<void> {
    const below = (await processTree(this.#process.pid)).filter((pid) => pid !== this.#process.pid);
    signalAll([...below, -this.#process.pid], "SIGKILL");
  }
}

async function feed(stdin: WritableStream<Uint8Array>, input: Uint8Array): Promise<void> {
  const writer = stdin.getWriter();
  await writer.write(input);
  await writer.close();
}
