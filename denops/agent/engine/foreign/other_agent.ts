/** Another agent's process, and its session of the protocol. */
import {
  client,
  type ClientConnection,
  type ContentBlock,
  methods,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "../../deps/acp_sdk.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { EDITOR_SERVER } from "../../protocol/options/foreign_agents.ts";
import { VERSION } from "../../protocol/version.ts";
import { messageOf, TurnError } from "../../shared/errors.ts";
import { isRecord } from "../../shared/records.ts";
import type { AgentLoginMethod } from "../../protocol/results/agent_login.ts";
import { cleanLine } from "../../policy/clean.ts";
import type { FormAnswer } from "../mcp/elicitation.ts";
import type { ForeignPipe } from "../ports/foreign.ts";
import { AgentStream } from "./agent_stream.ts";
import { AgentChoices } from "./choices.ts";
import type { Usage } from "../log/messages.ts";
import { loginMethodsIn } from "./login_methods.ts";
import type { PromptAbilities } from "./prompt.ts";
import { usageIn } from "./turn_usage.ts";
import { type AgentUpdate, type OfferedCommand, readUpdate } from "./updates.ts";

export type AgentConfig = NonNullable<EngineConfig["agent"]>;

/** An agent has sent all earlier turns if it sends nothing for so long. */
const REPLAY_PAUSE_MS = 300;
const LONGEST_REPLAY_MS = 10_000;
/** An agent begins to send them within this time, also on a busy machine. */
const REPLAY_START_MS = 5_000;
/** The first answers of a program that has to load. */
const START_MS = 60_000;
/** The user may have to visit a page. */
const LOGIN_MS = 300_000;
/** A stopped agent has this time to say so. The client ends an engine that takes 5 s. */
const STOP_MS = 2_000;
/** Updates between two turns. */
const MOST_EARLY = 500;
const LONGEST_ERROR = 500;
/** The protocol's error for a missing login. */
const AUTH_REQUIRED = -32000;

export type PromptEnd =
  /** `usage`: the turn's, if the agent reports it. */
  | { readonly type: "ended"; readonly reason: string; readonly usage?: Usage | undefined }
  | { readonly type: "stopped" }
  | { readonly type: "failed"; readonly error: TurnError };

interface PromptAnswer {
  readonly stopReason?: unknown;
  readonly usage?: unknown;
}

/** Hears a turn. */
interface TurnListener {
  /** @throws {TurnError} if storing fails */
  hear(update: AgentUpdate): void;
  flush(): void;
  permit(request: RequestPermissionRequest): Promise<RequestPermissionResponse["outcome"]>;
  /** A form. */
  ask(request: Readonly<Record<string, unknown>>): Promise<FormAnswer>;
}

export interface OpenOptions {
  readonly roots: readonly string[];
  /** The agent's own id of the session that it continues, if it can. */
  readonly earlier: string | undefined;
}

export class OtherAgent {
  readonly pipe: ForeignPipe;
  readonly choices: AgentChoices;
  readonly #config: AgentConfig;
  readonly #stream: AgentStream;
  readonly #connection: ClientConnection;
  /** The agent's id of the session; undefined until it is open. */
  #session: string | undefined;
  #abilities: PromptAbilities = { image: false, embeddedContext: false };
  #can: Readonly<Record<string, unknown>> | undefined;
  #logins: readonly AgentLoginMethod[] = [];
  #commands: readonly OfferedCommand[] = [];
  #title: string | undefined;
  #isReplaying = false;
  /** Updates of earlier turns. */
  #replays = 0;
  #listener: TurnListener | undefined;
  /** Called when storing fails. */
  #fail: (error: unknown) => void = () => {};
  readonly #early: AgentUpdate[] = [];

  constructor(config: AgentConfig, pipe: ForeignPipe) {
    this.#config = config;
    this.pipe = pipe;
    this.choices = new AgentChoices((method, params, signal) =>
      this.#ask(method, { sessionId: this.#session, ...params }, inTime(signal))
    );
    this.#stream = new AgentStream(pipe, {
      update: (params) => this.#hear(params),
      read: () => this.#guarded(() => this.#listener?.flush()),
    });
    this.#connection = client({ name: "agent.nvim" })
      .onRequest(methods.client.session.requestPermission, async ({ params }) => {
        if (params.sessionId !== this.#session) {
          throw RequestError.invalidParams(undefined, "unknown session");
        }
        return { outcome: await this.#listener?.permit(params) ?? { outcome: "cancelled" } };
      })
      .onRequest(methods.client.elicitation.create, async ({ params }) => {
        const isOfSession = "sessionId" in params && params.sessionId === this.#session;
        return isOfSession && await this.#listener?.ask({ ...params }) || { action: "decline" };
      })
      .connect(this.#stream.stream());
  }

  /** Its program has ended. */
  get hasEnded(): boolean {
    return this.#stream.ended !== undefined;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** The title that it has given the session. */
  get title(): string | undefined {
    return this.#title;
  }

  get abilities(): PromptAbilities {
    return this.#abilities;
  }

  get commands(): readonly OfferedCommand[] {
    return this.#commands;
  }

  get logins(): readonly AgentLoginMethod[] {
    return this.#logins;
  }

  /** Begins to speak with the program. @throws {TurnError} */
  async initialize(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    if (this.#can !== undefined) return this.#can;
    const answer = await this.#ask<Readonly<Record<string, unknown>>>(methods.agent.initialize, {
      protocolVersion: 1,
      clientInfo: { name: "agent.nvim", version: VERSION },
      // Files are read and written in its sandbox, where its own commands see them too.
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        session: { notices: {}, configOptions: { boolean: {} } },
        auth: { terminal: true },
        elicitation: { form: {} },
        _meta: { terminal_output: true },
      },
    }, inTime(signal));
    const can = fieldsOf(answer.agentCapabilities);
    const prompt = fieldsOf(can.promptCapabilities);
    this.#abilities = { image: prompt.image === true, embeddedContext: prompt.embeddedContext === true };
    this.#logins = loginMethodsIn(answer.authMethods);
    return this.#can = can;
  }

  /** Runs one of its logins of the type "agent". @throws {TurnError} */
  async authenticate(methodId: string, signal: AbortSignal): Promise<void> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]);
    await this.#ask(methods.agent.authenticate, { methodId }, inTime);
  }

  /** Opens a session. @returns whether the agent knows the earlier session @throws {TurnError} */
  async open({ roots, earlier }: OpenOptions, signal: AbortSignal): Promise<boolean> {
    const can = await this.initialize(signal);
    const start = inTime(signal);
    const [cwd = "", ...others] = roots;
    const sessions = fieldsOf(can.sessionCapabilities);
    const further = others.length > 0 && sessions.additionalDirectories !== undefined
      ? { additionalDirectories: others }
      : {};
    const place = { cwd, ...further, mcpServers: [EDITOR_SERVER] };
    const method = isRecord(sessions.resume)
      ? methods.agent.session.resume
      : can.loadSession === true
      ? methods.agent.session.load
      : undefined;
    if (earlier !== undefined && method !== undefined && await this.#reopen(method, earlier, place, start)) {
      return true;
    }
    const { new: begin } = methods.agent.session;
    const answer = await this.#ask<{ readonly sessionId?: unknown }>(begin, place, start);
    if (typeof answer.sessionId !== "string") throw this.#error("it opened no session");
    this.#session = answer.sessionId;
    this.choices.open(answer);
    return false;
  }

  /** The agent sends the earlier turns again, which the log has already. */
  async #reopen(method: string, sessionId: string, place: object, signal: AbortSignal): Promise<boolean> {
    this.#session = sessionId;
    this.#isReplaying = true;
    try {
      this.choices.open(await this.#ask(method, { sessionId, ...place }, signal));
      if (method === methods.agent.session.load) await this.#replayed(signal);
      return true;
    } catch (error) {
      if (signal.aborted || this.hasEnded || (error instanceof TurnError && error.kind === "auth")) {
        throw error;
      }
      this.#session = undefined;
      return false;
    } finally {
      this.#isReplaying = false;
    }
  }

  /**
   * Some agents send the earlier turns after their answer (Gemini), without saying where they end. A prompt before that
   * would be older than they are: Gemini's model then answers an earlier message again.
   */
  async #replayed(signal: AbortSignal): Promise<void> {
    const begin = AbortSignal.timeout(REPLAY_START_MS);
    const end = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_REPLAY_MS)]);
    let heard: number;
    do {
      heard = this.#replays;
      await new Promise((resolve) => setTimeout(resolve, REPLAY_PAUSE_MS));
    } while (!end.aborted && (heard < this.#replays || (heard === 0 && !begin.aborted)));
  }

  /** Sends a message and waits for the end of the turn. @param listener hears its updates */
  async prompt(blocks: ContentBlock[], listener: TurnListener, signal: AbortSignal): Promise<PromptEnd> {
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    this.#fail = failed.reject;
    this.#listener = listener;
    let late: ReturnType<typeof setTimeout> | undefined;
    const cancel = () => {
      const { cancel } = methods.agent.session;
      this.#connection.agent.notify(cancel, { sessionId: this.#session ?? "" }).catch(() => {});
      late = setTimeout(() => this.#hangUp("it did not stop"), STOP_MS);
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      for (const update of this.#early.splice(0)) this.#guarded(() => listener.hear(update));
      const request = this.#ask<PromptAnswer>(methods.agent.session.prompt, {
        sessionId: this.#session,
        prompt: blocks,
      });
      if (signal.aborted) cancel();
      const { stopReason, usage } = await Promise.race([request, failed.promise]);
      if (signal.aborted) return { type: "stopped" };
      const reason = typeof stopReason === "string" ? stopReason : "";
      return { type: "ended", reason, usage: usageIn(usage) };
    } catch (error) {
      if (signal.aborted && !(error instanceof TurnError && error.kind === "store")) {
        return { type: "stopped" };
      }
      return { type: "failed", error: error instanceof TurnError ? error : this.#error(messageOf(error)) };
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", cancel);
      this.#listener = undefined;
      this.#fail = () => {};
    }
  }

  /** Ends the program. Changes of its turn are lost unless the turn was ended before. @param reason half a sentence */
  close(reason: string): void {
    this.#hangUp(reason);
    this.pipe.close();
  }

  /** Listens no longer. */
  #hangUp(reason: string): void {
    this.#stream.close(reason);
    this.#connection.close();
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(error);
    }
  }

  #hear({ sessionId, update }: Readonly<Record<string, unknown>>): void {
    if (this.#session !== undefined && sessionId !== this.#session) return;
    const read = readUpdate(update);
    if (read === undefined) return;
    switch (read.type) {
      case "commands":
        this.#commands = read.commands;
        return this.#guarded(() => this.#listener?.hear(read));
      case "mode":
      case "options":
        return this.choices.hear(read);
      case "title":
        this.#title = read.title;
        return;
      default:
        if (this.#isReplaying) this.#replays += 1;
        if (this.#isReplaying || this.#session === undefined) return;
        if (this.#listener !== undefined) this.#guarded(() => this.#listener?.hear(read));
        else if (this.#early.length < MOST_EARLY) this.#early.push(read);
    }
  }

  /** @throws {TurnError} */
  async #ask<Answer>(method: string, params: unknown, signal?: AbortSignal): Promise<Answer> {
    const options = signal === undefined ? {} : { cancellationSignal: signal, stopWaitingOnCancel: true };
    try {
      const ended = this.#stream.end.then((reason) => Promise.reject(new Error(reason)));
      const answer = this.#connection.agent.request<unknown, unknown>(method, params, options);
      answer.catch(() => {});
      return await Promise.race([answer, ended]) as Answer;
    } catch (error) {
      if (error instanceof RequestError && error.code === AUTH_REQUIRED) throw this.#needsLogin();
      if (signal?.aborted) throw this.#error(`it did not answer ${method}`);
      throw this.#error(error instanceof RequestError ? refusalOf(error) : messageOf(error));
    }
  }

  #needsLogin(): TurnError {
    const { title, login } = this.#config;
    const terminal = login === undefined ? "" : ` or run "${login}" in a terminal`;
    const how = `Use \`:Agent login\`${terminal}, then send the message again.`;
    return new TurnError("auth", `${title} needs a login.`, how);
  }

  #error(reason: string): TurnError {
    const { title } = this.#config;
    const { ended } = this.#stream;
    const why = cleanLine(ended ?? reason, LONGEST_ERROR).replace(/\.$/, "");
    if (ended === undefined) return new TurnError("bad_answer", `${title} failed: ${why}.`);
    return new TurnError("bad_answer", `${title} has ended: ${why}.`, "Your next message starts it again.");
  }
}

function inTime(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** Some agents put the reason into the error's data. */
function refusalOf({ message, data }: RequestError): string {
  const details = isRecord(data) ? [data.details, data.message].find((one) => typeof one === "string") : data;
  return typeof details === "string" && details !== "" && details !== message
    ? `${message}: ${details}`
    : message;
}
