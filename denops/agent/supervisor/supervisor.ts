/**
 * The trusted part: it starts engines, carries messages between them and the screen, and holds what waits for
 * the user. It never reads what a model wrote but to show it.
 */
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { firstProblem, type UserConfig } from "../protocol/config.ts";
import {
  ApprovalMeta,
  META,
  OPTION,
  ours,
  UnsavedTextResponse,
  WriteUnsavedResponse,
} from "../protocol/extensions.ts";
import { LspResponse } from "../protocol/lsp.ts";
import { Action, type EditorQuestion, type Update } from "../protocol/ui.ts";
import { diffOf, screenUpdates, toolUpdate } from "./acp_updates.ts";
import { Chat } from "./chat.ts";
import { Engine, type EngineEvents } from "./engine.ts";
import { type Answer, Waiting } from "./gate.ts";
import { healthReport } from "./health.ts";
import { type Launch, launchCommand } from "./launch.ts";
import { engineConfig, type ProviderWorld, realWorld } from "./provider.ts";
import { Pump } from "./pump.ts";
import { findRoot, type RootQuery } from "./root.ts";
import { visible } from "./visible.ts";

/** How the supervisor reaches Neovim; resolves when Lua has taken the batch. */
export type Deliver = (batch: readonly Update[]) => Promise<void>;

/** An editor that does not answer by then has nothing open, as far as tools are concerned. */
const EDITOR_MS = 4_000;
/** A language server may have to start first. */
const LSP_MS = 30_000;

interface RunningEngine {
  readonly engine: Engine;
  readonly launch: Launch;
  readonly provider: string;
  readonly model: string;
}

type EditorAnswer = { readonly result: unknown } | { readonly error: string };

export class Supervisor implements AsyncDisposable {
  readonly #pump: Pump;
  readonly #world: ProviderWorld;
  readonly #chats = new Map<number, Chat>();
  readonly #engines = new Map<string, Promise<RunningEngine>>();
  readonly #approvals = new Waiting<Answer | undefined>();
  readonly #questions = new Waiting<EditorAnswer>();
  /** Where each chat's project is looked for. */
  readonly #places = new Map<number, RootQuery>();
  #config: UserConfig | undefined;
  #configProblem = "Neovim has sent no configuration";
  #lastRequest = 0;

  constructor(deliver: Deliver, world: ProviderWorld = realWorld) {
    this.#pump = new Pump(deliver);
    this.#world = world;
  }

  /** Takes an action of Lua. Returns at once; whatever comes of it comes as updates. */
  act(raw: unknown): void {
    const parsed = Action.safeParse(raw);
    if (!parsed.success) return this.#refuse(raw, firstProblem(parsed.error));
    const action = parsed.data;
    switch (action.type) {
      case "configure":
        this.#config = action.config;
        return;
      case "warm":
        this.#places.set(action.chat, { ...action, cwd: action.folder });
        this.#connect(action.chat).catch((error) =>
          this.#notice(action.chat, "error", String(error.message))
        );
        return;
      case "prompt":
        this.#places.set(action.chat, action);
        return this.#chat(action.chat).prompt(action.text);
      case "cancel":
        return this.#chats.get(action.chat)?.cancel();
      case "answer":
        this.#approvals.settle(action.request, { option: action.option, reason: action.reason });
        return;
      case "reply": {
        const answer = action.error === undefined ? { result: action.result } : { error: action.error };
        this.#questions.settle(action.request, answer);
        return;
      }
      case "health":
        this.#health(action.request, action);
        return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pump[Symbol.dispose]();
    await Promise.all([...this.#engines.values()].map(async (running) => {
      await running.then(({ engine }) => engine[Symbol.asyncDispose](), () => {});
    }));
  }

  /** A wrong action is a wrong option most of the time: it is told to the chat that it came from. */
  #refuse(raw: unknown, problem: string): void {
    const fields: Readonly<Record<string, unknown>> = typeof raw === "object" && raw !== null
      ? { ...raw }
      : {};
    if (fields.type === "configure") {
      this.#config = undefined;
      this.#configProblem = problem.replace(/^config\./, "");
      return;
    }
    const chat = typeof fields.chat === "number" ? fields.chat : 1;
    this.#notice(chat, "error", `Cannot do that: ${problem}`);
  }

  #chat(id: number): Chat {
    const known = this.#chats.get(id);
    if (known !== undefined) return known;
    const chat = new Chat(id, {
      push: (update) => this.#pump.push(update),
      connect: () => this.#connect(id),
      settle: () => this.#settleApprovals(id),
    });
    this.#chats.set(id, chat);
    return chat;
  }

  async #connect(chat: number): Promise<{ engine: Engine; sessionId: string }> {
    const place = this.#places.get(chat);
    if (place === undefined) throw new Error("Cannot start: the chat has no folder.");
    const user = this.#userConfig();
    const root = await findRoot(place, this.#world.env("HOME") ?? this.#world.env("USERPROFILE"));
    const { engine, launch, provider, model } = await this.#engineFor(root, user, chat);
    const sessionId = await engine.newSession(root);
    this.#pump.push({ type: "ready", chat, root, provider, model, sandbox: launch.sandbox });
    return { engine, sessionId };
  }

  #userConfig(): UserConfig {
    if (this.#config === undefined) throw new Error(`Wrong option: ${this.#configProblem}.`);
    return this.#config;
  }

  /** One engine per project and configuration. */
  #engineFor(root: string, user: UserConfig, chat: number): Promise<RunningEngine> {
    const key = JSON.stringify([root, user]);
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const starting = this.#startEngine(root, user, chat);
    this.#engines.set(key, starting);
    const forget = () => {
      if (this.#engines.get(key) === starting) this.#engines.delete(key);
    };
    starting.then(({ engine }) => engine.ended.then(() => this.#engineEnded(engine, forget)), forget);
    return starting;
  }

  async #startEngine(root: string, user: UserConfig, chat: number): Promise<RunningEngine> {
    const config = await engineConfig(user, this.#world);
    const announce = () => this.#notice(chat, "info", "Fetching the engine's dependencies, once …");
    const launch = await launchCommand(root, config, user, announce);
    const engine = await Engine.start(launch, config, this.#engineEvents(root));
    return { engine, launch, provider: config.provider.name, model: config.model };
  }

  #engineEnded(engine: Engine, forget: () => void): void {
    forget();
    for (const chat of this.#chats.values()) chat.forget(engine);
  }

  #engineEvents(root: string): EngineEvents {
    const withChat = (sessionId: string, tell: (chat: number) => void) => {
      const chat = this.#chatOf(sessionId);
      if (chat !== undefined) tell(chat);
    };
    return {
      update: ({ sessionId, update }) =>
        withChat(sessionId, (chat) => {
          for (const shown of screenUpdates(chat, update)) this.#pump.push(shown);
        }),
      fileModified: ({ sessionId, toolCallId: _id, before, after, from, ...event }) =>
        withChat(sessionId, (chat) => {
          const texts = {
            ...(before === undefined ? {} : { before }),
            ...(after === undefined ? {} : { after }),
          };
          this.#pump.push({
            type: "file_modified",
            chat,
            ...event,
            ...(from === undefined ? {} : { from }),
            ...texts,
          });
        }),
      retry: ({ sessionId, attempt, tries, waitMs, reason }) =>
        withChat(sessionId, (chat) => {
          this.#pump.push({ type: "retry", chat, attempt, tries, wait_ms: waitMs, reason: visible(reason) });
        }),
      permission: (request) => this.#askPermission(request),
      unsavedText: async ({ path }) => {
        const answer = await this.#askEditor({ method: "unsaved_text", params: { path } });
        return answer === undefined ? {} : UnsavedTextResponse.parse(answer);
      },
      writeUnsaved: async ({ path, base, text }) => {
        const answer = await this.#askEditor({ method: "write_unsaved", params: { path, base, text } });
        return answer === undefined ? { status: "not_open" } : WriteUnsavedResponse.parse(answer);
      },
      lsp: async ({ request }) =>
        LspResponse.parse(await this.#askEditor({ method: "lsp", params: { root, request } }, LSP_MS)),
    };
  }

  #chatOf(sessionId: string): number | undefined {
    return [...this.#chats.values()].find((chat) => chat.sessionId === sessionId)?.id;
  }

  async #askPermission(
    { sessionId, toolCall, _meta }: RequestPermissionRequest,
  ): Promise<RequestPermissionResponse> {
    const chat = this.#chatOf(sessionId);
    if (chat === undefined) return { outcome: { outcome: "cancelled" } };
    const request = ++this.#lastRequest;
    const meta = ours(ApprovalMeta, _meta);
    // Agents may ask about a call that they never announced.
    this.#pump.push(toolUpdate(chat, toolCall));
    const counts = {
      ...(meta?.added === undefined ? {} : { added: meta.added }),
      ...(meta?.removed === undefined ? {} : { removed: meta.removed }),
    };
    const waiting = this.#approvals.add(request, `chat ${chat}`);
    this.#pump.push({
      type: "approval",
      chat,
      request,
      tool: toolCall.toolCallId,
      title: visible(toolCall.title ?? "a tool call"),
      reason: visible(meta?.reason ?? "the agent asks"),
      ...diffOf(toolCall.content),
      ...counts,
    });
    const answer = await waiting;
    this.#pump.push({ type: "approval_closed", chat, request, answer: answer?.option ?? "cancelled" });
    if (answer === undefined) return { outcome: { outcome: "cancelled" } };
    const reason = answer.option === OPTION.reject && answer.reason
      ? { _meta: { [META]: { reason: answer.reason } } }
      : {};
    return { outcome: { outcome: "selected", optionId: answer.option, ...reason } };
  }

  #settleApprovals(chat: number): void {
    this.#approvals.settleAll(`chat ${chat}`, undefined);
  }

  /** @throws {Error} if Neovim does not answer in time: it may be waiting for a key. */
  async #askEditor(question: EditorQuestion, limit = EDITOR_MS): Promise<unknown> {
    const request = ++this.#lastRequest;
    const waiting = this.#questions.add(request, "editor");
    this.#pump.push({ type: "ask_editor", request, ...question });
    const timer = setTimeout(
      () => this.#questions.settle(request, { error: "Neovim does not answer" }),
      limit,
    );
    const answer = await waiting;
    clearTimeout(timer);
    if ("error" in answer) throw new Error(`Cannot ask the editor (${question.method}): ${answer.error}.`);
    return answer.result;
  }

  async #health(request: number, place: RootQuery): Promise<void> {
    const engines = await Promise.all(
      [...this.#engines.values()].map((running) =>
        running.then(({ engine, launch }) => `pid ${engine.pid}, ${launch.sandbox}`, (error) => String(error))
      ),
    );
    const config = this.#config ?? this.#configProblem;
    const report = await healthReport(config, place, this.#world, engines);
    this.#pump.push({ type: "health", request, report });
  }

  #notice(chat: number, severity: "info" | "warning" | "error", text: string): void {
    this.#pump.push({ type: "notice", chat, severity, text: visible(text) });
  }
}
