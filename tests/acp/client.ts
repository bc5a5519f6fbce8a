/** `agent acp` with the SDK's own client, a project and a scripted model. Every message is checked. */
import assert from "node:assert/strict";
import {
  type AnyMessage,
  client,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
  type NewSessionResponse,
  type PromptResponse,
  type ReadTextFileRequest,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type StopReason,
  type WriteTextFileRequest,
} from "../../denops/agent/deps/acp_sdk.ts";
import { childPipe } from "../../denops/agent/shared/byte_pipe.ts";
import { messageStream } from "../../denops/agent/shared/message_stream.ts";
import type { ModelServer } from "../model/model_server.ts";
import { GREET } from "../support/agent.ts";
import type { Scratch } from "../support/project.ts";
import { runPlace, startRun } from "../support/run.ts";
import { problemOf } from "./schema.ts";

/** What one test chooses. */
export interface AcpPart {
  readonly script: string;
  permission?(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  readTextFile?(request: ReadTextFileRequest): Promise<{ content: string }>;
  writeTextFile?(request: WriteTextFileRequest): Promise<void>;
  form?(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
}

interface AcpOptions {
  readonly project?: Readonly<Record<string, string>>;
  /** More of config.json; null: no file. */
  readonly config?: Readonly<Record<string, unknown>> | null;
  readonly capabilities?: ClientCapabilities;
}

export interface SeenUpdate {
  readonly session: string;
  readonly update: SessionUpdate;
}

export interface AcpProcess extends AsyncDisposable {
  readonly agent: ClientContext;
  readonly process: Deno.ChildProcess;
  readonly server: ModelServer;
  readonly project: Scratch;
  readonly state: Scratch;
  readonly seen: SeenUpdate[];
  readonly permissions: RequestPermissionRequest[];
  /** The agent's messages, in order, and the methods of its requests and notifications. */
  readonly messages: AnyMessage[];
  readonly methods: string[];
  /** Messages off the schema, and lines that are none. */
  readonly problems: string[];
  /** The next tests' answers. */
  play(part: AcpPart): void;
  /** Writes bytes to the agent's stdin. */
  write(text: string): Promise<void>;
  closeInput(): void;
  open(cwd?: string): Promise<NewSessionResponse>;
  /** The id of a session that tests share. */
  opened(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<StopReason>;
}

export const ALLOW = selected("allow_once");
export const REJECT = selected("reject");

export function selected(optionId: string): RequestPermissionResponse {
  return { outcome: { outcome: "selected", optionId } };
}

export async function startAcp(options: AcpOptions = {}): Promise<AcpProcess> {
  await using stack = new AsyncDisposableStack();
  const { project: files = GREET, config } = options;
  const place = stack.use(await runPlace({ script: "", project: files, ...(config && { config }) }));
  const { project, state, server } = place;
  const env = config === null ? { XDG_CONFIG_HOME: project.root } : {};
  const process = startRun(place, ["acp"], { env });
  stack.defer(() => process.status.then(() => {}));
  const errors = new Response(process.stderr).text();
  stack.defer(async () => assert.equal(await errors, ""));
  const log = new MessageLog();
  const { write, ...pipe } = childPipe(process);
  let part: AcpPart = { script: "" };
  const seen: SeenUpdate[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => {
      seen.push({ session: params.sessionId, update: params.update });
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      permissions.push(params);
      return await part.permission?.(params) ?? ALLOW;
    })
    .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
      if (part.readTextFile !== undefined) return await part.readTextFile(params);
      return { content: await Deno.readTextFile(params.path) };
    })
    .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      if (part.writeTextFile === undefined) await Deno.writeTextFile(params.path, params.content);
      else await part.writeTextFile(params);
      return {};
    })
    .onRequest(methods.client.elicitation.create, async ({ params }) => {
      return await part.form?.(params) ?? { action: "cancel" };
    });
  const checked = (bytes: Uint8Array<ArrayBuffer>) => {
    log.writes(bytes);
    return write(bytes);
  };
  const connection = app.connect(messageStream({ ...pipe, write: checked }, log));
  stack.defer(() => connection.close());
  stack.defer(() => pipe.close());
  const { agent } = connection;
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: { name: "test", version: "1" },
    clientCapabilities: { session: { notices: {} }, ...options.capabilities },
  });
  const open = (cwd = project.root) => agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  let shared: Promise<string> | undefined;
  const owned = stack.move();
  return {
    ...{ agent, process, server, project, state, seen, permissions },
    messages: log.messages,
    methods: log.methods,
    problems: log.problems,
    play(next) {
      part = next;
      server.restart(next.script);
    },
    write: (text) => write(new TextEncoder().encode(text)),
    closeInput: () => pipe.close(),
    opened: () => shared ??= open().then(({ sessionId }) => sessionId),
    open,
    async prompt(sessionId, text) {
      const answer: PromptResponse = await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: "text", text }],
      });
      return answer.stopReason;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Checks the agent's messages as they come. */
class MessageLog {
  readonly problems: string[] = [];
  readonly methods: string[] = [];
  readonly messages: AnyMessage[] = [];
  /** Id of a request to the agent → its method. */
  readonly #sent = new Map<unknown, string>();

  arrives(message: AnyMessage): boolean {
    this.messages.push(message);
    if ("method" in message) this.methods.push(message.method);
    const id = "id" in message ? message.id : undefined;
    const problem = problemOf(message, this.#sent.get(id));
    if (problem !== undefined) this.problems.push(problem);
    if (JSON.stringify(message).includes('"_meta"')) this.problems.push("a message has _meta");
    return true;
  }

  leaves(message: AnyMessage): void {
    if ("method" in message && "id" in message) this.#sent.set(message.id, message.method);
  }

  /** A line that is no message is answered with an error without an id. */
  writes(bytes: Uint8Array): void {
    const text = new TextDecoder().decode(bytes.subarray(0, 200));
    if (text.includes('"id":null')) this.problems.push("stdout has a line that is no message");
  }
}

/** The text of the answers in a session. */
export function answerText(seen: readonly SeenUpdate[], session: string): string {
  return seen.map(({ session: of, update }) =>
    of === session && update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
      ? update.content.text
      : ""
  ).join("");
}

/** The last value of each field of a session's calls, by id. */
export function calls(seen: readonly SeenUpdate[], session: string) {
  const all = new Map<string, Partial<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>>>();
  for (const { session: of, update } of seen) {
    if (of !== session) continue;
    if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") continue;
    const { sessionUpdate: _, ...fields } = update;
    all.set(update.toolCallId, { ...all.get(update.toolCallId), ...fields as object });
  }
  return [...all.values()];
}
