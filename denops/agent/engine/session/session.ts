/** One session. Its prompts run one after the other; running and waiting ones can be cancelled. */
import type { RequestParams, RequestResult } from "../../protocol/requests.ts";
import { ToolError, TurnError } from "../../shared/errors.ts";
import type { PromptPart } from "../agent/gather/attachments.ts";
import { choose, type ContextChange, partText } from "../agent/gather/context_page.ts";
import { SurroundingsGatherer } from "../agent/gather/surroundings.ts";
import type { Memory } from "../agent/permission/memory.ts";
import { SessionModes } from "../agent/settings/session_modes.ts";
import { SessionTools } from "../agent/settings/session_tools.ts";
import { Asides } from "../agent/side/aside.ts";
import { Subagents } from "../agent/subagents/subagents.ts";
import { spendingOf } from "../agent/turn/budget.ts";
import { Meter, type MeteredModel } from "../agent/turn/meter.ts";
import type { Runner, TurnEnd } from "../agent/turn/runner.ts";
import { Steering } from "../agent/turn/steering.ts";
import type { SessionCheckpoints } from "../checkpoint/session_checkpoints.ts";
import { SessionFiles } from "./session_files.ts";
import type { SessionPorts } from "./session_ports.ts";
import { memoryOf, SessionRecord } from "./session_record.ts";
import { Titling } from "./titling.ts";
import { type TurnRequest, Turns } from "./turns.ts";

export class Session {
  readonly id: string;
  readonly modes: SessionModes;
  readonly tools: SessionTools;
  readonly agents: Subagents;
  readonly steering: Steering;
  readonly asides: Asides;
  readonly #ports: SessionPorts;
  readonly #record: SessionRecord;
  readonly #files: SessionFiles;
  readonly #meter: Meter;
  readonly #surroundings: SurroundingsGatherer | undefined;
  readonly #titling: Titling;
  readonly #turns: Turns;
  readonly #closing = new AbortController();
  #running: AbortController | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #cancelled = 0;
  /** Number of running and waiting prompts. */
  #prompts = 0;

  /**
   * Creates a session, or resumes the stored one of this id: an interrupted turn gets its end now. No other
   * engine may have it open.
   * @param roots real paths, the project first
   */
  constructor(id: string, roots: readonly string[], ports: SessionPorts) {
    this.id = id;
    this.#ports = ports;
    const { config, store, runner } = ports;
    const root = roots[0] ?? "";
    const memory = memoryOf(id, store);
    this.modes = new SessionModes(config, memory.facts, () => this.#record.remember());
    const record = this.#record = this.#newRecord(root, memory);
    this.tools = new SessionTools(() => runner.tools, config.tools_off, memory, () => record.remember());
    const files = this.#files = new SessionFiles(id, roots, ports, record);
    const surroundings = this.#surroundings = this.#newSurroundings();
    this.#meter = this.#newMeter();
    this.#titling = this.#newTitling();
    this.steering = new Steering((message, note, event) => {
      record.noteMessage(message);
      record.append([note, event]);
      ports.publish(event);
    });
    if (record.isStored) record.mend();
    this.agents = new Subagents({
      session: id,
      root,
      store,
      usage: ports.usage,
      runner,
      untold: memory.agents,
      remember: () => record.remember(),
      ports: () => this.#turns.ports(this.modes.current),
      workspace: () => files.newWorkspace(),
      rulesFor: (workspace) => surroundings?.rulesFor(workspace) ?? (() => Promise.resolve([])),
      modes: this.modes,
    });
    this.#turns = new Turns({
      record,
      files,
      surroundings,
      modes: this.modes,
      tools: this.tools,
      meter: this.#meter,
      agents: this.agents,
      steering: this.steering,
      titling: this.#titling,
      model: () => this.#model,
    }, ports);
    this.asides = new Asides(() => {
      const meter = record.isStored ? this.#meter : this.#meter.unstored(ports.publish);
      return { ...this.#turns.ports(this.modes.current), meter, runner };
    }, this.#closing.signal);
  }

  get checkpoints(): SessionCheckpoints {
    return this.#files.checkpoints;
  }

  /** Runs one turn after the earlier requested ones. */
  prompt(parts: readonly PromptPart[], request: TurnRequest = {}): Promise<TurnEnd> {
    const cancelled = this.#cancelled;
    const mode = this.modes.current;
    this.#prompts += 1;
    return this.#inOrder(() => {
      // Cancelling ends the running and the waiting prompts.
      if (cancelled !== this.#cancelled) return { type: "stopped", reason: "cancelled" } as const;
      const controller = this.#running = new AbortController();
      return this.#turns.run(parts, request, mode, controller).finally(() => this.#running = undefined);
    }).finally(() => this.#prompts -= 1);
  }

  /** Requests in advance what the first message needs. */
  prepare(): void {
    this.#surroundings?.prepare();
  }

  /** Rules files have changed: updates the prompt. */
  async rereadRules(): Promise<void> {
    await this.#inOrder(() => this.#surroundings?.rereadRules());
    this.#record.remember();
  }

  /** Undoes, redoes or restores. Prompts wait until it ends. @throws {ToolError} one line */
  async takeBack(
    action: Parameters<SessionCheckpoints["takeBack"]>[0],
  ): ReturnType<SessionCheckpoints["takeBack"]> {
    if (this.#prompts > 0) throw new ToolError("A turn is running. Stop it first.");
    let since = 0;
    const done = await this.#inOrder(() => {
      since = Date.now();
      // Cancelling applies to turns: half of an undo helps nobody.
      return this.checkpoints.takeBack(action, new AbortController().signal);
    });
    this.#surroundings?.takenBack(done.changes);
    const event = { type: "file_modified", id: `${action.kind}-${done.turn}` } as const;
    for (const change of done.changes) this.#ports.publish({ ...event, change: { ...change, since } });
    return done;
  }

  /** Compacts the session. @param focus the topic that a summary should keep @throws {ToolError} one line */
  async compact(focus: string | undefined): Promise<void> {
    const { runner, config } = this.#ports;
    if (this.#prompts > 0) {
      const next = config.compaction === false ? "Stop it first." : "It compacts the session automatically.";
      throw new ToolError(`A turn is running. ${next}`);
    }
    const nothing = new ToolError("Nothing to fold: the session is short.");
    if (!this.#record.isStored || runner.compact === undefined) throw nothing;
    const controller = this.#running = new AbortController();
    const ports = this.#turns.ports(this.modes.current);
    const folding = this.#inOrder(() => runner.compact?.(focus, ports, controller.signal));
    const isDone = await folding.catch(asToolError).finally(() => this.#running = undefined);
    if (isDone === true) return;
    if (!controller.signal.aborted) throw nothing;
    this.#record.emit({ type: "notice", severity: "info", text: "Stopped: nothing was folded." });
  }

  /** Reverts the last compaction. @throws {ToolError} one line */
  unfold(): void {
    const { newest } = this.#record.history.folds;
    if (newest === undefined) throw new ToolError("Nothing is folded.");
    this.#record.append([{ type: "fold_undone" }]);
    const what = newest === "masking" ? "results" : "messages";
    const text = `The model sees the folded ${what} again.`;
    this.#record.emit({ type: "notice", severity: "info", text });
  }

  turnsBegun(first: number, last: number): ReturnType<SessionRecord["turnsBegun"]> {
    return this.#record.turnsBegun(first, last);
  }

  /**
   * Returns the parts of the next request. @param change is applied first @throws {ToolError} if another
   * agent decides that
   */
  context(change?: ContextChange): RequestResult<"context"> {
    if (change !== undefined) {
      choose(this.#record.memory, change, this.#contextPage());
      this.#record.remember();
    }
    const { lines: _, texts: _texts, ...answer } = this.#contextPage();
    return answer;
  }

  /** The text of a part of the next request. @throws {ToolError} if it is no longer sent */
  contextPart(at: number, name: string): string {
    return partText(this.#contextPage(), at, name);
  }

  #contextPage(): ReturnType<NonNullable<Runner["context"]>> {
    const { context } = this.#ports.runner;
    if (context === undefined) throw new ToolError("Another agent decides what its model is sent.");
    return context(this.#turns.ports(this.modes.current));
  }

  /** The options of the agent that runs the turns. @param change is made first @throws {ToolError} one line */
  async options(change: RequestParams<"agent_options">["change"]): Promise<RequestResult<"agent_options">> {
    const { options } = this.#ports.runner;
    if (options === undefined) throw new ToolError("This session's agent has no options of its own.");
    const answer = await options(change, this.#turns.ports(this.modes.current), this.#closing.signal)
      .catch(asToolError);
    this.#record.remember();
    return answer;
  }

  /** The logins of that agent. @param method is run first @throws {ToolError} one line */
  async login(method: string | undefined): Promise<RequestResult<"agent_login">> {
    const { login } = this.#ports.runner;
    if (login === undefined) throw new ToolError("This session's agent has no logins of its own.");
    return await login(method, this.#closing.signal).catch(asToolError);
  }

  /** The requests since the last turn began, and their answers. */
  get exchanges(): NonNullable<Runner["wireLog"]>["exchanges"] {
    return this.#ports.runner.wireLog?.exchanges ?? [];
  }

  /** Whether any call of the next turn may run. */
  get hasTools(): boolean {
    return this.#ports.runner.hasTools?.(this.#turns.ports(this.modes.current)) ?? true;
  }

  /** Whether a prompt is running or waiting, or a sub-agent is working. */
  get isBusy(): boolean {
    return this.#prompts > 0 || this.agents.areAtWork;
  }

  cancel(): void {
    this.#cancelled += 1;
    this.#running?.abort();
  }

  /** Ends running work; resolves when nothing more will be stored or published. */
  async close(): Promise<void> {
    this.cancel();
    this.#closing.abort();
    this.#ports.runner.close?.();
    this.#titling.stop();
    await this.agents.close();
    await this.#queue;
    await this.#titling.settled;
    this.#record.close();
  }

  #inOrder<T>(run: () => T | Promise<T>): Promise<T> {
    const done = this.#queue.then(run);
    this.#queue = done.catch(() => {});
    return done;
  }

  /** The model of the next turn. */
  get #model(): MeteredModel {
    const { runner } = this.#ports;
    return runner.modelOf?.(this.modes.current) ?? runner.model;
  }

  #newRecord(root: string, memory: Memory): SessionRecord {
    const { config } = this.#ports;
    return new SessionRecord({
      id: this.id,
      root,
      memory,
      store: this.#ports.store,
      publish: this.#ports.publish,
      // Turns are left out of a longer session, unless the user wants nothing to be.
      window: () => config.compaction === false ? Infinity : this.#model.contextWindow,
      facts: () => ({
        spent: this.#meter.spending.session,
        titled: this.#titling.done,
        ...this.modes.choice,
      }),
      hear: (event) => {
        this.#surroundings?.hear(event);
        this.#files.changed.hear(event);
      },
      appended: () => this.#files.changed.step(),
      forgotten: () => this.#surroundings?.forget(this.#record.history),
    });
  }

  #newSurroundings(): SurroundingsGatherer | undefined {
    const { surroundings } = this.#ports;
    const { workspace, views, access } = this.#files;
    const { memory, history, state } = this.#record;
    return surroundings && new SurroundingsGatherer({
      workspace,
      views,
      memory,
      history,
      ask: surroundings.ask,
      plan: () => state.plan,
      isSmall: () => this.#model.small === true,
      refreshRules: () => access.refresh(),
      notice: (text) => this.#record.warn(text),
    });
  }

  #newMeter(): Meter {
    const { config, usage } = this.#ports;
    const { memory } = this.#record;
    const model = () => this.#model;
    return new Meter({
      session: this.id,
      turn: () => this.#record.turn,
      get model() {
        return model();
      },
      spending: spendingOf(config, usage.cost(this.id), memory.facts.spent),
      log: usage,
      emit: (event) => this.#record.emit(event),
    });
  }

  #newTitling(): Titling {
    const { config, runner, store } = this.#ports;
    return new Titling({
      wanted: config.title,
      runner,
      mode: () => this.modes.current,
      retitle: (known, title) => store.retitle(this.id, known, title),
      meter: this.#meter,
      model: () => this.#model,
      turn: () => this.#record.turn,
      titled: (title) => this.#record.emit({ type: "title", title }),
    }, this.#record.memory.facts.titled);
  }
}

/** @throws {ToolError} one line for the user */
function asToolError(error: unknown): never {
  throw error instanceof TurnError ? new ToolError(error.message) : error;
}
