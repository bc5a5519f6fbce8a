/**
 * Gathers the facts that accompany the user's words: project facts once a session, current facts with each message, and
 * a folder's rules when a call first touches it. Failures here never end a turn.
 */
import type { Shown, Surroundings as Answer, SurroundingsWanted } from "../../../protocol/surroundings.ts";
import { isManifest, manifestLine } from "../../context/manifests.ts";
import { factsOf, momentText, toldEdits } from "../../context/moment.ts";
import {
  lateText,
  MARK,
  NO_PROJECT,
  type Project,
  type RulesFile,
  rulesText,
} from "../../context/project.ts";
import { treeText } from "../../context/tree.ts";
import { rulesId } from "../../context/chosen.ts";
import type { ControlNote } from "../../log/entries.ts";
import { notesText } from "../../context/notes.ts";
import type { HistoryWindow } from "../../context/folding/window.ts";
import type { AgentEvent, FileChange, Plan } from "../../log/events.ts";
import { defined } from "../../../shared/records.ts";
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

/** The first message waits this long for the list of files; a later list comes with a later message. */
const SOON_MS = 100;

/** A message waits this long for the skills of its moment. They are few small files. */
const SKILLS_MS = 500;

/** The longest wait for the rest; later facts are left out, and a notice names them. */
const SLOW_MS = 2_000;

/** The fact that the late description was sent. */
const LATE = "project";

interface SurroundingsPorts {
  readonly workspace: Workspace;
  /** The workspace's views. */
  readonly views: Views;
  readonly memory: Memory;
  /** Undefined: no client answers. */
  readonly ask: AskSurroundings | undefined;
  plan(): Plan;
  /** The model has a short prompt, without the files. */
  isSmall(): boolean;
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
  /** The last known project facts, and how they are gathered: the user's rules come first. */
  #known: Answer = {};
  #preparing: Promise<void> | undefined;
  #ownRules: Promise<void> | undefined;
  #describing: Promise<void> | undefined;
  /** For the next turn. */
  #git: GitNow | undefined;
  #skills: Promise<Answer["skills"]> | undefined;
  /** Aborts the first look, which {@link prepare} begins. */
  readonly #firstLook = new AbortController();
  /** The client has not listed all files in time, and the chat has said so. */
  #isLate = false;
  #isReported = false;
  /** The description was sent, so it stays. */
  #isSent: boolean;
  /** Time of the description, in milliseconds since 1970. */
  #described = 0;
  /** The description, with the files that missed the prompt. */
  #late: Project | undefined;
  /** From here on, a first message waits no longer for the files. */
  #soon: AbortSignal = AbortSignal.abort();

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
    this.#preparing ??= this.#gather().catch(() => {}).finally(() => this.#preparing = undefined);
  }

  /** Requests the current facts, while the rest of a message is gathered. */
  ask(signal: AbortSignal): void {
    const { ask } = this.#ports;
    this.#soon = AbortSignal.timeout(SOON_MS);
    this.#firstLook.abort();
    this.#git = ask && new GitNow(ask, signal);
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(SKILLS_MS)]);
    // The first message has them from the description.
    const skills = this.#isSent
      ? ask?.({ facts: ["skills"] }, inTime).then(({ skills }) => skills)
      : undefined;
    this.#skills = unlessAborted(skills, inTime).catch(() => undefined);
  }

  /** Begins a turn. @param view the user's screen @returns the text beside the user's message */
  async begin(view: Shown | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { workspace, memory, plan, refreshRules, notice } = this.#ports;
    try {
      const isFirst = !this.#isSent;
      if (isFirst) await this.#inTime("the description of the project", this.#describeSoon(signal), signal);
      if (this.#isLate && !this.#isReported && (!isFirst || this.project?.late !== true)) {
        this.#isReported = true;
        notice("Listing the project's files takes long: the model is not told of all of them.");
      }
      const late = this.#takeLate();
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
        skills: this.#skillChange(await this.#skills),
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
      return late === undefined ? text : [late, ...text === undefined ? [] : [text]].join("\n");
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

  /** The skills of the prompt and those of this moment. @param now undefined: unknown */
  #skillChange(now: Answer["skills"]): Parameters<typeof factsOf>[0]["skills"] {
    const { project } = this;
    if (project === undefined || now === undefined) return undefined;
    const { skills: sent = [], laterSkills } = project;
    if (sent.length === 0 && now.length > 0 && laterSkills === undefined) {
      const names = now.map(({ name }) => name);
      this.#ports.memory.project.set(THE_PROJECT, { ...project, laterSkills: names });
    }
    return { sent, now };
  }

  get #needsFiles(): boolean {
    const { files } = this.#known;
    return !this.#isSent || files === undefined || files.late === true;
  }

  /** Describes the project for the first message, if necessary without its files. */
  async #describeSoon(signal: AbortSignal): Promise<void> {
    if (this.#preparing === undefined && Date.now() - this.#described > FRESH_MS) {
      this.#describing = undefined;
      this.#prepareProject();
    }
    const inTime = AbortSignal.any([signal, this.#soon]);
    await unlessAborted(this.#preparing, inTime).catch(() => {});
    this.#isSent = true;
    if (this.#preparing !== undefined) await (this.#describing ??= this.#describe());
  }

  async #gather(): Promise<void> {
    await this.#ask();
    if (!this.#isSent) return await (this.#describing = this.#describe());
    await this.#describing;
    if (this.project?.late !== true || this.#known.files === undefined) return;
    this.#late ??= await this.#description(AbortSignal.timeout(LONGEST_MS));
  }

  /** Requests what is not known yet. */
  async #ask(): Promise<void> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const ask = (facts: SurroundingsWanted["facts"]) =>
      unlessAborted(this.#ports.ask?.({ facts }, signal), signal).catch(() => undefined);
    const needsFiles = this.#needsFiles;
    this.#ownRules = Promise.all([ask(["rules"]), ask(["skills"])]).then(([own, offered]) => {
      const { files } = this.#known;
      this.#known = defined({ files, rules: own?.rules, skills: offered?.skills });
    });
    const answer = needsFiles ? await ask(["files"]) : undefined;
    await this.#ownRules;
    const { files = this.#known.files } = answer ?? {};
    if (needsFiles) this.#isLate = answer?.files === undefined ? signal.aborted : answer.files.late === true;
    this.#known = { ...this.#known, ...defined({ files }) };
    this.#rules.listed = files?.rules ?? [];
  }

  /** Updates the rules files in the prompt. Without a message, a session reads them later anyway. */
  async rereadRules(): Promise<void> {
    const { memory, refreshRules } = this.#ports;
    this.#described = 0;
    const { project } = this;
    if (project === undefined || !this.#isSent) return;
    try {
      await this.#ask();
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
  async rulesOf(paths: readonly string[], signal: AbortSignal): Promise<readonly ControlNote[]> {
    await this.#listed(signal);
    const text = this.#takeLate();
    const late: readonly ControlNote[] = text === undefined
      ? []
      : [{ type: "control_note", reason: "rules", text }];
    return [...late, ...await this.#notesOf(this.#rules, paths, signal)];
  }

  /** The same for a sub-agent, which already has the rules in the prompt. */
  rulesFor(workspace: Workspace): SurroundingsGatherer["rulesOf"] {
    const { rules: promptRules } = this.#ports.memory;
    const rules = new RulesFiles(workspace, { rules: promptRules, folderRules: new Map() });
    return async (paths, signal) => {
      await this.#listed(signal);
      rules.listed = this.#known.files?.rules ?? [];
      return await this.#notesOf(rules, paths, signal);
    };
  }

  /** A touched folder's rules are found in the list of files, which a message did not wait for. */
  async #listed(signal: AbortSignal): Promise<void> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    await unlessAborted(this.#preparing, inTime).catch(() => {});
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
  async #describe(): Promise<void> {
    await this.#ownRules;
    await this.#ports.refreshRules();
    const isLate = this.#known.files === undefined;
    const project = await this.#description(AbortSignal.timeout(LONGEST_MS));
    this.#ports.memory.project.set(THE_PROJECT, { ...project, ...isLate ? { late: true } : {} });
    this.#described = Date.now();
  }

  async #description(signal: AbortSignal): Promise<Project> {
    const { files, rules, skills = [] } = this.#known;
    const names = files?.paths ?? [];
    const manifests: string[] = [];
    for (const name of names.filter((name) => !name.includes("/") && isManifest(name)).sort()) {
      const { text = "" } = await this.#ports.workspace.textNow(name, signal) ?? {};
      manifests.push(manifestLine(name, text.length > MOST_MANIFEST ? "" : text));
    }
    const general = await this.#generalRules(rules, signal);
    const tree = treeText(names, MOST_TREE, files?.more === false);
    return { mark: MARK, manifests, tree, rules: general, ...skills.length === 0 ? {} : { skills } };
  }

  /** The facts that missed the prompt, once; again after the model no longer sees them. */
  #takeLate(): string | undefined {
    const { project } = this;
    const { lastFacts } = this.#ports.memory;
    if (project === undefined || this.#late === undefined || lastFacts.has(LATE)) return undefined;
    lastFacts.set(LATE, "sent");
    return lateText(project, this.#ports.isSmall() ? { ...this.#late, tree: "" } : this.#late);
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
