/** The input completes what a message may mention, in a real Neovim. */
import assert from "node:assert/strict";
import { TOOL_SETS } from "../../denops/agent/protocol/modes.ts";
import type { AgentOptions, RunningAgent } from "../support/agent.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const PROJECT = {
  "src/greet.ts": "export const greet = 1;\n",
  "src/deep/inner/greeting_cards.ts": "export const cards = 1;\n",
  "docs/my notes.md": "notes\n",
  ".env": "KEY=secret\n",
};

const OPTIONS = { script: "say Done.\nrepeat", project: PROJECT, options: "sessions = { title = false }" };

async function start(options: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  const agent = await sharedAgent({ ...OPTIONS, ...options });
  await agent.nvim.command("Agent");
  await agent.nvim.waitFor(`vim.bo.filetype == "agent-input"`);
  return agent;
}

function input({ nvim }: RunningAgent): Promise<string> {
  return nvim.lua(`return require("agent.chat").current().input:text()`);
}

for (const columns of [80, 40]) {
  Deno.test(`"@" shows words and files, and <C-n> takes one, at ${columns} columns`, async () => {
    await using agent = await start({ columns, lines: 24 });
    const { nvim } = agent;
    await nvim.keys("see @");
    await nvim.waitForScreen("@diagnostics");
    await nvim.waitForScreen(/@src\/greet\.ts +file/);
    await nvim.keys("gree");
    await nvim.waitForScreenGone("@diagnostics");
    await nvim.waitForScreen("greeting_cards.ts");
    assert.equal(await input(agent), "see @gree");
    await nvim.keys("<C-n>");
    await nvim.waitFor(`require("agent.chat").current().input:text() == "see @src/greet.ts"`);
    await nvim.keys("<C-n><C-y>, or");
    assert.equal(await input(agent), "see @src/deep/inner/greeting_cards.ts, or");
    assert.doesNotMatch(nvim.text(), /secret|\.env/);
  });
}

Deno.test("names with blanks, buffers that are open and tools complete; what is no mention does not", async () => {
  await using agent = await start({ files: ["src/greet.ts"] });
  const { nvim } = agent;
  await nvim.keys("@note");
  await nvim.waitForScreen('@"docs/my notes.md"');
  await nvim.keys("<C-n><C-y> @gre");
  await nvim.waitForScreen(/@src\/greet\.ts +open/);
  await nvim.keys("<Esc>cc#pla");
  await nvim.waitForScreen(/#plan +tool/);
  await nvim.keys("<C-n><C-y>");
  assert.equal(await input(agent), "#plan");
  await nvim.keys("<Esc>cc#");
  await nvim.waitForScreen(/#look +tool set\s[^]*#edits +tool set\s[^]*#read +tool\s/);
  await nvim.keys("edi");
  await nvim.waitForScreen(/#edits +tool set\s[^]*#edit +tool\s/);
  assert.deepEqual(await nvim.lua(`return require("agent.chat.complete").tool_sets`), Object.keys(TOOL_SETS));
  await nvim.keys("<Esc>ccme@gre");
  assert.equal(await nvim.lua("return vim.fn.pumvisible()"), 0);
});

Deno.test("a quote that a plugin has paired is not left behind a name in quotes", async () => {
  await using agent = await start();
  const { nvim } = agent;
  await nvim.lua(`vim.keymap.set("i", '"', '""<C-g>U<Left>', { buffer = true })`);
  await nvim.keys('see @"my no');
  await nvim.waitForScreen('@"docs/my notes.md"');
  await nvim.keys("<C-n><C-y> now");
  assert.equal(await input(agent), 'see @"docs/my notes.md" now');
});

Deno.test("<C-x><C-u> completes too, and a message is sent while the menu is open", async () => {
  await using agent = await start();
  const { nvim, server } = agent;
  await nvim.lua("vim.o.eventignore = 'TextChangedI,TextChangedP'");
  await nvim.keys("what is @dia<C-x><C-u>");
  await nvim.waitForScreen(/@diagnostics +word/);
  await nvim.lua("vim.o.eventignore = ''");
  await nvim.keys("<C-n><C-y><Esc>ccsee @src/");
  await nvim.waitForScreen(/@src\/greet\.ts +file/);
  await nvim.keys("<C-n><C-s>");
  await nvim.waitForScreen("Done.");
  assert.equal(await input(agent), "");
  assert.equal(await nvim.lua("return vim.fn.pumvisible()"), 0);
  assert.match(server.requests[0]?.text ?? "", /Contents of src\/.*greet.*\.ts/);
});

Deno.test("a menu of another plugin that opens in the input after a message was sent closes", async () => {
  await using agent = await start();
  const { nvim } = agent;
  // As mini.completion: it types keys when its list has come.
  await nvim.lua(`_G.complete_late = function(find_start) return find_start == 1 and 0 or { "@late" } end
    vim.bo.completefunc = "v:lua.complete_late"
    vim.api.nvim_create_autocmd("CompleteChanged", { buffer = 0, callback = function() _G.has_opened = true end })
    vim.api.nvim_feedkeys(vim.keycode("Hi<C-s><C-x><C-u>"), "t", false)`);
  await nvim.waitFor("_G.has_opened");
  await nvim.waitFor("vim.fn.pumvisible() == 0");
  assert.equal(await input(agent), "");
});

/** A language server that names a class and what is in it, for the buffer that is shown. */
const SYMBOLS = `vim.lsp.start({ name = "fake", cmd = function()
  return {
    request = function(method, _, answer)
      local range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
      local inner = { name = "salute", kind = 12, range = range, selectionRange = range }
      local outer = vim.tbl_extend("force", inner, { name = "Greeter", children = { inner } })
      answer(nil, method == "initialize"
        and { capabilities = { documentSymbolProvider = true } } or { outer })
      return true, 1
    end,
    notify = function() return true end,
    is_closing = function() return false end,
    terminate = function() end,
  }
end })`;

Deno.test("symbols of open buffers complete as soon as their language server has named them", async () => {
  await using agent = await sharedAgent({ ...OPTIONS, files: ["src/greet.ts"] });
  const { nvim } = agent;
  await nvim.lua(SYMBOLS);
  await nvim.command("Agent");
  await nvim.keys("see @symbol:sal");
  await nvim.waitForScreen(/@symbol:salute +symbol/);
  await nvim.keys("<C-n><C-y>");
  assert.equal(await input(agent), "see @symbol:salute");
});

/** As blink.cmp calls a source (sources/lib/provider/init.lua) and nvim-cmp does (lua/cmp/source.lua). */
const HOSTS = `local line, answers = ..., {}
  local buffer = vim.api.nvim_get_current_buf()
  local blink = require("agent.chat.blink").new({}, {})
  assert(blink:enabled() and vim.list_contains(blink:get_trigger_characters(), "@"))
  blink:get_completions({ id = 1, bufnr = buffer, line = line, cursor = { 1, #line } }, function(response)
    answers.blink = response
  end)
  local cmp = require("agent.chat.nvim_cmp").new()
  assert(cmp:is_available() and vim.fn.match(line, cmp:get_keyword_pattern() .. "$") > 0)
  local context = { bufnr = buffer, cursor_before_line = line, cursor = { row = 1, col = #line + 1 } }
  cmp:complete({ offset = 5, context = context, completion_context = { triggerKind = 2 } }, function(response)
    answers.cmp = response
  end)
  vim.wait(2000, function() return answers.blink and answers.cmp end)
  return { answers.blink, answers.cmp }`;

interface Answer {
  readonly items: readonly { readonly label: string; readonly textEdit: unknown }[];
}

Deno.test("other menus get the same: blink.cmp, nvim-cmp and vim.lsp.completion; then there is no menu of ours", async () => {
  await using agent = await start();
  const { nvim } = agent;
  await nvim.keys("see @gre");
  await nvim.waitForScreen(/@src\/greet\.ts +file/);
  for (const { items } of await nvim.lua<readonly Answer[]>(HOSTS, "see @gre")) {
    const [first] = items;
    assert.equal(first?.label, "@src/greet.ts");
    assert.deepEqual(first?.textEdit, {
      newText: "@src/greet.ts",
      range: { start: { line: 0, character: 4 }, end: { line: 0, character: 8 } },
    });
  }
  await nvim.keys('<Esc>ccsee @"my no"<Left>');
  const [quoted] = await nvim.lua<readonly Answer[]>(HOSTS, 'see @"my no');
  assert.deepEqual(quoted?.items[0]?.textEdit, {
    newText: '@"docs/my notes.md"',
    range: { start: { line: 0, character: 4 }, end: { line: 0, character: 12 } },
  });
  await nvim.keys("<Esc>cc");
  await nvim.keys("@src");
  assert.equal(await nvim.lua("return vim.fn.pumvisible()"), 0);
  await nvim.keys("<Esc>cc");
  await nvim.waitFor(`#vim.lsp.get_clients({ name = "agent", bufnr = 0 }) == 1`);
  // A list that comes after the message was sent is empty.
  await nvim.keys("@gre");
  const late = await nvim.lua<Answer>(
    `local client, list = vim.lsp.get_clients({ name = "agent", bufnr = 0 })[1], nil
    local params = vim.lsp.util.make_position_params(0, "utf-8")
    client:request("textDocument/completion", params, function(_, result) list = result end, 0)
    require("agent.chat").current().input:set("")
    vim.wait(60000, function() return list end)
    return list`,
  );
  assert.deepEqual(late, { isIncomplete: false, items: [] });
  await nvim.lua(`local client = vim.lsp.get_clients({ name = "agent" })[1]
    vim.lsp.completion.enable(true, client.id, 0, { autotrigger = true })`);
  await nvim.keys("漢 @");
  await nvim.waitForScreen(/@src\/greet\.ts/);
  await nvim.keys("gre");
  await nvim.waitFor(`vim.fn.pumvisible() == 1 and #vim.fn.complete_info({ "items" }).items == 2`);
  await nvim.keys("<C-n><C-y>");
  assert.equal(await input(agent), "漢 @src/greet.ts");
  // Nobody else is to have a Neovim without our menu.
  await nvim.quit();
});
