/** Commands, maps, windows and messages as a user meets them; no engine is needed for most of it. */
import assert from "node:assert/strict";
import { GREET, PLUGIN } from "../support/agent.ts";
import { transcript, waitForChat } from "../support/chat.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { type Editor, type EditorOptions, receive, sharedEditor } from "../support/shared_editor.ts";

const LINES = ["local one = 1", "local two = 2", "local three = 3"];

/** Neovim with the plugin, a buffer of three lines, and a list of what would go to the supervisor. */
async function start(options: EditorOptions = {}): Promise<Editor> {
  const editor = await sharedEditor(options);
  await editor.nvim.lua(
    `vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)
    vim.bo.filetype = "lua"`,
    LINES,
  );
  return editor;
}

/** What stands in the input of the chat that is shown. */
function input(child: ChildNvim): Promise<string> {
  return child.lua(`return require("agent.chat").current().input:text()`);
}

/** The number of the chat that is shown. */
function chat(child: ChildNvim): Promise<number> {
  return child.lua(`return require("agent.chat").current().id`);
}

/** The messages that went to the supervisor. */
function prompts(child: ChildNvim): Promise<readonly string[]> {
  return child.lua(`return vim.iter(_G.sent)
    :filter(function(action) return action.type == "prompt" end)
    :map(function(action) return action.text end):totable()`);
}

/** What goes along with the messages that went to the supervisor. */
function given(child: ChildNvim): Promise<readonly unknown[]> {
  return child.lua(`return vim.iter(_G.sent)
    :filter(function(action) return action.type == "prompt" end)
    :map(function(action) return action.given end):totable()`);
}

/** Lines of the buffer without a name. */
function selected(label: string, ...lines: readonly string[]) {
  return { type: "text", label: `an unnamed buffer ${label}`, text: lines.join("\n"), selected: true };
}

Deno.test(":Agent with a range and no text has the lines go along with the message, once, as a line above the input says", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.command("2,3Agent");
  await child.waitForScreen("▸ an unnamed buffer L2–3");
  assert.equal(await input(child), "");
  await child.keys("Why?<C-s>");
  await child.waitForScreenGone("an unnamed buffer L2–3");
  await child.keys("And?<C-s>");
  await child.waitFor("#_G.sent > 2");
  const [, two = "", three = ""] = LINES;
  assert.deepEqual(await given(child), [[selected("L2–3", two, three)], []]);
});

Deno.test("the <Plug> maps take a Visual selection along, and in Normal mode neither lines nor a count", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.keys("<Esc>gg<Cmd>nmap <lt>F3> <lt>Plug>(AgentToggle)<CR>3<F3>");
  await child.waitForScreen("Ask, or @file");
  assert.ok(!child.screen().join("\n").includes("▸"));
  await child.keys("<Esc><F3>");
  const select = (map: string) => child.keys(`<Esc>gg<Cmd>xmap <lt>F2> <lt>Plug>(${map})<CR>Vj<F2>`);
  await select("AgentToggle");
  await child.waitForScreen("▸ an unnamed buffer L1–2");
  await child.keys("Why?");
  await child.lua(`require("agent.chat").current().input:set("Why?") require("agent").toggle()`);
  await child.keys("<Esc>");
  await select("AgentSend");
  await child.waitFor("#_G.sent > 0");
  assert.deepEqual(await prompts(child), ["Why?"]);
  assert.deepEqual(await given(child), [[selected("L1–2", ...LINES.slice(0, 2))]]);
  assert.equal(await input(child), "");
});

const WAITS = {
  ...{ type: "approval", request: 7, tool: "1", title: "write .env", reason: "sensitive" },
  ...{ kind: "file", files: [], left_out: 0 },
};

Deno.test("a message may begin with approve or reject, unless something waits for an answer", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.command("Agent reject empty names in the parser");
  await child.command("Agent approve the plan, then go on");
  await child.command("Agent send both");
  const messages = ["search the code for it", "export configuration", "resume the work", "undo the rename"];
  for (const message of messages) await child.command(`Agent ${message}`);
  assert.deepEqual(await prompts(child), [
    "reject empty names in the parser",
    "approve the plan, then go on",
    "both",
    ...messages,
  ]);
  await child.command("Agent approve session");
  await child.waitForScreen("nothing is waiting for an answer");
  await receive(child, WAITS);
  await child.command("Agent reject not this file");
  assert.deepEqual(await child.lua("return _G.sent[#_G.sent]"), {
    type: "answer",
    request: 7,
    option: "reject",
    reason: "not this file",
  });
  await receive(child, WAITS);
  await child.command("Agent approve the plan");
  assert.equal((await prompts(child)).at(-1), "approve the plan");
  const completed = (line: string) => child.lua(`return vim.fn.getcompletion(..., "cmdline")`, line);
  assert.deepEqual(await completed("Agent approve "), ["session", "always"]);
  assert.deepEqual(await completed("Agent approve s"), ["session"]);
  assert.deepEqual(await completed(`Agent export ${PLUGIN}doc/agent.t`), [`${PLUGIN}doc/agent.txt`]);
  assert.deepEqual(await completed("Agent reject "), []);
});

Deno.test("a single word that is nearly a sub-command is not sent; words of messages are", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  const MISSPELT = {
    reveiw: "review",
    Sesions: "sessions",
    session: "sessions",
    contxt: "context",
    undoo: "undo",
  };
  for (const [word, meant] of Object.entries(MISSPELT)) {
    await child.command("messages clear");
    await child.command(`Agent ${word}`);
    const line = `did you mean :Agent ${meant}? To send the word as a message: :Agent send ${word}`;
    await child.waitFor(`vim.fn.execute("messages"):find(${JSON.stringify(line)}, 1, true)`);
  }
  const messages = ["go", "improve", "revert", "continue", "hello", "nwe", "reveiw the parser", "review?"];
  for (const message of messages) await child.command(`Agent ${message}`);
  await child.command("Agent send reveiw");
  await child.command("1Agent reveiw");
  assert.deepEqual(await prompts(child), [...messages, "reveiw", "reveiw"]);
});

Deno.test("stop says that nothing runs, and a turn that was stopped is not paused", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.command("Agent stop");
  await child.waitForScreen("agent: no turn is running");
  await child.keys("<C-l>");
  await child.command("Agent Hello");
  await child.lua(`require("agent.chat").current().timeline.session = "s"`);
  await receive(child, { type: "turn_started" });
  await child.command("Agent pause");
  const request = await child.lua<number>(`return _G.sent[#_G.sent].request`);
  await child.command("Agent stop");
  await child.command("messages clear");
  await receive(
    child,
    { type: "engine_answer", request, result: { paused: false } },
    { type: "turn_done", status: "stopped" },
  );
  await child.waitFor(`require("agent").status():find("ready$")`);
  await child.lua(`require("agent.ui.say").info("the last line")`);
  await child.waitFor(`vim.fn.execute("messages"):find("the last line")`);
  assert.doesNotMatch(await child.lua<string>(`return vim.fn.execute("messages")`), /pause/);
});

Deno.test("what asks for something of an unknown kind is shown, and can only be rejected", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.command("Agent");
  await receive(child, { ...WAITS, kind: "device", suggestion: "write(**)" });
  await child.command("Agent approval");
  await child.waitForScreen("Unknown request. Reject it.");
  assert.ok(!/a once|s session|A always/.test(child.text()));
  for (const keys of ["a", "s", "A<CR>", "1", "d", "e"]) await child.keys(keys);
  await child.command("Agent approve");
  await child.command("Agent approve session");
  await child.waitForScreen("this can only be rejected");
  const answers = () =>
    child.lua<readonly unknown[]>(`return vim.tbl_filter(function(action)
      return action.type == "answer" or action.type == "answer_question"
    end, _G.sent)`);
  assert.deepEqual(await answers(), []);
  await child.keys("r");
  assert.deepEqual(await answers(), [{ type: "answer", request: 7, option: "reject" }]);
});

Deno.test("an approval of another chat says which one it is from", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.command("Agent");
  const first = await chat(child);
  await receive(child, WAITS);
  await child.waitForScreen(" Approval ");
  assert.ok(!child.text().includes(`· chat ${first}`));
  await child.command("Agent new");
  await child.waitForScreen(` Approval · chat ${first} `);
  assert.notEqual(await chat(child), first);
  await receive(child, { ...WAITS, request: 8, title: "write b" });
  await child.waitForScreen(` Approval 1 of 2 · chat ${first} `);
  await child.command("Agent approve");
  await child.waitForScreen("write b");
  assert.ok(!child.text().includes("· chat"));
});

Deno.test('host = "denops" without denops.vim: one clear line, and nothing waits for it', async () => {
  await using child = await ChildNvim.start({ runtime: [PLUGIN], lua: 'vim.g.agent = { host = "denops" }' });
  const line =
    `Cannot start: denops.vim is not installed. Set the option host to "auto", which does without it.`;
  await child.command("Agent hello");
  await waitForChat(child, line);
  await child.waitForScreen("· ready");
  await child.command("messages clear");
  await child.command("Agent! again");
  await child.command("Agent toggle");
  await child.command("Agent rules");
  await child.waitFor(
    `vim.fn.execute("messages"):find("agent: cannot start: denops.vim is not", 1, true)`,
  );
  await child.command("checkhealth agent");
  const report = await child.lua<string>(
    `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")`,
  );
  assert.ok(report.includes(`ERROR ${line}`), report);
  assert.match(report, /WARNING The supervisor is not running/);
});

Deno.test("mistakes in vim.g.agent are told once, at the first use, in words", async () => {
  const lua = `vim.g.agent = { limits = { max_iterations = 2.5 }, ui = { layout = "top" } }
    _G.told = {}
    vim.notify = function(text) table.insert(_G.told, (text:gsub("\\n", " "))) end`;
  await using child = await ChildNvim.start({ runtime: [PLUGIN], lua });
  await child.lua(`require("agent.client").send = function() end`);
  assert.deepEqual(await child.lua("return _G.told"), []);
  for (const line of ["Agent", "Agent toggle", "Agent hello"]) await child.command(line);
  const first = await child.waitFor("_G.told[1]");
  assert.equal(
    first,
    "agent: limits.max_iterations must be a whole number from 1 to 1000, not 2.5" +
      " (and 1 more, see :checkhealth agent)",
  );
  assert.equal(await child.lua("return #_G.told"), 1);
  await child.lua(
    `_G.told = {} require("agent").setup({ ui = { layout = "float" }, limits = { max_iterations = 0 } })`,
  );
  assert.equal(
    await child.waitFor("_G.told[1]"),
    "agent: limits.max_iterations must be a whole number from 1 to 1000, not 0",
  );
});

Deno.test("a split is 0.4 of the screen unless told, and 0.8 if told", async () => {
  for (const [width, columns] of [["nil", 40], ["0.8", 80], ["30", 30]] as const) {
    await using editor = await start({
      options: `ui = { layout = "right", width = ${width} }`,
      columns: 100,
    });
    const { nvim: child } = editor;
    await child.command("Agent");
    assert.equal(await child.lua("return vim.api.nvim_win_get_width(0)"), columns);
  }
});

Deno.test("when the supervisor dies, the turn's end and its error are events, and told if not in view", async () => {
  const lua = `_G.events, _G.told = {}, {}
    vim.api.nvim_create_autocmd("User", { pattern = "Agent*", callback = function(event)
      table.insert(_G.events, { event.match, event.data.reason or event.data.text or event.data.answer })
    end })
    vim.notify = function(text) table.insert(_G.told, (text:gsub("\\n", " "))) end`;
  await using editor = await start({ lua });
  const { nvim: child } = editor;
  await child.command("Agent! hello");
  await receive(child, WAITS);
  const text = `The supervisor stopped (exit code 1): ${"error ".repeat(30)}.`;
  await receive(child, { type: "host_lost", text, was_running: true, chats: [await chat(child)] });
  assert.deepEqual(
    (await child.lua<readonly [string, string][]>("return _G.events")).toSorted(),
    [
      ["AgentApprovalAnswered", "cancelled"],
      ["AgentApprovalRequested", "sensitive"],
      ["AgentError", text],
      ["AgentTurnDone", "error"],
    ],
  );
  const [line = ""] = await child.lua<readonly string[]>("return _G.told");
  assert.equal(line, `agent: t${text.slice(1, -1).trimEnd()}`);
});

Deno.test(":Agent chats goes back to an older chat", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.command("Agent the first question");
  const first = await chat(child);
  await child.command("Agent new");
  await child.command("Agent the second question");
  await child.keys("<Esc><Cmd>Agent chats<CR>");
  await child.waitForScreen(new RegExp(`1: chat ${first} {2}starting {2}the first question`));
  await child.keys("1<CR>");
  await child.waitForScreen((text) => text.includes("the first question") && !text.includes("the second"));
  assert.equal(await chat(child), first);
});

Deno.test("a call that is refused before it is asked about shows what it wanted", async () => {
  const script = `
call read_file {"path": "../elsewhere/secret.txt"}
call read_file {"path": "README.md"}
---
call read_file {"path": "README.md"}
---
say Done.`;
  await using agent = await sharedAgent({ script, options: "sessions = { title = false }" });
  const { nvim } = agent;
  await nvim.command("Agent look");
  await waitForChat(nvim, "Done.");
  assert.deepEqual((await transcript(nvim)).slice(1, 4), [
    "✗ read ../elsewhere/secret.txt  path is outside of the project: ../elsewhere/secret.txt",
    "✓ read README.md  1 line",
    "✗ read README.md  done already",
  ]);
});

Deno.test("a chat that fits its window again shows its first line again", async () => {
  await using editor = await start();
  const { nvim: child } = editor;
  await child.lua(`require("agent").open() vim.cmd.stopinsert()`);
  const write = { type: "tool", id: "1", title: "write a.txt", kind: "edit" };
  await receive(
    child,
    { type: "submitted", text: "Count" },
    { type: "turn_started" },
    { type: "text", message: "m", text: "1  \n2  \n3  \n4  " },
    { ...write, status: "pending", draft: "5\n6\n7\n8\n9" },
  );
  await child.waitForScreen((text) => text.includes("write  a.txt") && !text.includes("❯ Count"));
  await receive(child, { ...write, status: "completed", added: 5 });
  await child.waitForScreen(/❯ Count[^]*✓ write {2}a\.txt/);
});

Deno.test("rules on files and on the network hold for files that are written unasked, too", async () => {
  const script = `
call read_file {"path": "README.md"}
call read_file {"path": "src/greet.ts"}
call read_file {"path": "src/notes.md"}
---
call edit_file {"path": "src/greet.ts", "old_str": "greet", "new_str": "salute"}
call run_terminal_command {"command": "curl example.com", "access": "network"}
call edit_file {"path": "README.md", "old_str": "demo", "new_str": "example"}
---
say Done.`;
  const rules = `ask = { "write(*.md)" }, ` +
    `deny = { "write(src/*.ts)", "read(**/notes.md)", "network(curl example.com)" }`;
  const project = { ...GREET, "src/notes.md": "# notes\n" };
  await using agent = await sharedAgent({ script, options: "sessions = { title = false }", project });
  const { nvim } = agent;
  await nvim.lua(`require("agent").setup({ rules = { ${rules} } })`);
  await nvim.command("Agent go on");
  await nvim.waitForScreen("rule write(*.md) asks");
  await nvim.command("Agent approve");
  await waitForChat(nvim, "Done.");
  assert.deepEqual((await transcript(nvim)).slice(3, 7), [
    "✗ read src/notes.md  Cannot read src/notes.md: denied by rule read(**/notes.md)",
    "✗ edit src/greet.ts  not allowed: denied by rule write(src/*.ts)",
    "✗ run curl example.com  not allowed: denied by rule network(curl example.com)",
    "✓ edit README.md  +1 −1",
  ]);
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("<Esc>gg/edit README<CR><Tab>");
  assert.deepEqual((await transcript(nvim)).slice(6, 10), [
    "✓ edit README.md  +1 −1 · allowed once",
    "  @@ -1,1 +1,1 @@",
    "  -# demo",
    "  +# example",
  ]);
});

Deno.test("health shows the grants of every root", async () => {
  await using folder = await scratch({ "util.ts": "" });
  await using agent = await sharedAgent({ script: "say Hi.", options: "sessions = { title = false }" });
  const { nvim, project } = agent;
  await nvim.lua(`require("agent").setup({ roots = { "${folder.root}" } })`);
  await nvim.command("checkhealth agent");
  const report = await nvim.lua<string>(
    `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")`,
  );
  assert.ok(report.includes(`root: ${project.root}, ${folder.root}`), report);
  assert.ok(report.includes(`--allow-write=${project.root},${folder.root},`), report);
  assert.match(report, /address: http:\/\/127\.0\.0\.1:\d+\/v1/);
  assert.match(report, /The supervisor runs in a process of its own: denops\.vim is not installed/);
});

Deno.test("g? shows the keys without waiting for <CR>, and q goes back", async () => {
  await using editor = await start();
  const { nvim } = editor;
  await nvim.command("Agent open");
  await nvim.keys("<Esc>g?");
  assert.match(
    await nvim.waitForScreen("q close"),
    /In both windows[^]* stop the turn[^]*In the input[^]* send/,
  );
  const docs = await nvim.lua<number[]>(`return vim.tbl_map(function(line)
    return line:find("^In ") and 0 or line:match("^%S+%s%s+()")
  end, vim.api.nvim_buf_get_lines(0, 0, -1, false))`);
  assert.deepEqual([...new Set(docs)], [0, 13], "one column");
  await nvim.keys("q");
  assert.doesNotMatch(await nvim.waitForScreenGone("q close"), /Press ENTER/);
  assert.equal(await nvim.lua<string>("return vim.bo.filetype"), "agent-input");
});

Deno.test("the context of an empty chat is one line that says what to do", async () => {
  await using editor = await start();
  await editor.nvim.command("Agent context");
  await editor.nvim.waitForScreen("agent: the chat is empty: after the first message this shows");
});

Deno.test("q closes a page at once, though a map of the user's begins with it", async () => {
  await using editor = await start({ lua: `vim.o.timeoutlen = 60000 vim.keymap.set("n", "qq", "ix")` });
  const { nvim: child } = editor;
  for (
    const open of [
      `require("agent.ui.page").open({ "text" }, "it")
      assert(vim.wo.winbar:find(" q close "))`,
      `require("agent.approval.content").open_diff({ kind = "file", files = { { path = "x", before = "a", after = "b" } } }, 1)`,
    ]
  ) {
    await child.command("tabnew | tabprevious");
    await child.lua(open);
    assert.equal(await child.lua("return #vim.api.nvim_list_tabpages()"), 3);
    await child.keys("q");
    await child.waitFor("#vim.api.nvim_list_tabpages() == 2");
    assert.equal(await child.lua("return vim.fn.tabpagenr()"), 1, "back where it was opened");
    await child.lua(open);
    await child.command("tabonly");
    await child.keys("q");
    assert.equal(
      await child.lua("return vim.fn.bufname() .. vim.fn.winnr('$')"),
      "1",
      "the last tab has no page",
    );
  }
});
