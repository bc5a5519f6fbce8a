/** The engine, alone, with a plain ACP client: the SDK's own, without any extension of ours. */
import {
  client,
  type ClientCapabilities,
  type ClientConnection,
  type ClientContext,
  methods,
  ndJsonStream,
  type ReadTextFileRequest,
  type ReadTextFileResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type WriteTextFileRequest,
} from "@agentclientprotocol/sdk";
import type { EngineConfig } from "../../denops/agent/protocol/config.ts";
import { denoArguments } from "../../denops/agent/supervisor/grants.ts";
import { ModelServer } from "../model/model_server.ts";
import { GREET, PLUGIN, SECRET } from "./agent.ts";
import { DEFAULT_TIMEOUT, type Scratch, scratch, within } from "./project.ts";

export interface EngineOptions {
  readonly script: string;
  readonly project?: Readonly<Record<string, string>>;
  /** The value of AGENT_CONFIG; a usable one unless told. */
  readonly config?: string;
  readonly capabilities?: ClientCapabilities;
  permission?(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  readTextFile?(request: ReadTextFileRequest): Promise<ReadTextFileResponse>;
  writeTextFile?(request: WriteTextFileRequest): Promise<void>;
}

/** What came from the engine, in the order in which it came. */
export type Seen =
  | { readonly type: "update"; readonly session: string; readonly update: SessionUpdate }
  | { readonly type: "permission"; readonly request: RequestPermissionRequest };

export interface EngineProcess extends AsyncDisposable {
  readonly process: Deno.ChildProcess;
  readonly server: ModelServer;
  readonly project: Scratch;
}

export interface EngineClient extends EngineProcess {
  readonly agent: ClientContext;
  readonly seen: readonly Seen[];
  /** `initialize` and `session/new`; the session's id. */
  open(): Promise<string>;
  prompt(session: string, text: string): Promise<string>;
}

export const ALLOW: RequestPermissionResponse = { outcome: { outcome: "selected", optionId: "allow_once" } };

/** The bare process, with its pipes free. It has what the supervisor grants, and AGENT_CONFIG. */
export async function spawnEngine(options: EngineOptions): Promise<EngineProcess> {
  await using stack = new AsyncDisposableStack();
  const project = stack.use(await scratch(options.project ?? GREET));
  const state = stack.use(await scratch());
  const server = stack.use(await ModelServer.start(options.script, { secrets: [SECRET] }));
  const host = new URL(server.url).host;
  const grants = { roots: [project.root], state: state.root, host, plugin: PLUGIN, deno: "", denoDir: "" };
  const [run = "", ...rest] = denoArguments(grants);
  const process = new Deno.Command(Deno.execPath(), {
    args: [run, "--allow-env=AGENT_CONFIG", ...rest],
    env: { ...denoFolders(), AGENT_CONFIG: options.config ?? JSON.stringify(engineConfig(server)) },
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
  return { process, server, project, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The engine with a client that answers it. */
export async function startEngine(options: EngineOptions): Promise<EngineClient> {
  const engine = await spawnEngine(options);
  const seen: Seen[] = [];
  const connection = connect(engine.process, options, seen);
  const { agent } = connection;
  return {
    ...engine,
    agent,
    seen,
    async open() {
      const clientCapabilities = options.capabilities ?? {};
      await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
      const { sessionId } = await agent.request(methods.agent.session.new, {
        cwd: engine.project.root,
        mcpServers: [],
      });
      return sessionId;
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

function engineConfig(server: ModelServer): EngineConfig {
  return {
    model: "scripted",
    max_iterations: 25,
    request_timeout: 60,
    safe_to_write: [{ glob: "**/*", safe: true }, { glob: "**/.env", safe: false }],
    deny_read: [],
    read_rules: { deny: [], ask: [] },
    tools_off: [],
    provider: {
      name: "test",
      wire: "openai_chat",
      base_url: `${server.url}/v1`,
      headers: {},
      api_key: SECRET,
      key_source: "TEST_API_KEY",
    },
  };
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
