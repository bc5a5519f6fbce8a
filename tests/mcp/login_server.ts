/** An MCP server over HTTP with OAuth 2.1, in this process. */

interface LoginServerOptions {
  /** The page's answer instead of a code: "access_denied". */
  denial?: string;
  /** The page answers with another state. */
  isForged?: boolean;
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

export class LoginServer implements AsyncDisposable {
  /** Methods and paths of all requests, grants and MCP methods. */
  readonly log: string[] = [];
  readonly options: LoginServerOptions = {};
  /** The only token that it takes. */
  valid = "";
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #count = 0;

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    this.log.push(`${request.method} ${pathname}`);
    if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return json({ resource: this.url, authorization_servers: [this.origin], scopes_supported: ["read"] });
    }
    if (pathname.startsWith("/.well-known/oauth-authorization-server")) return json(this.#metadata());
    if (pathname === "/register") return json({ ...await request.json(), client_id: "client" }, 201);
    if (pathname === "/authorize") return this.#authorize(searchParams);
    if (pathname === "/token") return await this.#token(request);
    return pathname === "/mcp" ? await this.#mcp(request) : new Response("not found", { status: 404 });
  }

  #metadata() {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    };
  }

  #authorize(wanted: URLSearchParams): Response {
    const page = new URL(wanted.get("redirect_uri") ?? "");
    const { denial, isForged } = this.options;
    if (denial === undefined) page.searchParams.set("code", "code");
    else page.searchParams.set("error", denial);
    page.searchParams.set("state", isForged ? "forged" : wanted.get("state") ?? "");
    return Response.redirect(page);
  }

  async #token(request: Request): Promise<Response> {
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    this.log.push(`grant ${form.grant_type}${form.code_verifier === undefined ? "" : " with PKCE"}`);
    this.valid = `token${++this.#count}`;
    const token = { access_token: this.valid, token_type: "Bearer", expires_in: 3600, scope: "read" };
    return json({ ...token, refresh_token: `refresh${this.#count}` });
  }

  async #mcp(request: Request): Promise<Response> {
    if (this.valid === "" || request.headers.get("authorization") !== `Bearer ${this.valid}`) {
      const metadata = `${this.origin}/.well-known/oauth-protected-resource`;
      const challenge = `Bearer resource_metadata="${metadata}", scope="read"`;
      return json({ error: "unauthorized" }, 401, { "www-authenticate": challenge });
    }
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = await request.json();
    this.log.push(`rpc ${method}`);
    if (id === undefined) return new Response(null, { status: 202 });
    const serverInfo = { name: "notes", version: "1" };
    const { protocolVersion } = params ?? {};
    const result = method === "initialize"
      ? { protocolVersion, capabilities: { tools: {} }, serverInfo }
      : method === "tools/list"
      ? { tools: [{ name: "note", inputSchema: { type: "object" } }] }
      : method === "tools/call"
      ? { content: [{ type: "text", text: "Noted." }] }
      : undefined;
    if (result !== undefined) return json({ jsonrpc: "2.0", id, result });
    return json({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method}` } });
  }
}
