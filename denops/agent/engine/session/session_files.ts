/** The files of one session: its access to them, the versions that its model knows, and its changes. */
import { nameInRoots } from "../../policy/roots.ts";
import { Views } from "../tools/files/views.ts";
import { Scratch } from "../tools/files/scratch.ts";
import { Workspace } from "../tools/files/workspace.ts";
import { CommandTraps } from "../agent/permission/traps.ts";
import { SessionCheckpoints } from "../checkpoint/session_checkpoints.ts";
import { ChangedFiles } from "./changed_files.ts";
import { SessionAccess } from "./session_access.ts";
import type { SessionPorts } from "./session_ports.ts";
import type { SessionRecord } from "./session_record.ts";

/** Sensitive files in a warning. */
const MOST_NAMES = 10;

export class SessionFiles {
  readonly access: SessionAccess;
  readonly scratch: Scratch | undefined;
  readonly views: Views;
  readonly workspace: Workspace;
  readonly checkpoints: SessionCheckpoints;
  readonly traps: CommandTraps;
  readonly changed: ChangedFiles;
  readonly #roots: readonly string[];
  readonly #record: SessionRecord;
  readonly #places: Omit<ConstructorParameters<typeof Workspace>[0], "scratch">;

  constructor(id: string, roots: readonly string[], ports: SessionPorts, record: SessionRecord) {
    this.#roots = roots;
    this.#record = record;
    const { config, store, editor, commands } = ports;
    const emit = record.emit.bind(record);
    this.scratch = store.folder === undefined ? undefined : new Scratch(store.folder, store.scratchOwner(id));
    this.access = new SessionAccess(config, ports.fileRules, (path) => this.scratch?.holds(path) === true);
    const mayRead = this.access.mayRead.bind(this.access);
    this.#places = { roots, editor, journal: store.writes, mayRead };
    this.views = new Views(record.memory.known);
    this.workspace = new Workspace({ ...this.#places, scratch: this.scratch }, this.views);
    const turn = () => record.turn;
    this.checkpoints = new SessionCheckpoints({
      session: id,
      roots,
      store: store.checkpoints,
      editor,
      journal: store.writes,
      state: store.folder,
      turn,
      makeLink: ports.makeLink,
      notice: (text) => record.warn(text),
      isWatched: (path) => this.access.isWatched(this.#nameOf(path)),
      isRunning: (call) => commands?.isRunning(call) === true,
    });
    this.traps = new CommandTraps({
      emit,
      ask: ports.ask,
      holdBack: this.checkpoints.holdBack,
      nameOf: (path) => nameInRoots(path, roots),
      trap: (name, changed) => this.access.trap(name, changed),
    });
    this.changed = new ChangedFiles({
      checkpoints: this.checkpoints,
      publish: ports.publish,
      turn,
      emit,
      settle: (signal) => this.traps.settle(signal),
    });
  }

  /** A workspace for a sub-agent, which has read nothing. */
  newWorkspace(): Workspace {
    return new Workspace(this.#places);
  }

  /** Call this when a turn begins. @returns notes about its files for the model, a text each */
  async begin(signal: AbortSignal): Promise<readonly string[]> {
    const settled = await this.checkpoints.wasCutOff() ? await this.traps.settle(signal) : [];
    this.#warnOf(await this.checkpoints.watchAgain());
    const note = this.checkpoints.takeNote();
    return note === undefined ? settled : [note, ...settled];
  }

  /** @param paths sensitive files that changed after the last turn, while its commands were running */
  #warnOf(paths: readonly string[]): void {
    if (paths.length === 0) return;
    const names = paths.slice(0, MOST_NAMES).map((path) => nameInRoots(path, this.#roots) ?? path);
    const more = paths.length > MOST_NAMES ? ` and ${paths.length - MOST_NAMES} more` : "";
    this.#record.warn(
      "After the last turn, while its background command was running, these sensitive files changed: " +
        `${names.join(", ")}${more}. Check them before you use them.`,
    );
  }

  #nameOf(path: string): string {
    return nameInRoots(path, this.#roots) ?? "";
  }
}
