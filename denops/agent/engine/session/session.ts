/**
 * One session. Its prompts run one after the other, and it is the only writer of its log: an event is
 * appended, then published, so that the screen never shows what a resume would not.
 */
import { nameInRoots } from "../../policy/roots.ts";
import type { RequestResult } from "../../protocol/requests.ts";
import type { Shown } from "../../protocol/surroundings.ts";
import { Asides } from "../agent/side/aside.ts";
import { askRead } from "../agent/gather/ask_read.ts";
import { spendingOf, Unpriced } from "../agent/turn/budget.ts";
import { callIds } from "../agent/turn/call_ids.ts";
import { ChangedFiles } from "./changed_files.ts";
import { choose, type ContextChange } from "../agent/gather/context_page.ts";
import { type Handed, type HandedOver, handOver } from "../agent/gather/given.ts";
import { LEFT_OPEN, missing } from "../agent/turn/interrupted.ts";
import { LogWriter } from "./log_writer.ts";
import { Memory } from "../agent/permission/memory.ts";
import { Meter, type MeteredModel } from "../agent/turn/meter.ts";
import type { Instead, RunnerPorts, TurnEnd } from "../agent/turn/runner.ts";
import { Subagents } from "../agent/subagents/subagents.ts";
import { SessionAccess } from "./session_access.ts";
import { SessionModes } from "../agent/settings/session_modes.ts";
import type { SessionPorts } from "./session_ports.ts";
import { SessionTools } from "../agent/settings/session_tools.ts";
import { Steering } from "../agent/turn/steering.ts";
import { Surroundings } from "../agent/gather/surroundings.ts";
import { CommandTraps } from "../agent/permission/traps.ts";
import { Titling, type TitlingPorts } from "./titling.ts";
import type { TakenBack } from "../checkpoint/history.ts";
import { SessionCheckpoints } from "../checkpoint/session_checkpoints.ts";
import { type Mode, MODES } from "../context/modes.ts";
import { withoutDroppedRules } from "../context/project.ts";
import { HistoryWindow } from "../context/folding/window.ts";
import { withoutRepeats } from "../context/repeats.ts";
import { handedOver, type LogEntry } from "../log/entries.ts";
import { ToolError, TurnError } from "../../shared/errors.ts";
import { type AgentEvent, type Part, TRANSIENT, type UserMessage } from "../log/events.ts";
import type { TurnBegun } from "../ports.ts";
import type { SessionState } from "../tools/define.ts";
import { Scratch } from "../tools/files/scratch.ts";
import { Views } from "../tools/files/views.ts";
import { Workspace } from "../tools/files/workspace.ts";

/** What a prompt tells beside what is handed over. */
type Told = readonly [branch?: string, shown?: Shown, instead?: Instead, messageId?: string];

/** Sensitive files that a warning names. */
const MOST_NAMES = 10;

export class Session {
  readonly id: string;
  readonly checkpoints: SessionCheckpoints;
  readonly modes: SessionModes;
  readonly tools: SessionTools;
  readonly #ports: SessionPorts;
  readonly #roots: readonly string[];
  readonly #workspace: Workspace;
  readonly #access: SessionAccess;
  readonly #scratch: Scratch | undefined;
  readonly #state: SessionState;
  readonly #meter: Meter;
  readonly #memory: Memory;
  /** As it is in the store. */
  readonly #history: HistoryWindow;
  readonly #newCallId: (given: string) => string;
  #stored: boolean;
  readonly #log: LogWriter;
  /** The last turn may have no end: it gets one before anything else. */
  #cutOff = false;
  readonly #titling: Titling;
  readonly #unpriced = new Unpriced();
  readonly #traps: CommandTraps;
  readonly #surroundings: Surroundings | undefined;
  readonly agents: Subagents;
  readonly steering = new Steering((id, note, event) => {
    this.#memory.messages.set(id, true);
    this.#append([note, event]);
    this.#ports.publish(event);
  });
  readonly #closing = new AbortController();
  readonly asides = new Asides(() => this.#asidePorts(), this.#closing.signal);
  readonly #changed: ChangedFiles;
  /** A language server may answer: where nobody says so, one may. */
  #hasServers = true;
  #running: AbortController | undefined;
  /** Calls that have begun and not ended. */
  readonly #open = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();
  #cancelled = 0;
  /** Prompts that run or wait. */
  #prompts = 0;

  /**
   * A new session, or the stored one of this id as it was left: a turn that the end of its process has cut off
   * gets its end now. Nobody else may have it open.
   */
  constructor(id: string, roots: readonly string[], ports: SessionPorts) {
    this.id = id;
    this.#ports = ports;
    this.#roots = roots;
    const { config, store } = ports;
    this.#log = new LogWriter(id, store, ports.publish);
    this.#scratch = store.folder === undefined ? undefined : new Scratch(store.folder, id);
    this.#access = new SessionAccess(config, ports.fileRules, (path) => this.#scratch?.holds(path) === true);
    store.reopen(id);
    this.#stored = store.session(id) !== undefined;
    this.#memory = new Memory(this.#stored ? store.remembered(id) : []);
    const { folder, plan, titled, spent, first } = this.#memory.facts;
    this.modes = new SessionModes(config, this.#memory.facts, () => this.#remember());
    this.tools = new SessionTools(ports.runner.tools, config.tools_off, this.#memory, () => this.#remember());
    const model = () => this.#model;
    const seen = { store, session: id, window: () => model().contextWindow, chosen: this.#memory };
    this.#history = new HistoryWindow(seen, this.#stored ? first : undefined);
    this.#newCallId = callIds((call) => store.hasCall(id, call));
    const mayRead = this.#access.mayRead.bind(this.#access);
    const places = { roots, editor: ports.editor, journal: store.writes, mayRead };
    const views = new Views(this.#memory.known);
    this.#workspace = new Workspace({ ...places, scratch: this.#scratch }, views);
    this.#state = { folder, plan };
    this.#surroundings = ports.surroundings && new Surroundings({
      workspace: this.#workspace,
      views,
      memory: this.#memory,
      ask: ports.surroundings.ask,
      plan: () => this.#state.plan,
      history: this.#history,
      refreshRules: () => this.#access.refresh(),
      notice: (text) => this.#warn(text),
    });
    this.#titling = new Titling(this.#titlingPorts(), titled);
    this.#meter = new Meter({
      session: id,
      turn: () => store.turn(id),
      get model() {
        return model();
      },
      spending: spendingOf(config, ports.usage.cost(id), spent),
      log: ports.usage,
      emit: (event) => this.#emit(event),
    });
    this.checkpoints = new SessionCheckpoints({
      session: id,
      roots,
      store: store.checkpoints,
      editor: ports.editor,
      journal: store.writes,
      state: store.folder,
      turn: () => store.turn(id),
      makeLink: ports.makeLink,
      notice: (text) => this.#emit({ type: "notice", severity: "warning", text }),
      isWatched: (path) => this.#access.isWatched(nameInRoots(path, roots) ?? ""),
      isRunning: (call) => ports.commands?.isRunning(call) === true,
    });
    this.#changed = new ChangedFiles({
      ...{ checkpoints: this.checkpoints, publish: ports.publish, turn: () => store.turn(id) },
      emit: (event) => this.#emit(event),
      settle: (signal) => this.#traps.settle(signal),
    });
    if (this.#stored) this.#mend();
    this.agents = new Subagents({
      ...{ session: id, root: roots[0] ?? "", store, usage: ports.usage, runner: ports.runner },
      untold: this.#memory.agents,
      remember: () => this.#remember(),
      ports: () => this.#turnPorts(),
      workspace: () => new Workspace(places),
      rulesFor: (workspace) => this.#surroundings?.rulesFor(workspace) ?? (() => Promise.resolve([])),
      modes: this.modes,
    });
    this.#traps = new CommandTraps({
      emit: (event) => this.#emit(event),
      ask: ports.ask,
      holdBack: this.checkpoints.holdBack,
      nameOf: (path) => nameInRoots(path, roots),
      trap: (name, changed) => this.#access.trap(name, changed),
    });
  }

  /**
   * Runs one turn, after those asked for before it.
   * @param branch what the first turn stores as the session's git branch
   * @param instead of a turn of the model's: see SessionMeta
   */
  prompt(handed: readonly Handed[], ...told: Told): Promise<TurnEnd> {
    const asked = this.#cancelled;
    const mode = this.modes.current;
    this.#prompts += 1;
    return this.#inOrder(() => {
      // A cancel ends what runs and what waits.
      if (asked !== this.#cancelled) return { type: "stopped", reason: "cancelled" } as const;
      return this.#turn(handed, mode, told);
    }).finally(() => this.#prompts -= 1);
  }

  #inOrder<T>(run: () => T | Promise<T>): Promise<T> {
    const done = this.#queue.then(run);
    this.#queue = done.catch(() => {});
    return done;
  }

  /** What the first message needs is asked for, so that it waits the less. */
  prepare(): void {
    this.#surroundings?.prepare();
  }

  /** Files of rules have changed: the prompt tells them as they are now. */
  async rereadRules(): Promise<void> {
    await this.#inOrder(() => this.#surroundings?.rereadRules());
    this.#remember();
  }

  /** Takes back, does again or goes back. Prompts that come meanwhile wait. @throws {ToolError} one line */
  async takeBack(action: Parameters<SessionCheckpoints["takeBack"]>[0]): Promise<TakenBack> {
    if (this.#prompts > 0) throw new ToolError("A turn is running. Stop it first.");
    let since = 0;
    const done = await this.#inOrder(() => {
      since = Date.now();
      // A cancel is for turns: half of an undo helps nobody.
      return this.checkpoints.takeBack(action, new AbortController().signal);
    });
    this.#surroundings?.takenBack(done.changes);
    const event = { type: "file_modified", id: `${action.kind}-${done.turn}` } as const;
    for (const change of done.changes) this.#ports.publish({ ...event, change: { ...change, since } });
    return done;
  }

  /** Makes room in the model's window. @param focus what a summary is to keep @throws {ToolError} one line */
  async compact(focus: string | undefined): Promise<void> {
    const { runner } = this.#ports;
    if (this.#prompts > 0) throw new ToolError("A turn is running. It compacts the session automatically.");
    const nothing = new ToolError("Nothing to fold: the session is short.");
    if (!this.#stored || runner.compact === undefined) throw nothing;
    const controller = this.#running = new AbortController();
    const folding = this.#inOrder(() => runner.compact?.(focus, this.#turnPorts(), controller.signal));
    const isDone = await folding.catch((error) => {
      throw error instanceof TurnError ? new ToolError(error.message) : error;
    }).finally(() => this.#running = undefined);
    if (isDone === true) return;
    if (!controller.signal.aborted) throw nothing;
    this.#emit({ type: "notice", severity: "info", text: "Stopped: nothing was folded." });
  }

  /** Takes back what was folded last. @throws {ToolError} one line */
  unfold(): void {
    const { newest } = this.#history.folds;
    if (newest === undefined) throw new ToolError("Nothing is folded.");
    this.#append([{ type: "fold_undone" }]);
    const what = newest === "masking" ? "results" : "messages";
    this.#emit({ type: "notice", severity: "info", text: `The model sees the folded ${what} again.` });
  }

  /** What the user asked, and when, oldest first. */
  turnsBegun(): readonly TurnBegun[] {
    return this.#ports.store.turnsBegun(this.id);
  }

  /** What a request would send now. @param change is made first @throws {ToolError} if that is not known here */
  context(change?: ContextChange): RequestResult<"context"> {
    const { context } = this.#ports.runner;
    if (context === undefined) throw new ToolError("Another agent decides what its model is sent.");
    if (change !== undefined) {
      choose(this.#memory, change, context(this.#turnPorts()));
      this.#remember();
    }
    const { lines: _, ...page } = context(this.#turnPorts());
    return page;
  }

  /** A prompt runs or waits, or sub-agents are at work. */
  get isBusy(): boolean {
    return this.#prompts > 0 || this.agents.areAtWork;
  }

  cancel(): void {
    this.#cancelled += 1;
    this.#running?.abort();
  }

  /** Ends what runs; resolves when nothing more will be stored or published. */
  async close(): Promise<void> {
    this.cancel();
    this.#closing.abort();
    this.#titling.stop();
    await this.agents.close();
    await this.#queue;
    await this.#titling.settled;
    try {
      this.#log.saveUnsaved();
    } catch {
      // It was said.
    }
  }

  /** @throws nothing that is expected: what cannot be stored is the turn's failure */
  async #turn(handed: readonly Handed[], mode: Mode, [branch, shown, instead, id]: Told): Promise<TurnEnd> {
    const controller = this.#running = new AbortController();
    this.#meter.begin();
    this.#surroundings?.ask(controller.signal);
    this.steering.begin((said) => this.#handOver(said, controller.signal));
    try {
      const notice = await this.#ports.store.ensure();
      await this.#scratch?.make();
      const { parts, problems, note } = await this.#handOver(handed, controller.signal);
      if (id !== undefined) this.#memory.messages.set(id, true);
      const prompt = this.#begin(parts, branch);
      for (const text of [notice, this.#unpriced.notice(this.#ports.config, this.#model), ...problems]) {
        if (text !== undefined) this.#warn(text);
      }
      if (note !== undefined) this.#append([{ type: "control_note", reason: "context", text: note }]);
      const put = await this.checkpoints.wasCutOff() ? await this.#traps.settle(controller.signal) : [];
      this.#warnOf(await this.checkpoints.watchAgain());
      for (const text of [this.checkpoints.takeNote(), ...put]) {
        if (text !== undefined) this.#append([{ type: "control_note", reason: "files", text }]);
      }
      const news = this.agents.news();
      if (news !== undefined) this.#append([{ type: "control_note", reason: "agents", text: news }]);
      this.#hasServers = shown?.servers ?? this.#hasServers;
      const context = await this.#surroundings?.begin(shown, controller.signal);
      if (context !== undefined) this.#append([{ type: "control_note", reason: "context", text: context }]);
      this.#meter.spending.beginTurn();
      const { runner } = this.#ports;
      const done = instead && runner.instead?.(instead, this.#turnPorts(MODES.agent), controller.signal);
      const end = await (done ?? runner.runTurn(prompt, this.#turnPorts(mode), controller.signal));
      for (const id of this.#open) this.#emit({ type: "tool_done", id, ...LEFT_OPEN });
      await this.#changed.end(controller.signal);
      await this.#surroundings?.end();
      const tidied = await this.#scratch?.tidy();
      if (tidied !== undefined) this.#emit({ type: "notice", severity: "warning", text: tidied });
      const untitled = this.#titling.take(end);
      this.#emit(
        end.type === "stopped"
          ? { type: "turn_done", reason: end.reason }
          : { type: "turn_failed", kind: end.error.kind, message: end.error.message },
      );
      if (untitled) this.#titling.ask(prompt, this.#history.messages);
      return end;
    } catch (error) {
      // Nothing that is not stored may be shown, so this turn cannot even end as others do.
      this.#cutOff = true;
      controller.abort();
      if (error instanceof TurnError) return { type: "failed", error };
      throw error;
    } finally {
      this.#running = undefined;
      this.steering.end(controller.signal.aborted ? "stopped" : "ended");
    }
  }

  /** What the user hands over, read by the rules of this moment. Never rejects. */
  #handOver(handed: readonly Handed[], signal: AbortSignal): Promise<HandedOver> {
    const asks = askRead({ ...this.#turnPorts(), emit: this.#ports.publish }, signal);
    return handOver(handed, {
      ...{ abilities: {}, ...this.#ports.given, workspace: this.#workspace.forCall(asks) },
      ...{ seen: this.#history.seen, tools: this.tools, window: this.#model.contextWindow },
      refreshRules: () => this.#access.refresh(),
    }, signal);
  }

  /** That of the next turn. */
  get #model(): MeteredModel {
    return this.#ports.runner.modelOf?.(this.modes.current) ?? this.#ports.runner.model;
  }

  #begin(parts: readonly Part[], branch: string | undefined): UserMessage {
    const { store } = this.#ports;
    if (!this.#stored) {
      const onBranch = branch === undefined ? {} : { branch };
      store.createSession({ id: this.id, root: this.#roots[0] ?? "", model: this.#model.name, ...onBranch });
      this.#stored = true;
    }
    this.#log.saveUnsaved();
    if (this.#cutOff) this.#mend();
    this.#cutOff = false;
    const { slid, lost } = this.#history.slide();
    const told = withoutRepeats(parts, this.#history.seen);
    const prompt: UserMessage = { type: "user_message", origin: "user", parts: told };
    this.#emit(prompt);
    if (slid) {
      this.#surroundings?.forget(this.#history);
      const left = `${this.#history.first - 1}`;
      this.#warn(`The session is longer than the model's window: it no longer sees turns 1 to ${left}.`);
    }
    if (lost) this.#warn("A part of this session cannot be read; the model continues without it.");
    const title = store.session(this.id)?.title ?? "";
    const began = { turn: store.turn(this.id), time: Date.now(), ...handedOver(prompt) };
    this.#emit({ type: "title", title, began });
    return prompt;
  }

  /** A session with a call that has no result, or a question without an answer, is never sent. */
  #mend(): void {
    const { store } = this.#ports;
    const turn = store.turn(this.id);
    const events = store.events(this.id, { first: turn, last: turn, without: ["file_modified"] });
    const entries = missing(this.#history.messages, events);
    if (entries.length > 0) this.#append(entries);
  }

  /** Of a session whose list of tools was not stored: that of earlier versions. */
  get #oldModel(): string | undefined {
    if (this.#memory.offered.size > 0) return undefined;
    const answers = this.#history.messages.filter((entry) => entry.type === "assistant_message");
    return answers.findLast(({ by }) => by !== undefined)?.by?.model;
  }

  #turnPorts(mode = this.modes.current): RunnerPorts {
    return {
      mode,
      workspace: this.#workspace,
      state: this.#state,
      meter: this.#meter,
      checkpoints: this.checkpoints,
      traps: this.#traps,
      ask: this.#ports.ask,
      emit: (event) => this.#emit(event),
      refreshRules: () => this.#access.refresh(),
      decide: (accesses, granted) => this.#access.decide(accesses, granted),
      allowForSession: (accesses) => this.#access.allow(accesses),
      switches: this.tools,
      offered: this.#memory.offered,
      hasServers: this.#hasServers,
      oldModel: this.#oldModel,
      messages: () => this.#history.seen,
      history: this.#history,
      project: () => withoutDroppedRules(this.#surroundings?.project, this.#memory),
      chosen: this.#memory,
      scratch: this.#scratch?.folder,
      rulesOf: async (paths, signal) => await this.#surroundings?.rulesOf(paths, signal) ?? [],
      rereadRules: async () => await this.#surroundings?.rereadRules(),
      append: (message) => this.#append([message]),
      fold: (entry) => {
        this.#append([entry]);
        // What was told of folders and of the moment may be in no message that is seen.
        if (entry.type !== "compaction") return;
        this.#surroundings?.forget(this.#history);
        this.#remember();
      },
      newCallId: this.#newCallId,
      narrow: () => {
        this.modes.narrow();
        this.#emit({ type: "mode", mode: this.modes.current.name });
      },
      agents: this.agents,
      steering: this.steering,
    };
  }

  #asidePorts(): RunnerPorts & Pick<SessionPorts, "runner"> {
    const meter = this.#stored ? this.#meter : this.#meter.unstored(this.#ports.publish);
    return { ...this.#turnPorts(), meter, runner: this.#ports.runner };
  }

  #titlingPorts(): TitlingPorts {
    const { config, runner, store } = this.#ports;
    return {
      wanted: config.title,
      runner,
      mode: () => this.modes.current,
      retitle: (known, title) => store.retitle(this.id, known, title),
      counter: () => {
        const of = { turn: store.turn(this.id), model: this.#model };
        return (measured) => this.#meter.count(measured, MODES.title, [], of);
      },
      titled: (title) => this.#emit({ type: "title", title }),
    };
  }

  /** What was chosen is stored, unless nothing is yet. */
  #remember(): void {
    if (this.#stored) this.#append([]);
  }

  /** With what is remembered by now, so that both are always of the same moment. @throws {TurnError} */
  #append(entries: readonly LogEntry[]): void {
    const { folder, plan } = this.#state;
    const memory = this.#memory.unstored({
      folder,
      plan: [...plan],
      spent: this.#meter.spending.session,
      titled: this.#titling.done,
      first: this.#history.first,
      ...this.modes.choice,
    });
    this.#log.save({ entries, memory });
    this.#memory.stored(memory);
    this.#history.push(entries);
    this.#changed.step();
  }

  /** @param paths sensitive files that changed after the last turn, while its commands were running */
  #warnOf(paths: readonly string[]): void {
    if (paths.length === 0) return;
    const names = paths.slice(0, MOST_NAMES).map((path) => nameInRoots(path, this.#roots) ?? path);
    const more = paths.length > MOST_NAMES ? ` and ${paths.length - MOST_NAMES} more` : "";
    this.#warn(
      `After the last turn, while its background command was running, these sensitive files changed: ${
        names.join(", ")
      }${more}. Check them before you use them.`,
    );
  }

  #warn(text: string): void {
    this.#emit({ type: "notice", severity: "warning", text });
  }

  #emit(event: AgentEvent): void {
    this.#surroundings?.hear(event);
    if (event.type === "tool_start") this.#open.add(event.call.id);
    else if (event.type === "tool_done") this.#open.delete(event.id);
    this.#changed.hear(event);
    if (event.type === "turn_done" || event.type === "turn_failed" || event.type === "user_message") {
      this.#append([event]);
    } else if (!TRANSIENT.has(event.type)) this.#log.save({ entries: [event] });
    this.#ports.publish(event);
  }
}
