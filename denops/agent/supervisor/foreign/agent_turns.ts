/** A running agent from elsewhere, whose turns write to overlays or copies of the workspace. */
import { patternOf } from "../../policy/hosts.ts";
import type { CommandEffects } from "../../protocol/commands.ts";
import type { ForeignAgent } from "../../protocol/options/foreign_agents.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { ListedChanges } from "../commands/listed_changes.ts";
import type { OverlayChanges } from "../commands/overlay/changes.ts";
import type { HiddenPaths, TurnRoots } from "../commands/overlay/turn_roots.ts";
import { memoryOf, processTree } from "../commands/process_tree.ts";
import type { EndedTurn } from "../commands/terminals.ts";
import type { AllowProxy } from "../network/allow_proxy.ts";
import type { PipeProgram } from "../pipes/pipes.ts";
import { killGroup } from "../system/programs.ts";
import { whileStopped } from "./stopped.ts";
import { TurnBases } from "./turn_bases.ts";
import { turnChanges } from "./turn_changes.ts";

interface TurnOptions {
  /** Real paths: the first roots of the turn. */
  readonly roots: readonly string[];
  /** Globs of files that the turn must not read. */
  readonly denied: readonly string[];
  /** The editor copies files there before it writes them. */
  readonly spool: string;
  /** For the agent's versions that are not kept. */
  readonly conflicts: string;
}

interface AgentParts {
  readonly row: ForeignAgent;
  readonly turnRoots: TurnRoots;
  readonly program: PipeProgram;
  readonly proxy: AllowProxy;
  hiddenPaths(denied: readonly string[]): Promise<HiddenPaths>;
}

interface Turn extends TurnOptions {
  readonly session: string;
  readonly terminal: string;
  readonly bases: TurnBases;
  /** The listed entries as JSON, by root and path: the agent's own versions. */
  readonly listed: Map<string, string>;
  /** Set when it has ended. */
  ended?: EndedTurn;
}

const LONGEST_LIST_MS = 120_000;
const WATCH_MS = 1_000;
const IDLE_SHARE = 10;
/** Of all processes of an agent. */
const MOST_PROCESSES = 2_048;
const MOST_MEMORY = Math.max(4 * 1024 ** 3, Deno.systemMemoryInfo().total * 3 / 4);
const MOST_REFUSED = 10;

export class AgentTurns implements AsyncDisposable {
  readonly #parts: AgentParts;
  #turn: Turn | undefined;
  /** Begins and ends one after another. */
  #last: Promise<unknown> = Promise.resolve();
  #watch: ReturnType<typeof setInterval>;
  /** Why it was killed, half a sentence. */
  #killed: string | undefined;
  #checks = 0;
  readonly #reported = new Set<string>();

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#watch = setInterval(() => this.#check().catch(() => {}), WATCH_MS);
    Deno.unrefTimer(Number(this.#watch));
    parts.program.process.status.finally(() => clearInterval(this.#watch)).catch(() => {});
  }

  /** By the file system's clock. */
  now(): Promise<number> {
    return this.#parts.turnRoots.now();
  }

  /** Drops what was not kept of the last turn. @throws {Error} one line */
  begin(session: string, options: TurnOptions): Promise<void> {
    return this.#next(async () => {
      const { turnRoots, program: { process }, hiddenPaths } = this.#parts;
      await this.#turn?.bases.stop();
      this.#turn = undefined;
      await turnRoots.freeze();
      if (turnRoots.isWornOut) {
        this.#kill("it has run for too many turns");
        throw new Error("it has run for too many turns. Send the message again: the agent starts anew");
      }
      const hidden = await hiddenPaths(options.denied);
      if (turnRoots.isFrozenBetweenTurns) await turnRoots.renew(hidden);
      else {
        await whileStopped(process, () => turnRoots.renew(hidden)).catch((error) => {
          this.#kill("its copy of the project cannot be renewed");
          throw new Error(
            `${this.#killed}: ${messageOf(error)}. Send the message again: the agent starts anew`,
          );
        });
      }
      const bases = new TurnBases(turnRoots, options.roots, options.spool);
      bases.watch();
      this.#turn = { ...options, session, bases, terminal: crypto.randomUUID(), listed: new Map() };
    });
  }

  /**
   * Lists the turn's changes. A second call lists the approved ones that are not yet in the files, merged again with
   * the user's saves. They stay approved.
   * @param isComplete false: the user is asked about each change @throws {Error} one line, if no turn has begun
   */
  end(session: string, isComplete: boolean): Promise<ScreenResult<"agent_end">> {
    return this.#next(async () => {
      const turn = this.#turn;
      if (turn === undefined || turn.session !== session) {
        throw new Error("no turn of this session has begun");
      }
      const notes: string[] = [];
      let effects: CommandEffects | undefined;
      try {
        const approved = turn.ended?.changes.approved;
        const { changes, notes: found } = await this.#list(turn, approved);
        if (approved !== undefined) changes.keep(() => undefined);
        notes.push(...found);
        effects = changes.summary;
        turn.ended = {
          agent: this.#parts.row.title,
          changes,
          isComplete,
          end: isComplete ? "turn ended" : "turn stopped",
        };
      } catch (error) {
        notes.push(`Nothing was kept: ${messageOf(error)}.`);
      }
      return { terminal: turn.terminal, ...defined({ effects }), notes: [...notes, ...this.#refusals()] };
    });
  }

  /** Undefined unless this session's turn has ended with changes. */
  ended(session: string, terminal: string): EndedTurn | undefined {
    const turn = this.#turn;
    const isIt = turn?.session === session && turn.terminal === terminal;
    return isIt && turn.ended?.changes.summary !== undefined ? turn.ended : undefined;
  }

  /** The changes of this session's ended turn. */
  changes(session: string): ListedChanges | undefined {
    return this.#turn?.session === session ? this.#turn.ended?.changes : undefined;
  }

  /** The caller has ended the program. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watch);
    await this.#turn?.bases.stop();
    await this.#last.catch(() => {});
    this.#turn = undefined;
    await this.#parts.turnRoots[Symbol.asyncDispose]();
  }

  /** @param only these paths; undefined: all */
  async #list(turn: Turn, only: ReadonlySet<string> | undefined) {
    const { turnRoots, program: { process }, row: { title } } = this.#parts;
    if (this.#killed !== undefined) throw new Error(this.#killed);
    const { roots, conflicts, bases } = turn;
    await bases.stop();
    const signal = AbortSignal.timeout(LONGEST_LIST_MS);
    const look = async (isOpen: boolean) => {
      await bases.look();
      const found = sameVersions(await turnRoots.list(signal), turn.listed, only === undefined);
      // The changes of a copy are known only after a list.
      if (!turnRoots.isFrozenBetweenTurns) await bases.look();
      const baseOf = bases.of.bind(bases);
      return await turnChanges(found, { turnRoots, roots, conflicts, title, isOpen, only, baseOf });
    };
    if (!turnRoots.isFrozenBetweenTurns) return await whileStopped(process, () => look(false));
    if (await turnRoots.freeze()) return await look(false);
    // A file is open for writing, so the kernel leaves the overlay writable.
    const result = await whileStopped(process, () => look(true));
    return { ...result, notes: [...result.notes, STILL_OPEN] };
  }

  /** Hosts that it could not reach, once each. */
  #refusals(): readonly string[] {
    const hosts = this.#parts.proxy.refused.filter((host) => !this.#reported.has(host));
    for (const host of hosts) this.#reported.add(host);
    const [first] = hosts;
    if (first === undefined) return [];
    const more = hosts.length > MOST_REFUSED ? ` and ${hosts.length - MOST_REFUSED} more` : "";
    const names = hosts.slice(0, MOST_REFUSED).join(", ");
    const { title } = this.#parts.row;
    const rule = `the rule host(${patternOf(first)})`;
    return [
      `Refused hosts: ${names}${more}. \`:Agent rules\` allows one to ${title}, ${rule} to all commands.`,
    ];
  }

  /** Less often between two turns if the agent cannot write then. */
  async #check(): Promise<void> {
    const { turnRoots, program: { process } } = this.#parts;
    const isWorking = this.#turn !== undefined && this.#turn.ended === undefined;
    const canWrite = isWorking || !turnRoots.isFrozenBetweenTurns;
    if (!canWrite && this.#checks++ % IDLE_SHARE > 0) return;
    const tree = await processTree(process.pid, MOST_PROCESSES);
    if (tree.length > MOST_PROCESSES) this.#kill(`it started more than ${MOST_PROCESSES} processes`);
    else if (memoryOf(tree) > MOST_MEMORY) this.#kill("it took too much memory");
    else if (await turnRoots.isPastLimits()) this.#kill("it wrote more than can be listed");
  }

  #kill(why: string): void {
    clearInterval(this.#watch);
    this.#killed = why;
    killGroup(this.#parts.program.process);
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.catch(() => {}).then(work);
    this.#last = next;
    return next;
  }
}

/**
 * Without the entries that are no longer what they were when they were approved: the agent may have held them open.
 * @param listed filled if `isFirst`
 */
function sameVersions(
  found: readonly OverlayChanges[],
  listed: Map<string, string>,
  isFirst: boolean,
): readonly OverlayChanges[] {
  return found.map((one, root) => ({
    ...one,
    changes: one.changes.filter(({ path, after }) => {
      const [key, version] = [`${root}/${path}`, JSON.stringify(after ?? null)];
      if (isFirst) listed.set(key, version);
      return listed.get(key) === version;
    }),
  }));
}

const STILL_OPEN = "A program still has a file open for writing: what it writes from now on is not kept.";
