/** Every option, set in Neovim, arrives where it is used. */
import assert from "node:assert/strict";
import { asked } from "../support/entries.ts";
import { basename, join } from "node:path";
import { EngineConfig, UserConfig } from "../../denops/agent/protocol/config.ts";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { engineConfig } from "../../denops/agent/supervisor/agents/provider.ts";
import { PLUGIN, startAgent } from "../support/agent.ts";
import { scratch, waitUntil } from "../support/project.ts";

/** Option → Lua for a value that is not its default, who uses it, and what arrives there (the value unless told). */
const OPTIONS: Readonly<
  Record<string, readonly [lua: string, user: "engine" | "supervisor" | "editor", there?: unknown]>
> = {
  provider: ['"mine"', "engine", { provider: { name: "mine" } }],
  model: ['"model-x"', "engine"],
  providers: [
    '{ mine = { wire = "ollama", base_url = "http://127.0.0.1:9", api_key = "env:KEY", headers = { a = "b" } } }',
    "engine",
    { provider: { wire: "ollama", base_url: "http://127.0.0.1:9", headers: { a: "b" }, api_key: "secret" } },
  ],
  root: ['"/elsewhere"', "editor"],
  roots: ['{ "/other" }', "supervisor"],
  max_iterations: ["7", "engine"],
  max_output_tokens: ["700", "engine"],
  context_window: ["7000", "engine"],
  temperature: ["0.7", "engine"],
  request_timeout: ["70", "engine"],
  vision: ["true", "engine"],
  native_tools: ["false", "engine"],
  max_tokens_per_turn: ["71", "engine"],
  max_cost_per_session: ["7.5", "engine"],
  max_cost_per_day: ["8.5", "engine"],
  prices: ['{ ["model-x"] = { input = 1, output = 2 } }', "engine", { price: { input: 1, output: 2 } }],
  safe_to_write: ['{ { "*.x", false } }', "engine", { safe_to_write: [{ glob: "*.x", safe: false }] }],
  deny_read: ['{ "*.y" }', "engine"],
  allow: ['{ "run(a)" }', "supervisor", { rules: { allow: ["run(a)"] } }],
  ask: ['{ "run(b)" }', "supervisor", { rules: { ask: ["run(b)"] } }],
  deny: ['{ "run(c)" }', "supervisor", { rules: { deny: ["run(c)"] } }],
  commands: ['"ask"', "supervisor"],
  command_read: ['{ "~/r" }', "supervisor"],
  command_write: ['{ "/w" }', "supervisor"],
  command_environment: ['{ "E" }', "supervisor"],
  lsp_start: ['"never"', "supervisor"],
  tools_off: ['{ "think" }', "engine"],
  edit_form: ['"whole"', "engine"],
  effort: ['"high"', "engine"],
  git_branch: ['"agent/"', "supervisor"],
  title: ["false", "engine"],
  mode: ['"plan"', "engine"],
  summary_model: ['"model-y"', "engine"],
  explore_model: ['"model-z"', "engine"],
  keep_sessions_days: ["30", "engine"],
  save_unsaved: ["true", "editor"],
  sandbox: ['"off"', "supervisor"],
  host: ['"standalone"', "editor"],
  deno: ['{ "deno", "--x" }', "supervisor"],
  state_dir: ['"/state"', "supervisor"],
  layout: ['"tab"', "editor"],
  width: ["70", "editor"],
  height: ["20", "editor"],
  attach: ['{ "file" }', "editor"],
  input_height: ["5", "editor"],
  approval: ['"select"', "editor"],
  approval_focus: ['"never"', "editor"],
  review_keys: ["false", "editor"],
  review_advance: ["true", "editor"],
  chat_width: ["72", "editor"],
  show_diffs: ['"open"', "editor"],
  spinner: ["false", "editor"],
  notify_with: ['"bell"', "editor"],
  code_actions: ["false", "editor"],
  notify: ["false", "editor"],
};

const WORLD = {
  env: (name: string) => name === "KEY" ? "secret" : undefined,
  fetch: () => Promise.reject(new Error("no network")),
  run: () => Promise.reject(new Error("no commands")),
};

/** Lua that sets all options, and prints what is in force, what is sent, and how a Lua value looks in JSON. */
function lua(): string {
  const set = Object.entries(OPTIONS).map(([name, [value]]) => `${name} = ${value}`).join(", ");
  return `vim.opt.runtimepath:prepend(${JSON.stringify(PLUGIN)})
    require("agent").setup({ ${set} })
    local config = require("agent.config")
    local defaults = {}
    for _, option in ipairs(require("agent.config.schema").options) do defaults[option.name] = option.default or vim.NIL end
    io.write(vim.json.encode({
      given = { ${set} },
      defaults = defaults,
      problems = config.current_problems(),
      here = config.get(),
      sent = config.for_supervisor(),
    }))`;
}

type Values = Readonly<Record<string, unknown>>;

async function askNeovim(): Promise<
  Readonly<Record<"given" | "defaults" | "problems" | "here" | "sent", Values>>
> {
  const command = new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", {
    args: ["--clean", "-l", "-"],
    stdin: "piped",
    stdout: "piped",
  });
  await using process = command.spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(lua()));
  await writer.close();
  return JSON.parse(new TextDecoder().decode((await process.output()).stdout));
}

Deno.test("every option that is set in Neovim arrives where it is used", async () => {
  const { given, defaults, problems, here, sent } = await askNeovim();
  assert.deepEqual(problems, []);
  assert.deepEqual(Object.keys(OPTIONS).sort(), Object.keys(defaults).sort(), "each option has its row");
  const supervisor = UserConfig.parse(sent);
  const engine = EngineConfig.parse(await engineConfig(supervisor, WORLD, ["/project"]));
  const there = { engine, supervisor, editor: here };
  const lua = await luaSources();
  for (const [name, [, user, expected = { [name]: given[name] }]] of Object.entries(OPTIONS)) {
    assert.notDeepEqual(given[name], defaults[name], `${name} is given another value than its default`);
    if (name === "safe_to_write") assert.deepEqual(engine.safe_to_write.at(-1), { glob: "*.x", safe: false });
    else assertHas(there[user], expected as Values, name);
    // What the editor uses is read in the editor.
    if (user === "editor") {
      assert.match(lua, new RegExp(`\\b(?:get\\(\\)|options|o|option|config)\\.${name}\\b|"${name}"`), name);
    }
  }
});

function assertHas(all: Values, part: Values, name: string): void {
  for (const [key, value] of Object.entries(part)) {
    const isPart = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isPart) assertHas(all[key] as Values, value as Values, name);
    else assert.deepEqual(all[key], value, name);
  }
}

async function luaSources(folder = join(PLUGIN, "lua/agent")): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory && name !== "config") text += await luaSources(path);
    else if (name.endsWith(".lua")) text += await Deno.readTextFile(path);
  }
  return text;
}

Deno.test("keep_sessions_days, set in Neovim, deletes what is older", async () => {
  await using project = await scratch({}, { git: true });
  await using state = await scratch();
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(project.root)));
  const folder = state.path(`${basename(project.root)}-${hash.toHex().slice(0, 12)}`);
  await Deno.mkdir(folder, { recursive: true });
  using database = await Database.openIn(folder);
  const store = new SqliteStore(database);
  for (const id of ["old", "recent"]) {
    store.createSession({ id, root: project.root, model: "scripted" });
    store.append(id, { entries: [asked(id)] });
  }
  database.run("UPDATE sessions SET updated = ? WHERE id = 'old'", Date.now() - 31 * 24 * 60 * 60 * 1_000);
  const options = `keep_sessions_days = 30, state_dir = ${JSON.stringify(state.root)}`;
  await using agent = await startAgent({ script: "say Hello there.", cwd: project.root, options });
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("Hello there.");
  const ids = () => database.all("SELECT id FROM sessions WHERE deleted = 0").map(({ id }) => String(id));
  await waitUntil("the old session to go", () => !ids().includes("old"));
  assert.ok(ids().includes("recent"));
});
