import type { ChoosableEffort } from "../../protocol/options/efforts.ts";
import type { SessionPermission } from "../../protocol/access.ts";
import type { TurnLimits } from "../../protocol/modes.ts";
import type { RequestName, RequestParams, RequestResult } from "../../protocol/requests.ts";
import { defined } from "../../shared/records.ts";
import type { Engine } from "../agents/engine.ts";
import { type EngineModel, namesOf } from "../agents/models/engine_model.ts";
import type { ModelChoice } from "../agents/models/model_choice.ts";
import type { RootQuery } from "../agents/root.ts";
import type { Modes } from "../client/modes.ts";
import { endHooks } from "../client/message_hooks.ts";
import type { OpenProject } from "../client/open_project.ts";
import type { TrustedSession } from "../gate/approval_view.ts";
import { originOf } from "../system/worktree_place.ts";
import { ChoiceOrder, type NextTurn } from "./choice_order.ts";
import { type ConnectionPorts, hasAgentsAtWork, type OpenSession, SessionConnection } from "./connection.ts";
import { SessionMode } from "./session_mode.ts";
import { SessionModel } from "./session_model.ts";
import { ChatPermission, UNTRUSTED } from "./session_permission.ts";

/** Who answers: a provider's model, or another agent. */
export type ModelSource = Pick<ModelChoice, "provider" | "agent">;

export interface ChatSessionPorts extends ConnectionPorts {
  /** Whether another chat's turn is running in this project. @param root its real path */
  isShared(root: string): boolean;
}

export class ChatSession {
  readonly #ports: ChatSessionPorts;
  readonly #mode: SessionMode;
  readonly #model: SessionModel;
  readonly #permission: ChatPermission;
  readonly #connection: SessionConnection;
  readonly #choices = new ChoiceOrder();
  /** Created by the first message. */
  #branch: Promise<string | undefined> | undefined;

  constructor(chat: number, ports: ChatSessionPorts) {
    this.#ports = ports;
    this.#mode = new SessionMode(chat, ports);
    this.#model = new SessionModel(chat, ports);
    this.#permission = new ChatPermission(chat, ports);
    this.#connection = new SessionConnection(chat, ports, this.#mode, this.#model, this.#permission);
  }

  /** Undefined unless an engine has it open. */
  get id(): string | undefined {
    return this.#connection.session?.sessionId;
  }

  /** The engine that has it open. */
  get engine(): Engine | undefined {
    return this.#connection.session?.project.engine;
  }

  /** Real path of its project; undefined if it is not open. */
  get root(): string | undefined {
    return this.#connection.session?.project.root;
  }

  /** The next turn's limits. */
  get limits(): TurnLimits {
    return this.#mode.limits(this.#connection.session?.project.client.modes);
  }

  /** The permission of a session. @param client of the engine that asks */
  trust(client: object, sessionId: string | undefined): TrustedSession {
    const { session } = this.#connection;
    const isOpen = session !== undefined && session.sessionId === sessionId &&
      session.project.client === client;
    return isOpen ? this.#permission.trust(session.sessionId) : UNTRUSTED;
  }

  /** Call this before an engine receives a message that attaches an earlier session. */
  async attachesSession(sessionId: string): Promise<void> {
    await this.#permission.attachesSession(sessionId);
  }

  /** Call this once for each turn that the engine reports. */
  turnBegan(): void {
    if (this.id !== undefined) this.#ports.projects.taints.beginTurn(this.id);
  }

  /** Call this when a message has its answer or has failed. */
  turnEnded(): void {
    if (this.id !== undefined) this.#ports.projects.taints.endTurn(this.id);
  }

  place(place: RootQuery, stored?: string): void {
    this.#connection.place(place, stored);
  }

  /** The project of the current place. @throws {Error} one line */
  async project(): Promise<OpenProject> {
    return await this.#connection.projectHere();
  }

  projectInOrder(place: RootQuery): Promise<OpenProject> {
    return this.#connection.projectInOrder(place);
  }

  owns(sessionId: string): boolean {
    return this.#connection.owns(sessionId);
  }

  prepare(displayed: string | undefined, preloads: boolean): void {
    this.#connection.prepare(displayed, preloads);
  }

  noteReading(answering: Promise<unknown>): void {
    this.#connection.noteReading(answering);
  }

  noteTurn(turn: number | undefined): void {
    this.#connection.noteTurn(turn);
  }

  forget(engine: Engine): boolean {
    return this.#connection.forget(engine);
  }

  /** @throws {Error} one line */
  async open(): Promise<OpenSession> {
    return await this.#connection.open();
  }

  beginTurn(): NextTurn {
    return this.#choices.beginTurn();
  }

  /** Opens the session in an engine that has a model. @throws {Error} one line */
  async openForTurn({ choices }: NextTurn): Promise<OpenSession> {
    await choices;
    const session = await this.#connection.openWithModel();
    const { project: { client: { modes }, engine }, sessionId } = session;
    await this.#mode.recheck(modes, engine, sessionId);
    this.#ports.projects.taints.expectTurn(sessionId);
    // If the engine dies before it reports the turn, nobody knows whether it has stored it.
    this.noteTurn(undefined);
    return session;
  }

  /** Opens the session if necessary. @throws {RequestError} one line, if the engine refuses */
  async request<Name extends RequestName>(
    name: Name,
    params: (sessionId: string) => RequestParams<Name>,
  ): Promise<RequestResult<Name>> {
    const { project, sessionId } = await this.open();
    return await project.engine.request(name, params(sessionId));
  }

  /** Stops what its engine does for it; nothing if it is not open. */
  cancel(): void {
    if (this.id !== undefined) this.engine?.cancel(this.id);
  }

  /**
   * Closes the session, so that another Neovim can open it. It stays open while it has sub-agents or jobs at work.
   * @param isUsed whether another chat shows this session
   */
  async release(isUsed: (sessionId: string) => boolean): Promise<void> {
    await this.#connection.settled();
    const { session } = this.#connection;
    if (session === undefined) return;
    const { sessionId, project: { client, engine } } = session;
    const isAtWork = await hasAgentsAtWork(session) ||
      client.terminals.jobs(sessionId).some(({ end }) => end === undefined);
    if (isAtWork || isUsed(sessionId)) return;
    await Promise.all([engine.closeSession(sessionId), endHooks(client, sessionId)]);
  }

  /** Whether it shows this session, open or not. */
  shows(sessionId: string): boolean {
    return this.#connection.known === sessionId || this.owns(sessionId);
  }

  /** The branch of a new session; undefined without the option, in a worktree, or if Git refuses. */
  async branch({ project, isNew }: OpenSession, text: string): Promise<string | undefined> {
    const { prefix, ...options } = project.client.worktreeOptions;
    if (!isNew || prefix === undefined) return undefined;
    if (await originOf(project.root, options.stateDir) !== undefined) return undefined;
    return await (this.#branch ??= this.#ports.branches.begin(
      { prefix, text, options },
      () => this.#ports.isShared(project.root),
      (severity, line) => this.#ports.notice(severity, line),
    ));
  }

  /** The engine reports a narrower mode. */
  narrow(mode: string): void {
    const { session } = this.#connection;
    if (session !== undefined) this.#mode.narrow(session.project.client.modes, mode);
  }

  /** Sets the mode from the next turn on. @throws {Error} one line, after it has shown the mode that stays */
  async chooseMode(mode: string): Promise<void> {
    await this.#choices.addQuick(async () => {
      try {
        await this.#chooseMode(mode);
      } catch (error) {
        const project = await this.project().catch(() => undefined);
        if (project !== undefined) this.#mode.report(project.client.modes);
        throw error;
      }
    });
  }

  async #chooseMode(mode: string): Promise<void> {
    // A session that is opening opens in the previous mode.
    await this.#connection.settled();
    const project = await this.#connection.project();
    const modes = await project.readModes();
    const choice = this.#mode.choose(modes, mode);
    const { known } = this.#connection;
    if (this.id !== undefined) await project.engine.setMode(this.id, mode);
    if (known !== undefined) await modes.book.note(known, choice);
  }

  /** Sets at once what the session may do unasked. @throws {Error} one line */
  async choosePermission(permission: SessionPermission): Promise<void> {
    await this.#connection.settled();
    const isSandboxed = async () => (await this.#connection.project()).client.permissions.sandboxed;
    await this.#permission.choose(permission, this.#connection.known, isSandboxed);
  }

  /** Sets the reasoning effort from the next turn on. @throws {Error} one line */
  async chooseEffort(effort: ChoosableEffort): Promise<void> {
    await this.#choices.add(async () => {
      await this.#connection.settled();
      this.#model.effort = effort;
      const { session } = this.#connection;
      await session?.project.engine.setEffort(session.sessionId, effort);
    });
  }

  /** Sets the model from the next turn on. @param name "" for the options' model @throws {Error} one line */
  async chooseModel(name: string): Promise<void> {
    await this.#choices.add(async () => {
      await this.#connection.settled();
      const project = await this.#connection.project();
      const { model: own, isChosen } = project;
      if ("problem" in own) throw new Error(own.problem);
      const model = await this.#model.find(project, name === "" ? undefined : name);
      if (this.id !== undefined) await project.engine.setModel(this.id, model);
      const isDefault = model === undefined && !isChosen;
      const choice = isDefault ? {} : { ...sourceOf(own), ...defined({ model }) };
      await this.#model.choose(choice, this.#connection.known);
      this.#report(own, model?.name);
    });
  }

  /**
   * Continues the session with another provider or agent, in another engine. Call it between turns.
   * @param source empty for that of the options @throws {Error} one line: the session then stays
   * where it is
   */
  async chooseProvider(source: ModelSource, name: string | undefined): Promise<void> {
    await this.#choices.add(async () => {
      await this.#connection.settled();
      if (!this.#connection.hasPlace) return;
      const project = await this.#connection.projectFor({
        ...source,
        ...defined({ model: name === undefined ? undefined : { name } }),
      });
      const { model: own } = project;
      if ("problem" in own) return;
      const model = await this.#model.find(project, name);
      const { session } = this.#connection;
      if (session?.project === project && model === undefined) {
        // The session has this provider already.
        const current = await this.#model.of(this.id);
        return this.#report(own, current?.model?.name);
      }
      const choice = model === undefined ? source : { ...sourceOf(own), model };
      if (session !== undefined && session.project !== project) {
        await this.#connection.move(project, choice, session);
      } else if (session !== undefined) await project.engine.setModel(session.sessionId, model);
      await this.#model.choose(choice, this.#connection.known);
      this.#report(own, model?.name);
    });
  }

  #report(own: EngineModel, chosen: string | undefined): void {
    const names = namesOf(own);
    if (names !== undefined) this.#model.report(names.provider, chosen ?? names.model, names.agent);
  }

  /** The model of the next turn, as far as it is known. @throws {Error} one line */
  async model(): Promise<{ readonly project: OpenProject; readonly current: string }> {
    await this.#choices.done;
    const project = await this.#connection.project();
    const own = namesOf(project.model)?.model ?? "";
    return { project, current: (await this.#model.of(this.#connection.known))?.model?.name ?? own };
  }

  /** The available modes, and the mode of the next turn. @throws {Error} one line */
  async modes(): Promise<{ readonly modes: Modes; readonly current: string }> {
    await this.#choices.done;
    const modes = await (await this.project()).readModes();
    return { modes, current: await this.#mode.current(modes, this.#connection.known) };
  }

  /** Shows the mode and model of a stored session, and what it has read, before it is open. @throws {Error} one line */
  async showStored(modes: Modes, stored: string): Promise<void> {
    if (this.id === undefined) await this.#model.show(stored);
    if (this.id === undefined) await this.#mode.show(modes, stored);
    if (this.id === undefined) await this.#permission.show(stored);
  }
}

function sourceOf(model: Exclude<EngineModel, { readonly problem: string }>): ModelSource {
  return "agent" in model ? { agent: model.agent.name } : { provider: model.provider.name };
}
