/** A session's checkpoints as turns, for undo, redo and restore. */
import type {
  CallUndone,
  CheckpointKind,
  CheckpointStore,
  FileRecord,
  NewCheckpoint,
  StoredCheckpoint,
  WhichCheckpoints,
} from "../log/checkpoints.ts";
import type { TurnUndone } from "../../protocol/requests.ts";
import { ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { plural } from "../../shared/text/text.ts";
import { netChanges } from "./review/net.ts";
import type { RestorePlan } from "./restore/planner.ts";
import type { CarriedOut, Restorer } from "./restore/restorer.ts";

export interface TurnChanges {
  readonly turn: number;
  /** The whole turn was undone. */
  readonly undone: boolean;
  readonly files: readonly FileRecord[];
}

/** The result, for the screen and open buffers. */
export interface TakenBack extends CarriedOut {
  /** The turn concerned. */
  readonly turn: number;
  /** Only some calls of the turn are concerned. */
  readonly some: boolean;
  /** The state of this turn and of later ones, and of their calls. */
  readonly turns: readonly TurnUndone[];
  readonly calls: readonly CallUndone[];
}

/** The subject of an undo, redo or restore: a turn, or some of its calls. */
interface Target {
  readonly turn: number;
  readonly calls?: readonly string[] | undefined;
}

interface HistoryOptions {
  readonly store: CheckpointStore;
  readonly session: string;
  readonly restorer: Restorer;
  /** The current or last turn. */
  turn(): number;
}

/** Turns that a message names. */
const MOST_NAMED = 10;

/** Turns to load at once. */
const AT_ONCE = 50;

export class History {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Undefined for a turn without changes. */
  turn(turn: number): TurnChanges | undefined {
    const checkpoints = this.#list({ turn }).filter(isTurns);
    const files = netChanges(checkpoints.map(({ files }) => files));
    return files.length === 0 ? undefined : { turn, undone: !checkpoints.some(stands), files };
  }

  /** Turns that have changed something, newest first. @param before only earlier ones */
  *turns(before = Number.MAX_SAFE_INTEGER): Generator<TurnChanges> {
    const { store, session } = this.#options;
    for (let end = before;;) {
      const some = store.turnsBefore(session, end, AT_ONCE);
      for (const number of some) {
        const turn = this.turn(number);
        if (turn !== undefined) yield turn;
      }
      if (some.length < AT_ONCE) return;
      end = some.at(-1) ?? 0;
    }
  }

  /** All changes of the session, oldest first. */
  changes(): readonly (readonly FileRecord[])[] {
    return this.#list().map(({ files }) => files);
  }

  /**
   * An undo that was only partial is completed the next time. @param turn undefined: the newest turn that is not undone
   * @throws {ToolError}
   */
  async undo(turn: number | undefined, signal: AbortSignal): Promise<TakenBack> {
    const target = turn === undefined ? this.turns().find(({ undone }) => !undone) : this.turn(turn);
    if (target === undefined) {
      throw new ToolError(turn === undefined ? "nothing to undo" : this.#unchanged(turn));
    }
    if (target.undone) throw new ToolError(`turn ${target.turn} is undone already`);
    const taken = this.#list({ turn: target.turn }).filter(isTurns);
    return await this.#takeBack("undo", target, standing(taken), signal);
  }

  /** Undoes the changes of these calls and leaves those of others, as `undo` does with turns. @throws {ToolError} */
  async undoCalls(calls: readonly string[], signal: AbortSignal): Promise<TakenBack> {
    const taken = this.#list({ calls }).filter(isTurns);
    const [first] = taken;
    if (first === undefined) {
      const { store, session, turn } = this.#options;
      const isForked = store.undoneCalls(session, 1, turn()).some(({ call }) => calls.includes(call));
      const reason = isForked
        ? "only the original session can undo this call"
        : "this call has changed no file";
      throw new ToolError(reason);
    }
    if (!taken.some(stands)) throw new ToolError("this call is undone already");
    return await this.#takeBack("undo", { turn: first.turn, calls }, standing(taken), signal);
  }

  /** Takes back the newest undo or restore, unless a turn has begun since. @throws {ToolError} */
  async redo(signal: AbortSignal): Promise<TakenBack> {
    const latest = redoable(this.#list({ turn: this.#options.turn() }));
    if (latest?.target === undefined) throw new ToolError("nothing to redo");
    const target = { turn: latest.target, calls: latest.calls };
    return await this.#takeBack("redo", target, standing([latest]), signal);
  }

  /** Plans a restore; the plan is empty if no file was changed since the turn began. */
  async preview(turn: number, signal: AbortSignal): Promise<RestorePlan> {
    return await this.#options.restorer.plan(this.#since(turn).map(({ files }) => files), signal);
  }

  /** Brings all files back to what they were before the turn began. @throws {ToolError} */
  async restore(turn: number, signal: AbortSignal): Promise<TakenBack> {
    const since = this.#since(turn);
    if (since.length === 0) throw new ToolError(`no file was changed since turn ${turn} began`);
    return await this.#takeBack("restore", { turn }, since, signal);
  }

  /** The message for a turn without changes: which ones have some. */
  #unchanged(turn: number): string {
    const all = this.#options.turn();
    const reason = turn > all ? `this session has ${plural(all, "turn")}` : "it has changed no file";
    const found = this.turns().take(MOST_NAMED + 1).map(({ turn }) => turn).toArray();
    const named = found.slice(0, MOST_NAMED).toReversed().join(", ");
    const more = found.length > MOST_NAMED ? "…, " : "";
    const rest = named === "" ? "No turn has changed a file." : `Turns with changed files: ${more}${named}.`;
    return `Cannot undo turn ${turn}: ${reason}. ${rest}`;
  }

  /** All changes from the turn on. */
  #since(turn: number): readonly StoredCheckpoint[] {
    const all = this.#list();
    const first = all.findIndex((one) => isTurns(one) && one.turn >= turn);
    return first === -1 ? [] : standing(all.slice(first).filter(isTurns));
  }

  async #takeBack(
    kind: "undo" | "redo" | "restore",
    { turn: target, calls }: Target,
    taken: readonly StoredCheckpoint[],
    signal: AbortSignal,
  ): Promise<TakenBack> {
    const { store, session, restorer, turn } = this.#options;
    const changes = taken.map(({ files }) => files);
    const plan = await restorer.plan(changes, signal);
    const checkpoint: NewCheckpoint = { session, turn: turn(), kind, target, ...defined({ calls }) };
    const done = await restorer.carryOut(plan, checkpoint, signal, {
      checkpoints: markedBy(kind, taken),
      paths: new Set(changes.flat().map(({ path }) => path)),
    });
    return {
      turn: target,
      some: calls !== undefined,
      turns: store.undone(session, target, turn()),
      calls: store.undoneCalls(session, target, turn()),
      ...done,
    };
  }

  #list(which?: WhichCheckpoints): readonly StoredCheckpoint[] {
    const { store, session } = this.#options;
    return store.list(session, which).filter(({ finished }) => finished);
  }
}

/** The checkpoint that a redo would revert. @param all of the current or last turn */
export function redoable(all: readonly StoredCheckpoint[]): StoredCheckpoint | undefined {
  return all.findLast((one) => (one.kind === "undo" || one.kind === "restore") && stands(one));
}

/** The checkpoints that become undone. */
export function markedBy(kind: CheckpointKind, taken: readonly StoredCheckpoint[]): readonly number[] {
  return taken.filter((one) => kind === "redo" || isTurns(one)).map(({ id }) => id);
}

export function isTurns({ kind }: StoredCheckpoint): boolean {
  return kind === "tool" || kind === "command";
}

/** Checkpoints that are not undone. */
function standing(checkpoints: readonly StoredCheckpoint[]): readonly StoredCheckpoint[] {
  return checkpoints.map((one) => ({
    ...one,
    files: one.files.filter(({ undoneBy }) => undoneBy === undefined),
  }));
}

function stands({ files }: StoredCheckpoint): boolean {
  return files.some(({ undoneBy }) => undoneBy === undefined);
}
