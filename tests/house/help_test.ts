/** The help and the code say the same: what one of them names, the other has. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { UserConfig } from "../../denops/agent/protocol/config.ts";
import { PRESETS, WIRES } from "../../denops/agent/protocol/providers.ts";
import DEFAULT_FILE_RULES from "../../denops/agent/policy/defaults.json" with { type: "json" };
import { Access, RULE_KINDS } from "../../denops/agent/protocol/access.ts";
import { HIDDEN, SHOWN } from "../../denops/agent/supervisor/commands/shown.ts";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import { LONGEST_DEFAULT, type Option, READ_OPTIONS, withOptions } from "../../scripts/docs.ts";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";
import { Vimdoc } from "../support/vimdoc.ts";

const TEXT = await Deno.readTextFile(join(PLUGIN, "doc/agent.txt"));
const help = new Vimdoc(TEXT);

const nvim = () => ChildNvim.start({ runtime: [PLUGIN] });

/** Both sides as "name → what is said of it", so that a failure shows what one of them lacks. */
function same(documented: readonly (readonly [string, unknown])[], real: typeof documented): void {
  const names = documented.map(([name]) => name);
  assert.deepEqual(names.length, new Set(names).size, `named twice in: ${names.join(" ")}`);
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(real));
}

Deno.test("help: every option with its type, default and text", async () => {
  await using child = await nvim();
  const options = await child.lua<readonly Option[]>(READ_OPTIONS);
  assert.equal(withOptions(TEXT, options), TEXT, "the help is stale: run deno task docs");
  assert.deepEqual(
    help.entries("agent-option-").map(({ tag }) => tag).sort(),
    options.map(({ name }) => `agent-option-${name}`).sort(),
  );
  const choices = await child.lua<Readonly<Record<string, readonly string[]>>>(`local found = {}
    for _, option in ipairs(require("agent.config.schema").options) do found[option.name] = option.one_of end
    return found`);
  for (const [name, values] of Object.entries(choices)) {
    const named = `One of ${values.map((choice) => `"${choice}"`).join(", ")}.`;
    assert.ok(help.entry(`agent-option-${name}`).paragraphs.join(" ").includes(named), `${name}: ${named}`);
  }
  for (const { name } of options.filter((option) => option.default.length > LONGEST_DEFAULT)) {
    const block = help.entry(`agent-option-${name}`).code[0] ?? "";
    const [shown, real] = await child.lua<[unknown, unknown]>(
      `local block, name = ...
      local env = {}
      setfenv(assert(loadstring(block)), env)()
      for _, option in ipairs(require("agent.config.schema").options) do
        if option.name == name then return { env[name], option.default } end
      end`,
      block,
      name,
    );
    assert.deepEqual(shown, real, `the default of ${name}`);
  }
});

Deno.test("help: every sub-command, <Plug> map and function", async () => {
  await using child = await nvim();
  interface Action {
    readonly name: string;
    readonly doc: string;
    readonly args?: string;
    readonly takes?: string;
    readonly plug?: string;
    readonly plugs?: Readonly<Record<string, string>>;
  }
  const actions = await child.lua<readonly Action[]>(`return require("agent.actions")`);
  same(
    help.entries(":Agent-").filter(({ tag }) => tag !== ":Agent-range")
      .map(({ tag, heading, paragraphs: [doc] }) => [tag.slice(":Agent-".length), { heading, doc }]),
    actions.map(({ name, doc, args }) => [name, {
      heading: `:Agent ${name}${args === undefined ? "" : ` ${args}`}`,
      doc,
    }]),
  );
  const shapes = await child.lua<Record<string, string>>(
    `return vim.tbl_map(function(shape) return shape.doc end, require("agent.arguments").shapes)`,
  );
  same(
    help.table("agent-arguments").map(({ cells: [argument = "", shape] }) => [argument, shape]),
    Object.entries(Object.fromEntries(
      actions.flatMap(({ args = "", takes }) => takes === undefined ? [] : [[args, shapes[takes]]]),
    )),
  );
  assert.deepEqual(
    await child.lua(`return vim.fn.getcompletion("Agent ", "cmdline")`),
    actions.map(({ name }) => name),
  );
  // Their forms: with a range, and with a bang.
  assert.deepEqual(
    await child.lua(`local it = vim.api.nvim_get_commands({}).Agent return { it.range ~= nil, it.bang }`),
    [help.tags.includes(":Agent-range"), help.tags.includes(":Agent!")],
  );

  const maps = help.table("agent-plug").map(({ cells: [map, command = ""] }) =>
    [String(map), command.replace(/^\|:Agent-(.*)\|$/, "$1")] as const
  );
  same(
    maps,
    actions.flatMap(({ name, plug }) => plug === undefined ? [] : [[`<Plug>(${plug})`, name] as const]),
  );
  const further = help.table("agent-review-plug").map(({ cells: [map, command = ""] }) =>
    [String(map), command.replace(/^`:Agent (.*)`$/, "$1")] as const
  );
  same(
    further,
    actions.flatMap(({ name, plugs = {} }) =>
      Object.entries(plugs).map(([plug, what]) => [`<Plug>(${plug})`, `${name} ${what}`] as const)
    ),
  );
  for (const mode of ["n", "x"]) {
    const real = await child.lua<readonly [string, string][]>(
      `return vim.iter(vim.api.nvim_get_keymap(...))
        :filter(function(map) return vim.startswith(map.lhs, "<Plug>(Agent") end)
        :map(function(map) return { map.lhs, map.rhs:match("^<Cmd>Agent (.*)<CR>$") or map.rhs:match("^:Agent (.*)<CR>$") or map.rhs } end)
        :totable()`,
      mode,
    );
    const operator = mode === "n" ? `v:lua.require'agent.operator'.start()` : "open";
    const own = [
      ["<Plug>(AgentOperator)", operator],
      ["<Plug>(AgentEditOperator)", `v:lua.require'agent.edit_operator'.start()`],
    ] as const;
    same(mode === "n" ? [...maps, ...further, ...own] : [...maps, ...own], real);
    assert.ok(own.every(([map]) => help.tags.includes(map)));
  }

  const functions = await child.lua<readonly string[]>(`return vim.tbl_keys(require("agent"))`);
  same(
    help.entries("agent.").filter(({ tag }) => tag.endsWith("()")).map(({ tag, heading }) => {
      const name = tag.slice("agent.".length, -2);
      return [name, heading.startsWith(`${name}(`)];
    }),
    functions.map((name) => [name, true]),
  );
});

Deno.test("help: every event with its data", async () => {
  await using child = await nvim();
  const names = await child.lua<Record<string, string>>(`return require("agent.events").names`);
  const tags = help.tags.filter((tag) => /^Agent[A-Z]/.test(tag));
  same(
    tags.map((tag) => help.entry(tag)).map(({ heading, paragraphs: [text] }) => [heading, text]),
    Object.entries(names),
  );
  assert.deepEqual(tags.toSorted(), Object.keys(names).toSorted());
});

Deno.test("help: every highlight group and what it links to", async () => {
  await using child = await nvim();
  const real = await child.lua<Record<string, string>>(`
    require("agent.highlights").define()
    local links = {}
    for name, highlight in pairs(vim.api.nvim_get_hl(0, {})) do
      if vim.startswith(name, "Agent") then links[name] = highlight.link end
    end
    return links`);
  const rows = help.table("agent-highlights");
  same(rows.map(({ cells: [name = "", link] }) => [name, link]), Object.entries(real));
  const tags = help.tags.filter((tag) => tag.startsWith("hl-")).map((tag) => tag.slice("hl-".length));
  assert.deepEqual(tags, rows.map(({ cells: [name] }) => name));
});

Deno.test("help: every key of a buffer with hunks", async () => {
  await using child = await nvim();
  const real = await child.lua<readonly [string, string, string][]>(`
    local keys = require("agent.review.keys")
    return vim.tbl_map(function(action)
      return { keys.wanted()[action.name], action.name, action.doc }
    end, keys.actions)`);
  const told = help.table("agent-review-keys").map(({ cells: [key, name, doc = ""] }) => [
    key,
    name,
    doc.replace(/; takes a count$/, ""),
  ]);
  assert.deepEqual(told, real);
});

Deno.test("help: every key of the chat and of the approval", async () => {
  await using child = await nvim();
  // Each mapping as "mode, where, key" → what it does, in Neovim's own spelling of keys.
  const read = (buffers: string) =>
    child.lua<readonly [string, string][]>(`
    local maps = {}
    for where, buffer in pairs(${buffers}) do
      for _, mode in ipairs({ "n", "i", "x" }) do
        for _, map in ipairs(vim.api.nvim_buf_get_keymap(buffer, mode)) do
          local key = vim.fn.keytrans(vim.keycode(map.lhs))
          table.insert(maps, { mode .. " " .. where .. " " .. key, (map.desc:gsub("^Agent: ", "")) })
        end
      end
    end
    return maps`);
  const spelled = (keys: string) => child.lua<string>("return vim.fn.keytrans(vim.keycode(...))", keys);

  const chat: [string, string][] = [];
  for (const { cells: [key = "", modes = "", where = "", doc = ""] } of help.table("agent-chat-keys")) {
    for (const buffer of where === "both" ? ["transcript", "input"] : [where]) {
      for (const mode of modes.split(" ")) chat.push([`${mode} ${buffer} ${await spelled(key)}`, doc]);
    }
  }
  await child.lua(`_G.chat = require("agent.chat").get()`);
  same(chat, await read("{ transcript = chat.transcript, input = chat.input.buffer }"));

  const approval: [string, string][] = [];
  for (const { cells: [keys = "", doc = ""] } of help.table("agent-approval-keys")) {
    for (const key of eachKey(keys)) approval.push([`n approval ${await spelled(key)}`, doc]);
  }
  await child.lua(`
    require("agent.approval")
    local waits = { type = "approval", chat = 1, request = 1, tool = "1", title = "write x", reason = "sensitive",
      kind = "file", files = {}, left_out = 0 }
    require("agent.client").receive({ waits })
    vim.cmd("Agent approval")`);
  await child.waitForScreen("write x");
  assert.equal(await child.lua("return vim.bo.filetype"), "agent-approval");
  same(approval, await read("{ approval = vim.api.nvim_get_current_buf() }"));
});

/** "1 … 9" stands for nine keys. */
function eachKey(keys: string): readonly string[] {
  const [, first, last] = /^(\d) … (\d)$/.exec(keys) ?? [];
  if (first === undefined || last === undefined) return [keys];
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${Number(first) + at}`);
}

Deno.test("each kind of access has its row among the approvals", async () => {
  await using child = await nvim();
  const shown = await child.lua<readonly string[]>(
    `return vim.tbl_keys(require("agent.approval.content").KINDS)`,
  );
  const kinds = Access.options.map(({ shape }) => shape.kind.value);
  assert.deepEqual(shown.toSorted(), [...kinds, "question"].toSorted());
});

Deno.test("help: the keys that each kind of approval offers", async () => {
  await using child = await nvim();
  const keys = new Map(
    help.table("agent-approval-keys").map(({ cells: [key = "", doc = ""] }) => [key, doc]),
  );
  const [file = [], command = [], question = [], effects = []] = await child.lua<
    readonly (readonly string[])[]
  >(
    `return vim.tbl_map(function(approval)
      return require("agent.approval.content").kind(approval).keys(approval)
    end, {
    { kind = "file", files = { { path = "x", after = "x" } }, suggestion = "write(x)" },
    { kind = "command", suggestion = "run(x)" },
    { kind = "question", options = { "one", "two" } },
    { kind = "effects", effects = { { number = 1, state = "kept", after = "x" } }, suggestion = "keep(x)" },
  })`,
  );
  assert.deepEqual(file.map((key) => key.slice(0, 1)), ["a", "s", "A", "r", "R", "d"]);
  assert.deepEqual(command.map((key) => key.slice(0, 1)), ["a", "s", "A", "r", "R", "e"]);
  assert.deepEqual(effects.map((key) => [...key][0]), ["a", "r", "␣", "d", "s", "A", "R"]);
  for (const key of [...file, ...command, ...effects]) {
    const [name = "", ...words] = key.split(" ");
    const doc = keys.get(name === "␣" ? "<Space>" : name) ?? "nothing";
    assert.ok(words.every((word) => doc.includes(word)), `${key}: the help says "${doc}"`);
  }
  assert.deepEqual(question, ["1-2 choose", "a type an answer", "r no answer"]);
  for (const key of ["1 … 9", "a", "r"]) assert.ok(keys.has(key), key);
});

Deno.test("help: every mark of a tool call", async () => {
  await using child = await nvim();
  const marks = await child.lua<Record<string, string>>(`return require("agent.timeline.lines").icons`);
  const told = help.table("agent-chat-marks").map(({ cells: [mark] }) => mark);
  assert.deepEqual(told.toSorted(), [...new Set(Object.values(marks))].toSorted());
});

Deno.test("help: every kind of rule, and what commands cannot see", () => {
  assert.deepEqual(help.table("agent-rule-kinds").map(({ cells: [name] }) => name), [...RULE_KINDS]);
  const listed = (tag: string) => help.entry(tag).code.map((block) => block.trim().split("\n"))[0];
  const rows = (places: typeof SHOWN) => {
    const byReason = Map.groupBy(places, ({ reason }) => reason);
    return [...byReason].flatMap(([reason, of]) => [`# ${reason}`, ...of.map(({ path }) => path)]);
  };
  assert.deepEqual(listed("agent-shell-places"), rows(SHOWN));
  assert.deepEqual(listed("agent-shell-secrets"), rows(HIDDEN));
});

Deno.test("help: every preset, wire and tool", () => {
  const presets = help.table("agent-presets").map(({ cells, more }) => [...cells, ...more]);
  const real = Object.entries(PRESETS).map(([name, { wire, base_url, key_env, default_model, login }]) => [
    name,
    default_model ?? (login ? "as Copilot says" : wire === "ollama" ? "the first one listed" : "none"),
    login ? "a login" : key_env.length === 0 ? "none" : key_env.join(", "),
    `${wire}  ${base_url}`,
  ]);
  assert.deepEqual(presets, real);
  assert.deepEqual(help.table("agent-wires").map(({ cells: [name] }) => name), [...WIRES]);
  assert.deepEqual(
    help.table("agent-tools").map(({ cells: [name] }) => name),
    TOOLS.map(({ name }) => name),
  );
});

Deno.test("help: the built-in list of sensitive files, with the reason of each", () => {
  const [list = ""] = help.codeIn("agent-sensitivity");
  // A reason, and below it, further in, the globs that it is true of.
  const shown: [glob: string, reason: string][] = [];
  let reason = "";
  for (const line of list.split("\n")) {
    if (line.startsWith(" ")) {
      shown.push(...line.trim().split(" ").map((glob): [string, string] => [glob, reason]));
    } else reason = line;
  }
  const [first, ...rows] = DEFAULT_FILE_RULES.safe_to_write;
  assert.deepEqual(first, { glob: "**/*", safe: true });
  assert.ok(rows.every(({ safe }) => !safe));
  assert.deepEqual(shown, rows.map(({ glob, reason }) => [glob, reason]));
});

Deno.test("help: examples in Lua compile, and the options in them are right", async () => {
  await using child = await nvim();
  for (const block of help.code("lua")) {
    const [problem, config] = await child.lua<[string, unknown]>(
      `local block = ...
      local run, problem = loadstring(block)
      if not run and loadstring("return {" .. block .. "\\n}") then return { "", false } end
      if not run then return { problem, false } end
      if block:find('require("agent").setup(', 1, true) then run() end
      local config = require("agent.config")
      return { table.concat(config.current_problems(), "\\n"), config.for_supervisor() }`,
      block,
    );
    assert.equal(problem, "", block);
    const parsed = UserConfig.safeParse(config);
    if (config !== false) assert.ok(parsed.success, `${parsed.error?.message} in ${block}`);
  }
});

Deno.test("help: the messages under Troubleshooting are those of the code", async () => {
  let code = "";
  for (const folder of ["lua", "denops"]) code += await sources(join(PLUGIN, folder));
  const messages = help.codeIn("agent-troubleshooting").join("\n").split("\n");
  assert.ok(messages.length > 30);
  for (const message of messages) {
    const fragments = message.split(/\{[^}]*\}|…/).map((part) =>
      part.replace(/^[\s:;,.()"]+|[\s:;,.()"]+$/g, "")
    );
    const telling = fragments.filter((part) => part.length >= 6 && !part.startsWith("agent: "));
    for (const part of telling) assert.ok(code.includes(part), `nothing in the code says "${part}"`);
  }
});

/** The text of every source file in a folder, but tests. */
async function sources(folder: string): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) text += await sources(path);
    else if (/\.(lua|ts)$/.test(name) && !name.endsWith("_test.ts")) text += await Deno.readTextFile(path);
  }
  return text;
}

Deno.test("help: tags are unique, and :help opens them; every link leads somewhere", async () => {
  // In a folder of its own: `doc/tags` of the checkout may be another one's.
  await using folder = await scratch({ "doc/agent.txt": TEXT });
  await using child = await ChildNvim.start({ runtime: [folder.root] });
  await child.lua("vim.cmd.helptags((...))", folder.path("doc"));
  const tags = new Set(
    await child.lua<readonly string[]>(`
      local tags = {}
      for _, file in ipairs(vim.api.nvim_get_runtime_file("doc/tags", true)) do
        for line in io.lines(file) do table.insert(tags, (line:match("^[^\\t]+"))) end
      end
      return tags`),
  );
  const broken = [...help.links, ...help.options].filter((link) => !tags.has(link));
  assert.deepEqual(broken, []);
  assert.deepEqual(help.tags.filter((tag) => !tags.has(tag)), []);
  for (const tag of help.tags) {
    const found = await child.lua<string>(
      `vim.cmd.help((...)) return vim.fn.expand("%:t") .. ": " .. vim.api.nvim_get_current_line()`,
      tag,
    );
    assert.ok(found.startsWith("agent.txt: ") && found.includes(`*${tag}*`), `:help ${tag} opens ${found}`);
  }
});

Deno.test("help: 78 columns, no tabs, a modeline", () => {
  const lines = TEXT.replaceAll("\r\n", "\n").split("\n");
  assert.deepEqual(lines.filter((line) => [...line].length > 78 || /\t|\s$/.test(line)), []);
  assert.match(lines[0] ?? "", /^\*agent\.txt\*\s+\S/);
  assert.deepEqual(lines.slice(-2), ["vim:tw=78:ts=8:noet:ft=help:norl:", ""]);
});
