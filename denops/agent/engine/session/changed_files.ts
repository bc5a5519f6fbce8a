/** Tells what a turn has changed: so far while it runs, and at its end all of it, which is stored. */
import type { TurnFile } from "../../protocol/requests.ts";
import type { AgentEvent, Emit, FileChange } from "../log/events.ts";

/** The least time between two lists while a sub-agent works. Milliseconds. */
const PAUSE = 500;

interface ChangedFilesPorts {
  readonly checkpoints: {
    /** Returns the changes of background commands. */
    late(): Promise<readonly { readonly toolCall: string; readonly changes: readonly FileChange[] }[]>;
    filesOf(turn: number): Promise<TurnFile[]>;
  };
  /** That of the turn that runs. */
  turn(): number;
  /** Stores and shows. */
  readonly emit: Emit;
  /** Shows. */
  readonly publish: Emit;
  /** Asks the user about files that were put back. */
  settle(signal: AbortSignal): Promise<unknown>;
}

export class ChangedFiles {
  readonly #ports: ChangedFilesPorts;
  #isStale = false;
  #notifiedAt = 0;

  constructor(ports: ChangedFilesPorts) {
    this.#ports = ports;
  }

  /** Takes note of changed files, and of the ends of sub-agents' calls. */
  hear(event: AgentEvent): void {
    if (event.type === "file_modified") this.#isStale = true;
    const isNested = event.type === "tool_done" && event.parent !== undefined;
    if (isNested && performance.now() - this.#notifiedAt >= PAUSE) this.step();
  }

  /** To be called after each append: all calls of an answer have ended. */
  step(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#notifiedAt = performance.now();
    this.#list().then(this.#ports.publish, () => {
      // The turn's end says it.
    });
  }

  async end(signal: AbortSignal): Promise<void> {
    const { checkpoints, emit, settle } = this.#ports;
    const late = await checkpoints.late();
    for (const { toolCall: id, changes } of late) {
      for (const change of changes) emit({ type: "file_modified", id, change });
    }
    // The model has its answer already: what was kept back the user has seen.
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
