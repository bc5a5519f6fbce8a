/** The MCP servers of the project: one of each for the engine, shared by its sessions. */
import type { EngineConfig } from "../../protocol/config.ts";
import type { RequestParams } from "../../protocol/requests.ts";
import type { McpServerState } from "../../protocol/results/mcp.ts";
import { ToolError } from "../../shared/errors.ts";
import type { StandardSchemaV1 } from "../../deps/mcp.ts";
import type { McpAnswer, McpCall, McpContent, McpPort, McpServerFacts, McpTool } from "../ports/mcp.ts";
import { argumentsOf } from "./prompt_arguments.ts";
import type { Pipe } from "./pipe_transport.ts";
import { answerOf, CallResult, promptOf, PromptResult, resourceOf, ResourceResult } from "./results.ts";
import { RestartingServer } from "./server.ts";
import { namedTools } from "./tool_list.ts";

export interface McpClient {
  /** Starts a server for this session, as the port of a server says. @throws {Error} one line */
  open(name: string, session: string, signal: AbortSignal): Promise<Pipe | undefined>;
  notice(session: string, text: string): void;
}

type Change = NonNullable<RequestParams<"mcp">["change"]>;

export class ServerPool {
  readonly #servers: readonly RestartingServer[];
  /** Ids of open sessions, the newest last. */
  readonly #sessions = new Set<string>();
  #lastSession = "";
  /** The session whose turn or user started servers last: its user is asked about them. */
  #starter = "";
  #tools: readonly McpTool[] | undefined;

  constructor(entries: EngineConfig["mcp"], roots: readonly string[], client: McpClient) {
    this.#servers = entries.map(({ name, off = false }) =>
      new RestartingServer(name, off, {
        roots,
        open: (signal) => client.open(name, this.#asker, signal),
        changed: () => this.#tools = undefined,
        notice: (text) => client.notice(this.session, text),
      })
    );
  }

  /** A session for requests that belong to none in particular. */
  get session(): string {
    return [...this.#sessions].at(-1) ?? this.#lastSession;
  }

  get #asker(): string {
    return this.#sessions.has(this.#starter) ? this.#starter : this.session;
  }

  /** The servers as this session uses them, until it leaves. */
  join(session: string): McpPort {
    this.#sessions.add(session);
    this.#lastSession = session;
    const facts = () => this.#facts();
    const tools = () => this.#currentTools();
    return {
      get servers() {
        return facts();
      },
      get tools() {
        return tools();
      },
      start: () => this.#start(session),
      settled: (milliseconds, signal) => this.#settled(milliseconds, signal),
      call: (tool, args, call, signal) => this.#call(session, tool, args, call, signal),
      resource: async (server, uri, signal) =>
        resourceOf(await this.#ask(session, server, "resources/read", { uri }, ResourceResult, signal)),
      prompt: (server, name, words, signal) => this.#prompt(session, server, name, words, signal),
    };
  }

  leave(session: string): void {
    this.#sessions.delete(session);
  }

  /** The answer to the request `mcp` of a session. @throws {ToolError} one line for the user */
  states(session: string, change?: Change): McpServerState[] {
    if (change !== undefined) {
      this.#starter = session;
      this.#change(change);
    }
    const tools = this.#currentTools();
    return this.#servers.map((server) => ({
      ...server.facts(),
      tools: tools.filter((tool) => tool.server === server.name).map(({ name, description, isListed }) => ({
        name,
        description,
        listed: isListed,
      })),
    }));
  }

  #change({ name, to }: Change): void {
    const server = this.#servers.find((one) => one.name === name);
    if (server === undefined) throw new ToolError(`No MCP server is called ${name}.`);
    if (to !== "start") server.stop();
    if (to !== "stop") server.start();
  }

  #start(session: string): void {
    const stopped = this.#servers.filter(({ state }) => state === "stopped");
    if (stopped.length > 0) this.#starter = session;
    for (const server of stopped) server.start();
  }

  async #settled(milliseconds: number, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.opened(signal)));
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
    await Promise.all(this.#servers.map((server) => server.settled(inTime)));
  }

  #facts(): readonly McpServerFacts[] {
    return this.#servers.map(({ name, state, problem, instructions }) => ({
      name,
      state,
      problem,
      instructions,
    }));
  }

  #currentTools(): readonly McpTool[] {
    return this.#tools ??= namedTools(this.#servers.flatMap(({ tools }) => tools));
  }

  async #call(
    session: string,
    { server, tool }: Pick<McpTool, "server" | "tool">,
    args: Readonly<Record<string, unknown>>,
    call: McpCall,
    signal: AbortSignal,
  ): Promise<McpAnswer> {
    const connection = await this.#serverOf(server).connection(signal);
    const request = { method: "tools/call", params: { name: tool, arguments: args } };
    return answerOf(
      tool,
      await connection.request(request, CallResult, { session, call }, signal),
    );
  }

  async #prompt(
    session: string,
    server: string,
    name: string,
    words: string,
    signal: AbortSignal,
  ): Promise<McpContent> {
    await this.#serverOf(server).connection(signal);
    const { prompts } = this.#serverOf(server);
    const prompt = prompts.find((one) => one.name === name);
    if (prompt === undefined) throw new ToolError(`the MCP server ${server} has no prompt ${name}`);
    const params = { name, arguments: argumentsOf(prompt, words) };
    return promptOf(await this.#ask(session, server, "prompts/get", params, PromptResult, signal));
  }

  async #ask<Schema extends StandardSchemaV1>(
    session: string,
    server: string,
    method: string,
    params: Record<string, unknown>,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<StandardSchemaV1.InferOutput<Schema>> {
    const connection = await this.#serverOf(server).connection(signal);
    return await connection.request({ method, params }, schema, { session }, signal);
  }

  /** @throws {ToolError} */
  #serverOf(name: string): RestartingServer {
    const server = this.#servers.find((one) => one.name === name);
    if (server === undefined) throw new ToolError(`The MCP server ${name} is no longer in the options.`);
    return server;
  }
}
