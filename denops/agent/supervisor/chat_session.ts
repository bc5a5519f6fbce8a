/** The session behind one chat: where its project is, what it goes on with, and the engine that has it open. */
import type { ChoosableEffort } from "../protocol/config.ts";
import type { RequestName, RequestParams, RequestResult } from "../protocol/requests.ts";
import type { ModeAccess } from "../protocol/modes.ts";
import type { Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import { defined } from "../shared/records.ts";
import type { Engine } from "./agents/engine.ts";
import type { RootQuery } from "./agents/root.ts";
import type { Branches } from "./branches/branches.ts";
import type { Choice } from "./gate/mode_book.ts";
import type { Modes } from "./modes.ts";
import type { Project } from "./project.ts";
import type { Projects } from "./projects.ts";
import type { ModelChoice } from "./agents/model_choice.ts";
import { originOf } from "./system/worktree_place.ts";
import { SessionModel } from "./session_model.ts";

export interface SessionPorts {
  push(update: Update): void;
  notice(severity: "info" | "warning" | "error", text: string): void;
  readonly projects: Projects;
  readonly branches: Branches;
  /** Another chat's turn is running in this project. @param root its real path */
  isShared(root: string): boolean;
}

/** A session that an engine has open. */
export interface OpenSession {
  readonly project: Project;
  readonly sessionId: string;
  /** It has no message yet. */
  readonly isNew: boolean;
}

type Opened = Pick<OpenSession, "sessionId" | "isNew">;

/** A turn that is about to be sent to the engine. */
export interface NextTurn {
  /** Settles when the choices that were made before the message are carried out. */
  readonly choices: Promise<void>;
  /** To be called when the engine has the message, or will not get it: later choices are carried out. */
  sent(): void;
}

interface Begun {
  readonly project: Project;
  readonly asked: Promise<string>;
  /** Once the engine has answered. */
  sessionId?: string;
}

export class ChatSession {
  readonly #chat: number;
  readonly #ports: SessionPorts;
  /** Where the project is looked for. */
  #place: RootQuery | undefined;
  /** What the chat goes on with when nothing is open. */
  #stored: string | undefined;
  #open: OpenSession | undefined;
  #opening: Promise<OpenSession> | undefined;
  /** A session without a message, which nobody has seen. It is of the options and the place of its moment. */
  #begun: Begun | undefined;
  /** Id of one that is being opened: what is told of it is heard. */
  #connecting: string | undefined;
  /** Made once, with the first message. */
  #branch: Promise<string | undefined> | undefined;
  /** The mode of the next turn; undefined: nothing was chosen, and nothing is open. */
  #choice: Choice | undefined;
  /** What its engine has made of the choice: it changes less. */
  #narrowed: Choice | undefined;
  /** Undefined: nothing was chosen here. */
  #effort: ChoosableEffort | undefined;
  /** A choice is being carried out: the next turn waits for it. */
  #choosing: Promise<void> = Promise.resolve();
  /** Modes that were chosen since the last message: the last one counts. */
  #modes = { count: 0 };
  readonly #model: SessionModel;
  /** What is stored is being read for the screen. */
  #reading: Promise<void> | undefined;
  /** The project of the last request was looked up. */
  #asked: Promise<unknown> = Promise.resolve();

  constructor(chat: number, ports: SessionPorts) {
    this.#chat = chat;
    this.#ports = ports;
    this.#model = new SessionModel(chat, ports);
  }

  get id(): string | undefined {
    return this.#open?.sessionId;
  }

  /** The engine that has it open. */
  get engine(): Engine | undefined {
    return this.#open?.project.engine;
  }

  /** Real path of its project; undefined if it is not open. */
  get root(): string | undefined {
    return this.#open?.project.root;
  }

  /** @param stored what the chat shows: the next message goes on with it */
  place(place: RootQuery, stored?: string): void {
    this.#place = place;
    this.#stored = stored ?? this.#stored;
  }

  /** @throws {Error} one line */
  async project(): Promise<Project> {
    if (this.#place === undefined) throw new Error("Nothing was asked in this chat yet.");
    return await this.#model.project(this.#place, this.#stored);
  }

  /** What the next turn may change. */
  get access(): ModeAccess {
    if (this.#choice === undefined || this.#open?.project.client.modes.problem(this.#choice)) return "read";
    return (this.#narrowed ?? this.#choice).access;
  }

  /** The engine's word for a mode that changes less: it holds until the user chooses one, and is stored nowhere. */
  narrow(mode: string): void {
    const modes = this.#open?.project.client.modes;
    const narrower = modes?.narrower(this.#narrowed ?? this.#choice ?? modes.first, mode);
    if (modes === undefined || narrower === undefined) return;
    this.#narrowed = narrower;
    this.#tellMode(modes);
  }

  /** The mode of all turns from the next one on; what goes wrong is told. */
  choose(mode: string): void {
    const modes = this.#modes;
    const number = ++modes.count;
    // Of those that come quickly the last one counts.
    const choosing = this.#choosing.then(() => number === modes.count ? this.#choose(mode) : undefined);
    this.#choosing = choosing.catch(async (error) => {
      this.#ports.notice("error", messageOf(error));
      const project = await this.project().catch(() => undefined);
      if (project !== undefined) this.#tellMode(project.client.modes);
    });
  }

  /** How much is to be thought in all turns from the next one on. @throws {Error} one line */
  async chooseEffort(effort: ChoosableEffort): Promise<void> {
    await this.#inOrder(async () => {
      await this.#opening?.catch(() => {});
      this.#effort = effort;
      await this.#open?.project.engine.setEffort(this.#open.sessionId, effort);
    });
  }

  /** The model of all turns from the next one on. @param name "" is that of the options @throws {Error} one line */
  async chooseModel(name: string): Promise<void> {
    await this.#inOrder(async () => {
      // What is being opened is opened with the model of before.
      await this.#opening?.catch(() => {});
      const project = this.#open?.project ?? await this.project();
      const { model: of, user, isChosen } = project;
      if ("problem" in of) throw new Error(of.problem);
      const { provider } = of;
      const model = name === "" ? undefined : await this.#ports.projects.offers.find(provider, name, user);
      if (this.id !== undefined) await project.engine.setModel(this.id, model);
      const isOptions = model === undefined && !isChosen;
      const choice = isOptions ? {} : { provider: provider.name, ...defined({ model }) };
      await this.#model.choose(choice, this.id ?? this.#stored);
      this.#model.tell(provider.name, model?.name ?? of.model);
    });
  }

  /**
   * The session goes on with another provider, in another engine. To be called between turns.
   * @param provider undefined is that of the options @throws {Error} one line: then it stays where it is
   */
  async chooseProvider(provider: string | undefined, name: string | undefined): Promise<void> {
    await this.#inOrder(async () => {
      await this.#opening?.catch(() => {});
      if (this.#place === undefined) return;
      const wanted = { ...defined({ provider }) };
      const begin = name === undefined ? wanted : { ...wanted, model: { name } };
      const project = await this.#model.projectOf(this.#place, begin);
      if ("problem" in project.model) return;
      const of = project.model;
      const model = name === undefined
        ? undefined
        : await this.#ports.projects.offers.find(of.provider, name, project.user);
      // What is asked for is what there is.
      if (this.#open?.project === project && model === undefined) {
        return this.#model.tell(of.provider.name, (await this.#model.of(this.id))?.model?.name ?? of.model);
      }
      const choice = model === undefined ? wanted : { provider: of.provider.name, model };
      if (this.#open !== undefined && this.#open.project !== project) {
        await this.#move(project, choice, this.#open);
      } else if (this.#open !== undefined) await project.engine.setModel(this.#open.sessionId, model);
      await this.#model.choose(choice, this.id ?? this.#stored);
      this.#model.tell(of.provider.name, model?.name ?? of.model);
    });
  }

  /** The engine that has the session open gives it up, for one writes its log. @throws {Error} one line: it is back */
  async #move(to: Project, choice: ModelChoice, open: OpenSession): Promise<void> {
    const { sessionId, project: { engine, client } } = open;
    const { agents } = await engine.request("agents", { sessionId });
    if (agents.some(({ state }) => state === "running" || state === "waiting")) {
      throw new Error("Sub-agents of this session are at work. `:Agent agents` stops them.");
    }
    const before = await this.#model.of(sessionId);
    const moving = async () => {
      this.#open = undefined;
      this.#stored = sessionId;
      await engine.closeSession(sessionId);
      to.client.rules.carryOver(this.#chat, client.rules);
      this.#model.take(choice);
      return await this.#connect(open.isNew);
    };
    const back = async (error: unknown) => {
      await to.engine.closeSession(sessionId).catch(() => {});
      this.#model.take(before);
      this.#open = await this.#connect(open.isNew);
      throw error;
    };
    this.#opening = moving().then((opened) => this.#open = opened, back)
      .finally(() => this.#opening = this.#connecting = undefined);
    await this.#opening;
  }

  /** Choices are carried out one after the other, and before the next turn. */
  async #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#choosing.then(work);
    this.#choosing = done.catch(() => {});
    await done;
  }

  /** What the session goes on with, as far as that can be known. @throws {Error} one line */
  async model(): Promise<{ readonly project: Project; readonly current: string }> {
    await this.#choosing;
    const project = this.#open?.project ?? await this.project();
    const own = "problem" in project.model ? "" : project.model.model;
    return { project, current: (await this.#model.of(this.id ?? this.#stored))?.model?.name ?? own };
  }

  /** Those that there are, and the one of the next turn. @throws {Error} one line */
  async modes(): Promise<{ readonly modes: Modes; readonly current: string }> {
    await this.#choosing;
    const modes = await (await this.project()).readModes();
    return {
      modes,
      current: (this.#narrowed ?? this.#choice ?? await this.#known(modes, this.#stored)).mode,
    };
  }

  /** The mode of a stored session is told, before it is gone on with. @throws {Error} one line */
  async showMode(modes: Modes, stored: string): Promise<void> {
    if (this.#open === undefined) await this.#model.show(stored);
    if (this.#open === undefined && this.#choice === undefined) {
      this.#tellMode(modes, await this.#known(modes, stored));
    }
  }

  async #choose(mode: string): Promise<void> {
    // What is being opened is opened in the mode of before.
    await this.#opening?.catch(() => {});
    const project = this.#open?.project ?? await this.project();
    const modes = await project.readModes();
    const choice = modes.choice(mode);
    const problem = modes.problem(choice);
    if (problem !== undefined) throw new Error(`${problem} \`:Agent mode\` lists all.`);
    // The gate goes by it whatever the engine says.
    this.#choice = choice;
    this.#narrowed = undefined;
    this.#tellMode(modes);
    const sessionId = this.id ?? this.#stored;
    if (this.id !== undefined) await project.engine.setMode(this.id, mode);
    if (sessionId !== undefined) await modes.book.note(sessionId, choice);
  }

  /** The user's choice for a session; that of the options where there is none. */
  async #known(modes: Modes, session: string | undefined): Promise<Choice> {
    return (session === undefined ? undefined : await modes.book.of(session)) ?? modes.first;
  }

  #tellMode(modes: Modes, { mode } = this.#narrowed ?? this.#choice ?? modes.first): void {
    const names = modes.all.map(({ name }) => name);
    this.#ports.push({ type: "agent_state", chat: this.#chat, mode, modes: names });
  }

  /** The choice as far as it holds; where it does not that is told. */
  #held(choice: Choice, modes: Modes): Choice {
    const problem = modes.problem(choice);
    if (problem === undefined) return choice;
    const { instead } = modes;
    this.#ports.notice(
      "warning",
      `${problem} This session is in mode ${instead.mode}; :Agent mode chooses another one.`,
    );
    return instead;
  }

  /** The session is in the mode that the user has chosen, whatever its engine says. */
  async #settleMode({ client: { modes }, engine }: Project, { sessionId, isNew }: Opened): Promise<void> {
    const isChosen = this.#choice !== undefined;
    this.#choice ??= await this.#known(modes, sessionId);
    this.#choice = this.#held(this.#choice, modes);
    const { mode } = this.#choice;
    if (!isNew || mode !== modes.first.mode) await engine.setMode(sessionId, mode);
    if (isChosen) await modes.book.note(sessionId, this.#choice);
    if (this.#effort !== undefined) await engine.setEffort(sessionId, this.#effort);
    this.#tellMode(modes);
  }

  /**
   * Makes what the first message needs, as far as it can; that message tells why it cannot.
   * @param displayed the stored session that the chat shows: no other one is begun beside it
   */
  prepare(displayed: string | undefined): void {
    if (this.#open === undefined && (displayed === undefined || this.#stored !== undefined)) {
      this.#prepare().catch(() => {});
    }
  }

  async #prepare(): Promise<void> {
    const { provider } = await this.#model.of(this.#stored) ?? {};
    if (!this.#ports.projects.needsKeyCommand(provider)) await this.#begin();
  }

  /** Whether an engine has this session for this chat. */
  owns(sessionId: string): boolean {
    return [this.id, this.#begun?.sessionId, this.#connecting].includes(sessionId);
  }

  /** What a chat asks second does not overtake what it has asked first. @throws {Error} one line */
  projectInOrder(place: RootQuery): Promise<Project> {
    const found = this.#asked.then(() => this.#model.project(place, this.#stored));
    this.#asked = found.catch(() => {});
    return found;
  }

  /** The session is begun, or gone on with, if it is not open yet. @throws {Error} one line */
  async open(): Promise<OpenSession> {
    if (this.#open !== undefined) return this.#open;
    this.#opening ??= this.#connect()
      .then((open) => this.#open = open)
      .finally(() => this.#opening = this.#connecting = undefined);
    return await this.#opening;
  }

  /** A message is about to be sent: choices that are made from here on are those of the next one. */
  beginTurn(): NextTurn {
    const { promise, resolve } = Promise.withResolvers<void>();
    const choices = this.#choosing;
    this.#choosing = choices.then(() => promise);
    this.#modes = { count: 0 };
    return { choices, sent: resolve };
  }

  /** The same, in an engine that has a model to ask. @throws {Error} one line */
  async openForTurn({ choices }: NextTurn): Promise<OpenSession> {
    await choices;
    const { project, isNew } = await this.open();
    if ("problem" in project.model) {
      await this.#ports.projects.retire(project);
      if (isNew) this.#stored = undefined;
    }
    const open = await this.open();
    await this.#recheck(open);
    return open;
  }

  /** What a file says of the mode may be another thing by now. */
  async #recheck({ project: { client: { modes }, engine }, sessionId }: OpenSession): Promise<void> {
    const choice = this.#choice ?? modes.first;
    const held = this.#held(choice, modes);
    if (held === choice) return;
    this.#choice = held;
    this.#tellMode(modes);
    await engine.setMode(sessionId, held.mode);
  }

  /** @throws {RequestError} one line, if the engine refuses */
  async request<Name extends RequestName>(
    name: Name,
    params: (sessionId: string) => RequestParams<Name>,
  ): Promise<RequestResult<Name>> {
    const { project, sessionId } = await this.open();
    return await project.engine.request(name, params(sessionId));
  }

  /** Stops what its engine does for it; nothing if it is not open. */
  cancel(): void {
    this.#open?.project.engine.cancel(this.#open.sessionId);
  }

  /** The branch that a new session gets with its first message. Undefined without the option, where none can be made, and in a worktree, which has one. */
  async branch({ project, isNew }: OpenSession, text: string): Promise<string | undefined> {
    const { prefix, ...options } = project.branches;
    if (!isNew || prefix === undefined) return undefined;
    if (await originOf(project.root, options.stateDir) !== undefined) return undefined;
    const isShared = () => this.#ports.isShared(project.root);
    return await (this.#branch ??= this.#ports.branches.begin(
      { prefix, text, options },
      isShared,
      (severity, said) => this.#ports.notice(severity, said),
    ));
  }

  /** The stored session is not opened before this has been answered: the screen would show a new turn twice. */
  noteReading(answering: Promise<unknown>): void {
    const reading = answering.then(() => {}, () => {}).finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
  }

  /** The engine is gone; what it has stored is not. @return whether the session was its */
  forget(engine: Engine): boolean {
    if (this.#open?.project.engine !== engine) return false;
    this.#stored = this.#open.sessionId;
    this.#open = this.#narrowed = undefined;
    return true;
  }

  async #begin(): Promise<void> {
    const project = await this.project();
    // A message that came first asks for a session of its own.
    if (this.#stored !== undefined || this.#opening !== undefined || this.#begun?.project === project) return;
    this.#tellMode(project.client.modes);
    const begun: Begun = { project, asked: project.engine.newSession(project.roots) };
    this.#begun = begun;
    begun.sessionId = await begun.asked;
  }

  /** The session that was begun, if it is of this project, else another one. */
  async #newSession(project: Project): Promise<string> {
    const begun = this.#begun?.project === project
      ? await this.#begun.asked.catch(() => undefined)
      : undefined;
    this.#begun = undefined;
    return begun ?? await project.engine.newSession(project.roots);
  }

  /** @param isUnused nothing may be stored of it, which is no news */
  async #connect(isUnused = false): Promise<OpenSession> {
    const project = await this.project();
    const { engine, roots, root, launch, model } = project;
    await this.#reading;
    const stored = this.#stored;
    const resumed = stored === undefined ? undefined : await engine.resumeSession(stored, roots);
    if (stored !== undefined && resumed === undefined && !isUnused) {
      this.#ports.notice("warning", "This session was not stored; your message starts a new one.");
    }
    const isNew = stored === undefined || resumed === undefined;
    const sessionId = isNew ? await this.#newSession(project) : stored;
    this.#connecting = sessionId;
    await this.#settleMode(project, { sessionId, isNew });
    const { sandbox } = launch;
    const chosen = await this.#model.settle(project, { sessionId, isNew }, resumed?.model);
    const known = "problem" in model ? {} : { provider: model.provider.name, model: chosen ?? model.model };
    this.#ports.push({ type: "ready", chat: this.#chat, session: sessionId, root, sandbox, ...known });
    if (resumed?.branch !== undefined) {
      const tell = (severity: "info" | "warning", said: string) => this.#ports.notice(severity, said);
      await this.#ports.branches.resumed(resumed.branch, project.branches, tell);
    }
    return { project, sessionId, isNew };
  }
}
