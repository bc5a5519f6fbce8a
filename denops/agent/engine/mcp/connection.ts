/** The MCP client of one running server. The package is loaded with the first server. */
import type {
  Client,
  ClientOptions,
  ProgressCallback,
  RequestOptions,
  StandardSchemaV1,
} from "../../deps/mcp.ts";
import { VERSION } from "../../protocol/version.ts";
import { pathToFileURL } from "node:url";
import { basename } from "node:path";
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { McpCall } from "../ports/mcp.ts";
import { cleanLine, cleanText } from "../../policy/clean.ts";
import { askForm, Form, type FormAnswer } from "./elicitation.ts";
import { LIST_METHODS, type ListRows, listRows, Page } from "./lists.ts";
import { forSession, type PipeTransport } from "./pipe_transport.ts";

/** Without a sign of life, a request fails after this time. */
const SILENCE_MS = 60_000;
/** A request ends after this time, whatever the server reports. */
const LONGEST_MS = 60 * 60_000;
/** Our own timeouts pause while the user is asked, so that the client's must not come first. */
const NEVER_MS = 2 ** 31 - 1;
/** Forms of one call. */
const MOST_FORMS = 5;
/** The least time between two reports of a call's progress. */
const PROGRESS_MS = 250;
/** Characters of a line about progress. */
const LONGEST_PROGRESS = 120;
const LONGEST_INSTRUCTIONS = 2_000;
const LONGEST_TITLE = 100;
const LONGEST_ERROR = 1_000;

export interface ConnectionOptions {
  readonly server: string;
  /** Folders of the project, absolute. */
  readonly roots: readonly string[];
  /** "legacy": the server ends at the newest protocol's first request. */
  readonly mode: "auto" | "legacy";
  /** Time for the first answer, in milliseconds. */
  readonly patience: number;
  /** A list has changed. */
  changed(list: "tools" | "resources" | "prompts"): void;
}

/** A request that is running for a session. */
interface OpenCall {
  readonly call: McpCall | undefined;
  readonly signal: AbortSignal;
  /** Restarts the timeout. */
  lives(): void;
  /** Nothing times out meanwhile. */
  pause<T>(work: Promise<T>): Promise<T>;
  forms: number;
}

export class McpConnection {
  readonly #client: Client;
  readonly #transport: PipeTransport;
  readonly #options: ConnectionOptions;
  readonly #calls = new Set<OpenCall>();
  #asking = false;

  private constructor(client: Client, transport: PipeTransport, options: ConnectionOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#options = options;
  }

  /** @throws {Error} if the server does not answer as one */
  static async open(
    transport: PipeTransport,
    options: ConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    const { Client } = await import("../../deps/mcp.ts");
    const client = new Client({ name: "agent.nvim", version: VERSION }, clientOptions(options));
    const connection = new McpConnection(client, transport, options);
    connection.#handle();
    await client.connect(transport, { signal, timeout: options.patience });
    return connection;
  }

  /** The server's name and version. */
  get title(): string | undefined {
    const { name, title = name, version } = this.#client.getServerVersion() ?? {};
    return title === undefined ? undefined : cleanLine(`${title} ${version ?? ""}`, LONGEST_TITLE);
  }

  get protocol(): string | undefined {
    const version = this.#client.getNegotiatedProtocolVersion();
    return version === undefined ? undefined : cleanLine(version, LONGEST_TITLE);
  }

  get instructions(): string | undefined {
    const text = cleanText(this.#client.getInstructions() ?? "", LONGEST_INSTRUCTIONS).trim();
    return text === "" ? undefined : text;
  }

  /** Empty if the server has none. */
  async list(name: keyof typeof LIST_METHODS, signal: AbortSignal): Promise<ListRows> {
    const capabilities = this.#client.getServerCapabilities() ?? {};
    const capability = name === "resourceTemplates" ? "resources" : name;
    if (capabilities[capability] === undefined) return { rows: [] };
    return await listRows(name, (cursor) => {
      const params = cursor === undefined ? {} : { cursor };
      return this.#request({ method: LIST_METHODS[name], params }, Page, {}, signal);
    });
  }

  /**
   * A request for a session. @param call the call that it runs for
   * @throws {ToolError} one line for the model
   */
  async request<Schema extends StandardSchemaV1>(
    request: { readonly method: string; readonly params: Record<string, unknown> },
    schema: Schema,
    { session, call }: { readonly session: string; readonly call?: McpCall },
    signal: AbortSignal,
  ): Promise<StandardSchemaV1.InferOutput<Schema>> {
    const watch = new Watch(signal);
    const open: OpenCall = { call, signal: watch.signal, forms: 0, lives: watch.lives, pause: watch.pause };
    this.#calls.add(open);
    try {
      let reported = -Infinity;
      const onprogress: RequestOptions["onprogress"] = (progress) => {
        watch.lives();
        const now = performance.now();
        if (now - reported < PROGRESS_MS) return;
        reported = now;
        call?.progress(progressLine(progress));
      };
      const options = { ...forSession(session), ...call === undefined ? {} : { onprogress } };
      return await this.#request(request, schema, options, watch.signal);
    } catch (error) {
      signal.throwIfAborted();
      const { server } = this.#options;
      if (watch.signal.aborted) {
        throw new ToolError(`The MCP server ${server} did not answer in time. The call was cancelled.`);
      }
      const { ended } = this.#transport;
      if (ended !== undefined) {
        const how = cleanLine(ended, LONGEST_ERROR);
        throw new ToolError(
          `The MCP server ${server} ended during the call: ${how}. It may have done a part.`,
        );
      }
      throw new ToolError(`The MCP server ${server} reports: ${cleanLine(messageOf(error), LONGEST_ERROR)}`);
    } finally {
      this.#calls.delete(open);
      watch[Symbol.dispose]();
    }
  }

  async #request<Schema extends StandardSchemaV1>(
    request: { readonly method: string; readonly params: Record<string, unknown> },
    schema: Schema,
    options: RequestOptions,
    signal: AbortSignal,
  ): Promise<StandardSchemaV1.InferOutput<Schema>> {
    const timeout = options.headers === undefined ? SILENCE_MS : NEVER_MS;
    return await this.#client.request(request, schema, { ...options, timeout, signal });
  }

  #handle(): void {
    const { roots } = this.#options;
    this.#client.setRequestHandler("roots/list", () => ({
      roots: roots.map((root) => ({ uri: pathToFileURL(root).href, name: basename(root) })),
    }));
    this.#client.setRequestHandler("elicitation/create", async ({ params }) => await this.#elicit(params));
  }

  /** Asks the user for the newest call, because old servers do not say which call a form belongs to. */
  async #elicit(params: unknown): Promise<FormAnswer> {
    const open = [...this.#calls].findLast(({ call }) => call?.questions !== undefined);
    const questions = open?.call?.questions;
    if (open?.call === undefined || questions === undefined || this.#asking) return { action: "decline" };
    const form = Form.safeParse(params);
    open.forms += 1;
    if (!form.success || open.forms > MOST_FORMS) return { action: "decline" };
    this.#asking = true;
    const asker = { questions, call: open.call.id };
    try {
      return await open.pause(
        askForm(`The MCP server ${this.#options.server}`, form.data, asker, open.signal),
      );
    } catch {
      return { action: "cancel" };
    } finally {
      this.#asking = false;
    }
  }
}

function clientOptions({ mode, patience, changed }: ConnectionOptions): ClientOptions {
  const refresh = (list: "tools" | "resources" | "prompts") => ({
    autoRefresh: false,
    onChanged: () => changed(list),
  });
  return {
    capabilities: { roots: {}, elicitation: { form: {} } },
    versionNegotiation: { mode, probe: { timeoutMs: Math.min(patience, PROBE_MS) } },
    // A server's schema could be made to take forever.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
    inputRequired: { maxRounds: MOST_FORMS },
    listChanged: { tools: refresh("tools"), resources: refresh("resources"), prompts: refresh("prompts") },
  };
}

/** Old servers may not answer the newest protocol's first request. */
const PROBE_MS = 10_000;

function progressLine({ progress, total, message }: Parameters<ProgressCallback>[0]): string {
  const share = total === undefined || total <= 0 ? `${progress}` : `${Math.round(100 * progress / total)} %`;
  return cleanLine([share, ...message === undefined ? [] : [message]].join(" "), LONGEST_PROGRESS);
}

/** The timeouts of a request. */
class Watch implements Disposable {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #longest: ReturnType<typeof setTimeout>;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #pauses = 0;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.#longest = setTimeout(() => this.#controller.abort(), LONGEST_MS);
    this.lives();
  }

  readonly lives = (): void => {
    clearTimeout(this.#silence);
    if (this.#pauses === 0) this.#silence = setTimeout(() => this.#controller.abort(), SILENCE_MS);
  };

  readonly pause = async <T>(work: Promise<T>): Promise<T> => {
    this.#pauses += 1;
    clearTimeout(this.#silence);
    try {
      return await work;
    } finally {
      this.#pauses -= 1;
      this.lives();
    }
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#longest);
  }
}
