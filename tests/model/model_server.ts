/**
 * A model that answers from a script: a real HTTP server on 127.0.0.1 that speaks OpenAI's chat
 * completions and responses, Anthropic's messages and Ollama's chat, records every request and checks each for
 * what the provider would refuse.
 *
 * ```ts
 * await using server = await ModelServer.start("say Hello.\n");
 * const request = await server.nextRequest();
 * server.problems; // []
 * ```
 */
import { HttpConnection, type ReceivedRequest } from "../../denops/agent/scripted_model/http_connection.ts";
import { CLAIM, TITLES } from "../../denops/agent/engine/context/side_prompts.ts";
import { Gates, ScriptedAnswers } from "../../denops/agent/scripted_model/answers.ts";
import { ClientGone, deliver, isDisconnection } from "../../denops/agent/scripted_model/delivery.ts";
import { Judge } from "./model_judge.ts";
import { Milestones } from "./milestones.ts";
import { isOfOtherServers, lookUp, type Model } from "./model_lookups.ts";
import {
  isObject,
  type JsonObject,
  messagesOf,
  newestText,
  newestUserText,
  objects,
  property,
  string,
  transcript,
} from "./model_messages.ts";
import type { Answer, Script } from "../../denops/agent/scripted_model/answer.ts";
import { parseScript } from "../../denops/agent/scripted_model/script.ts";
import type { Reply } from "../../denops/agent/scripted_model/encoder.ts";
import { countCalls, encode, errorBody, type ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

export interface ModelServerOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Keys of the test: none of them may be in a body or in a URL. */
  readonly secrets?: readonly string[];
  readonly model?: Partial<Model>;
  /** What is answered to requests for a title, which the script does not see: "Scripted title", for nothing. */
  readonly titles?: string;
  /** Answers to the question whether an answer claims a change, likewise: no, for nothing. */
  readonly claims?: string;
  /** Is told of each write of an answer's stream, before it is made. */
  readonly onWrite?: (bytes: Uint8Array) => void;
}

export interface RecordedRequest {
  readonly wire: ScriptedWire;
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if the body was no JSON object. */
  readonly body: JsonObject;
  /** What is new since the model's last answer, decoded. */
  readonly text: string;
  /** `performance.now()` when the whole request had come. */
  readonly at: number;
  /** The client went away before the answer was complete. */
  readonly aborted: boolean;
  /** `performance.now()` when the answer had ended, in whatever way. */
  readonly doneAt: number | undefined;
}

type Recording = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };

/** A kind of request that belongs to no turn, with answers of its own. */
interface Aside {
  readonly name: string;
  readonly prompt?: string;
  readonly answers: ScriptedAnswers;
  /** What it answers after a start. */
  readonly script: string;
  requests: JsonObject[];
}

const NUDGE = /"state":\s*"(?:nothing_done|plan_open)"/;
const LEAVES_IT = "say Nothing was changed.\nusage 0 0\nrepeat";
const NO_CLAIM = 'say {"claims_change": false}\nusage 0 0\nrepeat';

const endpoints: readonly (readonly [suffix: string, wire: ScriptedWire])[] = [
  ["/v1/chat/completions", "openai_chat"],
  ["/v1/responses", "openai_responses"],
  ["/v1/messages", "anthropic_messages"],
  ["/api/chat", "ollama"],
];

export class ModelServer implements AsyncDisposable {
  readonly url: string;
  readonly #listener: Deno.TcpListener;
  readonly #answers: ScriptedAnswers;
  readonly #titles: Aside;
  readonly #claims: Aside;
  readonly #nudges: Aside;
  #gates = new Gates();
  #arrivals = new Milestones<RecordedRequest>();
  #departures = new Milestones<RecordedRequest>();
  readonly #connections = new Set<HttpConnection>();
  readonly #tasks = new Set<Promise<void>>();
  #judge: Judge;
  readonly #secrets: readonly string[];
  readonly #model: Model;
  readonly #onWrite: ((bytes: Uint8Array) => void) | undefined;
  #lookups: string[] = [];
  #calls = 0;

  static start(script: string | Script, options: ModelServerOptions = {}): Promise<ModelServer> {
    return Promise.resolve().then(() => new ModelServer(script, options));
  }

  private constructor(script: string | Script, options: ModelServerOptions) {
    this.#answers = new ScriptedAnswers(parsed(script));
    const { titles = "say Scripted title\nusage 0 0\nrepeat", claims = NO_CLAIM } = options;
    this.#titles = asideOf("title", titles, TITLES);
    this.#nudges = asideOf("nudge", LEAVES_IT);
    this.#claims = asideOf("claim", claims, CLAIM);
    this.#secrets = options.secrets ?? [];
    this.#judge = new Judge(this.#secrets);
    this.#onWrite = options.onWrite;
    this.#model = {
      name: "scripted",
      capabilities: ["completion", "tools", "thinking"],
      contextLength: 131072,
      ...options.model,
    };
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: options.port ?? 0 });
    this.url = `http://127.0.0.1:${this.#listener.addr.port}`;
    this.#track(this.#accept());
  }

  /** The requests for an answer, in the order in which they came. */
  get requests(): readonly RecordedRequest[] {
    return this.#arrivals.all;
  }

  /** The bodies of the requests for a title: they are not among `requests`. */
  get titleRequests(): readonly JsonObject[] {
    return this.#titles.requests;
  }

  /** The same of the questions whether an answer claims a change. */
  get claimRequests(): readonly JsonObject[] {
    return this.#claims.requests;
  }

  /** The same of nudges to a turn that has changed nothing, where the next answer does not expect them. */
  get nudgeRequests(): readonly JsonObject[] {
    return this.#nudges.requests;
  }

  /** Other requests, such as `GET /api/tags`. */
  get lookups(): readonly string[] {
    return this.#lookups;
  }

  /** All that was wrong with the requests, and every expectation that failed: one line each. */
  get problems(): readonly string[] {
    return this.#judge.problems;
  }

  /** Replaces the rest of the script. What is being answered goes on. */
  play(script: string | Script): void {
    this.#answers.replace(parsed(script));
    this.#gates.closeOpened();
  }

  /** Replaces what is answered to requests for a title, until the next `restart`. */
  playTitles(script: string): void {
    this.#titles.answers.replace(parsed(script));
  }

  /** The same of the questions whether an answer claims a change. */
  playClaims(script: string): void {
    this.#claims.answers.replace(parsed(script));
  }

  /** Plays this as a server does that was just started: nothing is known of the requests before. */
  restart(script: string | Script): void {
    this.#answers.replace(parsed(script));
    this.#judge = new Judge(this.#secrets);
    this.#gates = new Gates();
    this.#arrivals = new Milestones();
    this.#departures = new Milestones();
    for (const aside of [this.#titles, this.#claims, this.#nudges]) {
      aside.requests = [];
      aside.answers.replace(parsed(aside.script));
    }
    this.#lookups = [];
  }

  /** Lets every answer go on that waits for `name`, now or later. */
  release(name: string): void {
    this.#gates.release(name);
  }

  /** Resolves when an answer has come to `wait name`. */
  reached(name: string): Promise<void> {
    return this.#gates.reached(name);
  }

  /** The first call waits for the first request, the second for the second, and so on. */
  nextRequest(): Promise<RecordedRequest> {
    return this.#arrivals.next();
  }

  /** The first call waits for the first client that goes away in the middle of an answer, and so on. */
  aborted(): Promise<RecordedRequest> {
    return this.#departures.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#connections) connection[Symbol.dispose]();
    await Promise.all(this.#tasks);
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task);
    task.finally(() => this.#tasks.delete(task));
  }

  async #accept(): Promise<void> {
    for await (const conn of this.#listener) {
      conn.setNoDelay(true);
      this.#track(this.#serve(new HttpConnection(conn)));
    }
  }

  async #serve(connection: HttpConnection): Promise<void> {
    using http = connection;
    this.#connections.add(http);
    try {
      for (let request; (request = await http.next()) !== undefined;) await this.#handle(http, request);
    } catch (error) {
      if (!http.gone.aborted && !isDisconnection(error)) {
        this.#judge.add(`the server failed: ${error instanceof Error ? error.stack : error}`);
      }
    } finally {
      this.#connections.delete(http);
    }
  }

  async #handle(http: HttpConnection, request: ReceivedRequest): Promise<void> {
    const path = request.path.replace(/\?.*$/, "");
    const wire = endpoints.find(([suffix]) => request.method === "POST" && path.endsWith(suffix))?.[1];
    if (wire !== undefined) return await this.#chat(http, request, wire);
    const label = `${request.method} ${request.path}`;
    this.#lookups.push(label);
    this.#judge.other(label, request);
    const answer = lookUp(
      request.method,
      path,
      request.headers["anthropic-version"] !== undefined,
      this.#model,
    );
    if (answer === undefined && !isOfOtherServers(request.method, path)) {
      this.#judge.add(`${label}: there is no such endpoint`);
    }
    const body = JSON.stringify(answer ?? { error: "not found" });
    await http.respond(answer === undefined || answer === null ? 404 : 200, {
      "content-type": "application/json",
    }, body);
  }

  async #chat(http: HttpConnection, request: ReceivedRequest, wire: ScriptedWire): Promise<void> {
    const at = performance.now();
    const { method, path, headers } = request;
    const value = parsedJson(request.body);
    const body = isObject(value) ? value : undefined;
    const messages = messagesOf(wire, body ?? {});
    const text = newestText(messages);
    const aside = this.#asideOf(wire, body ?? {}, text, newestUserText(messages));
    if (body !== undefined && aside !== undefined) return await this.#aside(aside, http, request, wire, body);
    const number = this.requests.length + 1;
    const answer = this.#answers.take(newestUserText(messages));
    this.#judge.chat(
      `request ${number} (${wire})`,
      { wire, http: request, body, text },
      answer,
      this.#answers.name,
    );
    const recording: Recording = {
      ...{ wire, method, path, headers, body: body ?? {}, text, at },
      aborted: false,
      doneAt: undefined,
    };
    this.#arrivals.add(recording);
    try {
      if (answer !== undefined) {
        const steps = encode(wire, answer, this.#reply(request, body ?? {}, number, answer));
        return await deliver(http, wire, steps, this.#gates, this.#onWrite);
      }
      const error = errorBody(wire, 500, `The script has no answer left for request ${number}.`, number);
      await http.respond(500, { "content-type": "application/json" }, error);
    } catch (error) {
      if (!(error instanceof ClientGone) && !isDisconnection(error)) throw error;
      recording.aborted = true;
      this.#departures.add(recording);
    } finally {
      recording.doneAt = performance.now();
    }
  }

  /** Whether a request is for no answer of the script. */
  #asideOf(wire: ScriptedWire, body: JsonObject, text: string, userText: string): Aside | undefined {
    const asked = [this.#titles, this.#claims].find(({ prompt = "" }) => isAskedBy(prompt, wire, body));
    if (asked !== undefined) return asked;
    if (!NUDGE.test(text)) return undefined;
    const expectations = this.#answers.next(userText)?.expectations ?? [];
    return expectations.some((expected) => text.includes(expected.text)) ? undefined : this.#nudges;
  }

  /** Neither the script nor the count of requests knows of these. */
  async #aside(
    aside: Aside,
    http: HttpConnection,
    request: ReceivedRequest,
    wire: ScriptedWire,
    body: JsonObject,
  ): Promise<void> {
    const { name, answers, requests } = aside;
    const number = requests.push(body);
    const text = newestText(messagesOf(wire, body));
    const answer = answers.take(text);
    this.#judge.aside(`${name} request ${number} (${wire})`, { wire, http: request, body, text }, answer);
    if (answer === undefined) {
      const error = errorBody(wire, 500, `There is no answer left for ${name} request ${number}.`, number);
      return await http.respond(500, { "content-type": "application/json" }, error);
    }
    const steps = encode(wire, answer, this.#reply(request, body, number, answer));
    try {
      await deliver(http, wire, steps, this.#gates);
    } catch (error) {
      if (!(error instanceof ClientGone) && !isDisconnection(error)) throw error;
    }
  }

  #reply(request: ReceivedRequest, body: JsonObject, number: number, answer: Answer): Reply {
    const firstCall = this.#calls + 1;
    this.#calls += countCalls(answer);
    return {
      model: string(body.model) ?? this.#model.name,
      request: number,
      firstCall,
      created: Math.floor(Date.now() / 1000),
      promptTokens: Math.ceil(request.body.length / 4),
      includeUsage: property(body.stream_options, "include_usage") === true,
      encrypted: Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content"),
      custom: objects(body.tools).flatMap(({ type, name }) => type === "custom" ? [String(name)] : []),
    };
  }
}

function asideOf(name: string, script: string, prompt?: string): Aside {
  const answers = new ScriptedAnswers(parsed(script));
  return { name, script, answers, requests: [], ...(prompt === undefined ? {} : { prompt }) };
}

function isAskedBy(prompt: string, wire: ScriptedWire, body: JsonObject): boolean {
  return transcript(wire, body)[0]?.includes(JSON.stringify(prompt).slice(1, -1)) ?? false;
}

function parsed(script: string | Script): Script {
  return typeof script === "string" ? parseScript(script) : script;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
