/** A session's checkpoints as turns that can be taken back, done again, or gone back before. */
import type { FileRecord, NewCheckpoint, StoredCheckpoint, WhichCheckpoints } from "../core/checkpoints.ts";
import { ToolError } from "../core/errors.ts";
import type { FileChange } from "../core/events.ts";
import { netChanges } from "./net.ts";
import type { Planned, Restored, Restorer, RestorerOptions } from "./restorer.ts";

export interface TurnChanges {
  readonly turn: number;
  readonly undone: boolean;
  readonly files: readonly FileRecord[];
}

/** What was done, for the screen and for open buffers. */
export interface TakenBack {
  /** The turn that it is about. */
  readonly turn: number;
  readonly files: readonly Restored[];
  readonly changes: readonly FileChange[];
}

export interface HistoryOptions extends Pick<RestorerOptions, "store"> {
  readonly session: string;
  readonly restorer: Restorer;
  /** The turn that runs or ran last. */
  turn(): number;
}

export class History {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Turns that have changed something, oldest first. @param only this one */
  turns(only?: number): readonly TurnChanges[] {
    const listed = this.#list(only === undefined ? {} : { turn: only });
    const byTurn = Map.groupBy(listed.filter(isTurns), ({ turn }) => turn);
    return [...byTurn].map(([turn, checkpoints]) => ({
      turn,
      undone: checkpoints.every(({ undoneBy }) => undoneBy !== undefined),
      files: netChanges(checkpoints.flatMap(({ files }) => files)),
    })).filter(({ files }) => files.length > 0);
  }

  /** What the session has changed in all and what stands of it. */
  changes(): readonly FileRecord[] {
    return netChanges(this.#list().flatMap(({ files }) => files));
  }

  /** @param turn undefined: the newest that stands. @throws {ToolError} */
  async undo(turn: number | undefined, signal: AbortSignal): Promise<TakenBack> {
    const turns = this.turns();
    const target = turn === undefined
      ? turns.findLast(({ undone }) => !undone)
      : turns.find((one) => one.turn === turn);
    if (target === undefined) {
      throw new ToolError(
        turn === undefined ? "There is nothing to undo." : `Turn ${turn} has changed no file.`,
      );
    }
    if (target.undone) throw new ToolError(`Turn ${target.turn} is undone already.`);
    const taken = this.#list().filter((one) => isTurns(one) && one.turn === target.turn && stands(one));
    return await this.#takeBack("undo", target.turn, taken, taken, signal);
  }

  /** Takes back the newest undo or restore, unless a turn has begun since. @throws {ToolError} */
  async redo(signal: AbortSignal): Promise<TakenBack> {
    const latest = this.#list().findLast((one) =>
      (one.kind === "undo" || one.kind === "restore") && stands(one) && one.turn === this.#options.turn()
    );
    if (latest?.target === undefined) throw new ToolError("There is nothing to redo.");
    return await this.#takeBack("redo", latest.target, [latest], [latest], signal);
  }

  async preview(turn: number, signal: AbortSignal): Promise<readonly Planned[]> {
    const wanted = netChanges(this.#since(turn).flatMap(({ files }) => files));
    return await this.#options.restorer.plan(wanted, signal);
  }

  /** Brings all files back to what they were before the turn began. @throws {ToolError} */
  async restore(turn: number, signal: AbortSignal): Promise<TakenBack> {
    const since = this.#since(turn);
    const marked = since.filter((one) => isTurns(one) && stands(one));
    return await this.#takeBack("restore", turn, since, marked, signal);
  }

  /** Everything from the turn's first change on. */
  #since(turn: number): readonly StoredCheckpoint[] {
    const all = this.#list();
    const first = all.findIndex((one) => isTurns(one) && one.turn >= turn);
    if (first === -1) throw new ToolError(`No file was changed since turn ${turn} began.`);
    return all.slice(first);
  }

  /** @param marked those that count as taken back afterwards */
  async #takeBack(
    kind: "undo" | "redo" | "restore",
    target: number,
    taken: readonly StoredCheckpoint[],
    marked: readonly StoredCheckpoint[],
    signal: AbortSignal,
  ): Promise<TakenBack> {
    const { store, session, restorer, turn } = this.#options;
    const planned = await restorer.plan(netChanges(taken.flatMap(({ files }) => files)), signal);
    const checkpoint: NewCheckpoint = { session, turn: turn(), kind, target };
    const { id, files, changes } = await restorer.carryOut(planned, checkpoint, signal);
    // Where every file refused nothing was taken back.
    if (files.some(({ outcome }) => outcome !== "conflict" && outcome !== "skipped") || files.length === 0) {
      store.setUndone(marked.map((one) => one.id), id);
      const again = kind === "redo" ? this.#list().filter(({ undoneBy }) => undoneBy === marked[0]?.id) : [];
      store.setUndone(again.map((one) => one.id), undefined);
    }
    return { turn: target, files, changes };
  }

  #list(which?: WhichCheckpoints): readonly StoredCheckpoint[] {
    const { store, session } = this.#options;
    return store.list(session, which).filter(({ finished }) => finished);
  }
}

function isTurns({ kind }: StoredCheckpoint): boolean {
  return kind === "tool" || kind === "command";
}

function stands({ undoneBy }: StoredCheckpoint): boolean {
  return undoneBy === undefined;
}
