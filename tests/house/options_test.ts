/** Every option, set in Neovim, arrives where it is used. */
import assert from "node:assert/strict";
import { asked } from "../support/entries.ts";
import { basename, join } from "node:path";
import { EngineConfig, UserConfig } from "../../denops/agent/protocol/config.ts";
import facts from "../../denops/agent/protocol/options.json" with { type: "json" };
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { ProviderOptions } from "../../denops/agent/protocol/options/shapes.ts";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { engineConfig } from "../../denops/agent/supervisor/agents/provider.ts";
import { PLUGIN, startAgent } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch, waitUntil } from "../support/project.ts";

type Option = (typeof facts.options)[number];

/** Lua for values of options that a type alone does not tell. */
const VALUES: Readonly<Record<string, string>> = {
  provider: '"mine"',
  providers:
    '{ mine = { wire = "ollama", base_url = "http://127.0.0.1:9", api_key = "env:KEY", headers = { a = "b" } } }',
  mode: '"plan"',
  "mcp.servers": '{ notes = { cmd = { "notes-server" }, hosts = { "notes.example" } } }',
  hooks: '{ Stop = { { hooks = { { command = "make test" } } } } }',
  agents: '{ mine = { title = "Mine", cmd = { "mine", "acp" }, hosts = { "mine.example" } } }',
  "models.*.price": "{ input = 1, output = 2 }",
  "search.embeddings": '{ provider = "mine", model = "m" }',
  "web.search": '{ engine = "searxng", url = "http://127.0.0.1:9" }',
  "files.safe_to_write": '{ { "*.x", false } }',
  "rules.allow": '{ "run(a)" }',
  "rules.ask": '{ "run(b)" }',
  "rules.deny": '{ "run(c)" }',
  "sessions.git_branch": '"agent/"',
  "review.keys": '{ keep = "gk" }',
};

/** Where a value arrives in another shape than it was set. */
const SHAPES: Readonly<Record<string, object>> = {
  provider: { provider: { name: "mine" } },
  providers: {
    provider: { wire: "ollama", base_url: "http://127.0.0.1:9", headers: { a: "b" }, api_key: "secret" },
  },
  "models.*.price": { price: { input: 1, output: 2 } },
};

/** The model whose options are set. */
const MODEL = "x";

/** Lua for a value that is not the default. */
function valueOf(option: Option): string {
  const own = VALUES[option.name];
  if (own !== undefined) return own;
  if ("one_of" in option) return JSON.stringify(option.one_of.findLast((one) => one !== option.default));
  const [type = ""] = option.type.split("|");
  if (type === "boolean") return String(option.default !== true);
  if (type === "integer") return String((typeof option.default === "number" ? option.default : 20) + 1);
  if (type === "number") return "1.5";
  return type === "list" ? `{ "${MODEL}" }` : `"${MODEL}"`;
}

/** Lua fields of the table of options that set these. */
function fields(options: readonly Option[]): string {
  const groups = Map.groupBy(options, ({ name }) => name.slice(0, Math.max(0, name.lastIndexOf("."))));
  return [...groups].map(([group, all]) => {
    const inner = all.map((option) => `${lastPart(option.name)} = ${valueOf(option)}`).join(", ");
    if (group === "") return inner;
    return group === "models.*" ? `models = { ${MODEL} = { ${inner} } }` : `${group} = { ${inner} }`;
  }).join(", ");
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

const WORLD = {
  env: (name: string) => name === "KEY" ? "secret" : undefined,
  fetch: () => Promise.reject(new Error("no network")),
  run: () => Promise.reject(new Error("no commands")),
};

/** Lua that sets all options, and prints what is in force, what is sent, and how a Lua value looks in JSON. */
const SET_ALL = `require("agent").setup({ ${fields(facts.options)} })
  local config = require("agent.config")
  return {
    values = { ${facts.options.map((option) => `["${option.name}"] = ${valueOf(option)}`).join(", ")} },
    problems = config.current_problems(),
    here = config.get(),
    sent = config.for_supervisor(),
  }`;

type Values = Readonly<Record<string, unknown>>;

const nvim = () => ChildNvim.start({ runtime: [PLUGIN] });

Deno.test("every option that is set in Neovim arrives where it is used", async () => {
  await using child = await nvim();
  const { values, problems, here, sent } = await child.lua<
    Readonly<Record<"values" | "problems" | "here" | "sent", Values>>
  >(SET_ALL);
  assert.deepEqual(problems, []);
  const supervisor = UserConfig.parse(sent);
  const engine = EngineConfig.parse(await engineConfig(supervisor, WORLD, ["/project"]));
  const lua = await luaSources();
  for (const { name, receiver, default: usual, ...option } of facts.options) {
    const value = values[name];
    assert.notDeepEqual(value, usual, `${name} is set to another value than its default`);
    const key = "key" in option && option.key !== name ? option.key : lastPart(name);
    if (name === "files.safe_to_write") {
      assert.deepEqual(engine.safe_to_write.at(-1), { glob: "*.x", safe: false });
    } else if (SHAPES[name] !== undefined) {
      assertHas(engine, SHAPES[name], name);
    } else if (name.startsWith("models.")) {
      assertHas(engine.model_options, { [MODEL]: { [key]: value } }, name);
    } else if (name.startsWith("rules.")) {
      assertHas(supervisor.rules, { [key]: value }, name);
    } else if (receiver !== "neovim") {
      assertHas(receiver === "engine" ? engine : supervisor, { [key]: value }, name);
    } else {
      const parts = name.split(".");
      const set = parts.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
      assertHas(here, set, name);
      // What the editor uses is read in the editor.
      assert.match(lua, new RegExp(`\\b(?:get\\(\\)(?:\\.\\w+)?|options|o|option|config)\\.${key}\\b`), name);
    }
  }
});

function assertHas(all: unknown, part: unknown, name: string): void {
  if (!isRecord(part)) return assert.deepEqual(all, part, name);
  for (const [key, value] of Object.entries(part)) {
    assertHas(isRecord(all) ? all[key] : undefined, value, name);
  }
}

function isRecord(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

Deno.test("each old name of an option has the effect of the new one, and is told once in a Neovim", async () => {
  await using child = await nvim();
  const byName = new Map(facts.options.map((option) => [option.name, option]));
  for (const [old, now] of Object.entries(facts.renamed)) {
    const option = byName.get(now.name);
    assert.ok(option !== undefined, `${old} is now ${now.name}, which is an option`);
    const value = "values" in now ? "false" : valueOf(option);
    const renamed = now.name.startsWith("models.") && !("model" in now) ? `{ ${MODEL} = ${value} }` : value;
    const [set] = "model" in now
      ? [fields([option]).replace(`{ ${MODEL} =`, `{ ["${now.model}"] =`)]
      : "values" in now
      ? ['shell = { commands = "ask" }']
      : [fields([option])];
    const [before, after, problems] = await child.lua<readonly [unknown, unknown, unknown]>(
      `local config = require("agent.config")
      config.set({ ${old} = ${renamed} })
      local before, problems = config.get(), config.current_problems()
      config.set({ ${set} })
      return { before, config.get(), problems }`,
    );
    assert.deepEqual(before, after, old);
    assert.deepEqual(problems, [], old);
  }
  await child.lua(`_G.told = {}
    vim.notify = function(text) table.insert(_G.told, (text:gsub("\\n", " "))) end
    require("agent").setup({ spinner = false, vision = true })`);
  await child.waitFor("#_G.told == 1");
  await child.lua(`require("agent").setup({ spinner = false, lauout = "tab", ui = { spiner = false } })`);
  await child.waitFor("#_G.told == 2");
  assert.deepEqual(await child.lua("return _G.told"), [
    "agent: option spinner is now ui.spinner (and 1 more, see :checkhealth agent)",
    "agent: unknown option lauout, did you mean ui = { layout = … }? (and 1 more, see :checkhealth agent)",
  ]);
  const lines = await child.lua<readonly string[]>(`return require("agent.config").current_problems()`);
  assert.equal(lines[1], "unknown option ui.spiner, did you mean ui.spinner?");
});

Deno.test("setup() names a wrong option of a provider in one line, without the value", async () => {
  await using child = await nvim();
  await child.lua(`_G.told = {}
    vim.notify = function(text) table.insert(_G.told, (text:gsub("\\n", " "))) end`);
  const WRONG = {
    'api_key = "cmd :pass show it"': 'providers.work.api_key must be "env:NAME" or "cmd:COMMAND"',
    'api_key = "sk-secret"': 'providers.work.api_key must be "env:NAME" or "cmd:COMMAND"',
    "api_key = function() end": 'providers.work.api_key must be "env:NAME" or "cmd:COMMAND"',
    'base_ulr = "http://a"': "unknown option providers.work.base_ulr, did you mean base_url?",
    'base_url = "llm.test/v1"': "providers.work.base_url must be an http or https URL",
    'wire = "openai"':
      "providers.work.wire must be one of openai_chat, openai_responses, anthropic_messages, ollama",
  };
  for (const [field, line] of Object.entries(WRONG)) {
    await child.lua(`_G.told = {}
      require("agent").setup({ providers = { work = { ${field} } } })`);
    await child.waitFor("#_G.told > 0");
    assert.deepEqual(await child.lua("return _G.told"), [`agent: ${line}`]);
  }
  const names = await child.lua<Values>(`return require("agent.config.providers").fields`);
  assert.deepEqual(Object.keys(names).sort(), Object.keys(ProviderOptions.shape).sort());
  const wires = await child.lua(`return require("agent.config.providers").fields.wire.one_of`);
  assert.deepEqual(wires, WIRES);
});

async function luaSources(folder = join(PLUGIN, "lua/agent")): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory && name !== "config") text += await luaSources(path);
    else if (name.endsWith(".lua")) text += await Deno.readTextFile(path);
  }
  return text;
}

Deno.test("sessions.keep_days, set in Neovim, deletes what is older", async () => {
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
  const options = `sessions = { keep_days = 30 }, state_dir = ${JSON.stringify(state.root)}`;
  await using agent = await startAgent({ script: "say Hello there.", cwd: project.root, options });
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("Hello there.");
  const ids = () => database.all("SELECT id FROM sessions WHERE deleted = 0").map(({ id }) => String(id));
  await waitUntil("the old session to go", () => !ids().includes("old"));
  assert.ok(ids().includes("recent"));
});
