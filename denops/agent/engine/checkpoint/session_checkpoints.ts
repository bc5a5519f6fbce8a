/** All checkpoint operations of one session. */
import { relative } from "node:path";
import type { TurnFile } from "../../protocol/requests.ts";
import type { CheckpointStore, Contents, FileRecord } from "../log/checkpoints.ts";
import type { Effects, Keeper, Kept } from "../ports/commands.ts";
import type { CheckpointedCall, Checkpoints, PendingCheckpoint } from "../ports/checkpoints.ts";
import { CommandHoldBack } from "./hold_back.ts";
import { CommandKeeper } from "./review/keep.ts";
import { History, type TakenBack, type TurnChanges } from "./history.ts";
import { agentsPart } from "./agents_part.ts";
import { netChanges } from "./review/net.ts";
import { type LateChanges, Recorder, type RecorderOptions } from "./recorder.ts";
import type { RestorePlan } from "./restore/planner.ts";
import { recover } from "./restore/recovery.ts";
import { Restorer, type RestorerOptions } from "./restore/restorer.ts";
import { TurnFiles } from "./turn_files.ts";

interface SessionCheckpointsOptions extends RestorerOptions, RecorderOptions {
  readonly store: CheckpointStore;
  /** The folder for state beside the project; undefined if there is none. */
  readonly state?: string | undefined;
}

const MOST_NAMES = 20;

export class SessionCheckpoints implements Checkpoints, Keeper {
  readonly #options: SessionCheckpointsOptions;
  readonly #recorder: Recorder;
  readonly #history: History;
  readonly #files: TurnFiles;
  readonly #keeper: CommandKeeper;
  readonly holdBack: CommandHoldBack;
  #recovered: Promise<void> | undefined;
  #looked = false;

  constructor(options: SessionCheckpointsOptions) {
    this.#options = options;
    this.#recorder = new Recorder(options);
    this.#history = new History({ ...options, restorer: new Restorer(options) });
    this.#files = new TurnFiles(options.store.contents);
    this.holdBack = new CommandHoldBack({ ...options, recorder: this.#recorder });
    this.#keeper = new CommandKeeper({
      ...options,
      contents: options.store.contents,
      recorder: this.#recorder,
      counts: this.#files,
      state: options.state,
    });
  }

  async before(call: CheckpointedCall): Promise<PendingCheckpoint> {
    await this.recover();
    return await this.#recorder.before(call);
  }

  async keep(effects: Effects, toolCall: string, signal: AbortSignal): Promise<Kept> {
    await this.recover();
    return await this.#keeper.keep(effects, toolCall, signal);
  }

  /** Call it when the first turn begins: true if `holdBack` must examine changes that a crash interrupted. */
  async wasCutOff(): Promise<boolean> {
    if (!this.holdBack.wasCutOff || this.#looked) return false;
    this.#looked = true;
    await this.recover();
    return true;
  }

  /** Call it when a turn begins: see {@link Recorder.watchAgain}. */
  watchAgain(): Promise<readonly string[]> {
    return this.#recorder.watchAgain();
  }

  /** Call it at a turn's end. @returns changes of background commands */
  late(): Promise<readonly LateChanges[]> {
    return this.#recorder.late();
  }

  /** Turns that have changed files, newest first. @param before only earlier ones */
  async turns(before?: number): Promise<Generator<TurnChanges>> {
    await this.recover();
    return this.#history.turns(before);
  }

  /** All changes of a turn. */
  async filesOf(turn: number): Promise<TurnFile[]> {
    await this.recover();
    return this.listed(this.#history.turn(turn)?.files ?? []);
  }

  /** All changes of the session that still stand. */
  async changed(): Promise<TurnFile[]> {
    await this.recover();
    return this.listed(await agentsPart(this.#history.changes(), this.#options));
  }

  get contents(): Contents {
    return this.#options.store.contents;
  }

  /** Number of files that `listed` would list singly. */
  count(records: readonly FileRecord[]): number {
    return this.#files.count(records);
  }

  listed(records: readonly FileRecord[]): TurnFile[] {
    return this.#files.list(records);
  }

  async preview(turn: number, signal: AbortSignal): Promise<RestorePlan> {
    await this.recover();
    return await this.#history.preview(turn, signal);
  }

  /** @throws {ToolError} one line for the user */
  async takeBack(
    action:
      | {
        readonly kind: "undo";
        readonly turn: number | undefined;
        /** Instead of a turn: calls, by their ids as the screen knows them. */
        readonly calls?: readonly string[] | undefined;
      }
      | { readonly kind: "redo" }
      | { readonly kind: "restore"; readonly turn: number },
    signal: AbortSignal,
  ): Promise<TakenBack> {
    await this.recover();
    switch (action.kind) {
      case "undo":
        return action.calls === undefined
          ? await this.#history.undo(action.turn, signal)
          : await this.#history.undoCalls(action.calls, signal);
      case "redo":
        return await this.#history.redo(signal);
      case "restore":
        return await this.#history.restore(action.turn, signal);
    }
  }

  /** For the model, with the user's next message: files that are no longer as it left them. Said once. */
  takeNote(): string | undefined {
    const { store, session, roots } = this.#options;
    const untold = store.untold(session);
    if (untold.length === 0) return undefined;
    store.setTold(untold.map(({ id }) => id));
    const files = this.listed(netChanges(untold.map(({ files }) => files)));
    if (files.length === 0) return undefined;
    const names = files.slice(0, MOST_NAMES).map(({ path }) => relative(roots[0] ?? "", path));
    const more = files.length > MOST_NAMES ? ` and ${files.length - MOST_NAMES} more` : "";
    const again = untold.every(({ kind }) => kind === "redo") ? "done again" : "taken back";
    return `[The user has ${again} changes that you made, in: ${names.join(", ")}${more}. ` +
      "These files are not as you left them: read them again before you use or change them.]";
  }

  /** Recovers the work of an engine that ended early; once. */
  recover(): Promise<void> {
    return this.#recovered ??= recover({ ...this.#options, recorder: this.#recorder });
  }
}
