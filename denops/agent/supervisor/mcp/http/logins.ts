/**
 * Logins at MCP servers over HTTP: OAuth 2.1 with a redirect to this machine. The supervisor keeps the tokens; a bridge
 * gets one access token at a time. Source: modelcontextprotocol.io/specification, "Authorization"; RFC 8252.
 */
import * as z from "../../../deps/zod.ts";
import { messageOf } from "../../../shared/errors.ts";
import { defined } from "../../../shared/records.ts";
import { SessionBook } from "../../gate/session_book.ts";
import { judgedFetch } from "./judged_fetch.ts";
import type { Unauthorized } from "./messages.ts";

type Sdk = typeof import("../../../deps/mcp.ts");
type Provider = Parameters<Sdk["auth"]>[0] & { readonly redirectUrl?: unknown };
type Context = Parameters<Sdk["auth"]>[1];
type Tokens = Awaited<ReturnType<Provider["tokens"]>>;
type Registration = Awaited<ReturnType<Provider["clientInformation"]>>;

/** All of one server, by its address. */
const Login = z.object({
  client: z.looseObject({}).optional(),
  tokens: z.looseObject({}).optional(),
  discovery: z.looseObject({}).optional(),
});
type Login = z.infer<typeof Login>;

/** Time for the user to agree. */
const LOGIN_MS = 10 * 60_000;
/** A refresh opens no page. */
const NO_PAGE = "http://127.0.0.1/callback";
/** A refresh ends in this time. */
const REFRESH_MS = 30_000;

export class McpLogins {
  readonly #book: SessionBook<Login>;
  /** By the server's address. */
  readonly #refreshing = new Map<string, Promise<string | undefined>>();
  /** By the server's address: what it said when it refused the last request. */
  readonly #refusals = new Map<string, Unauthorized>();
  #current: AbortController | undefined;

  constructor(stateDir: string) {
    // Beside other logins, which the engine's sandbox hides.
    this.#book = new SessionBook(stateDir, "logins/mcp", Login);
  }

  /** @param refused the server did not take the last one @returns undefined if the user has to log in */
  async token(url: string, refused?: Unauthorized): Promise<string | undefined> {
    if (refused === undefined) {
      const stored = await this.#book.of(url).catch(() => undefined);
      return (stored?.tokens as Tokens)?.access_token;
    }
    this.#refusals.set(url, refused);
    // A refresh token may be valid once.
    const refreshing = this.#refreshing.get(url) ??
      this.#refresh(url, refused).finally(() => this.#refreshing.delete(url));
    this.#refreshing.set(url, refreshing);
    return await refreshing;
  }

  async #refresh(url: string, refused: Unauthorized): Promise<string | undefined> {
    const stored = await this.#book.of(url).catch(() => undefined);
    const tokens = stored?.tokens as Tokens;
    if (stored === undefined || tokens?.refresh_token === undefined) return undefined;
    const login = new LoginProvider(stored, NO_PAGE, () => {
      throw new Error("the refresh token has expired");
    });
    try {
      await this.#authorize(login, url, { ...contextOf(refused) }, AbortSignal.timeout(REFRESH_MS));
    } catch {
      return undefined;
    }
    await this.#book.note(url, login.login);
    return (login.login.tokens as Tokens)?.access_token;
  }

  /** @param open shows the page of the login @throws {Error} one line */
  async login(url: string, open: (page: string) => void): Promise<void> {
    this.#current?.abort();
    const stop = this.#current = new AbortController();
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(LOGIN_MS)]);
    await using callback = new Callback(signal);
    const login = new LoginProvider({}, callback.address, (page) => open(pageAddress(page, url)));
    try {
      const context = contextOf(this.#refusals.get(url) ?? {});
      if (await this.#authorize(login, url, context, signal) === "REDIRECT") {
        const answer = await callback.answer;
        if (answer.get("state") !== login.stateText) {
          throw new Error("the page's answer is for another login");
        }
        const denial = answer.get("error");
        if (denial !== null) throw new Error(answer.get("error_description") ?? denial);
        const iss = answer.get("iss") ?? undefined;
        const authorizationCode = answer.get("code") ?? "";
        await this.#authorize(login, url, { ...context, authorizationCode, ...defined({ iss }) }, signal);
      }
    } catch (error) {
      if (stop.signal.aborted) throw new Error("The login was stopped.");
      const reason = signal.aborted ? "nobody agreed in ten minutes" : messageOf(error);
      throw new Error(`Cannot log in: ${reason}. Try again with :Agent mcp.`);
    }
    await this.#book.note(url, login.login);
  }

  async #authorize(
    login: LoginProvider,
    serverUrl: string,
    more: Partial<Context>,
    signal: AbortSignal,
  ): Promise<"AUTHORIZED" | "REDIRECT"> {
    const { auth } = await import("../../../deps/mcp.ts");
    const fetchFn = judgedFetch(serverUrl, signal);
    return await auth(login as unknown as Provider, { serverUrl, fetchFn, ...more });
  }
}

function contextOf({ metadata, scope }: Unauthorized): Partial<Context> {
  const resourceMetadataUrl = metadata === undefined ? undefined : URL.parse(metadata) ?? undefined;
  return defined({ resourceMetadataUrl, scope });
}

/** A page that a browser may open. @throws {Error} one line */
function pageAddress(page: URL, server: string): string {
  const isOwn = page.protocol === "http:" && page.hostname === new URL(server).hostname;
  if (page.protocol !== "https:" && !isOwn) {
    throw new Error(`its page has the address ${page.protocol}, not https`);
  }
  return page.href;
}

/** The state of one login, as the library asks for it. */
class LoginProvider {
  readonly stateText = crypto.randomUUID();
  readonly redirectUrl: string;
  readonly redirectToAuthorization: (page: URL) => void;
  login: Login;
  #verifier = "";

  constructor(login: Login, redirectUrl: string, redirect: (page: URL) => void) {
    this.login = login;
    this.redirectUrl = redirectUrl;
    this.redirectToAuthorization = redirect;
  }

  get clientMetadata() {
    return {
      client_name: "agent.nvim",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state(): string {
    return this.stateText;
  }

  clientInformation(): Registration {
    return this.login.client as Registration;
  }

  saveClientInformation(client: object): void {
    this.login = { ...this.login, client: { ...client } };
  }

  tokens(): Tokens {
    return this.login.tokens as Tokens;
  }

  saveTokens(tokens: object): void {
    this.login = { ...this.login, tokens: { ...tokens } };
  }

  /** The authorization server of this login: the code goes to no other. */
  discoveryState(): object | undefined {
    return this.login.discovery;
  }

  saveDiscoveryState(discovery: object): void {
    this.login = { ...this.login, discovery: { ...discovery } };
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

/** Listens on this machine for the page's answer, once. */
class Callback implements AsyncDisposable {
  readonly answer: Promise<URLSearchParams>;
  readonly address: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
    this.answer = promise;
    promise.catch(() => {});
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url, method }) => {
      const { pathname, searchParams } = new URL(url);
      if (method !== "GET" || pathname !== "/callback") return new Response("Not found", { status: 404 });
      resolve(searchParams);
      return new Response("Go back to Neovim. You can close this page.");
    });
    this.address = `http://127.0.0.1:${this.#server.addr.port}/callback`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
