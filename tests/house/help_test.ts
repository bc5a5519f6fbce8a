/** The help and the code say the same: what one of them names, the other has. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { UserConfig } from "../../denops/agent/protocol/config.ts";
import type { ApprovalSubject } from "../../denops/agent/protocol/ui.ts";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { RULES_NAMES } from "../../denops/agent/protocol/rules/names.ts";
import { RULE_KINDS } from "../../denops/agent/protocol/access.ts";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import { written } from "../../scripts/docs.ts";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";
import { literals, LUA, TYPESCRIPT } from "../support/literals.ts";
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

Deno.test("help: what it and the code both say is the same", async () => {
  for (const [path, text] of await written()) {
    assert.equal(await Deno.readTextFile(join(PLUGIN, path)), text, `${path} is stale: run deno task docs`);
  }
});

Deno.test("help: the parameters that the Lua API's texts name are those of its functions", () => {
  const unknown = help.entries("agent.").flatMap(({ tag, heading, paragraphs }) => {
    const named = paragraphs.join(" ").match(/\{\w+\}/g) ?? [];
    return named.filter((name) => !heading.includes(name)).map((name) => `${tag} ${name}`);
  });
  assert.deepEqual(unknown, []);
});

Deno.test("help: the long defaults of options", async () => {
  await using child = await nvim();
  for (const { tag, heading, code } of help.entries("agent-option-")) {
    if (!heading.endsWith("default: below")) continue;
    const [shown, real] = await child.lua<[unknown, unknown]>(
      `local block, name = ...
      local env = {}
      setfenv(assert(loadstring(block)), env)()
      local default = require("agent.config.schema").default(name)
      return { vim.tbl_get(env, unpack(vim.split(name, ".", { plain = true }))), default }`,
      code[0] ?? "",
      tag.slice("agent-option-".length),
    );
    assert.deepEqual(shown, real, tag);
  }
});

Deno.test("help: the command's forms and completion, and no <Plug> map but those that it names", async () => {
  await using child = await nvim();
  const completed = (line: string) =>
    child.lua<readonly string[]>(`return vim.fn.getcompletion(..., "cmdline")`, line);
  const top = await completed("Agent ");
  const grouped = (await completed("Agent session ")).map((name) => `session ${name}`);
  const listed = help.entries(":Agent-").filter(({ tag }) => tag !== ":Agent-range")
    .map(({ heading }) => heading.replace(/^:Agent ([a-z ]+).*$/, "$1").trim());
  assert.deepEqual([...top.filter((name) => name !== "session"), ...grouped].sort(), listed.sort());
  // Sub-commands of earlier versions.
  assert.deepEqual(await completed("Agent kee"), []);
  for (
    const [old, now] of [
      ['rename "A b"', 'session rename "A b"'],
      ["export a.md", "session export a.md"],
      ["fork", "session fork"],
      ["archive", "session archive"],
      ["delete", "session delete"],
      ["keep file", "review keep file"],
    ] as const
  ) {
    const [before, after] = await child.lua<readonly unknown[]>(
      `local agent, called = require("agent"), {}
      for _, name in ipairs({ "rename", "export", "fork", "archive", "delete" }) do
        rawset(agent, name, function(argument) table.insert(called, { name, argument }) end)
      end
      require("agent.review").run = function(name) table.insert(called, name) return true end
      for _, line in ipairs({ ... }) do vim.cmd("Agent " .. line) end
      return called`,
      old,
      now,
    );
    assert.deepEqual(before, after, old);
    assert.ok(after !== undefined, now);
  }
  assert.deepEqual(
    await child.lua(`local it = vim.api.nvim_get_commands({}).Agent return { it.range ~= nil, it.bang }`),
    [help.tags.includes(":Agent-range"), help.tags.includes(":Agent!")],
  );
  const named = (tag: string) => help.table(tag).map(({ cells: [map = ""] }) => map);
  const operators = ["<Plug>(AgentOperator)", "<Plug>(AgentEditOperator)"];
  const maps = [...named("agent-plug"), ...operators];
  assert.ok(operators.every((map) => help.tags.includes(map)));
  for (const [mode, wanted] of [["n", [...maps, ...named("agent-review-plug")]], ["x", maps]] as const) {
    const real = await child.lua<readonly string[]>(
      `return vim.iter(vim.api.nvim_get_keymap(...)):map(function(map) return map.lhs end):totable()`,
      mode,
    );
    const ours = real.filter((map) => map.startsWith("<Plug>(Agent"));
    assert.deepEqual(ours.toSorted(), wanted.toSorted());
  }
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
  same(chat, await read("{ transcript = chat.transcript.buffer, input = chat.input.buffer }"));

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

/** "1 … 9" stands for nine keys, and "q, x" for two. */
function eachKey(keys: string): readonly string[] {
  const [, first, last] = /^(\d) … (\d)$/.exec(keys) ?? [];
  if (first === undefined || last === undefined) return keys.split(", ");
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${Number(first) + at}`);
}

const APPROVALS = {
  file: true,
  command: true,
  effects: true,
  other: true,
  question: true,
} satisfies Record<ApprovalSubject["kind"], true>;

Deno.test("each kind of approval has its row on the screen", async () => {
  await using child = await nvim();
  const shown = await child.lua<readonly string[]>(
    `return vim.tbl_keys(require("agent.approval.content").KINDS)`,
  );
  assert.deepEqual(shown.toSorted(), Object.keys(APPROVALS).toSorted());
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

Deno.test("help: every kind of rule, wire and tool, word of a message and file of rules", async () => {
  const names = (tag: string) => help.table(tag).map(({ cells: [name] }) => name);
  assert.deepEqual(names("agent-rule-kinds"), [...RULE_KINDS]);
  assert.deepEqual(names("agent-wires"), [...WIRES]);
  assert.deepEqual(names("agent-tools"), TOOLS.map(({ name }) => name));
  await using child = await nvim();
  const words = await child.lua<readonly string[]>(`return require("agent.context.attachment").words()`);
  assert.deepEqual(words.filter((word) => !names("agent-mentions").includes(`@${word}`)), []);
  const rules = help.entry("agent-rules-files").paragraphs.join(" ");
  assert.deepEqual(RULES_NAMES.filter((name) => !rules.includes(`\`${name}\``)), []);
});

Deno.test("help: examples in Lua compile; the options and modules in them are right", async () => {
  await using child = await nvim();
  for (const block of help.code("lua")) {
    const [problem, config] = await child.lua<[string, unknown]>(
      `local block = ...
      local run, problem = loadstring(block)
      if not run and loadstring("return {" .. block .. "\\n}") then return { "", false } end
      if not run then return { problem, false } end
      if block:find('require("agent").setup(', 1, true) then run() end
      for module in block:gmatch('"(agent[%w_.]*%.[%w_.]+)"') do require(module) end
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

/** What a user may meet: what else begins so is told to the model. */
const TOLD = /^\/?(lua|denops\/agent\/(supervisor|protocol|engine\/(llm|store|main|session)))/;
/** The end of an error that says what to do: another sentence, an order, or a part that is one. */
const CURE = /\. ([A-Z]|\$\{)|: [a-z]+ (it|first|one|wl-paste|letters|\S*%s)|\$\{(hint|what|others|first)/;

Deno.test("help: an error that does not say what to do stands under Troubleshooting", async () => {
  const pieces = (text: string) =>
    text.replace("agent: ", "").split(/\$?\{[^}]*\}|…|%s|%d/).map((part) =>
      part.replace(/^[\s:;,.()"]+|[\s:;,.()"]+$/g, "")
    )
      .filter((part) => part.length >= 6);
  const named = help.codeIn("agent-troubleshooting").flatMap((block) => block.split("\n").flatMap(pieces));
  const errors = [...await literals(LUA), ...await literals(TYPESCRIPT)]
    .filter(({ at, text }) => TOLD.test(at) && /^cannot (?!be )/i.test(text) && !text.includes("(?:"));
  assert.ok(errors.length > 50, `${errors.length} errors`);
  const isNamed = (text: string) =>
    pieces(text).some((part) => named.some((one) => part === one || one.length > 15 && part.startsWith(one)));
  const bare = errors.filter(({ text }) => !CURE.test(text) && !isNamed(text));
  assert.deepEqual(bare.map(({ at, text }) => `${at} ${text}`), []);
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
  // Not all at once: Neovim is waited for a few seconds, and no longer.
  for (let from = 0; from < help.tags.length; from += 40) {
    const some = help.tags.slice(from, from + 40);
    const opened = await child.lua<readonly string[]>(
      `return vim.tbl_map(function(tag)
        vim.cmd.help(tag)
        return vim.fn.expand("%:t") .. ": " .. vim.api.nvim_get_current_line()
      end, ...)`,
      some,
    );
    const wrong = some.filter((tag, at) =>
      !opened[at]?.match(/^agent\.txt: /) || !opened[at].includes(`*${tag}*`)
    );
    assert.deepEqual(wrong, []);
  }
});

Deno.test("help: 78 columns, no tabs, a modeline, and the contents are those of the file", () => {
  const lines = TEXT.replaceAll("\r\n", "\n").split("\n");
  const found = (pattern: RegExp) =>
    lines.flatMap((line) => {
      const [, number, title = "", tag] = pattern.exec(line) ?? [];
      return tag === undefined ? [] : [`${number} ${title.toUpperCase()} ${tag}`];
    });
  const contents = found(/^ +(\d+)\. (.+?) \.+ \|(\S+)\|$/);
  assert.ok(contents.length > 20, `${contents.length} sections`);
  assert.deepEqual(contents, found(/^(\d+)\. ([A-Z<].+?) +\*(\S+)\*$/));
  assert.deepEqual(lines.filter((line) => [...line].length > 78 || /\t|\s$/.test(line)), []);
  assert.match(lines[0] ?? "", /^\*agent\.txt\*\s+\S/);
  assert.deepEqual(lines.slice(-2), ["vim:tw=78:ts=8:noet:ft=help:norl:", ""]);
});
