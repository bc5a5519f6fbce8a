/** The engine, alone, with a plain ACP client: the SDK's own, without any extension of ours. */
import { method } from "../../denops/agent/protocol/extensions.ts";
import {
  client,
  type ClientCapabilities,
  type ClientConnection,
  type ClientContext,
  type InitializeResponse,
  methods,
  ndJsonStream,
  type ReadTextFileRequest,
  type ReadTextFileResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type WriteTextFileRequest,
} from "../../denops/agent/deps/acp_sdk.ts";
import type { ModelConfig } from "../../denops/agent/protocol/config.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import {
  type RequestName,
  type RequestParams,
  type RequestResult,
  REQUESTS,
} from "../../denops/agent/protocol/requests.ts";
import { denoArguments } from "../../denops/agent/supervisor/agents/grants.ts";
import { ModelServer } from "../model/model_server.ts";
import { GREET, PLUGIN, SECRET } from "./agent.ts";
import { engineConfig as scriptedConfig } from "./engine_config.ts";
import { DEFAULT_TIMEOUT, type Scratch, scratch, within } from "./project.ts";

export interface EngineOptions {
  readonly script: string;
  /** See ModelServerOptions. */
  readonly titles?: string;
  readonly project?: Readonly<Record<string, string>>;
  /** The value of AGENT_CONFIG; a usable one unless told. */
  readonly config?: string;
  readonly wire?: WireName;
  /** The option native_tools. */
  readonly nativeTools?: boolean;
  /** Another engine's project, state folder and model: the options above for them are not looked at. */
  readonly beside?: Place;
  readonly capabilities?: ClientCapabilities;
  permission?(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  readTextFile?(request: ReadTextFileRequest): Promise<ReadTextFileResponse>;
  writeTextFile?(request: WriteTextFileRequest): Promise<void>;
}

/** What came from the engine, in the order in which it came. */
export type Seen =
  | { readonly type: "update"; readonly session: string; readonly update: SessionUpdate }
  | { readonly type: "permission"; readonly request: RequestPermissionRequest };

/** Where an engine works; it can be used by several, at once or one after the other. */
export interface Place {
  readonly server: ModelServer;
  readonly project: Scratch;
  readonly state: Scratch;
}

export interface EngineProcess extends AsyncDisposable, Place {
  readonly process: Deno.ChildProcess;
}

export interface EngineClient extends EngineProcess {
  readonly agent: ClientContext;
  readonly seen: readonly Seen[];
  initialize(): Promise<InitializeResponse>;
  /** `initialize` and `session/new`; the session's id. */
  open(): Promise<string>;
  /** `initialize` and `session/resume`. */
  resume(session: string): Promise<void>;
  /** A request of protocol/requests.ts. */
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  /** kill -9, and waits for its end. */
  kill(): Promise<void>;
  prompt(session: string, text: string): Promise<string>;
}

export const ALLOW: RequestPermissionResponse = { outcome: { outcome: "selected", optionId: "allow_once" } };

/** The bare process, with its pipes free. It has what the supervisor grants, and AGENT_CONFIG. */
export async function spawnEngine(options: EngineOptions): Promise<EngineProcess> {
  await using stack = new AsyncDisposableStack();
  const { project, state, server } = options.beside ?? await ownPlace(options, stack);
  const host = new URL(server.url).host;
  const grants = {
    roots: [project.root],
    state: state.root,
    host,
    plugin: PLUGIN,
    deno: "",
    module: `${PLUGIN}/denops/agent/engine/main.ts`,
    denoDir: "",
    hidden: [],
  };
  const [run = "", ...rest] = denoArguments(grants);
  const process = new Deno.Command(Deno.execPath(), {
    args: [run, "--allow-env=AGENT_CONFIG", ...rest],
    env: {
      ...denoFolders(),
      AGENT_CONFIG: options.config ??
        JSON.stringify({ ...engineConfig(server, options.wire), native_tools: options.nativeTools }),
    },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  stack.defer(() => process.status.then(() => {}));
  stack.defer(() => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  });
  const owned = stack.move();
  return { process, server, project, state, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function ownPlace(options: EngineOptions, stack: AsyncDisposableStack): Promise<Place> {
  const project = stack.use(await scratch(options.project ?? GREET));
  const state = stack.use(await scratch());
  const { titles } = options;
  const server = stack.use(
    await ModelServer.start(options.script, {
      secrets: [SECRET],
      ...(titles === undefined ? {} : { titles }),
    }),
  );
  return { project, state, server };
}

/** The engine with a client that answers it. */
export async function startEngine(options: EngineOptions): Promise<EngineClient> {
  const engine = await spawnEngine(options);
  const seen: Seen[] = [];
  const connection = connect(engine.process, options, seen);
  const { agent } = connection;
  const initialize = () => {
    const clientCapabilities = options.capabilities ?? {};
    return agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
  };
  return {
    ...engine,
    agent,
    seen,
    initialize,
    async open() {
      await initialize();
      const { sessionId } = await agent.request(methods.agent.session.new, {
        cwd: engine.project.root,
        mcpServers: [],
      });
      return sessionId;
    },
    async resume(sessionId) {
      await initialize();
      await agent.request(methods.agent.session.resume, { sessionId, cwd: engine.project.root });
    },
    async ask<Name extends RequestName>(name: Name, params: RequestParams<Name>) {
      const answer = await agent.request<unknown, unknown>(method(name), params);
      return REQUESTS[name].result.parse(answer) as RequestResult<Name>;
    },
    async kill() {
      engine.process.kill("SIGKILL");
      await engine.process.status;
    },
    async prompt(sessionId, text) {
      const turn = agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: "text", text }],
      });
      const outcome = await within(DEFAULT_TIMEOUT, turn);
      if (!outcome.done) throw new Error(`The turn did not end within ${DEFAULT_TIMEOUT} ms.`);
      return outcome.value.stopReason;
    },
    async [Symbol.asyncDispose]() {
      connection.close();
      await engine[Symbol.asyncDispose]();
    },
  };
}

function connect(process: Deno.ChildProcess, options: EngineOptions, seen: Seen[]): ClientConnection {
  const app = client({ name: "plain" })
    .onNotification(methods.client.session.update, ({ params }) => {
      seen.push({ type: "update", session: params.sessionId, update: params.update });
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      seen.push({ type: "permission", request: params });
      return options.permission?.(params) ?? ALLOW;
    });
  const { readTextFile, writeTextFile } = options;
  if (readTextFile !== undefined) {
    app.onRequest(methods.client.fs.readTextFile, ({ params }) => readTextFile(params));
  }
  if (writeTextFile !== undefined) {
    app.onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      await writeTextFile(params);
      return {};
    });
  }
  return app.connect(ndJsonStream(process.stdin, process.stdout));
}

export function engineConfig(server: ModelServer, wire?: WireName): ModelConfig {
  return scriptedConfig(server.url, wire, {
    model: "scripted",
    safe_to_write: [{ glob: "**/*", safe: true }, { glob: "**/.env", safe: false }],
    deny_read: [],
  });
}

/** Where Deno's cache is, and nothing else of the environment. */
function denoFolders(): Record<string, string> {
  const names = ["HOME", "DENO_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "SystemRoot"];
  return Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** The text of the answer in a session, from all its pieces. */
export function answerText(seen: readonly Seen[], session: string): string {
  return seen.map((entry) =>
    entry.type === "update" && entry.session === session &&
      entry.update.sessionUpdate === "agent_message_chunk" && entry.update.content.type === "text"
      ? entry.update.content.text
      : ""
  ).join("");
}
