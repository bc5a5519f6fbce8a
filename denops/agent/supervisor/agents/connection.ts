/** An ACP version 1 connection to an engine's process. */
import {
  type AgentCapabilities,
  client,
  type ClientApp,
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
  type NewSessionResponse,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type ResumeSessionResponse,
  type SessionNotification,
} from "../../deps/acp_sdk.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Terminals } from "../commands/terminals.ts";
import { defined } from "../../shared/records.ts";
import { Arrival } from "./arrival.ts";
import type { AgentProcess } from "./process.ts";

/** Timeout for `initialize`. */
const START_MS = 60_000;
/** The protocol's "resource not found". */
const NOT_FOUND = -32002;

type Meta = Readonly<Record<string, unknown>>;

/** An agent's requests and notifications. */
export interface AgentEvents {
  /** Returns at once, to keep the order. */
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  question(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  readonly terminals: Terminals;
}

/** Our extensions to the protocol. */
interface AgentExtension {
  /** Methods of notifications that it sends. */
  readonly notifications: readonly string[];
  /** `_meta` of what the client can. */
  readonly offered: Meta;
  /** `_meta` of `initialize`. It contains keys, so it is only sent over stdin. */
  readonly meta: Meta;
  serve(app: ClientApp, arrival: Arrival): void;
}

export class AgentConnection implements AsyncDisposable {
  readonly process: AgentProcess;
  readonly #connection: ClientConnection;
  readonly #arrival: Arrival;
  #abilities: AgentCapabilities = {};

  private constructor(process: AgentProcess, events: AgentEvents, extension: AgentExtension) {
    this.process = process;
    const notifications = [methods.client.session.update, ...extension.notifications];
    this.#arrival = new Arrival(notifications, (why) => this.kill(`it ${why}`));
    const app = clientApp(events, this.#arrival);
    extension.serve(app, this.#arrival);
    this.#connection = app.connect(process.messages(this.#arrival));
    const { signal } = this.#connection;
    signal.addEventListener("abort", () => this.process.silenced(signal.reason));
  }

  /**
   * Resolves when the agent has answered `initialize`, otherwise ends it. @throws {Error} one line, with its
   * error output
   */
  static async start(
    process: AgentProcess,
    events: AgentEvents,
    extension: AgentExtension,
  ): Promise<AgentConnection> {
    const connection = new AgentConnection(process, events, extension);
    const failed = connection.process.ended.then((how) => {
      throw new Error(cannotStart(how));
    });
    failed.catch(() => {});
    try {
      await Promise.race([connection.#initialize(extension), failed, timeout(START_MS)]);
      return connection;
    } catch (error) {
      // A dead process's own output says more than the closed pipe.
      const how = await connection.process.hasEnded();
      await connection[Symbol.asyncDispose]();
      throw how === undefined ? error : new Error(cannotStart(how));
    }
  }

  /** Nothing can be asked any more; the process ends soon, see `process.ended`. */
  get isClosed(): boolean {
    return this.#connection.signal.aborted || this.process.hasExited;
  }

  /** Its capabilities. */
  get abilities(): AgentCapabilities {
    return this.#abilities;
  }

  /** @param roots the project's folder first */
  async newSession(roots: readonly string[]): Promise<NewSessionResponse> {
    return await this.#begin(() =>
      this.#connection.agent.request(methods.agent.session.new, sessionPlace(roots))
    );
  }

  /**
   * Resumes a stored session; undefined if the agent does not have it or stores none.
   * @param roots the project's folder first
   * @throws {RequestError} one line
   */
  async resumeSession(
    sessionId: string,
    roots: readonly string[],
  ): Promise<ResumeSessionResponse | undefined> {
    if (!this.#abilities.sessionCapabilities?.resume) return undefined;
    const params = { sessionId, ...sessionPlace(roots) };
    try {
      return await this.#begin(() => this.#connection.agent.request(methods.agent.session.resume, params));
    } catch (error) {
      if (error instanceof RequestError && error.code === NOT_FOUND) return undefined;
      throw error;
    }
  }

  /** @throws {RequestError} one line, if it has no such mode */
  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.#connection.agent.request(methods.agent.session.setMode, { sessionId, modeId });
  }

  /** @throws {RequestError} one line, if it has no such option or value */
  async setConfigOption(sessionId: string, configId: string, value: string, _meta: Meta): Promise<void> {
    const params = { sessionId, configId, value, _meta };
    await this.#connection.agent.request(methods.agent.session.setConfigOption, params);
  }

  /** Closes the session; stored data stays. @throws {RequestError} one line */
  async closeSession(sessionId: string): Promise<void> {
    await this.#connection.agent.request(methods.agent.session.close, { sessionId });
    await this.#arrival.caughtUp();
  }

  /** @throws {RequestError} if the turn failed; never if the process ended, see `process.ended` */
  async prompt(sessionId: string, prompt: ContentBlock[], _meta?: Meta): Promise<PromptResponse> {
    const meta = defined({ _meta });
    try {
      const params = { sessionId, prompt, ...meta };
      return await this.#connection.agent.request(methods.agent.session.prompt, params);
    } catch (error) {
      // The pipe closes before the process exits, and its exit says more.
      if (this.#connection.signal.aborted) return await new Promise<never>(() => {});
      throw error;
    } finally {
      await this.#arrival.caughtUp();
    }
  }

  /** A method beyond the protocol. @throws {RequestError} one line, if the agent refuses */
  async request(method: string, params: unknown): Promise<unknown> {
    const answer = await this.#connection.agent.request<unknown, unknown>(method, params);
    await this.#arrival.caughtUp();
    return answer;
  }

  cancel(sessionId: string): void {
    this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
  }

  /** Ignores it from here on. @param why the reason that `process.ended` gives */
  kill(why: string): void {
    this.process.kill(why);
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.process[Symbol.asyncDispose]();
  }

  async #begin<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      // The process's exit says more than the closed pipe.
      if (!this.#connection.signal.aborted) throw error;
      throw new Error(cannotStart(await this.process.ended));
    }
  }

  async #initialize({ offered, meta }: AgentExtension): Promise<void> {
    const clientCapabilities: ClientCapabilities = {
      terminal: true,
      elicitation: { form: {} },
      session: { notices: {} },
      _meta: { ...offered },
    };
    const answer = await this.#connection.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientInfo: { name: "agent.nvim", version: VERSION },
      clientCapabilities,
      _meta: { ...meta },
    });
    if (answer.protocolVersion !== 1) {
      throw new Error(
        `Cannot talk to the agent: it speaks ACP ${answer.protocolVersion}, not 1. Update it, or agent.nvim.`,
      );
    }
    this.#abilities = answer.agentCapabilities ?? {};
  }
}

function cannotStart(how: string): string {
  return `Cannot start the engine: ${how}`;
}

function sessionPlace([cwd = "", ...additionalDirectories]: readonly string[]) {
  return { cwd, additionalDirectories, mcpServers: [] };
}

function clientApp(events: AgentEvents, arrival: Arrival): ClientApp {
  const { terminal } = methods.client;
  const { terminals } = events;
  return client({ name: "agent.nvim" })
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
    .onRequest(methods.client.elicitation.create, async ({ params }) => {
      await arrival.caughtUp();
      return await events.question(params);
    });
}

function timeout(milliseconds: number): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(cannotStart("it does not answer."))), milliseconds);
    Deno.unrefTimer(timer);
  });
}
