/** ACP's terminal methods: runs commands of engines after the gate's approval, in the sandbox. */
import { type CreateTerminalRequest, RequestError, type TerminalOutputResponse } from "../../deps/acp_sdk.ts";
import { patternOf } from "../../policy/hosts.ts";
import type { PathLookups } from "../../policy/path.ts";
import { resolveInRoots } from "../../policy/roots.ts";
import { type TerminalEnd, TerminalMeta } from "../../protocol/commands.ts";
import { META, ours } from "../../protocol/extensions.ts";
import { defined } from "../../shared/records.ts";
import type { ListedChanges } from "./listed_changes.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { shortened } from "../system/output.ts";
import type { AllowProxy } from "../network/allow_proxy.ts";
import { type CommandEnd, type CommandSpec, RunningCommand } from "./runner.ts";
import { activationCode, checkActivation, shellState } from "./shell_state.ts";

/** Running commands per session. */
const MOST_RUNNING = 10;
/** Refused hosts in a note. */
const MOST_REFUSED = 10;

export interface Grant {
  /** The approval assumes that unreadable files are hidden from the command; otherwise it is invalid. */
  readonly isMasked: boolean;
  /** The user or a rule approved its effects, so changes over an overlay are kept without a question. */
  readonly agreed: boolean;
  /** The user answered for this very run; no rule did. */
  readonly byUser: boolean;
  /** The hosts that the approval covers. */
  readonly hosts?: readonly string[];
}

interface TerminalPorts {
  /** Uses up the approval of a command. */
  spend(sessionId: string, input: TerminalMeta): Grant | undefined;
  /** Builds the specification of a command in this project's sandbox. */
  specify(
    input: TerminalMeta,
    sessionId: string,
    grant: Grant,
  ): Promise<Omit<CommandSpec, "line" | "cwd" | "timeoutMs">>;
  /** Shows the output so far. */
  show(sessionId: string, toolCallId: string, output: string): void;
  /** Reports the number of the session's background commands. */
  running(sessionId: string, count: number): void;
}

/** A background command. */
interface BackgroundJob {
  readonly id: string;
  readonly command: string;
  /** How it ended, in words; undefined while it runs. */
  readonly end: string | undefined;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly output: string;
}

interface Terminal {
  readonly sessionId: string;
  readonly command: RunningCommand;
  readonly input: TerminalMeta;
  /** Its variables without those of earlier commands. */
  readonly host: CommandSpec["env"];
  readonly grant: Grant;
  /** Resolves when it has ended and its changes are listed. */
  readonly ended: Promise<CommandEnd>;
  readonly rehearsal: Rehearsal | undefined;
  readonly proxy: AllowProxy | undefined;
  /** Milliseconds since 1970. */
  readonly started: number;
  end?: CommandEnd;
  /** Notes beside its output, a line each. */
  notes?: readonly string[];
}

/** A finished command with its changes. */
export interface EndedCommand extends Pick<Terminal, "input" | "grant"> {
  readonly changes: ListedChanges;
  /** One line. */
  readonly end: string;
}

/** The ended turn of an agent from elsewhere, with its changes. */
export interface EndedTurn extends Pick<EndedCommand, "changes" | "end"> {
  /** The agent's title. */
  readonly agent: string;
  /** False: it was stopped or failed, so the user is asked about each change. */
  readonly isComplete: boolean;
}

export type EndedWork = EndedCommand | EndedTurn;

export class Terminals implements AsyncDisposable {
  readonly #roots: readonly string[];
  readonly #ports: TerminalPorts;
  readonly #lookups: PathLookups;
  readonly #open = new Map<string, Terminal>();
  /** Commands whose sandboxes are being created. */
  readonly #starting = new Set<Promise<string>>();
  #isClosed = false;
  /** Patterns of hosts that commands could not reach. */
  readonly #refused = new Set<string>();
  /** Released commands that are still ending. */
  readonly #ending = new Set<Promise<void>>();

  constructor(roots: readonly string[], lookups: PathLookups, ports: TerminalPorts) {
    this.#roots = roots;
    this.#lookups = lookups;
    this.#ports = ports;
  }

  /** @throws {RequestError} one line if the command is not approved */
  async create(params: CreateTerminalRequest): Promise<string> {
    const { sessionId } = params;
    const input = agreed(params);
    const grant = this.#ports.spend(sessionId, input);
    if (grant === undefined) {
      throw RequestError.invalidParams(undefined, NOT_APPROVED);
    }
    const running = [...this.#open.values()].filter((terminal) =>
      terminal.sessionId === sessionId && terminal.end === undefined
    );
    if (running.length >= MOST_RUNNING) {
      throw RequestError.invalidParams(
        undefined,
        `${MOST_RUNNING} commands are running; stop one with job`,
      );
    }
    await this.#checkFolder(input.cwd);
    await checkActivation(input.activation, this.#workspace);
    const starting = this.#start(sessionId, input, grant).finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
    return await starting;
  }

  async #start(sessionId: string, input: TerminalMeta, grant: Grant): Promise<string> {
    const specified = await this.#ports.specify(input, sessionId, grant);
    const { env: host } = specified;
    const spec = {
      ...specified,
      prelude: [specified.prelude ?? ":", activationCode(input.activation)].join("\n"),
      line: input.command,
      cwd: input.cwd,
      timeoutMs: input.timeout * 1_000,
    };
    const id = crypto.randomUUID();
    const show = () => this.#ports.show(sessionId, input.toolCallId, command.newestOutput);
    let command: RunningCommand;
    try {
      if (this.#isClosed) throw RequestError.internalError(undefined, "the engine is gone");
      command = new RunningCommand(spec, () => show());
    } catch (error) {
      await spec.sweep();
      await spec.proxy?.[Symbol.asyncDispose]();
      await spec.rehearsal?.[Symbol.asyncDispose]();
      throw error;
    }
    const { rehearsal, proxy } = spec;
    const ended = command.ended.then(async (end) => {
      const whole = end.type === "exited" || end.type === "signalled";
      terminal.notes = await rehearsal?.finish(whole) ?? [];
      terminal.end = end;
      await proxy?.[Symbol.asyncDispose]();
      for (const host of proxy?.refused ?? []) this.#refused.add(patternOf(host));
      if (input.background) this.#tellRunning(sessionId);
      return end;
    });
    const started = Date.now();
    const terminal: Terminal = { sessionId, command, input, host, grant, ended, rehearsal, proxy, started };
    this.#open.set(id, terminal);
    if (input.background) this.#tellRunning(sessionId);
    return id;
  }

  #tellRunning(sessionId: string): void {
    if (this.#isClosed) return;
    const running = this.jobs(sessionId).filter(({ end }) => end === undefined);
    this.#ports.running(sessionId, running.length);
  }

  /** Patterns of the last hosts that commands could not reach, the newest first. */
  get refused(): readonly string[] {
    return [...this.#refused].slice(-MOST_REFUSED).reverse();
  }

  /** The session's background commands, the newest first. */
  jobs(sessionId: string): readonly BackgroundJob[] {
    return [...this.#open].flatMap(([id, { input, command, end, started, ...terminal }]) =>
      terminal.sessionId !== sessionId || !input.background ? [] : [{
        ...{ id, command: input.command, started, output: shortened(command.output) },
        end: end === undefined ? undefined : endText(end),
      }]
    ).reverse();
  }

  /** Ends a background command. @throws {RequestError} if the session has none with this id */
  async stopJob(sessionId: string, id: string): Promise<void> {
    const terminal = this.#terminal(id);
    if (terminal.sessionId !== sessionId || !terminal.input.background) {
      throw RequestError.invalidParams(undefined, `unknown command id ${id}`);
    }
    terminal.command.stop();
    await terminal.ended;
  }

  /** Whether a command of this session has made such a link and it was approved. */
  keepsLink(sessionId: string, folder: string, target: string): boolean {
    return [...this.#open.values()].some((terminal) =>
      terminal.sessionId === sessionId && terminal.rehearsal?.changes?.keepsLink(folder, target)
    );
  }

  /** Whether the user kept a command's change of this file. */
  keeps(sessionId: string, path: string): boolean {
    return [...this.#open.values()].some((terminal) =>
      terminal.sessionId === sessionId && terminal.rehearsal?.changes?.keeps(path)
    );
  }

  /** @throws {RequestError} if it has no changes */
  changes(sessionId: string, id: string): ListedChanges {
    const ended = this.endedCommand(sessionId, id);
    if (ended !== undefined) return ended.changes;
    throw RequestError.invalidParams(undefined, `nothing is to be kept of ${id}`);
  }

  /** Undefined unless it is a finished command of this session with changes. */
  endedCommand(sessionId: string, id: string): EndedCommand | undefined {
    const terminal = this.#open.get(id);
    if (terminal?.sessionId !== sessionId) return undefined;
    const { rehearsal, end, input, grant } = terminal;
    const changes = rehearsal?.changes;
    return end === undefined || changes === undefined
      ? undefined
      : { changes, input, grant, end: endText(end) };
  }

  async #checkFolder(cwd: string): Promise<void> {
    const { path } = await resolveInRoots(cwd, this.#roots, this.#lookups);
    if (path !== cwd) throw RequestError.invalidParams(undefined, "the command's folder is behind a link");
  }

  async output(id: string): Promise<TerminalOutputResponse> {
    const terminal = this.#terminal(id);
    const { command, end, notes = [], rehearsal, proxy } = terminal;
    const lines = [...notes, ...refusals(proxy?.refused ?? [])].map((line) => `[${line}]`);
    const output = shortened(
      lines.length === 0 ? command.output : [command.output.trimEnd(), ...lines].join("\n").trimStart(),
    );
    if (end === undefined) return { output, truncated: false };
    const effects = rehearsal?.changes?.summary;
    const meta: TerminalEnd = {
      text: endText(end),
      ...await this.#folder(command),
      ...defined({ effects, shell: await this.#shell(terminal) }),
    };
    return { output, truncated: false, exitStatus: exitStatus(end), _meta: { [META]: meta } };
  }

  async waitForExit(id: string, signal: AbortSignal) {
    const { ended } = this.#terminal(id);
    const aborted = new Promise<undefined>((resolve) =>
      signal.addEventListener("abort", () => resolve(undefined))
    );
    const end = await Promise.race([ended, aborted]);
    if (end === undefined) throw RequestError.internalError(undefined, "cancelled");
    return exitStatus(end);
  }

  kill(id: string): void {
    this.#terminal(id).command.stop();
  }

  release(id: string): void {
    const terminal = this.#open.get(id);
    this.#open.delete(id);
    if (terminal === undefined) return;
    const ending = this.#end(terminal).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** This drops the changes that were not kept. */
  async #end({ command, ended, rehearsal }: Terminal): Promise<void> {
    await command[Symbol.asyncDispose]();
    // The next start removes the remaining files.
    await rehearsal?.[Symbol.asyncDispose]().catch(() => {});
    await ended;
  }

  /** Stops the commands that the session's turn waits for; background commands continue. */
  stopTurn(sessionId: string): void {
    for (const terminal of this.#open.values()) {
      if (terminal.sessionId === sessionId && !terminal.input.background) terminal.command.stop();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#ending, ...[...this.#open.values()].map((terminal) => this.#end(terminal))]);
    this.#open.clear();
  }

  #terminal(id: string): Terminal {
    const terminal = this.#open.get(id);
    if (terminal === undefined) throw RequestError.invalidParams(undefined, `unknown command id ${id}`);
    return terminal;
  }

  /** The folder that the command ended in, limited to the project. */
  async #folder(command: RunningCommand): Promise<{ folder?: string }> {
    const { claim } = command;
    if (claim === undefined) return {};
    const { folder } = claim;
    try {
      return { folder: (await resolveInRoots(folder, this.#roots, this.#lookups)).relative };
    } catch {
      return { folder: "" };
    }
  }

  /** The start of the next commands; undefined if this one does not report it, or keeps its state to itself. */
  async #shell({ command: { claim }, end, input, host }: Terminal): Promise<TerminalEnd["shell"]> {
    if (claim === undefined || end?.type !== "exited" || input.background) return undefined;
    return await shellState(claim, host, this.#workspace);
  }

  get #workspace() {
    return { roots: this.#roots, lookups: this.#lookups };
  }
}

const NOT_APPROVED = "the command was not approved";

/** @throws {RequestError} if its fields contradict each other */
function agreed(params: CreateTerminalRequest): TerminalMeta {
  const input = ours(TerminalMeta, params._meta);
  const [flag, line] = params.args ?? [];
  const isSame = params.command === "sh" && flag === "-c" && line === input?.command;
  if (input !== undefined && isSame && params.cwd === input.cwd) return input;
  throw RequestError.invalidParams(undefined, "the command is not in the agreed form");
}

/** A note about the hosts that a command could not reach. */
function refusals(hosts: readonly string[]): readonly string[] {
  const [first] = hosts;
  if (first === undefined) return [];
  const more = hosts.length > MOST_REFUSED ? `, ${hosts.length - MOST_REFUSED} more` : "";
  const names = hosts.slice(0, MOST_REFUSED).join(", ");
  return [`Refused hosts: ${names}${more}. Allow one with the rule host(${patternOf(first)}).`];
}

function exitStatus(end: CommandEnd) {
  if (end.type === "exited") return { exitCode: end.code };
  return { signal: end.type === "signalled" ? end.signal : "SIGKILL" };
}

function endText(end: CommandEnd): string {
  switch (end.type) {
    case "exited":
      return `exit code ${end.code}`;
    case "signalled":
      return `ended by ${end.signal}`;
    case "timed_out":
      return `timed out after ${end.seconds} s`;
    case "stopped":
      return "stopped";
    case "too_many_processes":
      return `stopped: it started more than ${end.limit} processes`;
    case "too_much_memory":
      return `stopped: it took more than ${(end.limit / 1024 ** 3).toFixed(1)} GiB of memory`;
    case "wrote_too_much":
      return "stopped: it wrote more than can be rehearsed; direct: true works on the files themselves";
  }
}
