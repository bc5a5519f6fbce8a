/**
 * Gathers the facts that accompany the user's words: project facts once a session, current facts with each message, and
 * a folder's rules when a call first touches it. Failures here never end a turn.
 */
import type { Shown, Surroundings as Answer, SurroundingsWanted } from "../../../protocol/surroundings.ts";
import { isManifest, manifestLine } from "../../context/manifests.ts";
import { factsOf, momentText, toldEdits } from "../../context/moment.ts";
import { MARK, NO_PROJECT, type Project, type RulesFile, rulesText } from "../../context/project.ts";
import { treeText } from "../../context/tree.ts";
import { rulesId } from "../../context/chosen.ts";
import type { ControlNote } from "../../log/entries.ts";
import { notesText } from "../../context/notes.ts";
import type { HistoryWindow } from "../../context/folding/window.ts";
import type { AgentEvent, FileChange, Plan } from "../../log/events.ts";
import { today } from "../../../shared/today.ts";
import type { Views } from "../../tools/files/views.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import type { Memory } from "../permission/memory.ts";
import { type AskSurroundings, GitNow } from "./git_now.ts";
import { Notes } from "./notes.ts";
import { RulesFiles } from "./rules_files.ts";
import type { SeenHistory } from "./room.ts";
import { UserEdits } from "./user_edits.ts";

/** Characters. */
const MOST_TREE = 2_000;
const MOST_MANIFEST = 200_000;

/** Limit for the client's answer, and again for reading a session's first facts. */
const LONGEST_MS = 1_800;

/** The longest wait of a message; later facts are left out, and a notice names them. */
const SLOW_MS = 2_000;

interface SurroundingsPorts {
  readonly workspace: Workspace;
  /** The workspace's views. */
  readonly views: Views;
  readonly memory: Memory;
  /** Undefined: no client answers. */
  readonly ask: AskSurroundings | undefined;
  plan(): Plan;
  /** The visible history of the session. */
  readonly history: Pick<HistoryWindow, "seen" | "folds" | "first">;
  /** Reads the current rules. @throws {Error} if they cannot be read */
  refreshRules(): Promise<void>;
  /** Adds a line to the chat. */
  notice(text: string): void;
}

/** Facts for a session's first message are gathered again after this time. */
const FRESH_MS = 60_000;

/** The only key. */
const THE_PROJECT = "project";

export class SurroundingsGatherer {
  readonly #ports: SurroundingsPorts;
  readonly #rules: RulesFiles;
  readonly #edits: UserEdits;
  readonly #notes: Notes;
  /** The last known project facts, and the running request. */
  #known: Answer = {};
  #asking: Promise<void> | undefined;
  /** For the next turn. */
  #git: GitNow | undefined;
  /** Aborts the first look, which {@link prepare} begins. */
  readonly #firstLook = new AbortController();
  /** The client has not listed all files in time. */
  #isLate = false;
  /** The description was sent, so it stays. */
  #isSent: boolean;
  /** Time of the description, in milliseconds since 1970. */
  #described = 0;

  constructor(ports: SurroundingsPorts) {
    this.#ports = ports;
    this.#rules = new RulesFiles(ports.workspace, ports.memory);
    this.#notes = new Notes(ports.memory.notes, ports.workspace.roots);
    this.#edits = new UserEdits(ports.workspace, ports.views);
    this.#isSent = this.project !== undefined;
  }

  /** Undefined before the first turn. */
  get project(): Project | undefined {
    return this.#ports.memory.project.get(THE_PROJECT);
  }

  /** Earlier messages are no longer sent, so their facts are sent again. @param seen messages that are still sent */
  forget({ messages, folds }: Pick<SeenHistory, "messages" | "folds">): void {
    const { lastFacts, folderRules } = this.#ports.memory;
    for (const name of [...lastFacts.keys()]) lastFacts.delete(name);
    const seen = new Set(messages.flatMap((entry) => entry.type === "control_note" ? [entry.path] : []));
    const pinned = new Set(folds.compaction?.pinned?.map(({ id }) => id));
    for (const [file, { path }] of [...folderRules]) {
      if (!seen.has(path) && !pinned.has(rulesId(path))) folderRules.delete(file);
    }
  }

  /** The user reverted these files; the model hears of it elsewhere. */
  takenBack(changes: readonly Pick<FileChange, "path" | "from">[]): void {
    this.#edits.forget(changes.flatMap(({ path, from }) => from === undefined ? [path] : [path, from]));
  }

  /** Requests the facts for the first message of an opened session. */
  prepare(): void {
    this.#prepareProject();
    // Git answers faster after a first look at the project.
    const signal = AbortSignal.any([this.#firstLook.signal, AbortSignal.timeout(LONGEST_MS)]);
    this.#ports.ask?.({ facts: ["status"] }, signal).catch(() => {});
  }

  /** Gathers the project facts for the next message; only a session's first message waits for them. */
  #prepareProject(): void {
    this.#asking ??= this.#gather().catch(() => {}).finally(() => this.#asking = undefined);
  }

  /** Requests the current facts, while the rest of a message is gathered. */
  ask(signal: AbortSignal): void {
    const { ask } = this.#ports;
    this.#firstLook.abort();
    this.#git = ask && new GitNow(ask, signal);
  }

  /** Begins a turn. @param view the user's screen @returns the text beside the user's message */
  async begin(view: Shown | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { workspace, memory, plan, refreshRules, notice } = this.#ports;
    try {
      if (!this.#isSent) {
        if (Date.now() - this.#described > FRESH_MS) this.#prepareProject();
        await this.#inTime("the description of the project", this.#asking, signal);
        this.#isSent = true;
        if (this.#isLate) {
          notice("Listing the project's files takes long: the model is not told of all of them.");
        }
      }
      if (this.#edits.isWatching) await refreshRules();
      const edits = await this.#inTime("what you have edited", this.#edits.since(signal), signal) ??
        new Map();
      const reportedEdits = toldEdits([...edits.values()]);
      const facts = factsOf({
        git: await this.#git?.answer(),
        view,
        date: today(),
        plan: plan(),
        notes: this.#folded(),
      }, memory.lastFacts);
      const text = momentText(
        facts,
        memory.lastFacts,
        reportedEdits,
        edits.size - reportedEdits.length,
        this.project ?? NO_PROJECT,
      );
      for (const [name, line] of facts) memory.lastFacts.set(name, line);
      const whole = new Set(reportedEdits.filter((one) => one.whole).map(({ edit }) => edit));
      for (const [path, edit] of edits) {
        const { before, after } = edit;
        if (whole.has(edit) && before !== undefined && after !== undefined) {
          await workspace.noteEdit(path, before, after);
        }
      }
      return text;
    } catch {
      return undefined;
    }
  }

  /** Undefined with a notice if it takes too long. */
  async #inTime<T>(
    what: string,
    promise: Promise<T> | undefined,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const limit = AbortSignal.timeout(SLOW_MS);
    try {
      return await unlessAborted(promise, AbortSignal.any([signal, limit]));
    } catch (error) {
      if (signal.aborted || !limit.aborted) throw error;
      this.#ports.notice(`The model is not told ${what} with this message: gathering that takes too long.`);
      return undefined;
    }
  }

  /** Handles an event of the session. */
  hear(event: AgentEvent): void {
    this.#notes.hear(event);
  }

  /** Notes about messages that are no longer sent. */
  #folded(): string | undefined {
    const { memory, history: { seen, folds, first } } = this.#ports;
    const isWhole = folds.compaction === undefined && folds.masked.size === 0 && first === 1;
    return isWhole ? undefined : notesText(memory.notes, seen, folds.masked);
  }

  get #needsFiles(): boolean {
    const { files } = this.#known;
    return !this.#isSent || files === undefined || files.late === true;
  }

  async #gather(): Promise<void> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const { files } = this.#known;
    const facts: SurroundingsWanted["facts"] = this.#needsFiles ? ["files", "rules"] : ["rules"];
    const answer = await unlessAborted(this.#ports.ask?.({ facts }, signal), signal).catch(() => undefined);
    this.#isLate = signal.aborted || answer?.files?.late === true;
    this.#known = { ...files === undefined ? {} : { files }, ...answer };
    this.#rules.listed = this.#known.files?.rules ?? [];
    if (this.#isSent) return;
    await this.#ports.refreshRules();
    await this.#describe(this.#known, AbortSignal.timeout(LONGEST_MS));
    this.#described = Date.now();
  }

  /** Updates the rules files in the prompt. Without a message, a session reads them later anyway. */
  async rereadRules(): Promise<void> {
    const { memory, refreshRules } = this.#ports;
    this.#described = 0;
    const { project } = this;
    if (project === undefined || !this.#isSent) return;
    try {
      await this.#gather();
      await refreshRules();
      const rules = await this.#generalRules(this.#known.rules, AbortSignal.timeout(LONGEST_MS));
      memory.project.set(THE_PROJECT, { ...project, rules });
    } catch {
      // Then the prompt keeps its old rules.
    }
  }

  /** Ends a turn of any kind. */
  async end(): Promise<void> {
    if (this.#needsFiles) this.#prepareProject();
    await this.#edits.leave().catch(() => {});
  }

  /** Rules of the folders that calls touched. @param paths absolute @returns notes beside the results */
  rulesOf(paths: readonly string[], signal: AbortSignal): Promise<readonly ControlNote[]> {
    return this.#notesOf(this.#rules, paths, signal);
  }

  /** The same for a sub-agent, which already has the rules in the prompt. */
  rulesFor(workspace: Workspace): SurroundingsGatherer["rulesOf"] {
    const { rules: promptRules } = this.#ports.memory;
    const rules = new RulesFiles(workspace, { rules: promptRules, folderRules: new Map() });
    rules.listed = this.#known.files?.rules ?? [];
    return (paths, signal) => this.#notesOf(rules, paths, signal);
  }

  async #notesOf(
    rules: RulesFiles,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ControlNote[]> {
    const files: readonly RulesFile[] = await rules.of(paths, signal).catch(() => []);
    return files.map((file) => {
      const text = rulesText([file], this.project ?? NO_PROJECT);
      return { type: "control_note", reason: "rules", text, path: file.path };
    });
  }

  /** Describes the project once for the session; later changes are sent as they happen. */
  async #describe({ files, rules }: Answer, signal: AbortSignal): Promise<void> {
    const { workspace, memory } = this.#ports;
    const names = files?.paths ?? [];
    const manifests: string[] = [];
    for (const name of names.filter((name) => !name.includes("/") && isManifest(name)).sort()) {
      const { text = "" } = await workspace.textNow(name, signal) ?? {};
      manifests.push(manifestLine(name, text.length > MOST_MANIFEST ? "" : text));
    }
    const general = await this.#generalRules(rules, signal);
    const tree = treeText(names, MOST_TREE, files?.more === false);
    memory.project.set(THE_PROJECT, { mark: MARK, manifests, tree, rules: general });
  }

  /** @param own the user's rules for all projects */
  async #generalRules(own: string | undefined, signal: AbortSignal): Promise<readonly RulesFile[]> {
    const { workspace, memory } = this.#ports;
    for (const path of [...memory.rules.keys()]) memory.rules.delete(path);
    const general = await this.#rules.general(own, signal);
    for (const { path, text } of general) {
      const isWhole = (await workspace.textNow(path, signal))?.text === text;
      if (isWhole) await workspace.noteGiven(path, text, signal);
    }
    return general;
  }
}

/** @throws {unknown} the signal's reason, as soon as it aborts */
async function unlessAborted<T>(
  promise: Promise<T> | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return await Promise.race([promise, aborted]);
}
