/**
 * The trusted part: it starts engines, carries messages between them and the screen, and holds what waits for
 * the user. It never reads what a model wrote but to judge it and to show it.
 */
import { firstProblem } from "../protocol/config.ts";
import { type RequestName, type RequestParams, REQUESTS } from "../protocol/requests.ts";
import { Action, type Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import { defined } from "../shared/records.ts";
import { endEarly } from "./agents/boot.ts";
import { Branches } from "./branches/branches.ts";
import { Chat } from "./chat.ts";
import { ownFilesOnly, shownAnswer } from "./agents/confine.ts";
import { ModelMenus } from "./model_menus.ts";
import type { Modes } from "./modes.ts";
import { EditorQuestions } from "./screen/editor_questions.ts";
import { type Engine, UnableError } from "./agents/engine.ts";
import { Gate } from "./gate/gate.ts";
import { healthReport } from "./health.ts";
import { historyUpdates } from "./screen/history.ts";
import { endRuns } from "./system/run.ts";
import { Logins } from "./logins.ts";
import { adoptEnvironment } from "./system/neovim_environment.ts";
import { Projects } from "./projects.ts";
import { type ProviderWorld, realWorld } from "./agents/provider.ts";
import { Pump } from "./screen/pump.ts";
import { Questions } from "./gate/questions.ts";
import type { RootQuery } from "./agents/root.ts";
import { LONGEST_NOTICE, oneLine, plainAnswer, visible } from "./screen/visible.ts";
import { type WorktreeAction, worktreeTask } from "./worktree_task.ts";

export { watchProcess } from "./system/watch.ts";

/** How the supervisor reaches Neovim; resolves when Lua has taken the batch. */
export type Deliver = (batch: readonly Update[]) => Promise<void>;

/** Requests about what the session on screen has done or remembers: its engine must have it open. */
const OF_OPEN: ReadonlySet<RequestName> = new Set<RequestName>([
  "checkpoints",
  "changes",
  "undo",
  "redo",
  "restore_preview",
  "restore",
  "compact",
  "context",
]);

export interface SupervisorOptions {
  /** Number of this host; the supervisor's requests are numbered from it on. */
  readonly host: number;
  /** Neovim's environ(). */
  readonly environment: () => Promise<unknown>;
  readonly world?: ProviderWorld;
}

export class Supervisor implements AsyncDisposable {
  readonly #pump: Pump;
  readonly #world: ProviderWorld;
  readonly #gate: Gate;
  readonly #editor: EditorQuestions;
  readonly #questions: Questions;
  readonly #branches = new Branches();
  readonly #logins: Logins;
  readonly #chats = new Map<number, Chat>();
  readonly #projects: Projects;
  readonly #models: ModelMenus;
  /** Questions beside turns that no engine has been asked yet. */
  readonly #unsent = new Set<number>();
  #lastRequest: number;
  readonly #environment: SupervisorOptions["environment"];

  constructor(deliver: Deliver, { host, environment, world = realWorld }: SupervisorOptions) {
    this.#environment = environment;
    this.#lastRequest = host;
    this.#pump = new Pump(
      deliver,
      (chat, why) => this.#chats.get(chat)?.session.engine?.kill(`it ${why}`),
    );
    this.#world = world;
    this.#logins = new Logins(world, (update) => this.#pump.push(update));
    const push = (update: Update) => {
      if ("chat" in update) this.#chats.get(update.chat)?.heard(update);
      this.#pump.push(update);
    };
    const nextRequest = () => ++this.#lastRequest;
    this.#gate = new Gate(push, nextRequest);
    this.#editor = new EditorQuestions(push, nextRequest);
    this.#questions = new Questions(push, nextRequest);
    this.#projects = new Projects({
      environment,
      isUsed: ({ engine }) => this.#all().some((chat) => chat.session.engine === engine),
      ended: ({ engine }, how) => this.#all().forEach((chat) => chat.forget(engine, how)),
      project: {
        push,
        notice: (to, severity, text) => this.#notice(to, severity, text),
        narrow: (chat, mode) => this.#chats.get(chat)?.session.narrow(mode),
        ownerOf: (sessionId) => this.#ownerOf(sessionId)?.id,
        chatOf: (sessionId) => {
          const owner = this.#ownerOf(sessionId);
          return owner?.listens ? owner.id : undefined;
        },
        accessOf: (chat) => this.#chats.get(chat)?.access ?? "read",
        gate: this.#gate,
        editor: this.#editor,
        questions: this.#questions,
        world,
      },
    });
    this.#models = new ModelMenus(
      this.#projects,
      push,
      (chat, severity, text) => this.#notice(chat, severity, text),
    );
  }

  /** Takes an action of Lua. Returns at once; whatever comes of it comes as updates. */
  act(raw: unknown): void {
    const parsed = Action.safeParse(raw);
    if (!parsed.success) return this.#refuse(raw, firstProblem(parsed.error));
    const action = parsed.data;
    switch (action.type) {
      case "configure":
        this.#projects.config = action.config;
        return;
      case "open":
        this.#place({ ...action, session: undefined });
        return this.#chat(action.chat).session.prepare(action.session);
      case "prompt":
        this.#place(action);
        return this.#chat(action.chat).prompt(action);
      case "remember":
        this.#place(action);
        return this.#report(action.chat, this.#remember(action.text, action.chat));
      case "cancel":
        return this.#chats.get(action.chat)?.cancel();
      case "take_back":
        return this.#chats.get(action.chat)?.takeBack(action.text);
      case "close":
        this.#chats.get(action.chat)?.cancel();
        this.#chats.delete(action.chat);
        return;
      case "answer":
        this.#gate.answer(action.request, action);
        return;
      case "edit_command":
        return this.#gate.edit(action.request, action.command);
      case "reply": {
        const answer = action.error === undefined ? { result: action.result } : { error: action.error };
        return this.#editor.answer(action.request, answer);
      }
      case "editor_state":
        this.#editor.state = action;
        return;
      case "answer_question":
        return this.#questions.answer(action.request, action.answer);
      case "rules":
        this.#place(action);
        return this.#report(action.chat, this.#showRules(action.request, action.chat));
      case "remove_rule":
        return this.#report(action.chat, this.#removeRule(action.rule, action.chat));
      case "files":
        this.#place(action);
        return this.#report(action.chat, this.#showFiles(action.request, action.chat));
      case "prompts":
        this.#place(action);
        return this.#report(action.chat, this.#showPrompts(action.request, action.chat));
      case "tools":
        this.#place(action);
        return this.#report(action.chat, this.#showTools(action.request, action.chat, action.toggle));
      case "modes":
        this.#place(action);
        return this.#report(action.chat, this.#showModes(action.request, action.chat));
      case "mode":
        this.#place(action);
        return this.#chat(action.chat).session.choose(action.mode);
      case "effort":
        this.#place(action);
        return this.#report(action.chat, this.#chat(action.chat).session.chooseEffort(action.effort));
      case "models":
        this.#place(action);
        return void this.#models.show(action, this.#chat(action.chat).session);
      case "model":
        this.#place(action);
        return this.#report(action.chat, this.#chat(action.chat).session.chooseModel(action.model));
      case "providers":
        this.#place(action);
        return this.#report(
          action.chat,
          this.#models.showProviders(action.request, this.#chat(action.chat).session),
        );
      case "provider":
        this.#place(action);
        return this.#models.switchProvider(action, this.#chat(action.chat));
      case "jobs":
        this.#place(action);
        return this.#report(action.chat, this.#showJobs(action.request, action.chat, action.stop));
      case "log":
        this.#place(action);
        return this.#report(action.chat, this.#showLog(action.request, action.chat));
      case "engine_request":
        this.#ask(action, this.#answer(action));
        return;
      case "aside":
        this.#place(action);
        this.#ask(action, this.#aside(action));
        return;
      case "steer":
        this.#place(action);
        this.#ask(action, this.#steer(action));
        return;
      case "sessions":
        return this.#report(action.chat, this.#showSessions(action.request, action));
      case "aside_stop":
        return this.#report(action.chat, this.#stopAside(action));
      case "worktree":
        this.#ask(action, this.#worktree(action));
        return;
      case "login":
        return this.#logins.begin(action.request, action.provider, this.#projects.config);
      case "login_wait":
        return this.#logins.wait(action.request);
      case "login_stop":
        return this.#logins.stop();
      case "logout":
        return this.#logins.forget(action.request, action.provider, this.#projects.config);
      case "quota":
        this.#place(action);
        return this.#report(action.chat, this.#showQuota(action.request, action.chat));
      case "health":
        return this.#report(1, this.#health(action.request, action));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const chat of this.#all()) chat.end();
    this.#pump[Symbol.dispose]();
    this.#logins.stop();
    await Promise.all([endEarly(), this.#projects[Symbol.asyncDispose]()]);
    // Whoever has asked for them is gone.
    await endRuns();
  }

  /** Where the user is, and what the chat shows. */
  #place(action: RootQuery & { readonly chat: number; readonly session?: string | undefined }): void {
    this.#chat(action.chat).session.place(action, action.session);
  }

  /** A wrong action is a wrong option most of the time: it is told to the chat that it came from. */
  #refuse(raw: unknown, problem: string): void {
    const fields: Readonly<Record<string, unknown>> = typeof raw === "object" && raw !== null
      ? { ...raw }
      : {};
    if (fields.type === "configure") {
      this.#projects.config = problem.replace(/^config\./, "");
      return;
    }
    const chat = typeof fields.chat === "number" ? fields.chat : 1;
    this.#notice(chat, "error", `Cannot do that: ${problem}`);
  }

  /** What fails is told where it was asked for. */
  #report(chat: number, work: Promise<unknown>): void {
    work.catch((error) => this.#notice(chat, "error", messageOf(error)));
  }

  #chat(id: number): Chat {
    const known = this.#chats.get(id);
    if (known !== undefined) return known;
    const chat = new Chat(id, {
      push: (update) => this.#pump.push(update),
      notice: (severity, text) => this.#notice(id, severity, text),
      projects: this.#projects,
      branches: this.#branches,
      isShared: (root) => this.#all().some((other) => other.id !== id && other.worksIn === root),
      settle: () => this.#settle(id),
    });
    this.#chats.set(id, chat);
    return chat;
  }

  #all(): readonly Chat[] {
    return [...this.#chats.values()];
  }

  #ownerOf(sessionId: string): Chat | undefined {
    return this.#all().find((chat) => chat.session.owns(sessionId));
  }

  /** The turn of a chat is over: nothing of it waits, and nothing that it started goes on but what it was to. */
  #settle(id: number): void {
    this.#gate.settle(id);
    this.#questions.settle(id);
    const sessionId = this.#chats.get(id)?.session.id;
    if (sessionId === undefined) return;
    for (const opening of this.#projects.all()) {
      opening.then((project) => project.stopTurn(sessionId), () => {});
    }
  }

  /** What is asked in the user's name; the answer, or why there is none, goes to whoever asked. */
  async #ask(
    action: Extract<Action, { type: "engine_request" | "aside" | "steer" | "worktree" }>,
    answering: Promise<Record<string, unknown>>,
  ): Promise<void> {
    const { request, chat } = action;
    const isHistory = action.type === "engine_request" && action.name === "session_history";
    if (isHistory) this.#chat(chat).session.noteReading(answering);
    try {
      this.#pump.push({ type: "engine_answer", request, result: await answering });
    } catch (error) {
      const said = messageOf(error);
      this.#pump.push({ type: "engine_answer", request, error: oneLine(said, LONGEST_NOTICE) });
    }
  }

  async #aside(
    { chat, request, text, staged }: Extract<Action, { type: "aside" }>,
  ): Promise<Record<string, unknown>> {
    const { session } = this.#chat(chat);
    this.#unsent.add(request);
    const { client } = await session.project();
    const called = await client.called(chat, text);
    const parts = [called?.text ?? text, ...staged ? [await client.staged(chat)] : []];
    const asked = { id: String(request), question: parts.join("\n\n") };
    if (!this.#unsent.delete(request)) return { text: "" };
    const answer = await session.request("aside", (sessionId) => ({ sessionId, ...asked }));
    return { text: plainAnswer(answer.text) };
  }

  async #stopAside({ chat, request }: Extract<Action, { type: "aside_stop" }>): Promise<void> {
    if (this.#unsent.delete(request)) return;
    await this.#chat(chat).session.request("aside", (sessionId) => ({ sessionId, id: String(request) }));
  }

  /** Of the project where the user is, whatever the chat shows. */
  async #worktree(action: WorktreeAction): Promise<Record<string, unknown>> {
    const { client } = await this.#projects.of(action, action.chat);
    return await worktreeTask(action, await client.worktrees(), async (root) => {
      if (this.#all().some(({ worksIn }) => worksIn === root)) {
        throw new Error("Cannot remove the worktree: a turn is running there. Stop it first.");
      }
      await this.#projects.dropAt(root);
    });
  }

  async #steer(action: Extract<Action, { type: "steer" }>): Promise<Record<string, unknown>> {
    const { chat, id, text, given } = action;
    const { session } = this.#chat(chat);
    const { client } = await session.project();
    const prompt = await client.blocks(chat, text, given);
    const params = (sessionId: string) => REQUESTS.steer.params.parse({ sessionId, id, prompt });
    return await session.request("steer", params).catch((error: unknown) => {
      // Who takes no words in the middle of a turn gets them as the next message.
      if (error instanceof UnableError) return { end: "ended" };
      throw error;
    });
  }

  async #answer(action: Extract<Action, { type: "engine_request" }>): Promise<Record<string, unknown>> {
    const { chat, name, params } = action;
    const { engine, roots, client } = await this.#chat(chat).session.projectInOrder(action);
    if (OF_OPEN.has(name)) await this.#opened(chat, action, params.sessionId);
    const asked = this.#holder(params.sessionId) ?? engine;
    if (name === "session_fork") return shownAnswer(await this.#fork(params, asked, client.modes), roots);
    if (name !== "session_history") return shownAnswer(await this.#request(asked, name, params), roots);
    const { entries, before } = ownFilesOnly(await this.#request(asked, "session_history", params), roots);
    const updates = historyUpdates(chat, entries, roots);
    await this.#chat(chat).session.showMode(client.modes, String(params.sessionId));
    return before === undefined ? { updates } : { updates, before };
  }

  /** The copy is in the mode that the session is in, and goes on with the same provider and model. */
  async #fork(params: unknown, engine: Engine, { book }: Modes): Promise<Record<string, unknown>> {
    const forked = await this.#request(engine, "session_fork", params);
    const { sessionId } = REQUESTS.session_fork.params.parse(params);
    const { book: models } = this.#projects;
    const [mode, model] = await Promise.all([book.of(sessionId), models.of(sessionId)]);
    if (mode !== undefined) await book.note(forked.sessionId, mode);
    if (model !== undefined) await models.note(forked.sessionId, model);
    return forked;
  }

  /** What the chat shows may be stored only: it is gone on with, so that its engine has it open. */
  async #opened(chat: number, place: RootQuery, sessionId: unknown): Promise<void> {
    if (typeof sessionId !== "string" || this.#holder(sessionId) !== undefined) return;
    this.#place({ ...place, chat, session: sessionId });
    await this.#chat(chat).session.open();
  }

  async #request<Name extends RequestName>(engine: Engine, name: Name, params: unknown) {
    return await engine.request(name, REQUESTS[name].params.parse(params) as RequestParams<Name>);
  }

  /** The engine of a chat that goes on with this session: options that have changed since make another engine. */
  #holder(sessionId: unknown): Engine | undefined {
    return this.#all().find(({ session }) => session.id === sessionId)?.session.engine;
  }

  async #showRules(request: number, chat: number): Promise<void> {
    const project = await this.#chat(chat).session.project();
    this.#pump.push({ type: "rules", request, rules: project.shownRules(chat) });
  }

  async #removeRule(rule: string, chat: number): Promise<void> {
    const project = await this.#chat(chat).session.project();
    const removed = await project.removeRule(rule, chat);
    if (removed) return this.#notice(chat, "info", `Removed: ${rule}`);
    throw new Error(`Cannot remove ${rule}: it comes from your options. Change it there.`);
  }

  /** Why there are none is for the message to tell. */
  async #showFiles(request: number, chat: number): Promise<void> {
    const paths = await this.#chat(chat).session.project()
      .then(({ client }) => client.fileNames(chat)).catch(() => []);
    this.#pump.push({ type: "files", request, paths });
  }

  async #showPrompts(request: number, chat: number): Promise<void> {
    const { client } = await this.#chat(chat).session.project();
    const { prompts } = await client.prompts(chat);
    const shown = [...prompts.values()].map(({ name, description, hint }) => ({
      ...{ name, description: oneLine(description), hint: oneLine(hint) },
    })).sort((one, other) => one.name < other.name ? -1 : 1);
    this.#pump.push({ type: "prompts", request, prompts: shown });
    // The list is asked for whenever somebody types: each is told once.
    for (const problem of await client.fileProblems(chat)) this.#notice(chat, "warning", problem);
  }

  /** Into the user's rules for all projects; a session that is open goes on with them. */
  async #remember(text: string, id: number): Promise<void> {
    const { session } = this.#chat(id);
    const { client } = await session.project();
    const said = await client.remember(text, id);
    const { id: sessionId, engine } = session;
    if (sessionId !== undefined) await engine?.request("reread_rules", { sessionId });
    this.#notice(id, "info", said);
  }

  async #showTools(request: number, chat: number, toggle: string | undefined): Promise<void> {
    const { tools } = await this.#chat(chat).session.request("tools", (sessionId) => ({ sessionId, toggle }));
    this.#pump.push({ type: "tools", request, tools });
  }

  async #showModes(request: number, chat: number): Promise<void> {
    const { modes, current } = await this.#chat(chat).session.modes();
    const shown = modes.all.map(({ name, title, description, access }) => ({
      ...{ name, title: oneLine(title), description: oneLine(description), access },
    }));
    this.#pump.push({ type: "modes", request, modes: shown, current });
    for (const problem of modes.problems) this.#notice(chat, "warning", problem);
  }

  async #showQuota(request: number, chat: number): Promise<void> {
    const line = await this.#chat(chat).session.project().then((project) => project.quota()).catch(() =>
      undefined
    );
    this.#pump.push({ type: "quota", request, ...defined({ line }) });
  }

  async #showSessions(request: number, place: RootQuery): Promise<void> {
    this.#pump.push({ type: "sessions", request, ...await this.#projects.sessions(place) });
  }

  /** A session that is not open has none. */
  async #showJobs(request: number, chat: number, stop: string | undefined): Promise<void> {
    const { session } = this.#chat(chat);
    const { client: { terminals } } = await session.project();
    const { id } = session;
    if (id !== undefined && stop !== undefined) await terminals.stopJob(id, stop);
    const jobs = (id === undefined ? [] : terminals.jobs(id)).map(({ command, end, output, ...job }) => ({
      ...job,
      command: oneLine(command),
      state: oneLine(end ?? "running"),
      running: end === undefined,
      output: visible(output),
    }));
    this.#pump.push({ type: "jobs", request, jobs });
  }

  async #showLog(request: number, chat: number): Promise<void> {
    const project = await this.#chat(chat).session.project();
    this.#pump.push({ type: "log", request, lines: await project.logEntries() });
  }

  async #health(request: number, place: RootQuery): Promise<void> {
    adoptEnvironment(await this.#environment());
    const engines = await Promise.all(
      this.#projects.all().map((opening) =>
        opening.then(({ engine, launch }) => `pid ${engine.pid}, ${launch.sandbox}`, (error) => String(error))
      ),
    );
    const report = await healthReport(this.#projects.config, place, this.#world, engines);
    this.#pump.push({ type: "health", request, report });
  }

  #notice(chat: number, severity: "info" | "warning" | "error", text: string): void {
    this.#pump.push({ type: "notice", chat, severity, text: oneLine(text, LONGEST_NOTICE) });
  }
}
