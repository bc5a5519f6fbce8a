/** The chat survives what people do to windows and buffers. No engine is needed. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";
import { type Editor, receive, sharedEditor } from "../support/shared_editor.ts";

const TEXT = `vim.o.number = true
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "a text of the user's" })
  vim.bo.modified = false`;

function start(layout: string, columns = 90, lines = 24): Promise<Editor> {
  return sharedEditor({ options: `ui = { layout = "${layout}" }`, columns, lines, lua: TEXT });
}

const BEGUN = [{ type: "turn_started" }, { type: "text", message: "m", text: "The first half" }];
const REST = [{ type: "text", message: "m", text: " and the second" }, {
  type: "turn_done",
  reason: "end_turn",
}];

const goTo = (nvim: ChildNvim, where: "transcript" | "input") =>
  nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows[...])`, where);

/** The errors that Neovim has shown since it was asked last. */
const errors = (nvim: ChildNvim) =>
  nvim.lua<string>(`local told = vim.fn.execute("messages") vim.cmd("messages clear")
    return told:match("E%d+:.*") or told:match("stack traceback.*") or ""`);

/** What each window of the tab page shows in which one can be. */
const windows = (nvim: ChildNvim) =>
  nvim.lua<readonly string[]>(`return vim.iter(vim.api.nvim_tabpage_list_wins(0)):filter(function(window)
    return vim.api.nvim_win_get_config(window).focusable
  end):map(function(window)
    return vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window)))
      .. (vim.wo[window].winfixbuf and " fixed" or "") .. (vim.wo[window].number and " 1" or "")
  end):totable()`);
const ALONE = [" 1"];

const EVERY = ["bd", "bw", "e!", "%bd", "%bw"];
for (
  const [layout, commands] of [["float", EVERY], ["right", ["bd", "bw", "only"]], ["current", [
    "bd",
    "%bw",
    "only",
  ]]] as const
) {
  Deno.test(`${layout}: whatever is done to its buffers, the chat shows everything, and the draft is there`, async () => {
    await using editor = await start(layout);
    const { nvim } = editor;
    let sent = 0;
    for (const where of ["transcript", "input"] as const) {
      for (const command of commands) {
        for (const streams of layout === "float" ? [false, true] : [true]) {
          const what = `:${command} on the ${where}${streams ? " while it streams" : ""}`;
          const message = `message ${++sent}`;
          await nvim.command(`Agent ${message}`);
          await receive(nvim, ...BEGUN, ...streams ? [] : REST);
          await nvim.keys("<Esc>cca draft<Esc>");
          await goTo(nvim, where);
          await nvim.keys(`:${command}<CR>`);
          if (streams) await receive(nvim, ...REST);
          await nvim.command("Agent");
          await nvim.waitForScreen(
            (text) => ["a draft", `❯ ${message}`, "and the second"].every((part) => text.includes(part)),
          ).catch((cause) => assert.fail(`${what}: ${cause}`));
          assert.equal(await errors(nvim), "", what);
          await nvim.keys(streams ? "!<C-s>" : "!<Esc><CR>");
          await nvim.waitFor(`_G.sent[#_G.sent].text == "a draft!"`);
          await receive(nvim, { type: "turn_done", reason: "end_turn" });
          await nvim.keys("<Esc>q");
          assert.deepEqual(await windows(nvim), ALONE, what);
        }
      }
    }
  });
}

/** A float with an answered message and a draft. */
async function startWithDraft() {
  const editor = await start("float");
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await receive(nvim, ...BEGUN, ...REST);
  await nvim.keys("<Esc>cca draft<Esc>");
  return editor;
}

Deno.test("with 'nomodifiable' a draft returns, can be edited and is sent; g? shows the keys", async () => {
  await using editor = await startWithDraft();
  const { nvim } = editor;
  await nvim.keys(":set nomodifiable | bd!<CR>");
  await nvim.waitForScreenGone("Agent ─");
  await nvim.command("Agent");
  await nvim.waitForScreen((text) => text.includes("a draft") && text.includes("and the second"));
  await nvim.keys("!<Esc>g?");
  await nvim.waitForScreen("Keys");
  await nvim.keys("q:setlocal nomodifiable<CR><CR>");
  await nvim.waitForScreen("❯ a draft!");
  assert.equal(await errors(nvim), "");
});

Deno.test("a wipe in somebody's autocommand loses nothing either", async () => {
  await using editor = await startWithDraft();
  const { nvim } = editor;
  await nvim.lua(`vim.api.nvim_create_autocmd("User", { pattern = "Clean", command = "%bwipeout!" })
    vim.cmd("doautocmd User Clean")`);
  await nvim.command("Agent");
  await nvim.waitForScreen((text) => text.includes("a draft") && text.includes("and the second"));
});

/** A Neovim of its own, whose first chat has the number 1. */
async function startNew(layout: string, cwd: string): Promise<ChildNvim> {
  const lua = `vim.g.agent = { ui = { layout = "${layout}" } }\n${TEXT}`;
  const nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 90, lines: 24, cwd, lua });
  await nvim.lua(`require("agent.client").send = function() end`);
  return nvim;
}

Deno.test("a session file brings no dead windows back, whether sessionoptions has localoptions or not", async () => {
  await using folder = await scratch();
  await using nvim = await startNew("right", folder.root);
  for (
    const [layout, options] of [["right", "-"], ["tab", "-"], ["right", "+"], ["current", "+"]] as const
  ) {
    const what = `${layout} ${options}localoptions`;
    await nvim.lua(`require("agent").setup({ ui = { layout = "${layout}" } })`);
    await nvim.command("Agent hello");
    await nvim.command(`set sessionoptions${options}=localoptions`);
    await nvim.command("mksession! Session.vim");
    // In the same Neovim, whose chat has the names that the file has, and in a new one.
    await using other = await startNew(layout, folder.root);
    for (const [each, again] of [[nvim, "Agent"], [other, "Agent hello"]] as const) {
      await each.command("source Session.vim");
      await each.waitFor(`#vim.api.nvim_list_wins() == 1`);
      assert.deepEqual(await windows(each), ALONE, what);
      await each.command(again);
      await each.waitForScreen("❯ hello");
      assert.deepEqual((await windows(each)).slice(-2), ["chat-1 fixed", "chat-1-input fixed"], what);
    }
    // Files of earlier versions have other names.
    await nvim.lua(`local text = vim.fn.readblob("Session.vim")
      text = text:gsub("chat%-1%-input", "input/1"):gsub("chat%-1", "chat/1")
      assert(io.open("Session.vim", "wb")):write(text):close()`);
    await nvim.command("source Session.vim");
    await nvim.waitFor(`#vim.api.nvim_list_wins() == 1`);
    assert.deepEqual(await windows(nvim), ALONE, what);
  }
});

Deno.test("windows that were split off go with the chat; a tab page gets it, and q goes back", async () => {
  for (const layout of ["float", "right", "current"]) {
    await using editor = await start(layout);
    const { nvim } = editor;
    await nvim.command("Agent hello");
    for (const where of ["input", "transcript"] as const) {
      await goTo(nvim, where);
      await nvim.keys("<Esc>:vsplit<CR>q");
      assert.deepEqual(await windows(nvim), ALONE, `${layout}: ${where}`);
      await nvim.command("Agent");
    }
    await nvim.keys("<Esc>:tabnew<CR>");
    await nvim.command("Agent");
    await nvim.waitForScreen("❯ hello");
    assert.equal(await nvim.lua("return vim.fn.tabpagenr()"), 2, layout);
    await nvim.keys("<Esc>q");
    assert.deepEqual([await windows(nvim), await nvim.lua("return vim.fn.tabpagenr()")], [ALONE, 2], layout);
    await nvim.keys(":tabfirst<CR>");
    assert.deepEqual(await windows(nvim), ALONE, layout);
  }
});

Deno.test("a click from Insert mode into the transcript leaves Insert mode; keys on nothing say so", async () => {
  await using editor = await start("float");
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await nvim.keys("<Esc>ia draft");
  await nvim.waitForScreen("<C-s> queue");
  const at = nvim.locate("❯ hello");
  assert.ok(at !== undefined);
  await nvim.request("nvim_input_mouse", "left", "press", "", 0, at.row, at.column);
  await nvim.waitFor(`vim.bo.filetype == "agent" and vim.fn.mode() == "n"`);
  await nvim.waitForScreen("<CR> queue");
  await receive(nvim, { type: "approval", request: 1, tool: "t", ...APPROVALS[0] });
  await nvim.keys("i");
  await nvim.waitForScreen("write .env");
  const approval = nvim.locate("write .env");
  assert.ok(approval !== undefined);
  await nvim.request("nvim_input_mouse", "left", "press", "", 0, approval.row, approval.column);
  await nvim.waitFor(`vim.bo.filetype == "agent-approval" and vim.fn.mode() == "n"`);
  await nvim.keys("q");
  await goTo(nvim, "transcript");
  for (const [key, told] of [["gf", "no file under the cursor"], ["gy", "no code block under the cursor"]]) {
    await nvim.keys(`${key}`);
    await nvim.waitForScreen(`agent: ${told}`);
  }
});

Deno.test("the hint names the keys of the mode, and none of them is cut", async () => {
  await using editor = await start("float", 40, 15);
  const { nvim } = editor;
  await nvim.command("Agent");
  await nvim.waitForScreen(" <C-s> send  <C-c> stop ");
  await nvim.keys("<Esc>");
  await nvim.waitForScreen(" <CR> send  <C-c> stop  q hide ");
});

Deno.test("a fence that was left open is closed, and gy yanks the block alone", async () => {
  await using editor = await start("float", 90, 40);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await nvim.keys("<Esc>");
  const call = { type: "tool", id: "t", title: "read x", status: "completed", output: "```\nnot code" };
  const text = (text: string) => ({ type: "text", message: "m", text });
  await receive(nvim, BEGUN[0] ?? {}, text("1. So:\n   ```lua\n   local a"), text(" = 1"));
  await nvim.command("Agent What about b?");
  await receive(nvim, call, text("````\n```\ninner\n"), { type: "turn_done", reason: "cancelled" });
  await goTo(nvim, "transcript");
  await nvim.keys("gg/read x<CR><Tab>");
  const yanked = async (at: string) => {
    await nvim.keys(`gg/${at}<CR>gy`);
    return await nvim.lua(`return vim.fn.getreg('"')`);
  };
  assert.equal(await yanked("local a"), "local a = 1\n");
  assert.equal(await yanked("inner"), "```\ninner\n");
  assert.match(nvim.text(), /local a = 1 +│\n.*│ {3}``` /);
  // Nothing else is code, and what a tool said is no markdown: so says what colours the buffer.
  const code = await nvim.lua<readonly string[]>(
    `local buffer = require("agent.chat").current().transcript.buffer
    local parser = vim.treesitter.get_parser(buffer, "markdown")
    local query = vim.treesitter.query.parse("markdown", "(fenced_code_block) @code")
    local code = {}
    for _, tree in pairs(parser:parse(true)) do
      for _, node in query:iter_captures(tree:root(), buffer) do
        table.insert(code, vim.treesitter.get_node_text(node, buffer))
      end
    end
    return code`,
  );
  assert.equal(code.length, 2, code.join("\n---\n"));
  assert.match(code.join("\n---\n"), /local a = 1[^]*---[^]*inner/);
  assert.ok(code.every((block) => !/What about|Stopped|✓/.test(block)), code.join("\n---\n"));
});

const COMMAND = "npm install left-pad && npm test\n".repeat(6).trim();
const APPROVALS = [
  {
    title: "write .env",
    reason: ".env may hold secrets",
    kind: "file",
    files: [{ path: ".env", after: "A=1\nB=2\nC=3\n" }],
    left_out: 0,
    suggestion: "write(.env)",
  },
  {
    ...{ title: "run x", reason: "fetches packages", kind: "command", command: COMMAND, folder: "." },
    ...{ access: "write+network", severity: "medium", is_edited: false },
  },
];
const FILE_KEYS = ["a once", "s session", "A always", "r reject", "R with reason", "d diff"];
const COMMAND_KEYS = ["a once", "s session", "r reject", "R with reason", "e edit"];

Deno.test("without a chat in view an approval does not hide the line that is written", async () => {
  await using editor = await start("float");
  const { nvim } = editor;
  await nvim.command("Agent! hello");
  await nvim.keys("20o<Esc>GaWhile I type");
  await receive(nvim, { type: "approval", request: 1, tool: "t", ...APPROVALS[0] });
  await nvim.waitForScreen((text) => text.includes("write .env") && text.includes("While I type"));
});

for (
  const [layout, columns, lines] of [["float", 40, 15], ["float", 80, 24], ["right", 100, 24], [
    "current",
    60,
    20,
  ]] as const
) {
  Deno.test(`${layout} at ${columns}×${lines}: an approval hides neither the input nor the chat's end`, async () => {
    await using editor = await start(layout, columns, lines);
    const { nvim } = editor;
    await nvim.command("Agent hello");
    await nvim.keys("iWhile I type");
    const talk = Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n");
    await receive(nvim, { type: "turn_started" }, {
      type: "text",
      message: "m",
      text: `${talk}\nThe very end.`,
    });
    for (const [index, approval] of APPROVALS.entries()) {
      await receive(nvim, { type: "approval", request: index + 1, tool: "t", ...approval });
      const both = (text: string) => text.includes("While I type") && text.includes("The very end.");
      await nvim.waitForScreen((text) => text.includes("Approval") && both(text));
      await nvim.keys("<Esc>:Agent approval<CR>");
      const keys = index === 0 ? FILE_KEYS : COMMAND_KEYS;
      await nvim.waitForScreen((text) => both(text) && keys.every((key) => text.includes(` ${key} `)));
      if (index === 1) {
        await nvim.keys("e");
        await nvim.waitForScreen((text) =>
          ["<CR>/:w use this text", "(nothing runs yet)", "q cancel"].every((key) =>
            text.includes(` ${key} `)
          )
        );
        await nvim.keys("q");
        await nvim.waitForScreen("a once");
      }
      await nvim.keys("a");
      await nvim.waitForScreenGone("a once");
      await nvim.keys("a");
    }
    await nvim.waitForScreen((text) => text.includes("While I type") && !text.includes("Approval"));
  });
}
