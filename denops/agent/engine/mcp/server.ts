/** One MCP server: it is started, connected, listed, and started again if it ends. */
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { McpServerState } from "../../protocol/results/mcp.ts";
import type { McpServerPhase } from "../ports/mcp.ts";
import { cleanLine } from "../../policy/clean.ts";
import { McpConnection } from "./connection.ts";
import { promptsOf, resourcesOf, type ServerPrompt } from "./lists.ts";
import { type Pipe, PipeTransport } from "./pipe_transport.ts";
import { type ServerTool, toolList } from "./tool_list.ts";

/** Waits before further starts, in milliseconds. */
const BACKOFF_MS = [1_000, 4_000, 16_000];
/** After this time, a server that ends starts as often again. */
const HEALTHY_MS = 120_000;
/** Time for the first answer: a package manager may download the server. */
const PATIENCE_MS = 120_000;
/** The least time between two readings of the lists; it grows with each of them. */
const LISTING_MS = 1_000;
const LONGEST_LISTING_MS = 60_000;
/** Messages that are kept, and characters of each. */
const MOST_LOG = 50;
const LONGEST_LOG = 500;
const LONGEST_PROBLEM = 300;

export interface RestartPorts {
  /** Folders of the project, absolute. */
  readonly roots: readonly string[];
  /**
   * Starts the server's process. @returns undefined if the user has not answered the question about it
   * @throws {Error} one line, if it cannot or must not start
   */
  open(signal: AbortSignal): Promise<Pipe | undefined>;
  /** The server's state or lists have changed. */
  changed(): void;
  /** A line for the user. */
  notice(text: string): void;
}

type Lists = Pick<RestartingServer, "tools" | "resources" | "prompts">;

const NO_LISTS: Lists = { tools: [], resources: [], prompts: [] };

export class RestartingServer {
  readonly name: string;
  readonly #ports: RestartPorts;
  #state: McpServerPhase;
  #problem: string | undefined;
  #connection: McpConnection | undefined;
  #lists: Lists = NO_LISTS;
  readonly #log: string[] = [];
  #life: AbortController | undefined;
  /** Resolves when the user has answered the question about its start, and its process runs. */
  #opened = Promise.withResolvers<void>();
  /** Resolves when it no longer starts. */
  #settled = Promise.withResolvers<void>();
  #hasNamedUrl = false;
  /** A list has changed since it was read. */
  #isStale = false;
  #refreshing: Promise<void> | undefined;

  /** @param isOff it starts only when the user starts it */
  constructor(name: string, isOff: boolean, ports: RestartPorts) {
    this.name = name;
    this.#ports = ports;
    this.#state = isOff ? "off" : "stopped";
  }

  get state(): McpServerPhase {
    return this.#state;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get instructions(): string | undefined {
    return this.#connection?.instructions;
  }

  get tools(): readonly ServerTool[] {
    return this.#lists.tools;
  }

  get resources(): McpServerState["resources"] {
    return this.#lists.resources;
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#lists.prompts;
  }

  /** For the user. */
  facts(): Omit<McpServerState, "tools"> {
    const title = this.#connection?.title;
    const protocol = this.#connection?.protocol;
    return {
      name: this.name,
      state: this.#state,
      ...this.#problem === undefined ? {} : { problem: this.#problem },
      ...title === undefined ? {} : { title },
      ...protocol === undefined ? {} : { protocol },
      resources: this.resources,
      prompts: this.prompts.map(({ arguments: all, ...prompt }) => ({
        ...prompt,
        arguments: all.map(({ name }) => name),
      })),
      log: [...this.#log],
    };
  }

  /** Does nothing if it runs or starts. */
  start(): void {
    if (this.#life !== undefined) return;
    const life = this.#life = new AbortController();
    this.#opened = Promise.withResolvers();
    this.#settled = Promise.withResolvers();
    this.#problem = undefined;
    this.#set("starting");
    this.#live(life.signal).catch((error) => {
      if (this.#life === life) this.#fail(messageOf(error));
    }).finally(() => {
      // It was stopped, and may have been started again.
      if (this.#life !== life) return;
      this.#life = undefined;
      this.#opened.resolve();
      this.#settled.resolve();
    });
  }

  /** From here on it starts only when the user starts it. */
  stop(): void {
    this.#life?.abort();
    this.#life = undefined;
    this.#connection = undefined;
    this.#lists = NO_LISTS;
    this.#opened.resolve();
    this.#settled.resolve();
    this.#set("off");
  }

  /** Resolves when nobody is asked about its start any more. */
  async opened(signal: AbortSignal): Promise<void> {
    if (this.#state === "starting") await Promise.race([this.#opened.promise, aborted(signal)]);
  }

  /** Resolves when it has started, failed or was stopped. */
  async settled(signal: AbortSignal): Promise<void> {
    if (this.#state === "starting") await Promise.race([this.#settled.promise, aborted(signal)]);
  }

  /** The connection of the running server, after its start. @throws {ToolError} one line for the model */
  async connection(signal: AbortSignal): Promise<McpConnection> {
    await this.settled(signal);
    signal.throwIfAborted();
    const connection = this.#connection;
    if (connection !== undefined) return connection;
    const why = this.#problem === undefined ? "" : `: ${this.#problem}`;
    throw new ToolError(
      `The MCP server ${this.name} is not running${why}. Go on without it, or tell the user.`,
    );
  }

  async #live(signal: AbortSignal): Promise<void> {
    let mode: "auto" | "legacy" = "auto";
    for (let starts = 0;;) {
      const pipe = await this.#ports.open(signal);
      if (signal.aborted) return pipe?.close();
      // The user has stopped the turn: the next one asks again.
      if (pipe === undefined) return this.#set("stopped");
      this.#opened.resolve();
      const since = performance.now();
      const { ended, hasAnswered } = await this.#run(pipe, mode, signal);
      if (signal.aborted) return;
      this.#connection = undefined;
      this.#lists = NO_LISTS;
      this.#note(`It ended: ${ended}.`);
      // Some old servers end at a request that they do not know.
      if (!hasAnswered && mode === "auto") {
        mode = "legacy";
        continue;
      }
      if (performance.now() - since > HEALTHY_MS) starts = 0;
      const wait = BACKOFF_MS[starts++];
      if (wait === undefined) return this.#fail(ended);
      if (this.#state === "ready") this.#settled = Promise.withResolvers();
      this.#problem = ended;
      this.#set("starting");
      await pause(wait, signal);
      if (signal.aborted) return;
    }
  }

  /** Runs until the server ends. */
  async #run(
    pipe: Pipe,
    mode: "auto" | "legacy",
    signal: AbortSignal,
  ): Promise<{ readonly ended: string; readonly hasAnswered: boolean }> {
    const transport = new PipeTransport(pipe, {
      note: (line) => this.#note(line),
      hear: (method, params) => this.#hear(method, params),
    });
    const closed = Promise.withResolvers<void>();
    const stop = () => void transport.close();
    signal.addEventListener("abort", stop, { once: true });
    transport.onclose = () => closed.resolve();
    let problem: string | undefined;
    try {
      const options = {
        ...{ server: this.name, roots: this.#ports.roots, mode, patience: PATIENCE_MS },
        changed: () => this.#refresh(),
      };
      const connection = await McpConnection.open(transport, options, signal);
      const lists = await this.#read(connection, signal);
      if (transport.ended === undefined) this.#ready(connection, lists);
      await closed.promise;
    } catch (error) {
      problem = messageOf(error);
      await transport.close();
    } finally {
      signal.removeEventListener("abort", stop);
    }
    const ended = transport.ended === "it was stopped" ? problem : transport.ended;
    return { ended: cleanLine(ended ?? problem ?? "?", LONGEST_PROBLEM), hasAnswered: transport.hasAnswered };
  }

  #ready(connection: McpConnection, lists: Lists): void {
    this.#connection = connection;
    this.#lists = lists;
    this.#problem = undefined;
    this.#set("ready");
    this.#settled.resolve();
  }

  async #read(connection: McpConnection, signal: AbortSignal): Promise<Lists> {
    const [tools, resources, templates, prompts] = await Promise.all(
      (["tools", "resources", "resourceTemplates", "prompts"] as const).map((name) =>
        connection.list(name, signal)
      ),
    );
    const list = toolList(this.name, tools?.rows ?? []);
    const problems = [tools, resources, templates, prompts].flatMap((one) => one?.problem ?? []);
    for (const line of [...problems, ...list.problems]) this.#note(line);
    return {
      tools: list.tools,
      resources: resourcesOf([...resources?.rows ?? [], ...templates?.rows ?? []]),
      prompts: promptsOf(prompts?.rows ?? []),
    };
  }

  /** Reads the lists again, one reading at a time, because a server may report changes all the time. */
  #refresh(): void {
    this.#isStale = true;
    this.#refreshing ??= this.#refreshAll().catch((error) => this.#note(messageOf(error))).finally(() => {
      this.#refreshing = undefined;
    });
  }

  async #refreshAll(): Promise<void> {
    for (let wait = LISTING_MS; this.#isStale; wait = Math.min(2 * wait, LONGEST_LISTING_MS)) {
      const signal = this.#life?.signal;
      const connection = this.#connection;
      if (signal === undefined || connection === undefined) return;
      this.#isStale = false;
      const lists = await this.#read(connection, signal);
      if (this.#connection !== connection) return;
      this.#lists = lists;
      this.#ports.changed();
      await pause(wait, signal);
    }
  }

  #hear(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === "notifications/message") {
      const { level, data } = params;
      this.#note(
        `${typeof level === "string" ? level : "log"}: ${typeof data === "string" ? data : jsonOf(data)}`,
      );
    }
    if (method === "elicitation/create" && params.mode === "url" && !this.#hasNamedUrl) {
      this.#hasNamedUrl = true;
      const url = typeof params.url === "string" ? cleanLine(params.url, LONGEST_PROBLEM) : "?";
      this.#ports.notice(
        `The MCP server ${this.name} wants you to open a page, which agent.nvim declines: ${url}`,
      );
    }
    if (method === "sampling/createMessage") this.#note("It asked for a model's answer, which was refused.");
  }

  #fail(problem: string): void {
    this.#connection = undefined;
    this.#lists = NO_LISTS;
    this.#problem = cleanLine(problem, LONGEST_PROBLEM);
    this.#set("failed");
    this.#settled.resolve();
  }

  #set(state: McpServerPhase): void {
    this.#state = state;
    this.#ports.changed();
  }

  #note(line: string): void {
    this.#log.push(cleanLine(line, LONGEST_LOG));
    if (this.#log.length > MOST_LOG) this.#log.shift();
  }
}

function jsonOf(data: unknown): string {
  try {
    return JSON.stringify(data) ?? "";
  } catch {
    return "?";
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
