/**
 * Reports the files that a turn has changed: the changes so far while it runs, and all of them at its end,
 * which are stored.
 */
import type { TurnFile } from "../../protocol/requests.ts";
import type { AgentEvent, Emit, FileChange } from "../log/events.ts";

/** Minimum milliseconds between two reports while a sub-agent works. */
const PAUSE = 500;

interface ChangedFilesPorts {
  readonly checkpoints: {
    /** Returns the changes of background commands. */
    late(): Promise<readonly { readonly toolCall: string; readonly changes: readonly FileChange[] }[]>;
    filesOf(turn: number): Promise<TurnFile[]>;
  };
  /** The number of the running turn. */
  turn(): number;
  /** Stores and publishes an event. */
  readonly emit: Emit;
  /** Publishes an event without storing it. */
  readonly publish: Emit;
  /** Asks the user about files that were reverted. */
  settle(signal: AbortSignal): Promise<unknown>;
}

export class ChangedFiles {
  readonly #ports: ChangedFilesPorts;
  #isStale = false;
  #notifiedAt = 0;

  constructor(ports: ChangedFilesPorts) {
    this.#ports = ports;
  }

  /** Records changed files, and the ends of sub-agents' calls. */
  hear(event: AgentEvent): void {
    if (event.type === "file_modified") this.#isStale = true;
    const isNested = event.type === "tool_done" && event.parent !== undefined;
    if (isNested && performance.now() - this.#notifiedAt >= PAUSE) this.step();
  }

  /** Call this after each append: all calls of an answer have ended. */
  step(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#notifiedAt = performance.now();
    this.#list().then(this.#ports.publish, () => {
      // The end of the turn reports it.
    });
  }

  async end(signal: AbortSignal): Promise<void> {
    const { checkpoints, emit, settle } = this.#ports;
    const late = await checkpoints.late();
    for (const { toolCall: id, changes } of late) {
      for (const change of changes) emit({ type: "file_modified", id, change });
    }
    // The model already has its result, but the user has seen the held-back changes.
    if (late.length > 0) await settle(signal);
    this.#isStale = false;
    const listed = await this.#list();
    if (listed.files.length > 0) emit(listed);
  }

  async #list() {
    const turn = this.#ports.turn();
    return { type: "turn_files" as const, turn, files: await this.#ports.checkpoints.filesOf(turn) };
  }
}
