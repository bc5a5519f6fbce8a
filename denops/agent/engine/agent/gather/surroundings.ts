/**
 * Gathers what the model is told beside the user's words: of the project once for each session, of the moment with each
 * message, of a folder's rules when a call first touches it. Nothing that goes wrong here ends a turn.
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

/** For the other side's answer, and as long again for reading what a session begins with. */
const LONGEST_MS = 1_800;

/** A message waits for that long; what takes longer is left out, and the chat names it. */
const SLOW_MS = 2_000;

interface SurroundingsPorts {
  readonly workspace: Workspace;
  /** Those of the workspace. */
  readonly views: Views;
  readonly memory: Memory;
  /** Undefined: there is nobody to ask. */
  readonly ask: AskSurroundings | undefined;
  plan(): Plan;
  /** What is sent of the session. */
  readonly history: Pick<HistoryWindow, "seen" | "folds" | "first">;
  /** Which files may be read is known from now on. @throws {Error} if there is no knowing it */
  refreshRules(): Promise<void>;
  /** A line for the chat. */
  notice(text: string): void;
}

/** What was gathered for a session's first message is gathered anew if that comes later. */
const FRESH_MS = 60_000;

/** There is one project. */
const THE_PROJECT = "project";

export class SurroundingsGatherer {
  readonly #ports: SurroundingsPorts;
  readonly #rules: RulesFiles;
  readonly #edits: UserEdits;
  readonly #notes: Notes;
  /** What was heard last of the project, and what is being asked. */
  #known: Answer = {};
  #asking: Promise<void> | undefined;
  /** For the turn that is about to begin. */
  #git: GitNow | undefined;
  /** The other side has not named all files in time. */
  #isLate = false;
  /** The project is described in what was sent: that stays. */
  #isSent: boolean;
  /** When it was described, in milliseconds since 1970. */
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

  /** Earlier messages are no longer sent: what was told with them is told anew. @param seen those that are */
  forget({ messages, folds }: Pick<SeenHistory, "messages" | "folds">): void {
    const { lastFacts, folderRules } = this.#ports.memory;
    for (const name of [...lastFacts.keys()]) lastFacts.delete(name);
    const seen = new Set(messages.flatMap((entry) => entry.type === "control_note" ? [entry.path] : []));
    const pinned = new Set(folds.compaction?.pinned?.map(({ id }) => id));
    for (const [file, { path }] of [...folderRules]) {
      if (!seen.has(path) && !pinned.has(rulesId(path))) folderRules.delete(file);
    }
  }

  /** The user has taken these files back, which the model is told by itself. */
  takenBack(changes: readonly Pick<FileChange, "path" | "from">[]): void {
    this.#edits.forget(changes.flatMap(({ path, from }) => from === undefined ? [path] : [path, from]));
  }

  /** A session is opened: what its first message needs is asked for. */
  prepare(): void {
    this.#prepareProject();
    // Git answers sooner if it has looked at the project before.
    this.#ports.ask?.({ facts: ["status"] }, AbortSignal.timeout(LONGEST_MS)).catch(() => {});
  }

  /** Gathers what the next message is told of the project: only a session's first waits for that. */
  #prepareProject(): void {
    this.#asking ??= this.#gather().catch(() => {}).finally(() => this.#asking = undefined);
  }

  /** A message is sent: what it is told of this moment is asked for, while the rest of it is gathered. */
  ask(signal: AbortSignal): void {
    const { ask } = this.#ports;
    this.#git = ask && new GitNow(ask, signal);
  }

  /**
   * At the beginning of a turn.
   * @param view what the user has on screen @returns what stands with the user's message
   */
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

  /** Undefined, and a line in the chat, if it takes too long. */
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

  /** What happens in the session. */
  hear(event: AgentEvent): void {
    this.#notes.hear(event);
  }

  /** What is known of messages that are not sent any more. */
  #folded(): string | undefined {
    const { memory, history: { seen, folds, first } } = this.#ports;
    const isWhole = folds.compaction === undefined && folds.masked.size === 0 && first === 1;
    return isWhole ? undefined : notesText(memory.notes, seen);
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

  /** The prompt tells files of rules as they are now. Those of a session without a message are read with that. */
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
      // Then they are told as they were.
    }
  }

  /** At the end of a turn, whatever it was. */
  async end(): Promise<void> {
    if (this.#needsFiles) this.#prepareProject();
    await this.#edits.leave().catch(() => {});
  }

  /** Rules of folders that calls have touched. @param paths absolute @returns what stands with their results */
  rulesOf(paths: readonly string[], signal: AbortSignal): Promise<readonly ControlNote[]> {
    return this.#notesOf(this.#rules, paths, signal);
  }

  /** The same for a sub-agent, who was told what stands in the prompt. */
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

  /** For all of the session: what changes later is told as it changes. */
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

  /** @param own the user's, for all projects */
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

/** @throws {unknown} the signal's reason, however long the promise takes */
async function unlessAborted<T>(
  promise: Promise<T> | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return await Promise.race([promise, aborted]);
}
