/** One session of the client: a chat of the supervisor. */
import {
  type AgentContext,
  methods,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
} from "../deps/acp_sdk.ts";
import type { ApprovalUpdate, Severity, Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import { defined } from "../shared/records.ts";
import {
  elicitation,
  elicitationAction,
  notUnderstood,
  permissionAction,
  permissionRequest,
} from "./approvals.ts";
import type { SupervisorLink } from "./link.ts";
import { choiceAction, configOptions, modeState, type SessionChoices } from "./options.ts";
import type { PromptMessage } from "./prompt.ts";
import { SessionUpdates } from "./updates.ts";

/** Features of a client. */
export interface ClientFeatures {
  readonly notices: boolean;
  readonly forms: boolean;
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
}

const STOP_REASONS: ReadonlySet<string> = new Set<StopReason>([
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
]);

/** Turns that are read at a time. */
const PAGE = 20;

const INTERNAL = -32603;
const NOT_FOUND = -32002;

export class ClientSession {
  readonly chat: number;
  readonly root: string;
  readonly #client: AgentContext;
  readonly #link: SupervisorLink;
  readonly #features: ClientFeatures;
  readonly #updates: SessionUpdates;
  readonly #ready = Promise.withResolvers<string>();
  #id = "";
  #choices: SessionChoices = {
    modes: [],
    mode: "",
    models: [],
    model: "",
    effort: "default",
    permission: "default",
  };
  /** Updates from before the client knew the session; undefined from then on. */
  #early: SessionUpdate[] | undefined = [];
  /** Turns run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #turn: PromiseWithResolvers<StopReason> | undefined;
  #cancels = 0;
  /** Pending requests to the client, by the approval's number. */
  readonly #asking = new Map<number, AbortController>();
  /** Turns that the client knows. */
  #turns = 0;

  constructor(client: AgentContext, link: SupervisorLink, features: ClientFeatures, root: string) {
    this.chat = link.nextChat();
    this.root = root;
    this.#client = client;
    this.#link = link;
    this.#features = features;
    this.#updates = new SessionUpdates(features.notices);
    link.listen(this.chat, (update) => this.#hear(update));
  }

  get id(): string {
    return this.#id;
  }

  get state(): { readonly modes: SessionModeState; readonly configOptions: SessionConfigOption[] } {
    return { modes: modeState(this.#choices), configOptions: configOptions(this.#choices) };
  }

  /** @param stored a stored session to continue @throws {Error} one line */
  async open(stored?: string): Promise<void> {
    const { config } = await this.#link.start();
    this.#choices = { ...this.#choices, effort: config.effort ?? "default" };
    await this.#link.perform({ type: "open_session", ...this.#place, ...defined({ session: stored }) });
    this.#id = await this.#ready.promise;
    const { modes, current: mode } = await this.#link.ask("modes", this.#place);
    this.#choices = { ...this.#choices, modes, mode };
  }

  /** Opens a stored session. @throws {RequestError} one line, if it is not stored in this folder */
  async resume(id: string): Promise<void> {
    this.#turns = await this.#storedTurns(id);
    await this.open(id);
  }

  /** Sends the stored turns to the client. @param first the first turn */
  async replay(first = 1): Promise<void> {
    this.#reveal();
    for (let turn = first; turn <= this.#turns; turn += PAGE) {
      const last = Math.min(this.#turns, turn + PAGE - 1);
      const { updates } = await this.#history({ before: last + 1, turns: last - turn + 1 });
      for (const update of updates) this.#replayed(update);
    }
  }

  /** Call it when the client has the answer that names the session. */
  announce(): void {
    // The answer is sent after its handler has returned.
    setTimeout(() => {
      this.#reveal();
      this.#sendLists().catch((error) => this.notice("warning", messageOf(error)));
    });
  }

  notice(severity: Severity, text: string): void {
    this.#send(this.#updates.notice(severity, text));
  }

  /** Runs a turn after the earlier ones. @throws {RequestError} one line, if it fails */
  async prompt({ text, attachments }: PromptMessage, signal: AbortSignal): Promise<StopReason> {
    const cancels = this.#cancels;
    const turn = this.#last.then(async (): Promise<StopReason> => {
      if (cancels !== this.#cancels || signal.aborted) return "cancelled";
      this.#turn = Promise.withResolvers();
      this.#turn.promise.catch(() => {});
      const stop = () => this.cancel();
      signal.addEventListener("abort", stop);
      try {
        await this.#link.perform({ type: "prompt", ...this.#place, text, given: [...attachments] });
        return await this.#turn.promise;
      } catch (error) {
        throw error instanceof RequestError ? error : new RequestError(INTERNAL, messageOf(error));
      } finally {
        signal.removeEventListener("abort", stop);
        this.#turn = undefined;
      }
    });
    this.#last = turn.catch(() => {});
    return await turn;
  }

  /** Stops the running turn and those that wait. */
  cancel(): void {
    this.#cancels += 1;
    if (this.#turn !== undefined) this.#link.act({ type: "cancel", chat: this.chat });
  }

  /** @throws {RequestError} one line */
  async choose(option: string, value: unknown): Promise<void> {
    const action = choiceAction(this.#place, option, value);
    if (action === undefined) {
      throw new RequestError(-32602, `Cannot set ${option.slice(0, 100)}: unknown option or value.`);
    }
    await this.#link.perform(action).catch((error) => {
      throw new RequestError(-32602, messageOf(error));
    });
    this.#choose({ [option]: value });
  }

  /** Ends its turn and frees the stored session. */
  async close(): Promise<void> {
    this.#cancels += 1;
    await this.#link.perform({ type: "close", chat: this.chat });
    await this.#last;
    for (const asking of this.#asking.values()) asking.abort();
    this.#link.forget(this.chat);
  }

  get #place() {
    return { chat: this.chat, root: this.root };
  }

  #hear(update: Update): void {
    switch (update.type) {
      case "ready":
        this.#choices = { ...this.#choices, ...defined({ model: update.model }) };
        return this.#ready.resolve(update.session);
      case "agent_state": {
        const { mode, model, permission, options } = update;
        const effort = options?.find(({ id }) => id === "effort")?.value;
        return this.#choose(defined({ mode, model, permission, effort }));
      }
      case "approval":
        return void this.#ask(update);
      case "approval_closed":
        return this.#asking.get(update.request)?.abort();
      case "continued_elsewhere":
        return void this.#catchUp();
      case "turn":
        this.#turns = update.turn;
        return;
      default:
        for (const converted of this.#updates.of(update)) this.#send(converted);
        if (update.type === "turn_done") this.#endTurn(update);
    }
  }

  #endTurn({ reason, error }: Extract<Update, { type: "turn_done" }>): void {
    if (error !== undefined) return this.#turn?.reject(new RequestError(INTERNAL, error));
    this.#turn?.resolve(STOP_REASONS.has(reason) ? reason as StopReason : "end_turn");
  }

  #choose(changed: Partial<SessionChoices>): void {
    const before = this.#choices;
    this.#choices = { ...before, ...changed };
    if (JSON.stringify(before) === JSON.stringify(this.#choices) || before.modes.length === 0) return;
    const { modes: { currentModeId }, configOptions } = this.state;
    if (before.mode !== currentModeId) this.#send({ sessionUpdate: "current_mode_update", currentModeId });
    this.#send({ sessionUpdate: "config_option_update", configOptions });
  }

  async #ask(approval: ApprovalUpdate): Promise<void> {
    const { request, kind, tool } = approval;
    const asking = new AbortController();
    this.#asking.set(request, asking);
    const options = { cancellationSignal: asking.signal, stopWaitingOnCancel: true };
    const sessionId = this.#id;
    try {
      if (kind === "question" && this.#features.forms) {
        const form = elicitation(approval, sessionId);
        const answer = await this.#client.request(methods.client.elicitation.create, form, options);
        return this.#answer(elicitationAction(approval, answer));
      }
      if (kind === "question" && approval.options.length === 0) {
        return this.#link.act({ type: "answer_question", request });
      }
      const params = { sessionId, ...permissionRequest(approval, this.#updates.view(tool), this.root) };
      const answer = await this.#client.request(methods.client.session.requestPermission, params, options);
      this.#answer(permissionAction(approval, answer));
    } catch {
      // A client that cannot answer approves nothing.
      if (asking.signal.aborted) return;
      if (kind === "question") this.#link.act({ type: "answer_question", request });
      else this.#link.act(notUnderstood(request));
    } finally {
      this.#asking.delete(request);
    }
  }

  #answer(action: ReturnType<typeof permissionAction>): void {
    if (action === undefined) this.cancel();
    else this.#link.act(action);
  }

  /** Another program has added turns to the session while this one had closed it. */
  async #catchUp(): Promise<void> {
    const first = this.#turns + 1;
    try {
      this.#turns = await this.#storedTurns(this.#id);
      await this.replay(first);
    } catch (error) {
      this.notice("warning", messageOf(error));
    }
  }

  /** The supervisor notes that the client knows these turns. @throws {RequestError} one line, if it is not stored */
  async #storedTurns(id: string): Promise<number> {
    const params = { sessionId: id, turns: 1 };
    const answer = await this.#link.ask("engine_request", {
      ...this.#place,
      name: "session_history",
      params,
    });
    if (answer.error !== undefined) throw new RequestError(NOT_FOUND, answer.error, { sessionId: id });
    return Number(answer.result?.complete ?? 0);
  }

  /** @throws {Error} one line */
  async #history(page: { readonly before: number; readonly turns: number }) {
    const params = { sessionId: this.#id, diffs: true, ...page };
    const request = { ...this.#place, name: "session_history", params } as const;
    const { result, error } = await this.#link.ask("engine_request", request);
    if (error !== undefined) throw new Error(error);
    return { updates: (result?.updates ?? []) as readonly Update[] };
  }

  #replayed(update: Update): void {
    for (const converted of this.#updates.of(update)) this.#send(converted);
    if (update.type !== "turn_done") return;
    if (update.error !== undefined) this.notice("error", update.error);
    else if (update.reason === "interrupted") this.notice("info", "Interrupted.");
  }

  async #sendLists(): Promise<void> {
    const { prompts } = await this.#link.ask("prompts", this.#place);
    this.#send({
      sessionUpdate: "available_commands_update",
      availableCommands: prompts.map(({ name, description, hint }) => ({
        name,
        description,
        ...(hint === "" ? {} : { input: { hint } }),
      })),
    });
    const { models } = await this.#link.ask("models", this.#place);
    if (models.length > 0) this.#choose({ models });
  }

  #reveal(): void {
    const updates = this.#early ?? [];
    this.#early = undefined;
    for (const update of updates) this.#send(update);
  }

  #send(update: SessionUpdate): void {
    if (this.#early !== undefined) return void this.#early.push(update);
    // A failed write means that the client is gone; the end of the connection is handled elsewhere.
    this.#client.notify(methods.client.session.update, { sessionId: this.#id, update }).catch(() => {});
  }
}
