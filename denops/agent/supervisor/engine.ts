/** One engine process: started with exactly its grants, spoken to over ACP. */
import {
  client,
  type ClientConnection,
  methods,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import type { EngineConfig } from "../protocol/config.ts";
import {
  EXTENSIONS,
  FILE_MODIFIED,
  FileModified,
  LSP,
  META,
  RETRY,
  Retry,
  UNSAVED_TEXT,
  UnsavedTextRequest,
  WRITE_UNSAVED,
  WriteUnsavedRequest,
  type WriteUnsavedResponse,
} from "../protocol/extensions.ts";
import { LspQuestion, type LspResponse } from "../protocol/lsp.ts";
import { VERSION } from "../protocol/version.ts";

/** Bytes of stderr that are kept for a message. */
const STDERR_KEPT = 4_000;
/** An engine that has not answered `initialize` by then is not going to. */
const START_MS = 20_000;

export interface EngineCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** What comes from the engine. Those without a promise must return at once, so that order holds. */
export interface EngineEvents {
  update(notification: SessionNotification): void;
  fileModified(event: FileModified): void;
  retry(event: Retry): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  unsavedText(request: { sessionId: string; path: string }): Promise<{ text?: string | undefined }>;
  writeUnsaved(request: WriteUnsavedRequest): Promise<WriteUnsavedResponse>;
  lsp(question: LspQuestion): Promise<LspResponse>;
}

export class Engine implements AsyncDisposable {
  /** How the process ended, as one line; never rejects. */
  readonly ended: Promise<string>;
  readonly #process: Deno.ChildProcess;
  readonly #connection: ClientConnection;

  private constructor(process: Deno.ChildProcess, connection: ClientConnection, ended: Promise<string>) {
    this.#process = process;
    this.#connection = connection;
    this.ended = ended;
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
    const connection = clientApp(events).connect(ndJsonStream(process.stdin, process.stdout));
    const engine = new Engine(process, connection, ended);
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

  async newSession(root: string): Promise<string> {
    const { sessionId } = await this.#connection.agent.request(methods.agent.session.new, {
      cwd: root,
      mcpServers: [],
    });
    return sessionId;
  }

  /** @throws {RequestError} if the turn failed; never if the process ended, see `ended` */
  async prompt(sessionId: string, text: string): Promise<PromptResponse> {
    const prompt = [{ type: "text" as const, text }];
    try {
      return await this.#connection.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    } catch (error) {
      // A closed pipe is seen before the end of the process, which says more.
      if (this.#connection.signal.aborted) return await new Promise<never>(() => {});
      throw error;
    }
  }

  cancel(sessionId: string): void {
    this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
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
      clientCapabilities: { session: { notices: {} }, _meta: { [META]: { extensions: EXTENSIONS } } },
      // The key is in here: it travels on stdin only.
      _meta: { [META]: { extensions: EXTENSIONS, config } },
    });
    if (answer.protocolVersion !== 1) {
      throw new Error(`Cannot talk to the agent: it speaks ACP ${answer.protocolVersion}.`);
    }
  }
}

function clientApp(events: EngineEvents) {
  return client({ name: "agent.nvim" })
    .onNotification(methods.client.session.update, ({ params }) => events.update(params))
    .onNotification(FILE_MODIFIED, FileModified, ({ params }) => events.fileModified(params))
    .onNotification(RETRY, Retry, ({ params }) => events.retry(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => events.permission(params))
    .onRequest(UNSAVED_TEXT, UnsavedTextRequest, ({ params }) => events.unsavedText(params))
    .onRequest(WRITE_UNSAVED, WriteUnsavedRequest, ({ params }) => events.writeUnsaved(params))
    .onRequest(LSP, LspQuestion, ({ params }) => events.lsp(params));
}

async function endOf(process: Deno.ChildProcess): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const bytes of process.stderr) {
      said = (said + decoder.decode(bytes, { stream: true })).slice(-STDERR_KEPT);
    }
  })().catch(() => {});
  const status = await process.status;
  await reading;
  const how = status.signal === null ? `exit code ${status.code}` : `signal ${status.signal}`;
  const lines = said.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const telling = lines.find((line) => /error|cannot|can't|denied|not found/i.test(line)) ?? lines.at(-1);
  return telling === undefined ? how : `${how}: ${telling.slice(0, 300)}`;
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

/** The moment in which a dying process is reaped. */
function pauseForEnd(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), 200));
}
