/**
 * Reverts single files that commands changed, and applies the changes again if the user approves. Both become
 * checkpoints of the command, so undoing the turn needs nothing special.
 */
import type { TextChange } from "../../protocol/access.ts";
import { sep } from "node:path";
import {
  type CheckpointStore,
  type FileRecord,
  type NewCheckpoint,
  type Snapshot,
} from "../log/checkpoints.ts";
import type { FileChange } from "../log/events.ts";
import type { HeldBackChanges, HeldFile, HoldBack, IsTrap } from "../ports/checkpoints.ts";
import { netChanges } from "./review/net.ts";
import { textOf } from "./restore/plan.ts";
import { Restorer, type RestorerOptions } from "./restore/restorer.ts";

interface HoldBackOptions extends RestorerOptions {
  readonly store: CheckpointStore;
  /** Records the reverts, which no background command made. */
  readonly recorder: Pick<CheckpointStore, "begin" | "finish">;
  readonly session: string;
  /** The current turn. */
  turn(): number;
}

/** Only the disk counts, because programs run from there. */
const NO_EDITOR: RestorerOptions["editor"] = {
  unsavedText: () => Promise.resolve(undefined),
  writeUnsaved: () => Promise.resolve({ status: "not_open" }),
};

interface RecordedFile extends HeldFile {
  readonly records: readonly FileRecord[];
}

/** The changes of one command. */
interface CommandChanges {
  readonly toolCall?: string | undefined;
  readonly files: readonly FileRecord[];
}

export class CommandHoldBack implements HoldBack {
  readonly #options: HoldBackOptions;
  readonly #restorer: Restorer;
  /** A command was running when an earlier process ended. */
  readonly wasCutOff: boolean;
  /** The last examined checkpoint; those of earlier processes are ignored. */
  #last: number;
  readonly #recorded = new WeakMap<HeldFile, RecordedFile>();
  /** Files that could not be reverted in this turn. If they change again, their first state still counts. */
  #left: { readonly turn: number; readonly changes: readonly CommandChanges[] } = { turn: 0, changes: [] };

  constructor(options: HoldBackOptions) {
    this.#options = options;
    const { recorder, store: { contents } } = options;
    const store: RestorerOptions["store"] = {
      contents,
      begin: (checkpoint, files) => recorder.begin(checkpoint, files),
      finish: (id, files) => recorder.finish(id, files),
    };
    this.#restorer = new Restorer({ ...options, store, editor: NO_EDITOR });
    // Changes that a crash interrupted were never examined.
    const unfinished = options.store.list(options.session, { unfinished: true });
    const cut = unfinished.find(({ kind }) => kind === "command");
    this.wasCutOff = cut !== undefined;
    this.#last = cut === undefined ? options.store.newest() : cut.id - 1;
  }

  async take(isTrap: IsTrap): Promise<HeldBackChanges> {
    const { store, session, turn } = this.#options;
    const fresh = store.list(session, { after: this.#last }).filter(({ kind }) => kind === "command");
    const paths = new Set(fresh.flatMap(({ files }) => files.map(({ path }) => path)));
    const left = Map.groupBy(
      this.#left.turn === turn() ? this.#left.changes : [],
      ({ files }) => files.some(({ path }) => paths.has(path)),
    );
    const commands: readonly CommandChanges[] = [...left.get(true) ?? [], ...fresh];
    const calls = heldCalls(
      commands,
      (record, toolCall) => isTrap(record.path, toolCall, () => this.#texts(record)),
    );
    // Calls may change the same files, so each file returns to its state before the first call held back.
    const all = netChanges(
      commands.map(({ files }, at) => files.filter(({ path }) => at >= (calls.get(path)?.at ?? 0))),
    );
    const trapped = traps(all, ({ path }) => calls.has(path)).map((files) =>
      this.#heldFile(files, foldersOf(files, all), calls.get(files[0].path)?.toolCall ?? "")
    );
    const [oldest] = trapped;
    if (oldest === undefined) {
      this.#last = store.newest();
      return { heldBack: [], left: [], changes: [] };
    }
    const wanted = [...new Set(trapped.flatMap(({ records }) => records))];
    const { changes, failures } = await this.#carryOut(wanted, oldest.toolCall);
    this.#last = store.newest();
    const heldFiles: HeldFile[] = [];
    const failed: { path: string; why: string }[] = [];
    const changesLeft: CommandChanges[] = [...left.get(false) ?? []];
    for (const one of trapped) {
      const why = one.records.map(({ path }) => failures.get(path)).find((text) => text !== undefined);
      if (why !== undefined) {
        failed.push({ path: one.path, why });
        changesLeft.push({ toolCall: one.toolCall, files: one.records });
      } else heldFiles.push(one);
      this.#recorded.set(one, one);
    }
    this.#left = { turn: turn(), changes: changesLeft };
    const callOf = ({ path }: FileChange) => calls.get(path)?.toolCall ?? oldest.toolCall;
    return {
      heldBack: heldFiles,
      left: failed,
      changes: changes.map((change) => ({ toolCall: callOf(change), change })),
    };
  }

  async place(
    file: HeldFile,
  ): Promise<{ readonly changes: readonly FileChange[]; readonly failure?: string }> {
    const records = this.#recorded.get(file)?.records ?? [];
    const again = records.map(({ path, before, after }) => ({ path, before: after, after: before }));
    const { changes, failures } = await this.#carryOut(again, file.toolCall);
    this.#last = this.#options.store.newest();
    const [failure] = failures.values();
    return failure === undefined ? { changes } : { changes, failure };
  }

  /** @param wanted records whose `before` is to be restored */
  async #carryOut(wanted: readonly FileRecord[], toolCall: string) {
    const { session, turn } = this.#options;
    // A partial revert helps nobody, so stopping the turn does not interrupt it.
    const { signal } = new AbortController();
    const checkpoint: NewCheckpoint = { session, turn: turn(), kind: "command", toolCall };
    const plan = await this.#restorer.plan(
      [wanted.map(({ path, before, after }) => ({ path, before, after }))],
      signal,
    );
    const { files, changes } = await this.#restorer.carryOut(plan, checkpoint, signal);
    const failed = files.filter(({ outcome }) => outcome === "conflict" || outcome === "skipped");
    return {
      changes,
      failures: new Map(
        failed.map(({ path, text = "\n" }) => [path, text.includes("\n") ? "it changed meanwhile" : text]),
      ),
    };
  }

  /** Undefined if one of them is not text. */
  #texts({ before, after }: FileRecord): TextChange | undefined {
    const { contents } = this.#options.store;
    const text = (image: Snapshot) => image.type === "file" ? textOf(image.blob, contents)?.text : undefined;
    const [was, is] = [text(before), text(after)];
    const isText = (was !== undefined || before.type === "absent") &&
      (is !== undefined || after.type === "absent");
    return isText ? { before: was, after: is } : undefined;
  }

  #heldFile(
    files: readonly [FileRecord, ...FileRecord[]],
    folders: readonly FileRecord[],
    toolCall: string,
  ): RecordedFile {
    const [record] = files;
    const { path, before, after } = record;
    const { before: was, after: is = "" } = this.#texts(record) ?? {};
    const isShown = this.#texts(record) !== undefined && was !== is;
    const diff = isShown ? { texts: was === undefined ? { after: is } : { before: was, after: is } } : {};
    return { path, toolCall, what: whatOf(before, after), ...diff, records: [...files, ...folders] };
  }
}

/** A command that changed a protected file, and its position among the commands. */
interface HeldCall {
  readonly toolCall: string;
  readonly at: number;
}

/** By path: the first command that must not change it. Consecutive checkpoints of a call count as one. */
function heldCalls(
  commands: readonly CommandChanges[],
  isHeld: (record: FileRecord, toolCall: string) => boolean,
): ReadonlyMap<string, HeldCall> {
  const found = new Map<string, HeldCall>();
  for (let at = 0, end = 0; at < commands.length; at = end) {
    const { toolCall = "" } = commands[at] ?? {};
    while (end < commands.length && (commands[end]?.toolCall ?? "") === toolCall) end++;
    for (const record of netChanges(commands.slice(at, end).map(({ files }) => files))) {
      if (!found.has(record.path) && isHeld(record, toolCall)) found.set(record.path, { toolCall, at });
    }
  }
  return found;
}

/** Each with its file before a move. */
function traps(
  all: readonly FileRecord[],
  isTrap: (record: FileRecord) => boolean,
): readonly (readonly [FileRecord, ...FileRecord[]])[] {
  const isFolder = ({ before, after }: FileRecord) =>
    [before, after].every(({ type }) => type === "folder" || type === "absent");
  return all.filter((record) => isTrap(record) && !isFolder(record)).map((record) => {
    const source = all.find(({ path }) => path === record.renamedFrom);
    return source === undefined || isTrap(source) ? [record] : [record, source];
  });
}

/** Folders that were created or removed with the files. */
function foldersOf(records: readonly FileRecord[], all: readonly FileRecord[]): readonly FileRecord[] {
  return all.filter(({ path, before, after }) =>
    (before.type === "folder") !== (after.type === "folder") &&
    records.some((record) => record.path.startsWith(path + sep))
  );
}

function whatOf(before: Snapshot, after: Snapshot): string {
  if (after.type === "absent") return "deleted";
  const made = before.type === "absent" ? "created" : "changed";
  if (after.type === "link") return `${made} (a link to ${after.target})`;
  const same = before.type === "file" && after.type === "file" && before.blob === after.blob;
  return same ? `${made} (its mode)` : made;
}
