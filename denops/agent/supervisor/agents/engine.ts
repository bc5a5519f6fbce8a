/** One engine process: started with exactly its grants, spoken to over ACP. */
import {
  client,
  type ClientApp,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  MessageTooLargeError,
  methods,
  ndJsonStream,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from "../../deps/acp_sdk.ts";
import { z } from "../../deps/zod.ts";
import { Arrival } from "./arrival.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { META, method, ours, SessionMeta } from "../../protocol/extensions.ts";
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  REQUESTS,
} from "../../protocol/requests.ts";
import {
  SCREEN_NOTIFICATION_NAMES,
  SCREEN_NOTIFICATIONS,
  SCREEN_REQUEST_NAMES,
  SCREEN_REQUESTS,
  type ScreenNotification,
  type ScreenParams,
  type ScreenRequest,
  type ScreenResult,
  type Told,
} from "../../protocol/screen_requests.ts";
import { sizeLimited } from "../../protocol/message_size.ts";
import { VERSION } from "../../protocol/version.ts";
import { endOf, pauseForEnd } from "./process_end.ts";
import { throttle } from "./throttle.ts";
import type { Terminals } from "../commands/terminals.ts";

/** An engine that has not answered `initialize` by then is not going to. */
const START_MS = 20_000;
/** Methods of ours that an engine may use. */
const OFFERED = [...SCREEN_NOTIFICATION_NAMES, ...SCREEN_REQUEST_NAMES].map(method);
/** The protocol's "resource not found". */
const NOT_FOUND = -32002;

export interface EngineCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Name of a request → its answer. @throws {Error} one line */
export type Answers = {
  readonly [Name in ScreenRequest]: (
    sessionId: string,
    params: ScreenParams<Name>,
    signal: AbortSignal,
  ) => Promise<ScreenResult<Name>>;
};

/** Name of a notification → what hears it. They return at once, so that order holds. */
export type Listeners = {
  readonly [Name in ScreenNotification]: (sessionId: string, told: Told<Name>) => void;
};

/** What comes from the engine. */
export interface EngineEvents {
  /** Returns at once, so that order holds. */
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  question(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  readonly terminals: Terminals;
  readonly answers: Answers;
  readonly listeners: Listeners;
}

export class Engine implements AsyncDisposable {
  /** How the process ended, as one line; never rejects. */
  readonly ended: Promise<string>;
  readonly #process: Deno.ChildProcess;
  readonly #connection: ClientConnection;
  readonly #arrival: Arrival;
  #killedBecause: string | undefined;

  private constructor(
    process: Deno.ChildProcess,
    connection: ClientConnection,
    arrival: Arrival,
    ended: Promise<string>,
  ) {
    this.#process = process;
    this.#arrival = arrival;
    this.#connection = connection;
    this.ended = ended.then((how) => this.#killedBecause ?? how);
  }

  /** Resolves when the engine has answered `initialize`. @throws {Error} one line, with what it said. */
  static async start(command: EngineCommand, config: EngineConfig, events: EngineEvents): Promise<Engine> {
    const process = new Deno.Command(command.program, {
      args: [...command.args],
      env: { ...command.env },
      clearEnv: true,
      cwd: command.cwd,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const ended = endOf(process);
    const counted = [methods.client.session.update, ...SCREEN_NOTIFICATION_NAMES.map(method)];
    const arrival = new Arrival(counted, (why) => engine.kill(`it ${why}`));
    const stream = arrival.tap(
      sizeLimited(ndJsonStream(process.stdin, process.stdout.pipeThrough(throttle()))),
    );
    const connection = clientApp(events, arrival).connect(stream);
    const engine = new Engine(process, connection, arrival, ended);
    // Nothing more can be heard of it; most of the time it has ended.
    connection.signal.addEventListener("abort", async () => {
      const how = await Promise.race([ended, pauseForEnd()]);
      if (how === undefined) engine.kill(closing(connection.signal.reason));
    });
    const failed = ended.then((how) => {
      throw new Error(`Cannot start the engine: ${how}`);
    });
    failed.catch(() => {});
    try {
      await Promise.race([engine.#initialize(config), failed, timeout(START_MS)]);
      return engine;
    } catch (error) {
      // When the process has died, its own words say more than the closed pipe.
      const how = await Promise.race([ended, pauseForEnd()]);
      await engine[Symbol.asyncDispose]();
      throw how === undefined ? error : new Error(`Cannot start the engine: ${how}`);
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** @param roots the project's folder first */
  async newSession([cwd = "", ...additionalDirectories]: readonly string[]): Promise<string> {
    return await this.#begin(async () => {
      const { sessionId } = await this.#connection.agent.request(methods.agent.session.new, {
        cwd,
        additionalDirectories,
        mcpServers: [],
      });
      return sessionId;
    });
  }

  /**
   * Goes on with a stored session; undefined if it is not stored (any longer).
   * @param roots the project's folder first
   * @throws {RequestError} one line
   */
  async resumeSession(
    sessionId: string,
    [cwd = "", ...additionalDirectories]: readonly string[],
  ): Promise<SessionMeta | undefined> {
    return await this.#begin(async () => {
      const { _meta } = await this.#connection.agent.request(methods.agent.session.resume, {
        sessionId,
        cwd,
        additionalDirectories,
        mcpServers: [],
      });
      return ours(SessionMeta, _meta) ?? {};
    }).catch((error) => {
      if (error instanceof RequestError && error.code === NOT_FOUND) return undefined;
      throw error;
    });
  }

  async #begin<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      // How the process ended says more than the closed pipe.
      if (!this.#connection.signal.aborted) throw error;
      throw new Error(`Cannot start the engine: ${await this.ended}`);
    }
  }

  /**
   * @param branch what the session is to remember as its git branch; the first message counts
   * @throws {RequestError} if the turn failed; never if the process ended, see `ended`
   */
  async prompt(sessionId: string, text: string, branch?: string): Promise<PromptResponse> {
    const prompt = [{ type: "text" as const, text }];
    const meta = branch === undefined ? {} : { _meta: { [META]: { branch } satisfies SessionMeta } };
    try {
      return await this.#connection.agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt,
        ...meta,
      });
    } catch (error) {
      // A closed pipe is seen before the end of the process, which says more.
      if (this.#connection.signal.aborted) return await new Promise<never>(() => {});
      throw error;
    } finally {
      await this.#arrival.caughtUp();
    }
  }

  /** @throws {RequestError} one line, if the engine refuses */
  async request<Name extends RequestName>(
    name: Name,
    params: RequestParams<Name>,
  ): Promise<RequestResult<Name>> {
    const answer = await this.#connection.agent.request<unknown, unknown>(method(name), params);
    await this.#arrival.caughtUp();
    return REQUESTS[name].result.parse(answer) as RequestResult<Name>;
  }

  cancel(sessionId: string): void {
    this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
  }

  /** @param why what `ended` then says */
  kill(why: string): void {
    this.#killedBecause ??= why;
    this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await this.ended;
  }

  async #initialize(config: EngineConfig): Promise<void> {
    const answer = await this.#connection.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientInfo: { name: "agent.nvim", version: VERSION },
      clientCapabilities: {
        terminal: true,
        elicitation: { form: {} },
        session: { notices: {} },
        _meta: { [META]: { extensions: OFFERED } },
      },
      // The key is in here: it travels on stdin only.
      _meta: { [META]: { extensions: OFFERED, config } },
    });
    if (answer.protocolVersion !== 1) {
      throw new Error(`Cannot talk to the agent: it speaks ACP ${answer.protocolVersion}.`);
    }
  }
}

function clientApp(events: EngineEvents, arrival: Arrival): ClientApp {
  const { terminal } = methods.client;
  const { terminals } = events;
  const app = client({ name: "agent.nvim" })
    .onNotification(
      methods.client.session.update,
      ({ params }) => arrival.handle(() => events.update(params)),
    )
    .onRequest(terminal.create, async ({ params }) => ({ terminalId: await terminals.create(params) }))
    .onRequest(terminal.output, ({ params }) => terminals.output(params.terminalId))
    .onRequest(terminal.waitForExit, ({ params, signal }) => terminals.waitForExit(params.terminalId, signal))
    .onRequest(terminal.kill, ({ params }) => terminals.kill(params.terminalId))
    .onRequest(terminal.release, ({ params }) => terminals.release(params.terminalId))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      await arrival.caughtUp();
      return await events.permission(params);
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => events.question(params));
  for (const name of SCREEN_NOTIFICATION_NAMES) listen(app, name, events.listeners, arrival);
  for (const name of SCREEN_REQUEST_NAMES) serve(app, name, events.answers, arrival);
  return app;
}

const ofSession = z.object({ sessionId: z.string() });

function listen<Name extends ScreenNotification>(
  app: ClientApp,
  name: Name,
  listeners: Listeners,
  arrival: Arrival,
): void {
  const hear: Listeners[Name] = listeners[name];
  const schema = z.intersection(ofSession, SCREEN_NOTIFICATIONS[name]);
  app.onNotification(method(name), schema, ({ params }) => {
    const { sessionId, ...told } = params;
    // What was parsed as the row says is what the row says.
    arrival.handle(() => hear(sessionId, told as Told<Name>));
  });
}

function serve<Name extends ScreenRequest>(
  app: ClientApp,
  name: Name,
  answers: Answers,
  arrival: Arrival,
): void {
  const answer: Answers[Name] = answers[name];
  const schema = z.intersection(ofSession, SCREEN_REQUESTS[name].params);
  app.onRequest(method(name), schema, async ({ params, signal }) => {
    const { sessionId, ...asked } = params;
    // What came before is done before: a buffer follows a write before it is asked for its text.
    await arrival.caughtUp();
    try {
      return await answer(sessionId, asked as ScreenParams<Name>, signal);
    } catch (error) {
      // Else the other side learns only that something is wrong.
      throw new RequestError(-32603, error instanceof Error ? error.message : String(error));
    }
  });
}

/** Why the connection to a process that still runs was closed. */
function closing(reason: unknown): string {
  if (!(reason instanceof MessageTooLargeError)) return "it has closed its output";
  return `it sent a message of more than ${Math.round(reason.maxMessageBytes / 2 ** 20)} MB`;
}

function timeout(milliseconds: number): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(
      () => reject(new Error("Cannot start the engine: it does not answer.")),
      milliseconds,
    );
    Deno.unrefTimer(timer);
  });
}
