/** Language servers see more than the model may: what they say is held to the same rules. Whole program. */
import assert from "node:assert/strict";
import { denoArguments } from "../../denops/agent/supervisor/agents/grants.ts";
import { ModelServer } from "../model/model_server.ts";
import { type AgentOptions, PLUGIN, type RunningAgent } from "../support/agent.ts";
import { ask, startTypescript, toolResults, turn, TYPESCRIPT } from "../support/language_servers.ts";
import { scratch } from "../support/project.ts";

/** Rules of all these tests, so that they share a program: a file each that nobody writes, reads or may read unasked. */
const OPTIONS = `rules = { ask = { "read(**/asked.ts)" } }, ` +
  `files = { safe_to_write = { { "**/*", true }, { "src/held.ts", false } }, deny_read = { "**/secret.ts" } }`;

function start(script: string, options: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  return startTypescript("utf-8", script, { options: OPTIONS, lines: 60, ...options });
}

const RENAME = ["rename_symbol", { path: "src/greet.ts", symbol: "greet", new_name: "salute" }] as const;

Deno.test("one approval shows the diffs of all files; a rejected renaming changes nothing, an allowed one all", async () => {
  const { "src/main.ts": main, ...others } = TYPESCRIPT;
  const files = { ...others, "src/held.ts": main };
  await using agent = await start(turn(RENAME), { project: files, columns: 100 });
  const { nvim, project } = agent;
  await nvim.command("Agent rename greet");
  const shown = await nvim.waitForScreen("a once");
  assert.match(shown, /rename greet to salute/);
  assert.match(shown, /src\/held\.ts needs your approval/);
  assert.match(
    shown,
    /── src\/greet\.ts ──[^]*\+export function salute[^]*── src\/held\.ts ──[^]*\+import \{ salute \}/,
  );
  await nvim.keys("r");
  await nvim.waitForScreen("· ready");
  assert.match(toolResults(agent.server)[0] ?? "", /^The user rejected this/);
  for (const path of ["src/greet.ts", "src/held.ts"] as const) {
    assert.equal(await project.read(path), files[path]);
  }

  agent.server.play(turn(RENAME));
  await nvim.keys("iAgain<Esc><CR>");
  await nvim.waitForScreen("a once");
  await nvim.keys("a");
  await nvim.waitForScreenGone("a once");
  await nvim.waitForScreen("· ready");
  assert.match(await project.read("src/greet.ts"), /function salute/);
  assert.match(await project.read("src/held.ts"), /import \{ salute \}/);
  assert.deepEqual(agent.server.problems, []);
});

Deno.test("a renaming goes into a buffer with unsaved changes and does not save it", async () => {
  await using agent = await start(turn(RENAME), { files: ["src/main.ts"] });
  await agent.nvim.keys("Go// mine<Esc>");
  const [renamed] = await ask(agent);
  assert.match(
    renamed ?? "",
    /src\/main\.ts \(\+2 −2, in the user's buffer with unsaved changes; not saved to disk\)/,
  );
  const lines = await agent.nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
  assert.equal(lines[0], 'import { salute } from "./greet.ts";');
  assert.equal(lines.at(-1), "// mine");
  assert.equal(await agent.project.read("src/main.ts"), TYPESCRIPT["src/main.ts"]);
  assert.match(await agent.project.read("src/greet.ts"), /function salute/);
});

Deno.test("what a rule asks about is left out, and asked about when it is named", async () => {
  const project = {
    ...TYPESCRIPT,
    "src/asked.ts": 'import { greet } from "./greet.ts";\nexport const hush: string = greet("token 123");\n',
  };
  const hover = ["get_hover_info", { path: "src/asked.ts", symbol: "hush" }] as const;
  const script = turn(
    ["find_references", { path: "src/greet.ts", symbol: "greet" }],
    ["get_call_hierarchy", { path: "src/greet.ts", symbol: "greet" }],
    ["find_symbol", { query: "hush", path: "src/greet.ts" }],
    hover,
  );
  await using agent = await start(script, { project });
  const { nvim, server } = agent;
  await nvim.command("Agent look around");
  const shown = await nvim.waitForScreen("a once");
  assert.match(shown, /rule read\(\*\*\/asked\.ts\) asks/);
  await nvim.keys("r");
  await nvim.waitForScreen("· ready");
  const [references, calls, symbols, refused] = toolResults(server);
  for (const text of [references, calls, symbols]) {
    assert.match(
      text ?? "",
      /\[1 file was left out: the user is asked .+ \(read\(\*\*\/asked\.ts\)\); use read\]/,
    );
    assert.doesNotMatch(text ?? "", /token|src\/asked/);
  }
  assert.match(references ?? "", /^3 references of greet/);
  assert.match(refused ?? "", /^The user rejected this/);
});

Deno.test("of files that may not be read nothing is told, also not of their symbols elsewhere, and they are not changed", async () => {
  const project = {
    ...TYPESCRIPT,
    "src/secret.ts":
      'import { greet } from "./greet.ts";\n/** The token is 123. */\nexport const hush: number = greet("token 123");\n',
    "src/open.ts": "/** Opens it. */\nexport function open(of: unknown): unknown {\n  return of;\n}\n",
    "src/use.ts": 'import { hush } from "./secret.ts";\nimport { open } from "./open.ts";\nopen(hush);\n',
  };
  const script = turn(
    ["get_diagnostics", { path: "src/secret.ts" }],
    ["find_references", { path: "src/greet.ts", symbol: "greet" }],
    ["get_call_hierarchy", { path: "src/greet.ts", symbol: "greet" }],
    ["find_symbol", { query: "hush", path: "src/greet.ts" }],
    RENAME,
    ["get_diagnostics", {}],
    ["get_hover_info", { path: "src/use.ts", symbol: "hush" }],
    ["find_definition", { path: "src/use.ts", symbol: "hush" }],
    ["get_hover_info", { path: "src/use.ts", symbol: "open" }],
  );
  await using agent = await start(script, {
    project,
    // The user has it open, so that Neovim knows its diagnostics.
    files: ["src/secret.ts"],
  });
  await agent.nvim.waitFor("#vim.diagnostic.get(0) > 0");
  const [refused, references, calls, symbols, renamed, all, hidden, definition, told] = await ask(agent);
  assert.match(refused ?? "", /^Cannot read src\/secret\.ts/);
  assert.match(references ?? "", /^3 references of greet/);
  assert.match(calls ?? "", /src\/main\.ts/);
  assert.match(symbols ?? "", /^No symbol like "hush"/);
  assert.match(renamed ?? "", /^Not allowed: src\/secret\.ts may hold secrets/);
  for (const text of [references, calls, all]) assert.doesNotMatch(text ?? "", /secret|token|hush/);
  assert.equal(await agent.project.read("src/greet.ts"), TYPESCRIPT["src/greet.ts"]);
  assert.equal(hidden, "The symbol is defined in a file that may not be read.");
  for (const text of [hidden, definition]) assert.doesNotMatch(text ?? "", /123|secret/);
  assert.match(told ?? "", /Opens it/);
});

Deno.test("an editor without language servers is offered none of their tools", async () => {
  await using project = await scratch(TYPESCRIPT);
  await using state = await scratch();
  await using server = await ModelServer.start(
    `call read_file {"path":"src/greet.ts"}\ncall edit_file ${
      JSON.stringify({ path: "src/greet.ts", old_str: "Hi", new_str: "Hello" })
    }\n---\nsay Done.`,
  );
  const host = new URL(server.url).host;
  const provider = {
    name: "test",
    wire: "openai_chat",
    base_url: `${server.url}/v1`,
    headers: {},
    key_source: "none",
  };
  const config = { model: "m", provider };
  const grants = {
    roots: [project.root],
    state: state.root,
    host,
    plugin: PLUGIN,
    module: `${PLUGIN}/denops/agent/engine/main.ts`,
    deno: "",
    denoDir: "",
    hidden: [],
  };
  const [run = "", ...rest] = denoArguments(grants);
  const command = new Deno.Command(Deno.execPath(), {
    args: [run, "--allow-env=AGENT_CONFIG", ...rest],
    env: { AGENT_CONFIG: JSON.stringify(config) },
    stdin: "piped",
    stdout: "piped",
  });
  await using engine = command.spawn();
  const writer = engine.stdin.getWriter();
  const lines = engine.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";
  const request = async (id: number, method: string, params: unknown): Promise<Record<string, unknown>> => {
    await writer.write(
      new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`),
    );
    while (true) {
      for (const line of buffered.split("\n").slice(0, -1)) {
        const message = JSON.parse(line);
        buffered = buffered.slice(line.length + 1);
        if (message.id === id && "result" in message) return message.result;
      }
      const { value, done } = await lines.read();
      if (done) throw new Error(`The engine ended before it answered ${method}.`);
      buffered += value;
    }
  };
  await request(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await request(2, "session/new", { cwd: project.root, mcpServers: [] });
  const answer = await request(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  assert.equal(answer.stopReason, "end_turn");
  await writer.close();
  await lines.cancel();
  await engine.status;
  assert.match(await project.read("src/greet.ts"), /Hello/);
  const tools = server.requests[0]?.body.tools;
  const names = Array.isArray(tools) ? tools.map((tool) => String(tool.function.name)) : [];
  assert.deepEqual(
    names.filter((name) => /symbols|refactor/.test(name)),
    [],
  );
  assert.ok(names.includes("edit"));
});
