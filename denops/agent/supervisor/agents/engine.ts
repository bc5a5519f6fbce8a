/** Our engine: a plain ACP agent with the requests of protocol/requests.ts and protocol/screen_requests.ts on top. */
import { type ClientApp, type ContentBlock, type PromptResponse, RequestError } from "../../deps/acp_sdk.ts";
import * as z from "../../deps/zod.ts";
import type { EngineConfig, ListedModel } from "../../protocol/config.ts";
import type { ChoosableEffort } from "../../protocol/options/efforts.ts";
import {
  type InitializeMeta,
  META,
  method,
  type ModelMeta,
  ours,
  SessionMeta,
} from "../../protocol/extensions.ts";
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  REQUESTS,
} from "../../protocol/requests.ts";
import {
  type NotificationParams,
  SCREEN_NOTIFICATION_NAMES,
  SCREEN_NOTIFICATIONS,
  SCREEN_REQUEST_NAMES,
  SCREEN_REQUESTS,
  type ScreenNotification,
  type ScreenParams,
  type ScreenRequest,
  type ScreenResult,
} from "../../protocol/screen_requests.ts";
import { LONGEST_NAME, oneLine } from "../screen/visible.ts";
import { isTracing } from "../system/trace_file.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { Arrival } from "./arrival.ts";
import { AgentConnection, type AgentEvents } from "./connection.ts";
import type { AgentProcess } from "./process.ts";
import type { UserWrites } from "./user_writes.ts";

/** Our own methods that an engine may use. */
function offeredMethods(): string[] {
  const notifications = SCREEN_NOTIFICATION_NAMES.filter((name) => name !== "trace" || isTracing());
  return [...notifications, ...SCREEN_REQUEST_NAMES].map(method);
}

/** Name of a request → its answer. @throws {Error} one line */
export type EngineAnswers = {
  readonly [Name in ScreenRequest]: (
    sessionId: string,
    params: ScreenParams<Name>,
    signal: AbortSignal,
  ) => Promise<ScreenResult<Name>>;
};

/** Name of a notification → its listener. Listeners return at once, to keep the order. */
export type EngineListeners = {
  readonly [Name in ScreenNotification]: (sessionId: string, params: NotificationParams<Name>) => void;
};

/** The engine's requests and notifications. */
export interface EngineEvents extends AgentEvents {
  readonly answers: EngineAnswers;
  readonly listeners: EngineListeners;
  readonly userWrites: UserWrites;
}

/** The engine's answer about a resumed session. */
interface Resumed extends SessionMeta {
  /** Name of its model. */
  readonly model?: string;
}

/** Source: jsonrpc.org/specification, "Error object". */
const METHOD_NOT_FOUND = -32601;

/** The agent does not support one of our requests. */
export class UnableError extends Error {}

export class Engine implements AsyncDisposable {
  readonly #agent: AgentConnection;
  readonly #userWrites: UserWrites;

  private constructor(agent: AgentConnection, userWrites: UserWrites) {
    this.#agent = agent;
    this.#userWrites = userWrites;
  }

  /** Resolves once the engine has answered `initialize`. @throws {Error} one line, with its error output */
  static async start(process: AgentProcess, config: EngineConfig, events: EngineEvents): Promise<Engine> {
    const extensions = offeredMethods();
    const initializeMeta: InitializeMeta = { extensions, config };
    const agent = await AgentConnection.start(process, events, {
      notifications: SCREEN_NOTIFICATION_NAMES.map(method),
      offered: { [META]: { extensions } },
      meta: { [META]: initializeMeta },
      serve(app, arrival) {
        for (const name of SCREEN_NOTIFICATION_NAMES) listen(app, name, events.listeners, arrival);
        for (const name of SCREEN_REQUEST_NAMES) serve(app, name, events.answers, arrival);
      },
    });
    return new Engine(agent, events.userWrites);
  }

  /** How the process ended, as one line; never rejects. */
  get ended(): Promise<string> {
    return this.#agent.process.ended;
  }

  /** It answers no more; {@link ended} resolves soon. */
  get isClosed(): boolean {
    return this.#agent.isClosed;
  }

  get pid(): number {
    return this.#agent.process.pid;
  }

  /** @param roots the project's folder first */
  async newSession(roots: readonly string[]): Promise<string> {
    return (await this.#agent.newSession(roots)).sessionId;
  }

  /** As {@link AgentConnection.setMode}. */
  async setMode(sessionId: string, mode: string): Promise<void> {
    await this.#agent.setMode(sessionId, mode);
  }

  /** @throws {RequestError} one line */
  async setEffort(sessionId: string, effort: ChoosableEffort): Promise<void> {
    await this.#agent.setConfigOption(sessionId, "effort", effort, {});
  }

  /** @param model undefined: that of its mode, or of the options @throws {RequestError} one line */
  async setModel(sessionId: string, model: ListedModel | undefined): Promise<void> {
    const meta = model === undefined ? {} : { [META]: { listed: model } satisfies ModelMeta };
    await this.#agent.setConfigOption(sessionId, "model", model?.name ?? "", meta);
  }

  /** As {@link AgentConnection.closeSession}. */
  async closeSession(sessionId: string): Promise<void> {
    await this.#agent.closeSession(sessionId);
  }

  /** As {@link AgentConnection.resumeSession}. */
  async resumeSession(sessionId: string, roots: readonly string[]): Promise<Resumed | undefined> {
    const answer = await this.#agent.resumeSession(sessionId, roots);
    if (answer === undefined) return undefined;
    const model = answer.configOptions?.find(({ id }) => id === "model")?.currentValue;
    const known = typeof model === "string" ? { model: oneLine(model, LONGEST_NAME) } : {};
    return { ...ours(SessionMeta, answer._meta), ...known };
  }

  /**
   * As {@link AgentConnection.prompt}.
   * @param details the git branch that the session stores (from its first message), and the editor's view
   */
  async prompt(
    sessionId: string,
    prompt: readonly ContentBlock[],
    details: { readonly [Name in keyof SessionMeta]?: SessionMeta[Name] | undefined } = {},
  ): Promise<PromptResponse> {
    const meta: SessionMeta = {
      ...defined({
        branch: details.branch,
        messageId: details.messageId,
        shown: details.shown,
        remember: details.remember,
        edit: details.edit,
        merge: details.merge,
        pages: details.pages,
      }),
    };
    return await this.#agent.prompt(
      sessionId,
      [...prompt],
      Object.keys(meta).length === 0 ? undefined : { [META]: meta },
    );
  }

  /** @throws {RequestError} one line, if the engine refuses @throws {UnableError} if it does not know the request */
  async request<Name extends RequestName>(
    name: Name,
    params: RequestParams<Name>,
  ): Promise<RequestResult<Name>> {
    using _writing = this.#userWrites.begin(name, params);
    const answer = await this.#agent.request(method(name), params).catch((error: unknown) => {
      const isUnknown = error instanceof RequestError && error.code === METHOD_NOT_FOUND;
      throw isUnknown ? new UnableError(`This agent cannot do that: ${name.replaceAll("_", " ")}.`) : error;
    });
    return REQUESTS[name].result.parse(answer) as RequestResult<Name>;
  }

  cancel(sessionId: string): void {
    this.#agent.cancel(sessionId);
  }

  /** @param why the reason that `ended` then gives */
  kill(why: string): void {
    this.#agent.kill(why);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent[Symbol.asyncDispose]();
  }
}

const ofSession = z.object({ sessionId: z.string() });

function listen<Name extends ScreenNotification>(
  app: ClientApp,
  name: Name,
  listeners: EngineListeners,
  arrival: Arrival,
): void {
  const hear: EngineListeners[Name] = listeners[name];
  const schema = z.intersection(ofSession, SCREEN_NOTIFICATIONS[name]);
  app.onNotification(method(name), schema, ({ params }) => {
    const { sessionId, ...notification } = params;
    // The row's schema has just parsed it.
    arrival.handle(() => hear(sessionId, notification as NotificationParams<Name>));
  });
}

function serve<Name extends ScreenRequest>(
  app: ClientApp,
  name: Name,
  answers: EngineAnswers,
  arrival: Arrival,
): void {
  const answer: EngineAnswers[Name] = answers[name];
  const schema = z.intersection(ofSession, SCREEN_REQUESTS[name].params);
  app.onRequest(method(name), schema, async ({ params, signal }) => {
    const { sessionId, ...request } = params;
    // Earlier updates come first: a buffer follows a write before it is asked for its text.
    await arrival.caughtUp();
    try {
      return await answer(sessionId, request as ScreenParams<Name>, signal);
    } catch (error) {
      // Otherwise the engine gets no reason.
      throw new RequestError(-32603, messageOf(error));
    }
  });
}
