/** Connects a chat to a session of its project's engine. */
import type { Update } from "../../protocol/ui.ts";
import type { Severity } from "../../protocol/ui.ts";
import type { Engine } from "../agents/engine.ts";
import { namesOf } from "../agents/models/engine_model.ts";
import type { ModelChoice } from "../agents/models/model_choice.ts";
import type { RootQuery } from "../agents/root.ts";
import type { Branches } from "../branches/branches.ts";
import type { OpenProject } from "../client/open_project.ts";
import type { OpenProjects } from "../client/open_projects.ts";
import type { SessionMode } from "./session_mode.ts";
import type { SessionModel } from "./session_model.ts";
import type { ChatPermission } from "./session_permission.ts";

export interface ConnectionPorts {
  push(update: Update): void;
  notice(severity: Severity, text: string): void;
  readonly projects: OpenProjects;
  readonly branches: Branches;
}

/** A session that an engine has open. */
export interface OpenSession {
  readonly project: OpenProject;
  readonly sessionId: string;
  /** It has no message yet. */
  readonly isNew: boolean;
}

/**
 * closed → opening → open; an engine that exits closes the session, and another provider reopens it.
 * The first message opens it; `#stored` is then resumed.
 */
type ConnectionState =
  | { readonly phase: "closed" }
  | { readonly phase: "opening"; readonly opened: Promise<OpenSession>; sessionId?: string }
  | { readonly phase: "open"; readonly session: OpenSession };

/** A new session that is made before its first message. It belongs to the options and the place of its start. */
interface SpareSession {
  readonly project: OpenProject;
  readonly created: Promise<string>;
  /** Once the engine has answered. */
  sessionId?: string;
}

const CONTINUED = "Another Neovim has continued this session. Read its turns above, then send again.";

export async function hasAgentsAtWork({ sessionId, project }: OpenSession): Promise<boolean> {
  const { agents } = await project.engine.request("agents", { sessionId });
  return agents.some(({ state }) => state === "running" || state === "waiting");
}

export class SessionConnection {
  readonly #chat: number;
  readonly #ports: ConnectionPorts;
  readonly #mode: SessionMode;
  readonly #model: SessionModel;
  readonly #permission: ChatPermission;
  #state: ConnectionState = { phase: "closed" };
  /** Where the project is searched for. */
  #place: RootQuery | undefined;
  /** The stored session that the chat shows. */
  #stored: string | undefined;
  #spare: SpareSession | undefined;
  /** The screen reads a stored session. */
  #reading: Promise<void> | undefined;
  /** The newest complete turn on screen; undefined if unknown. */
  #turn: number | undefined;
  /** The latest search for the project. */
  #search: Promise<unknown> = Promise.resolve();

  constructor(
    chat: number,
    ports: ConnectionPorts,
    mode: SessionMode,
    model: SessionModel,
    permission: ChatPermission,
  ) {
    this.#chat = chat;
    this.#ports = ports;
    this.#mode = mode;
    this.#model = model;
    this.#permission = permission;
  }

  /** Undefined unless an engine has it open. */
  get session(): OpenSession | undefined {
    return this.#state.phase === "open" ? this.#state.session : undefined;
  }

  /** Id of the open session, otherwise of the stored one. */
  get known(): string | undefined {
    return this.session?.sessionId ?? this.#stored;
  }

  get hasPlace(): boolean {
    return this.#place !== undefined;
  }

  /** @param stored the session that the chat shows: its next message continues it */
  place(place: RootQuery, stored?: string): void {
    this.#place = place;
    this.#stored = stored ?? this.#stored;
  }

  /** @throws {Error} one line */
  async project(): Promise<OpenProject> {
    return this.session?.project ?? await this.#model.project(this.#at(), this.#stored);
  }

  /** The project of the current place, whatever session is open. @throws {Error} one line */
  async projectHere(): Promise<OpenProject> {
    return await this.#model.project(this.#at(), this.#stored);
  }

  /** Requests reach the engine in the order in which the chat made them. @throws {Error} one line */
  projectInOrder(place: RootQuery): Promise<OpenProject> {
    const found = this.#search.then(() => this.#model.project(place, this.#stored));
    this.#search = found.catch(() => {});
    return found;
  }

  /** The project for another model. @throws {Error} one line */
  async projectFor(choice: ModelChoice): Promise<OpenProject> {
    return await this.#model.projectFor(this.#at(), choice);
  }

  /** Whether an engine has this session for this chat. */
  owns(sessionId: string): boolean {
    const opening = this.#state.phase === "opening" ? this.#state.sessionId : undefined;
    return [this.session?.sessionId, this.#spare?.sessionId, opening].includes(sessionId);
  }

  /** Resumes the stored session or starts a new one, unless one is open. @throws {Error} one line */
  async open(): Promise<OpenSession> {
    switch (this.#state.phase) {
      case "open":
        return this.#state.session;
      case "opening":
        return await this.#state.opened;
      case "closed":
        return await this.#enter(() => this.#connect());
    }
  }

  /** Resolves when nothing is opening. */
  async settled(): Promise<void> {
    if (this.#state.phase === "opening") await this.#state.opened.catch(() => {});
  }

  /** A project that has opened earlier without a model is opened again. @throws {Error} one line */
  async openWithModel(): Promise<OpenSession> {
    const { projects } = this.#ports;
    const since = performance.now();
    let open = await this.open();
    if ("problem" in open.project.model && open.project.opened < since) {
      await projects.drop(open.project);
      if (open.isNew) this.#stored = undefined;
      open = await this.open();
    }
    const { model } = open.project;
    if ("problem" in model) throw new Error(model.problem);
    return open;
  }

  /**
   * Starts what the first message needs, as far as possible. Errors are reported with that message.
   * @param displayed the stored session that the chat shows: no new session is made beside it
   * @param preloads the user may not send anything: no login is used
   */
  prepare(displayed: string | undefined, preloads = false): void {
    if (this.session === undefined && (displayed === undefined || this.#stored !== undefined)) {
      this.#prepare(preloads).catch(() => {});
    }
  }

  /** The stored session opens only after this request: otherwise the screen would show a new turn twice. */
  noteReading(answering: Promise<unknown>): void {
    const reading = answering.then(() => {}, () => {}).finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
  }

  /** The screen shows the turns of the session up to this one. */
  noteTurn(turn: number | undefined): void {
    this.#turn = turn;
  }

  /** The engine has exited; the session is still stored. @return whether the session was open there */
  forget(engine: Engine): boolean {
    const { session } = this;
    if (session?.project.engine !== engine) return false;
    this.#stored = session.sessionId;
    this.#state = { phase: "closed" };
    this.#mode.widen();
    return true;
  }

  /**
   * Moves the open session to another engine, because only one may write its log. @throws {Error} one line,
   * after moving it back
   */
  async move(to: OpenProject, choice: ModelChoice, from: OpenSession): Promise<void> {
    const { sessionId, project: { engine, client } } = from;
    if (await hasAgentsAtWork(from)) {
      throw new Error("Sub-agents of this session are at work. `:Agent agents` stops them.");
    }
    const before = await this.#model.of(sessionId);
    let failure: unknown;
    this.#stored = sessionId;
    await this.#enter(async () => {
      try {
        await engine.closeSession(sessionId);
        to.client.permissions.rules.carryOver(this.#chat, client.permissions.rules);
        this.#model.take(choice);
        return await this.#connect(from.isNew);
      } catch (error) {
        failure = error;
        await to.engine.closeSession(sessionId).catch(() => {});
        this.#model.take(before);
        return await this.#connect(from.isNew);
      }
    });
    if (failure !== undefined) throw failure;
  }

  #enter(opening: () => Promise<OpenSession>): Promise<OpenSession> {
    const { promise: opened, resolve, reject } = Promise.withResolvers<OpenSession>();
    this.#state = { phase: "opening", opened };
    opening().then((session) => {
      this.#state = { phase: "open", session };
      resolve(session);
    }, (error) => {
      this.#state = { phase: "closed" };
      reject(error);
    });
    return opened;
  }

  #at(): RootQuery {
    if (this.#place === undefined) throw new Error("Nothing was asked in this chat yet.");
    return this.#place;
  }

  async #prepare(preloads: boolean): Promise<void> {
    const choice = await this.#model.of(this.#stored) ?? {};
    const { projects } = this.#ports;
    if (projects.needsKeyCommand(choice) || preloads && await projects.usesLogin(choice)) return;
    const project = await this.projectHere();
    // A message that came first makes a session of its own.
    if (this.#stored !== undefined || this.#state.phase === "opening" || this.#spare?.project === project) {
      return;
    }
    this.#mode.report(project.client.modes);
    const spare: SpareSession = { project, created: project.engine.newSession(project.roots) };
    this.#spare = spare;
    spare.sessionId = await spare.created;
  }

  /** @param isUnused nothing of the session may be stored yet */
  async #connect(isUnused = false): Promise<OpenSession> {
    const project = await this.projectHere();
    const { engine, roots, root, launch, model, client: { modes } } = project;
    await this.#reading;
    const stored = this.#stored;
    const resumed = stored === undefined ? undefined : await engine.resumeSession(stored, roots);
    if (stored !== undefined && resumed === undefined && !isUnused) {
      this.#ports.notice("warning", "This session was not stored; your message starts a new one.");
    }
    if (stored !== undefined && (resumed?.turns ?? 0) > (this.#turn ?? Infinity)) {
      await engine.closeSession(stored);
      this.#ports.push({ type: "continued_elsewhere", chat: this.#chat });
      throw new Error(CONTINUED);
    }
    const isNew = stored === undefined || resumed === undefined;
    const sessionId = isNew ? await this.#newSession(project) : stored;
    // Updates of the session are shown from here on.
    if (this.#state.phase === "opening") this.#state.sessionId = sessionId;
    await this.#permission.opened(sessionId, isNew);
    await this.#mode.apply(modes, engine, sessionId, isNew);
    const chosen = await this.#model.apply(project, { sessionId, isNew }, resumed?.model);
    const names = namesOf(model);
    this.#ports.push({
      type: "ready",
      chat: this.#chat,
      session: sessionId,
      root,
      sandbox: launch.sandbox,
      ...names,
      ...(names === undefined || chosen === undefined ? {} : { model: chosen }),
    });
    if (resumed?.branch !== undefined) {
      await this.#ports.branches.resumed(
        resumed.branch,
        project.client.worktreeOptions,
        (severity, text) => this.#ports.notice(severity, text),
      );
    }
    return { project, sessionId, isNew };
  }

  /** The spare session if it belongs to this project, otherwise another one. */
  async #newSession(project: OpenProject): Promise<string> {
    const spare = this.#spare?.project === project
      ? await this.#spare.created.catch(() => undefined)
      : undefined;
    this.#spare = undefined;
    return spare ?? await project.engine.newSession(project.roots);
  }
}
