/** MCP servers over HTTP: the bridge in its sandbox, and logins. */
import assert from "node:assert/strict";
import { pluginModules } from "../../denops/agent/supervisor/agents/launch.ts";
import { CommandSandbox } from "../../denops/agent/supervisor/commands/sandbox.ts";
import { hostOf } from "../../denops/agent/supervisor/mcp/http/bridge_program.ts";
import { McpLogins } from "../../denops/agent/supervisor/mcp/http/logins.ts";
import { startServerProgram } from "../../denops/agent/supervisor/mcp/server_program.ts";
import { ErrorLines, Pipes } from "../../denops/agent/supervisor/pipes/pipes.ts";
import { type Scratch, scratch } from "../support/project.ts";
import { LoginServer } from "./login_server.ts";

const ignore = Deno.build.os !== "linux";

/** A bridge to a server, and its answers by id. */
async function bridge(url: string, { root: state }: Scratch, logins: McpLogins) {
  const home = await scratch();
  const project = await scratch({ "a.txt": "" });
  const roots = [project.root];
  const environment = { PATH: Deno.env.get("PATH") ?? "", HOME: home.root };
  const user = { state_dir: state, command_read: [], command_write: [], command_environment: [] } as const;
  const sandbox = new CommandSandbox(
    roots,
    { ...user, sandbox: "auto", socket: undefined } as never,
    environment,
  );
  const modules = () => pluginModules(state);
  const program = await startServerProgram(
    { url },
    { roots, user, sandbox, environment, modules, denied: () => [] },
    { hosts: () => [hostOf(url)], onRefused: () => {}, token: (refused) => logins.token(url, refused) },
  );
  const pipes = new Pipes();
  const pipe = pipes.add(program, new ErrorLines());
  let output = "";
  let id = 0;
  return {
    async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
      id++;
      await pipes.write(pipe, `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const line = output.split("\n").slice(0, -1).map((text) => JSON.parse(text)).find((one) =>
          one.id === id
        );
        if (line !== undefined) return line;
        const { text, ended } = await pipes.read(pipe);
        if (ended !== undefined) throw new Error(ended);
        output += text;
      }
    },
    async [Symbol.asyncDispose]() {
      await pipes[Symbol.asyncDispose]();
      for (const folder of [project, home]) await folder[Symbol.asyncDispose]();
    },
  };
}

const HELLO = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } };
const CALL = { name: "note", arguments: {} };

Deno.test({
  name: "a server that wants a login gets one, a new token when the old one ends, and nothing before",
  ignore,
  async fn() {
    await using server = new LoginServer();
    await using state = await scratch();
    const logins = new McpLogins(state.root);
    {
      await using before = await bridge(server.url, state, logins);
      assert.match(JSON.stringify((await before.ask("initialize", HELLO)).error), /wants a login/);
    }
    assert.ok(!server.log.some((line) => line.startsWith("grant")));
    let pages = 0;
    await logins.login(server.url, (page) => {
      pages++;
      fetch(page).then((response) => response.body?.cancel());
    });
    assert.equal(pages, 1);
    assert.ok(server.log.includes("grant authorization_code with PKCE"));

    await using after = await bridge(server.url, state, logins);
    assert.equal((await after.ask("initialize", HELLO)).error, undefined);
    assert.match(JSON.stringify(await after.ask("tools/call", CALL)), /Noted\./);
    server.valid = "another";
    assert.match(JSON.stringify(await after.ask("tools/call", CALL)), /Noted\./, "the token was renewed");
    assert.ok(server.log.includes("grant refresh_token"));

    const path = state.path("logins/mcp/sessions.json");
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  },
});

Deno.test("a denied, a forged and a stopped login store nothing", async () => {
  await using server = new LoginServer();
  await using state = await scratch();
  const logins = new McpLogins(state.root);
  const visit = (page: string) => void fetch(page).then((response) => response.body?.cancel());
  server.options.denial = "access_denied";
  await assert.rejects(logins.login(server.url, visit), /Cannot log in: .*access_denied/);
  delete server.options.denial;
  server.options.isForged = true;
  await assert.rejects(logins.login(server.url, visit), /answer is for another login/);
  const first = assert.rejects(logins.login(server.url, () => {}), /The login was stopped/);
  server.options.isForged = false;
  await logins.login(server.url, visit);
  await first;
  assert.equal(await logins.token(server.url), server.valid);
  assert.equal(await logins.token(`${server.url}/other`), undefined);
});

Deno.test("a server cannot send a login to an address of this machine or its network", async () => {
  await using server = new LoginServer();
  await using state = await scratch();
  for (
    const own of [
      "http://127.0.0.1:1",
      "https://127.0.0.1:1",
      "https://localhost:1",
      "https://10.0.0.1",
      "https://[::1]",
    ]
  ) {
    const logins = new McpLogins(state.root);
    const metadata = { resource: server.url, authorization_servers: [own] };
    await using evil = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ url }) => new Response(JSON.stringify({ ...metadata, resource: new URL("/mcp", url).href })),
    );
    const address = `http://127.0.0.1:${evil.addr.port}`;
    await assert.rejects(
      logins.login(`${address}/mcp`, () => assert.fail("a page was opened")),
      /Cannot log in/,
    );
  }
});
