/** The chat survives what people do to windows and buffers. No engine is needed. */
import assert from "node:assert/strict";
import type { ChildNvim } from "../support/nvim.ts";
import { scratch, waitUntil } from "../support/project.ts";
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

Deno.test("a session file brings no dead windows back, whether sessionoptions has localoptions or not", async () => {
  await using folder = await scratch();
  await using editor = await start("right");
  // It never had the chat whose name the file has.
  await using another = await start("right");
  const [{ nvim }, { nvim: other }] = [editor, another];
  for (const each of [nvim, other]) await each.command(`cd ${folder.root}`);
  for (
    const [layout, options] of [["right", "-"], ["tab", "-"], ["right", "+"], ["current", "+"]] as const
  ) {
    const what = `${layout} ${options}localoptions`;
    for (const each of [nvim, other]) {
      await each.lua(`require("agent").setup({ ui = { layout = "${layout}" } })`);
    }
    await nvim.command("Agent hello");
    await nvim.command(`set sessionoptions${options}=localoptions`);
    await nvim.command("mksession! Session.vim");
    const number = await nvim.lua<number>(`return require("agent.chat").current().id`);
    const next = await closeChats(other) + 1;
    await nvim.lua(CHANGED_SESSION, { [`chat%-${number}`]: `chat-${next}` }, "Other.vim");
    // In the same Neovim, whose chat has the names that the file has, and in one whose next chat will have them.
    for (
      const [each, file, again, chat] of [
        [nvim, "Session.vim", "Agent", number],
        [other, "Other.vim", "Agent hello", next],
      ] as const
    ) {
      await each.command(`source ${file}`);
      await each.waitFor(`#vim.api.nvim_list_wins() == 1`);
      assert.deepEqual(await windows(each), ALONE, what);
      await each.command(again);
      await each.waitForScreen("❯ hello");
      const shown = [`chat-${chat}`, `chat-${chat}-input`];
      assert.deepEqual((await windows(each)).slice(-2), shown, what);
    }
    // Files of earlier versions have other names.
    const names = { [`chat%-${number}%-input`]: `input/${number}`, [`chat%-${number}`]: `chat/${number}` };
    await nvim.lua(CHANGED_SESSION, names, "Session.vim");
    await nvim.command("source Session.vim");
    await nvim.waitFor(`#vim.api.nvim_list_wins() == 1`);
    assert.deepEqual(await windows(nvim), ALONE, what);
  }
});

/** Writes the session's file with other names, the longest first. */
const CHANGED_SESSION = `local names, file = ...
  local text, all = vim.fn.readblob("Session.vim"), vim.tbl_keys(names)
  table.sort(all, function(one, other) return #one > #other end)
  for _, name in ipairs(all) do text = text:gsub(name, (names[name]:gsub("%%", "%%%%"))) end
  assert(io.open(file, "wb")):write(text):close()`;

/** Closes all chats and wipes their buffers. @returns the number of the newest chat that there ever was */
async function closeChats(nvim: ChildNvim): Promise<number> {
  return await nvim.lua(`local chats = require("agent.chat")
    chats.new()
    local newest = chats.current().id
    vim.iter(chats.list()):each(chats.close)
    return newest`);
}

const FILES = { "a.txt": "a text of the user's\n", "b.txt": "one\ntwo\nthree\n" };
const DRAFT = "a draft";

/** The windows, without the chat's number. */
const unnumbered = async (nvim: ChildNvim) =>
  (await windows(nvim)).map((name) => name.replace(/chat-\d+/, "chat-N"));

/** Ways in which people and pickers open b.txt in the current window. The last two go to a line. */
const OPENINGS: Readonly<Record<string, string>> = {
  ":edit": ":edit b.txt<CR>",
  ":buffer": ":badd b.txt | buffer b.txt<CR>",
  "<C-^>": ":let @# = bufadd('b.txt')<CR><C-^>",
  "a picker that names the window":
    "<Cmd>lua local window, buffer = vim.api.nvim_get_current_win(), vim.fn.bufadd('b.txt')" +
    " vim.api.nvim_win_set_buf(window, buffer) vim.api.nvim_win_set_cursor(window, { 2, 1 })<CR>",
  ":cfirst": ":call setqflist([{ 'filename': 'b.txt', 'lnum': 2, 'col': 2 }]) | cfirst<CR>",
};

for (const layout of ["float", "right", "bottom", "tab", "current", "auto"]) {
  Deno.test(`${layout}: a file that is opened in a window of the chat goes where gf opens it`, async () => {
    await using project = await scratch(FILES);
    await using editor = await start(layout, layout === "auto" ? 130 : 90, 30);
    const { nvim } = editor;
    const isBeside = ["right", "bottom", "auto"].includes(layout);
    await nvim.command(`cd ${project.root} | edit! a.txt`);
    await nvim.command("Agent hello");
    await receive(nvim, ...BEGUN, ...REST);
    await nvim.keys(`<Esc>cc${DRAFT}<Esc>`);
    for (const where of ["transcript", "input"] as const) {
      for (const [name, keys] of Object.entries(OPENINGS)) {
        const what = `${name} in the ${where}`;
        await goTo(nvim, where);
        await nvim.keys(keys);
        await nvim.waitForScreen((text) => text.includes("three") && text.includes(DRAFT) === isBeside)
          .catch((cause) => assert.fail(`${what}: ${cause}`));
        assert.equal(await errors(nvim), "", what);
        const shown = ["b.txt 1", ...isBeside ? ["chat-N", "chat-N-input"] : []];
        assert.deepEqual((await unnumbered(nvim)).toSorted(), shown, what);
        assert.equal(await nvim.lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))"), "b.txt", what);
        if (keys.includes("2")) {
          assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [2, 1], what);
        }
        // The way back in this window, and the window's options.
        await nvim.keys("<C-o>");
        await nvim.waitForScreen("a text of the user's");
        await nvim.command("bwipeout b.txt | Agent");
        await nvim.waitForScreen((text) => text.includes(DRAFT) && text.includes("and the second"));
        await nvim.keys("<Esc>");
      }
    }
  });
}

Deno.test("a file that is opened while the user types ends Insert mode; the transcript stays where it was", async () => {
  await using project = await scratch(FILES);
  await using editor = await start("right", 90, 30);
  const { nvim } = editor;
  await nvim.command(`cd ${project.root} | edit! a.txt`);
  await nvim.command("Agent hello");
  await receive(nvim, ...BEGUN, { type: "text", message: "m", text: "\n\nline".repeat(60) }, ...REST);
  await nvim.keys(`<Esc>cc${DRAFT}<C-o>:edit b.txt<CR>`);
  await nvim.waitFor(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "b.txt" and vim.fn.mode() == "n"`);
  await nvim.waitForScreen((text) => ["three", DRAFT, "and the second"].every((part) => text.includes(part)));
  const top = () => nvim.lua(`return vim.fn.line("w0", require("agent.chat").list()[1].windows.transcript)`);
  await goTo(nvim, "transcript");
  await nvim.keys("20Gzt");
  const before = await top();
  await nvim.keys(":edit b.txt<CR>");
  await nvim.waitFor(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "b.txt"`);
  assert.deepEqual([before, await top()], [20, 20]);
});

Deno.test("beside a chat without other windows a file gets a new window; a window that must keep its buffer does", async () => {
  await using project = await scratch(FILES);
  for (const layout of ["right", "bottom"]) {
    await using editor = await start(layout, 90, 30);
    const { nvim } = editor;
    await nvim.command(`cd ${project.root} | edit! a.txt`);
    await nvim.command("Agent hello");
    await nvim.keys("<Esc>");
    const sizes = () =>
      nvim.lua(`local windows = require("agent.chat").list()[1].windows
        return { vim.api.nvim_win_get_width(windows.input), vim.api.nvim_win_get_height(windows.input) }`);
    const before = await sizes();
    await nvim.keys(":1close<CR>:edit b.txt<CR>");
    await nvim.waitForScreen("three");
    assert.deepEqual(await unnumbered(nvim), ["b.txt 1", "chat-N", "chat-N-input"], layout);
    assert.deepEqual(await sizes(), before, layout);
    await nvim.keys(":setlocal winfixbuf<CR>");
    await goTo(nvim, "input");
    await nvim.keys(":edit a.txt<CR>");
    await nvim.waitForScreen((text) => text.includes("a text of the user's") && text.includes("three"));
    assert.deepEqual(await sizes(), before, layout);
    assert.equal(await errors(nvim), "", layout);
  }
});

Deno.test("where a float of a file manager has the cursor, the file waits in the chat's window", async () => {
  await using project = await scratch(FILES);
  for (const layout of ["float", "right", "current"]) {
    await using editor = await start(layout, 90, 30);
    const { nvim } = editor;
    await nvim.command(`cd ${project.root} | edit! a.txt`);
    await nvim.command("Agent hello");
    await nvim.keys(`<Esc>cc${DRAFT}<Esc>`);
    await nvim.lua(`_G.target = vim.api.nvim_get_current_win()
      vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
        { relative = "editor", row = 1, col = 1, width = 20, height = 3 })
      vim.api.nvim_win_set_buf(_G.target, vim.fn.bufadd("b.txt"))
      vim.api.nvim_win_set_cursor(_G.target, { 2, 0 })`);
    await nvim.keys("jk");
    await nvim.keys("<Cmd>close | lua vim.api.nvim_set_current_win(target)<CR>");
    await nvim.waitFor(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "b.txt"`);
    const isBeside = layout === "right";
    await nvim.waitForScreen((text) => text.includes("three") && text.includes(DRAFT) === isBeside);
    assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [2, 0], layout);
    assert.equal(await errors(nvim), "", layout);
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

Deno.test("a chat that has moved to another tab page leaves the first one whole", async () => {
  await using editor = await start("float");
  const { nvim } = editor;
  await nvim.command("Agent");
  for (const [first, second] of [["transcript", "input"], ["input", "transcript"]] as const) {
    await goTo(nvim, first);
    await goTo(nvim, second);
    await nvim.command("tabnew | Agent");
    await nvim.command("tabclose");
    assert.deepEqual(await windows(nvim), ALONE);
    await nvim.command("Agent");
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
  // It would cover the next test's screen.
  await waitUntil("the message to close", async () => {
    await nvim.keys("<Esc>");
    return !nvim.text().includes("agent: no ");
  });
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
  const lines = await nvim.lua<string[]>(
    `return vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, true)`,
  );
  assert.deepEqual(lines.slice(lines.indexOf("   local a = 1")).slice(0, 2), ["   local a = 1", "   ```"]);
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
  await waitUntil("the line and the approval", async () => {
    // A key closes the message above the line once it could be read.
    await nvim.keys("<End>");
    return ["write .env", "While I type"].every((part) => nvim.text().includes(part));
  });
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

Deno.test("the chat opens where the command line leaves it one row", async () => {
  await using editor = await start("tab", 90, 12);
  const { nvim } = editor;
  await nvim.lua(`require("agent").open() vim.cmd("stopinsert | tabfirst | tabonly | resize 2")`);
  assert.ok(await nvim.lua<number>("return vim.o.cmdheight") > 5);
  await nvim.command("Agent");
  await nvim.waitFor(`require("agent.chat").current():is_visible() and vim.bo.filetype == "agent-input"`);
});
