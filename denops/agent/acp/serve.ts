/** The plugin as an ACP version 1 agent for any client. Source: agentclientprotocol.com/protocol. */
import { isAbsolute } from "node:path";
import {
  agent,
  type AgentConnection,
  type AgentContext,
  type InitializeRequest,
  type McpServer,
  methods,
  RequestError,
  type SessionInfo,
  type Stream,
} from "../deps/acp_sdk.ts";
import { VERSION } from "../protocol/version.ts";
import { messageOf } from "../shared/errors.ts";
import { visible } from "../supervisor/screen/visible.ts";
import { clientFileAnswer } from "./client_files.ts";
import { SupervisorLink } from "./link.ts";
import { promptMessage } from "./prompt.ts";
import { type ClientFeatures, ClientSession } from "./session.ts";

const INVALID = -32602;
const INTERNAL = -32603;
/** Sessions on one page of session/list. */
const PAGE = 100;

const NONE: ClientFeatures = { notices: false, forms: false, readsFiles: false, writesFiles: false };

/** A folder of a session, as the client names it. */
interface SessionPlace {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
}

export class AcpAgent implements AsyncDisposable {
  readonly #link: SupervisorLink;
  readonly #sessions = new Map<string, ClientSession>();
  #features = NONE;
  #client: AgentContext | undefined;

  constructor() {
    this.#link = new SupervisorLink({
      editor: (question, session) => this.#editorAnswer(question, session),
    });
    // An error is reported when the client opens a session.
    this.#link.start().catch(() => {});
  }

  connect(stream: Stream): AgentConnection {
    const { session } = methods.agent;
    const connection = agent({ name: "agent.nvim" })
      .onRequest(methods.agent.initialize, ({ params }) => this.#initialize(params))
      .onRequest(session.new, async ({ params, client }) => {
        const opened = await this.#enter(client, params, (session) => session.open());
        return { sessionId: opened.id, ...opened.state };
      })
      .onRequest(session.load, async ({ params, client }) => {
        const opened = await this.#resume(client, params.sessionId, params);
        await inOneLine(opened.replay());
        return opened.state;
      })
      .onRequest(
        session.resume,
        async ({ params, client }) => (await this.#resume(client, params.sessionId, params)).state,
      )
      .onRequest(
        session.list,
        ({ params }) => this.#list(params.cwd ?? undefined, params.cursor ?? undefined),
      )
      .onRequest(session.delete, async ({ params }) => {
        await this.#delete(params.sessionId);
        return {};
      })
      .onRequest(session.close, async ({ params }) => {
        await this.#close(params.sessionId);
        return {};
      })
      .onRequest(session.setMode, async ({ params }) => {
        await this.#get(params.sessionId).choose("mode", params.modeId);
        return {};
      })
      .onRequest(session.setConfigOption, async ({ params }) => {
        const chosen = this.#get(params.sessionId);
        await chosen.choose(params.configId, params.value);
        return { configOptions: chosen.state.configOptions };
      })
      .onRequest(session.prompt, async ({ params, signal }) => {
        const { readsFiles } = this.#features;
        const prompted = this.#get(params.sessionId);
        const message = promptMessage(params.prompt, { root: prompted.root, readsFiles });
        return { stopReason: await prompted.prompt(message, signal) };
      })
      .onNotification(session.cancel, ({ params }) => this.#sessions.get(params.sessionId)?.cancel())
      .connect(stream);
    this.#client = connection.client;
    return connection;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link[Symbol.asyncDispose]();
  }

  #initialize({ clientCapabilities }: InitializeRequest) {
    this.#features = {
      notices: Boolean(clientCapabilities?.session?.notices),
      forms: Boolean(clientCapabilities?.elicitation?.form),
      readsFiles: clientCapabilities?.fs?.readTextFile === true,
      writesFiles: clientCapabilities?.fs?.writeTextFile === true,
    };
    this.#link.asksEditor = this.#features.readsFiles;
    return {
      protocolVersion: 1,
      agentInfo: { name: "agent.nvim", title: "agent.nvim", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, delete: {}, close: {} },
      },
      authMethods: [],
    };
  }

  async #editorAnswer(
    ...[question, session]: Parameters<ConstructorParameters<typeof SupervisorLink>[0]["editor"]>
  ) {
    if (this.#client === undefined || session === undefined) throw new Error("no editor shows the file");
    return await clientFileAnswer(this.#client, session, this.#features.writesFiles, question);
  }

  /** @throws {RequestError} one line */
  #get(id: string): ClientSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw unknownSession(id);
    return session;
  }

  async #enter(
    client: AgentContext,
    place: SessionPlace,
    open: (session: ClientSession) => Promise<void>,
  ): Promise<ClientSession> {
    const root = await realFolder(place.cwd);
    const session = new ClientSession(client, this.#link, this.#features, root);
    try {
      await inOneLine(open(session));
    } catch (error) {
      await session.close().catch(() => {});
      throw error;
    }
    this.#sessions.set(session.id, session);
    for (const text of unserved(place)) session.notice("warning", text);
    session.announce();
    return session;
  }

  async #resume(client: AgentContext, id: string, place: SessionPlace): Promise<ClientSession> {
    const known = this.#sessions.get(id);
    if (known === undefined) return await this.#enter(client, place, (session) => session.resume(id));
    if (known.root !== await realFolder(place.cwd)) {
      throw new RequestError(INVALID, `Cannot open ${id}: it is a session of ${known.root}.`);
    }
    return known;
  }

  async #list(cwd: string | undefined, cursor: string | undefined) {
    const root = cwd === undefined ? undefined : await realFolder(cwd);
    const all = await inOneLine(this.#stored());
    const own = all.filter((session) => !session.archived && (root === undefined || session.root === root));
    const from = cursor === undefined ? 0 : own.findIndex(({ sessionId }) => sessionId === cursor) + 1;
    if (cursor !== undefined && from === 0) {
      throw new RequestError(INVALID, "Cannot list sessions: unknown cursor.");
    }
    const page = own.slice(from, from + PAGE);
    const sessions = page.map(({ sessionId, root, title, updated }): SessionInfo => ({
      ...{ sessionId, cwd: root, title },
      updatedAt: new Date(updated).toISOString(),
    }));
    const next = from + PAGE < own.length ? page.at(-1) : undefined;
    return { sessions, ...(next === undefined ? {} : { nextCursor: next.sessionId }) };
  }

  async #stored() {
    const chat = this.#link.nextChat();
    const { sessions } = await this.#link.ask("sessions", { chat, root: Deno.cwd() });
    return sessions;
  }

  async #close(id: string): Promise<void> {
    const session = this.#get(id);
    this.#sessions.delete(id);
    await inOneLine(session.close());
  }

  async #delete(id: string): Promise<void> {
    if (this.#sessions.has(id)) await this.#close(id);
    const stored = (await inOneLine(this.#stored())).find(({ sessionId }) => sessionId === id);
    if (stored === undefined) throw unknownSession(id);
    const place = { chat: this.#link.nextChat(), root: stored.root };
    const params = { sessionId: id };
    const { error } = await inOneLine(
      this.#link.ask("engine_request", { ...place, name: "session_delete", params }),
    );
    await this.#link.perform({ type: "close", chat: place.chat });
    if (error !== undefined) throw new RequestError(INTERNAL, error);
  }
}

function unknownSession(id: string): RequestError {
  const text = `Cannot find the session ${id.slice(0, 100)}. Open it with session/load, or start a new one.`;
  return new RequestError(-32002, text, { sessionId: id });
}

/** A line for each request of the client that is not served. */
function unserved({ additionalDirectories = [], mcpServers = [] }: SessionPlace): readonly string[] {
  const servers = visible(mcpServers.map(({ name }) => name).join(", "));
  return [
    ...mcpServers.length === 0
      ? []
      : [`Cannot use MCP servers of this client (${servers}). Name them in the option mcp.servers.`],
    ...additionalDirectories.length === 0
      ? []
      : ["Further folders of a session are not supported. Use the option roots of agent.nvim."],
  ];
}

/** The real path of a session's folder. @throws {RequestError} one line */
async function realFolder(cwd: string): Promise<string> {
  const refused = (why: string) =>
    new RequestError(INVALID, `Cannot work in ${cwd.slice(0, 1_000)}: ${why}.`);
  if (!isAbsolute(cwd)) throw refused("the path is not absolute");
  const real = await Deno.realPath(cwd).catch(() => {
    throw refused("the folder does not exist");
  });
  if (!(await Deno.stat(real)).isDirectory) throw refused("it is not a folder");
  return real;
}

/** Clients show the message of a RequestError, but not that of other errors. */
async function inOneLine<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw error instanceof RequestError ? error : new RequestError(INTERNAL, messageOf(error));
  }
}
