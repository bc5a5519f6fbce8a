/** A session's checkpoints as turns that can be taken back, done again, or gone back before. */
import type {
  CheckpointKind,
  CheckpointStore,
  FileRecord,
  NewCheckpoint,
  StoredCheckpoint,
  WhichCheckpoints,
} from "../log/checkpoints.ts";
import { ToolError } from "../../shared/errors.ts";
import { netChanges } from "./review/net.ts";
import type { RestorePlan } from "./restore/planner.ts";
import type { CarriedOut, Restorer } from "./restore/restorer.ts";

export interface TurnChanges {
  readonly turn: number;
  /** All of it. */
  readonly undone: boolean;
  readonly files: readonly FileRecord[];
}

/** What was done, for the screen and for open buffers. */
export interface TakenBack extends CarriedOut {
  /** The turn that it is about. */
  readonly turn: number;
}

interface HistoryOptions {
  readonly store: CheckpointStore;
  readonly session: string;
  readonly restorer: Restorer;
  /** The turn that runs or ran last. */
  turn(): number;
}

/** Turns that are looked up at once. */
const AT_ONCE = 50;

export class History {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Undefined for a turn that has changed nothing. */
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

  /** All that the session has changed, oldest first. */
  changes(): readonly (readonly FileRecord[])[] {
    return this.#list().map(({ files }) => files);
  }

  /**
   * What is left of a turn that was taken back in part is taken back the next time.
   * @param turn undefined: the newest that stands
   * @throws {ToolError}
   */
  async undo(turn: number | undefined, signal: AbortSignal): Promise<TakenBack> {
    const target = turn === undefined ? this.turns().find(({ undone }) => !undone) : this.turn(turn);
    if (target === undefined) {
      throw new ToolError(turn === undefined ? "nothing to undo" : `turn ${turn} has changed no file`);
    }
    if (target.undone) throw new ToolError(`turn ${target.turn} is undone already`);
    const taken = this.#list({ turn: target.turn }).filter(isTurns);
    return await this.#takeBack("undo", target.turn, standing(taken), signal);
  }

  /** Takes back the newest undo or restore, unless a turn has begun since. @throws {ToolError} */
  async redo(signal: AbortSignal): Promise<TakenBack> {
    const latest = redoable(this.#list({ turn: this.#options.turn() }));
    if (latest?.target === undefined) throw new ToolError("nothing to redo");
    return await this.#takeBack("redo", latest.target, standing([latest]), signal);
  }

  /** Plans a restore; the plan is empty if no file was changed since the turn began. */
  async preview(turn: number, signal: AbortSignal): Promise<RestorePlan> {
    return await this.#options.restorer.plan(this.#since(turn).map(({ files }) => files), signal);
  }

  /** Brings all files back to what they were before the turn began. @throws {ToolError} */
  async restore(turn: number, signal: AbortSignal): Promise<TakenBack> {
    const since = this.#since(turn);
    if (since.length === 0) throw new ToolError(`no file was changed since turn ${turn} began`);
    return await this.#takeBack("restore", turn, since, signal);
  }

  /** Everything from the turn's first change on. */
  #since(turn: number): readonly StoredCheckpoint[] {
    const all = this.#list();
    const first = all.findIndex((one) => isTurns(one) && one.turn >= turn);
    return first === -1 ? [] : standing(all.slice(first).filter(isTurns));
  }

  async #takeBack(
    kind: "undo" | "redo" | "restore",
    target: number,
    taken: readonly StoredCheckpoint[],
    signal: AbortSignal,
  ): Promise<TakenBack> {
    const { session, restorer, turn } = this.#options;
    const changes = taken.map(({ files }) => files);
    const plan = await restorer.plan(changes, signal);
    const checkpoint: NewCheckpoint = { session, turn: turn(), kind, target };
    const done = await restorer.carryOut(plan, checkpoint, signal, {
      checkpoints: markedBy(kind, taken),
      paths: new Set(changes.flat().map(({ path }) => path)),
    });
    return { turn: target, ...done };
  }

  #list(which?: WhichCheckpoints): readonly StoredCheckpoint[] {
    const { store, session } = this.#options;
    return store.list(session, which).filter(({ finished }) => finished);
  }
}

/** What a redo would take back. @param all of the turn that runs or ran last */
export function redoable(all: readonly StoredCheckpoint[]): StoredCheckpoint | undefined {
  return all.findLast((one) => (one.kind === "undo" || one.kind === "restore") && stands(one));
}

/** Those that count as taken back afterwards. */
export function markedBy(kind: CheckpointKind, taken: readonly StoredCheckpoint[]): readonly number[] {
  return taken.filter((one) => kind === "redo" || isTurns(one)).map(({ id }) => id);
}

export function isTurns({ kind }: StoredCheckpoint): boolean {
  return kind === "tool" || kind === "command";
}

/** As far as they stand. */
function standing(checkpoints: readonly StoredCheckpoint[]): readonly StoredCheckpoint[] {
  return checkpoints.map((one) => ({
    ...one,
    files: one.files.filter(({ undoneBy }) => undoneBy === undefined),
  }));
}

function stands({ files }: StoredCheckpoint): boolean {
  return files.some(({ undoneBy }) => undoneBy === undefined);
}
