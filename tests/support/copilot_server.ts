/**
 * GitHub and Copilot as three servers on 127.0.0.1: github.com, api.github.com and api.githubcopilot.com. What is sent to
 * them is checked as far as the real ones do; behind the last one a scripted model answers.
 */
import { ModelServer } from "../model/model_server.ts";

/** The login, which must never reach an engine. */
export const OAUTH = "ghu_scripted0login0of0nobody000000000000";
const CLIENT_ID = "Iv1.b507a08c87ecfe98";
export const USER_CODE = "ABCD-1234";

export interface Seen {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Json = Readonly<Record<string, unknown>>;

export interface CopilotOptions {
  readonly script?: string;
  /** What polls for the login's token are answered, in turn; the last one again and again. */
  readonly polls?: readonly Json[];
  /** Of the answer with a key, beside its own. */
  readonly key?: Json;
  readonly models?: readonly Json[];
  /** Of the page of the code. */
  readonly page?: string;
}

/** A model as `/models` lists it, as far as it is read. */
export function listed(
  id: string,
  changes: Json = {},
  supports: Json = { tool_calls: true, vision: true },
): Json {
  return {
    id,
    name: id,
    model_picker_enabled: true,
    capabilities: {
      type: "chat",
      limits: { max_context_window_tokens: 264_000, max_prompt_tokens: 200_000, max_output_tokens: 64_000 },
      supports,
    },
    ...changes,
  };
}

export class CopilotServer implements AsyncDisposable {
  readonly model: ModelServer;
  readonly #servers: readonly Deno.HttpServer<Deno.NetAddr>[];
  readonly #options: CopilotOptions;
  /** All requests that are not polls, in order. */
  readonly seen: Seen[] = [];
  readonly polls: Seen[] = [];
  readonly problems: string[] = [];
  /** Logins that GitHub knows. */
  readonly logins = new Set([OAUTH]);
  /** What the exchange of a login and the question about the account are answered instead. */
  exchange: { readonly status: number; readonly body: Json } | undefined;
  account: Json | undefined;
  keys = 0;
  /** The last key holds. */
  #holds = true;

  private constructor(model: ModelServer, options: CopilotOptions) {
    this.model = model;
    this.#options = options;
    const serve = (handler: (seen: Seen, request: Request) => Response | Promise<Response>) =>
      Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
        const seen = {
          path: `${request.method} ${new URL(request.url).pathname}`,
          headers: Object.fromEntries(request.headers),
          body: await request.text(),
        };
        (seen.path.endsWith("/access_token") ? this.polls : this.seen).push(seen);
        return await handler(seen, request);
      });
    this.#servers = [
      serve((seen) => this.#web(seen)),
      serve((seen) => this.#api(seen)),
      serve((seen, request) => this.#chat(seen, request)),
    ];
  }

  static async start(options: CopilotOptions = {}): Promise<CopilotServer> {
    return new CopilotServer(await ModelServer.start(options.script ?? "say Hello.\nrepeat"), options);
  }

  #url(index: number): string {
    return `http://127.0.0.1:${this.#servers[index]?.addr.port}`;
  }

  get web(): string {
    return this.#url(0);
  }

  /** Of api.githubcopilot.com. */
  get address(): string {
    return this.#url(2);
  }

  /** The user's options for the provider. */
  get options() {
    return { github_url: this.web, github_api_url: this.#url(1), base_url: this.address };
  }

  /** As {@link options}, in Lua. */
  get lua(): string {
    const fields = Object.entries(this.options).map(([name, value]) => `${name} = "${value}"`);
    return `providers = { copilot = { ${fields.join(", ")} } }`;
  }

  /** What other editors have kept. */
  appsJson(oauth = OAUTH): string {
    const host = new URL(this.web).host;
    return JSON.stringify({ [`${host}:${CLIENT_ID}`]: { user: "nobody", oauth_token: oauth } });
  }

  get key(): string {
    return `tid=${this.keys};exp=1;sku=scripted:mac`;
  }

  /** Whatever engines have, Copilot takes it no longer. */
  endKey(): void {
    this.#holds = false;
  }

  /** Requests for answers. */
  get chats(): readonly Seen[] {
    const asks = ["/chat/completions", "/responses", "/v1/messages"].map((path) => `POST ${path}`);
    return this.seen.filter(({ path }) => asks.includes(path));
  }

  #web({ path, headers, body }: Seen): Response {
    const fields = new URLSearchParams(body);
    if (fields.get("client_id") !== CLIENT_ID) this.problems.push(`${path}: client_id`);
    if (headers.accept !== "application/json") this.problems.push(`${path}: accept`);
    if (path === "POST /login/device/code") {
      if (fields.get("scope") !== "read:user") this.problems.push(`${path}: scope`);
      return Response.json({
        device_code: "device",
        user_code: USER_CODE,
        verification_uri: `${this.#options.page ?? this.web}/login/device`,
        expires_in: 900,
        interval: 0,
      });
    }
    if (path !== "POST /login/oauth/access_token") return this.#unknown(path);
    const isRight = fields.get("device_code") === "device" &&
      fields.get("grant_type") === "urn:ietf:params:oauth:grant-type:device_code";
    if (!isRight) this.problems.push(`${path}: ${body}`);
    const { polls = [{ access_token: OAUTH, token_type: "bearer", scope: "read:user" }] } = this.#options;
    return Response.json(polls[Math.min(this.polls.length, polls.length) - 1]);
  }

  #api({ path, headers }: Seen): Response {
    const oauth = /^token (.+)$/.exec(headers.authorization ?? "")?.[1];
    for (const name of ["user-agent", "editor-version", "editor-plugin-version"]) {
      if (!/^agent\.nvim\/\d/.test(headers[name] ?? "")) this.problems.push(`${path}: ${name}`);
    }
    if (oauth === undefined || !this.logins.has(oauth)) {
      return Response.json({ message: "Bad credentials", status: "401" }, { status: 401 });
    }
    if (path === "GET /copilot_internal/user") return Response.json(this.account ?? {});
    if (path !== "GET /copilot_internal/v2/token") return this.#unknown(path);
    if (this.exchange !== undefined) {
      return Response.json(this.exchange.body, { status: this.exchange.status });
    }
    this.keys += 1;
    this.#holds = true;
    return Response.json({
      token: this.key,
      expires_at: Math.floor(Date.now() / 1_000) + 1_800,
      refresh_in: 1_500,
      endpoints: { api: "https://api.individual.githubcopilot.com" },
      ...this.#options.key,
    });
  }

  async #chat({ path, headers, body }: Seen, request: Request): Promise<Response> {
    const facts = { "copilot-integration-id": "vscode-chat", "x-github-api-version": "2025-10-01" };
    for (const [name, value] of Object.entries(facts)) {
      if (headers[name] !== value) this.problems.push(`${path}: ${name}`);
    }
    if (!/^agent\.nvim\/\d/.test(headers["editor-version"] ?? "")) {
      this.problems.push(`${path}: editor-version`);
    }
    if (JSON.stringify([headers, body]).includes(OAUTH)) this.problems.push(`${path}: it has the login`);
    if (!this.#holds || headers.authorization !== `Bearer ${this.key}`) {
      return new Response("IDE token expired: unauthorized: token expired\n", { status: 401 });
    }
    if (path === "GET /models") {
      const models = this.#options.models ?? [listed("scripted", { is_chat_default: true })];
      return Response.json({ object: "list", data: models });
    }
    // What a server on this machine is asked, to find out which one it is.
    if (request.method === "GET") return new Response("404 page not found", { status: 404 });
    if (!["user", "agent"].includes(headers["x-initiator"] ?? "")) this.problems.push(`${path}: x-initiator`);
    const seesImages = body.includes("data:image/");
    if (seesImages !== (headers["copilot-vision-request"] === "true")) this.problems.push(`${path}: vision`);
    const { pathname } = new URL(request.url);
    const behind = pathname.startsWith("/v1/") ? pathname : `/v1${pathname}`;
    return await fetch(this.model.url + behind, {
      method: request.method,
      headers: { "content-type": "application/json", ...versionOf(headers) },
      body,
      signal: request.signal,
    });
  }

  #unknown(path: string): Response {
    this.problems.push(`${path}: there is no such page`);
    return new Response("", { status: 404 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.shutdown()));
    await this.model[Symbol.asyncDispose]();
  }
}

/** What the scripted model's server wants of the wire. */
function versionOf(headers: Seen["headers"]): Record<string, string> {
  const version = headers["anthropic-version"];
  return version === undefined ? {} : { "anthropic-version": version, "x-api-key": "key" };
}
