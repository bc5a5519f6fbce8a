/** What a turn does is seen while it does it: files, diffs, jobs, the plan, waiting, and answers that end before their end. */
import assert from "node:assert/strict";
import { messagesOf } from "../model/model_messages.ts";
import type { RunningAgent } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { reached } from "../support/server.ts";
import { endEngines, sharedAgent, type SharedOptions } from "../support/shared_agent.ts";

const OPTIONS = "sessions = { title = false }";
/** Nothing but the tests of timers uses this program: a review of changes has some of its own. */
const TIMED = { group: "timers", options: `${OPTIONS}, ui = { notify_with = "osc9" }` };

/** A program that the tests share, with more options of the user's. */
async function start(options: string, own: Partial<SharedOptions>): Promise<RunningAgent> {
  const agent = await sharedAgent({ script: "", options: OPTIONS, ...own });
  await agent.nvim.lua(`require("agent").setup({ ${options} })`);
  return agent;
}

const STILL = "ui = { spinner = false }";
const TRANSCRIPT = `vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`;

const COMMANDS = `shell = { commands = "project" }, rules = { allow = { "run(*)" } }`;

const FRAME = "[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]";

/** Timers that fire again and again. */
async function timers(nvim: ChildNvim): Promise<number> {
  return await nvim.lua<number>(`
    local count = 0
    vim.uv.walk(function(handle)
      local is_timer = handle:get_type() == "timer" and handle:is_active()
      count = count + (is_timer and handle:get_repeat() > 0 and 1 or 0)
    end)
    return count`);
}

Deno.test("without frames there are seconds, and with false there is neither", async () => {
  await using agent = await start("ui = { spinner = {} }", {
    script: "wait first\nsay Yes.",
    ...TIMED,
  });
  const { nvim, server } = agent;
  await nvim.lua(`_G.real, sent = vim.api.nvim_ui_send, {}
    vim.api.nvim_ui_send = function(data) table.insert(sent, data) end`);
  const idle = await timers(nvim);
  await nvim.command("Agent Wait for it");
  await nvim.waitForScreen(/❯ Wait for it 1 s/);
  // Nothing is counted for nobody.
  await nvim.keys("q");
  await waitUntil("the timer to stop", async () => await timers(nvim) === idle);
  await nvim.command("Agent");
  await nvim.waitForScreen(/❯ Wait for it \d+ s/);
  await nvim.lua("require('agent').setup({ ui = { spinner = false } })");
  await nvim.waitForScreen(/· working\s*│/);
  // Whoever looks elsewhere is told.
  await nvim.keys("<Esc>q");
  server.release("first");
  await waitForTurn(nvim);
  await nvim.waitFor("#sent > 0");
  assert.equal(await nvim.lua<string>("return table.concat(sent, '|')"), "\x1b]9;agent: done\x1b\\");
  await nvim.lua("vim.api.nvim_ui_send = _G.real");
});

Deno.test("what waits turns and counts: the first token, a thought, a command; and nothing is left of it", async () => {
  const script = `
wait first
think Hm.
wait thought
call run_terminal_command {"command": "until [ -e go ]; do sleep 0.05; done", "access": "look", "direct": true}
---
say Done.`;
  await using agent = await start(COMMANDS, { script, columns: 60, ...TIMED });
  const { nvim, server, project } = agent;
  const idle = await timers(nvim);
  await nvim.command("Agent Wait for it");
  await nvim.waitForScreen(new RegExp(`❯ Wait for it ${FRAME} 1 s`));
  await nvim.waitForScreen(new RegExp(`· working \\d+ s ${FRAME}`));
  assert.match(
    await nvim.lua<string>("return require('agent').status()"),
    new RegExp(`working \\d+ s ${FRAME}$`),
  );
  server.release("first");
  await nvim.waitForScreen(/Thinking …\s+1 s/);
  assert.doesNotMatch(nvim.text(), new RegExp(`Wait for it ${FRAME}`));
  server.release("thought");
  await nvim.waitForScreen(new RegExp(`${FRAME} run {4}until`));
  assert.equal(await timers(nvim), idle + 1, "one timer for all of them");

  await project.write("go", "");
  await waitForTurn(nvim);
  await nvim.waitForScreen("✓ run    until");
  await nvim.waitForScreenGone(new RegExp(FRAME));
  assert.equal(await timers(nvim), idle, "no timer is left");
});

Deno.test("a thought that the answer repeats is shown once, while it streams too, and the answer goes back without it; turns have numbers", async () => {
  const thought = "I look at the file before I change it.";
  await using agent = await start("", {
    script: `think ${thought}\nsay ${thought}\nwait echo\nsay Done.\n---\nsay Fine.`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Go");
  await reached(server, "echo");
  await nvim.waitForScreen("Thinking …");
  assert.deepEqual(await transcript(nvim), ["Go", "Thinking …"]);
  server.release("echo");
  await waitForTurn(nvim);
  const [, header, ...answer] = await transcript(nvim);
  assert.match(header ?? "", /^Thought for /);
  assert.deepEqual(answer, ["Done."]);
  await nvim.command("Agent And now?");
  await waitForTurn(nvim);
  await nvim.waitForScreen(/❯ Go +turn 1 [^]*❯ And now\? +turn 2 /);
  const sent = messagesOf("openai_chat", server.requests.at(-1)?.body ?? {});
  assert.deepEqual(sent.filter(({ role }) => role === "assistant").map(({ text }) => text), ["Done."]);
});

const LOOP = "I will look at it again, to be sure. ".repeat(400);

Deno.test("a call that was cut off, a model that repeats itself, a refusal: each is a line, and the chat goes on", async () => {
  await using agent = await start("", {
    lines: 40,
    script: [
      `call write_file {"path": "b.txt", "content": "half"}\nstop length`,
      "say I stop here.",
      `say Hm. ${LOOP}\nwait never`,
      "say Then in another way.",
      "say Half of\nstop content_filter",
      "new-history\nsay Fine.",
    ].join("\n---\n"),
  });
  const { nvim, server, project } = agent;
  const shown = async (...texts: readonly string[]) => {
    for (const text of texts) await nvim.waitForScreen(text);
    await waitForTurn(nvim);
  };
  await nvim.command("Agent write it");
  await shown("write  b.txt", "cut off, not run", "I stop here.");
  await nvim.command("Agent look at it");
  await shown("The model repeated itself and was stopped", "Then in another way.");
  await nvim.command("Agent go further");
  await shown("Half of", "The model refused to answer.");
  await nvim.command("Agent something else");
  await shown("Fine.");
  assert.deepEqual(server.problems, []);
  await assert.rejects(project.read("b.txt"), Deno.errors.NotFound);
});

const LINES = ["one", "two", "three", "four", "five", "six", "seven"];
const CODE = LINES.map((name, index) => `local ${name} = "n${index + 1}"\n`).join("");

Deno.test("the last lines of a write stand under it as they come; its diff is open, coloured, and closes", async () => {
  const script = `
call write_file ${JSON.stringify({ path: "src/numbers.lua", content: CODE })}
wait written
---
say Done.
---
call read_file {"path": "src/numbers.lua"}
call read_file {"path": "src/greet.ts", "offset": 2, "limit": 2}
call search_workspace {"query": "local"}
---
say Read.`;
  await using agent = await start(`${STILL}, review = { show_diffs = "open" }`, { script, lines: 30 });
  const { nvim, server } = agent;
  await nvim.command("set termguicolors");
  await nvim.command("Agent write it");
  await nvim.waitForScreen('│   local seven = "n7"');
  assert.deepEqual((await transcript(nvim)).slice(1), [
    "… write src/numbers.lua  8 lines",
    ...LINES.slice(2).map((name, index) => `  local ${name} = "n${index + 3}"`),
  ]);
  server.release("written");
  await waitForTurn(nvim);
  await nvim.waitForScreen("│   +local one =");
  const word = nvim.locate("+local one");
  assert.ok(word);
  const keyword = nvim.highlightAt(word.row, word.column + 1);
  const string = nvim.highlightAt(word.row, word.column + "+local one = ".length);
  assert.notEqual(keyword.fg, string.fg, "the language's own colours");
  assert.equal(keyword.bg, string.bg, "on the colour of an added line");
  assert.notEqual(keyword.bg, nvim.highlightAt(word.row + LINES.length + 1, word.column).bg);
  // A terminal's string and its added lines may both be green.
  await nvim.command("set notermguicolors");
  await nvim.lua(TRANSCRIPT);
  await nvim.keys("gg/write src<CR><Tab>");
  await nvim.waitForScreenGone("+local one");
  await nvim.keys("<Tab>");
  await nvim.waitForScreen("│   +local one =");
  const { row, column } = nvim.locate("+local one") ?? word;
  const { fg, bg } = nvim.highlightAt(row, column + "+local one = ".length).terminal;
  assert.notEqual(fg, bg);
  assert.deepEqual(nvim.highlightAt(row, column).terminal, { fg, bg });
  await nvim.keys("<Tab>");
  await nvim.waitForScreenGone("+local one");
  await nvim.waitForScreen(/✓ write {2}src\/numbers\.lua +\+7/);

  await nvim.command("Agent read it");
  await nvim.waitForScreen("Read.");
  await waitForTurn(nvim);
  await nvim.waitForScreen(/✓ read {3}2 files, searched once +src\/numbers\.lua, src\/greet\./);
  await nvim.lua(TRANSCRIPT);
  await nvim.keys("gg/read 2 files<CR><Tab>zt");
  await nvim.waitForScreen(/│ {3}✓ read {3}src\/greet\.ts 2–3 +2 lines/);
  await nvim.keys("/search local<CR><CR>");
  await nvim.waitForScreen(/│ {5}src\/numbers\.lua:7: local seven = "n7"/);
  await nvim.keys("/numbers.lua:7<CR>gf");
  await nvim.waitFor("vim.fn.expand('%:t') == 'numbers.lua' and vim.fn.line('.') == 7");
});

Deno.test("commands in the background are counted, listed, read and stopped; the plan is pinned and opens", async () => {
  const steps = (first: string, second: string) =>
    `{"steps": [{"step": "read the parser", "status": "${first}"}, {"step": "reject empty names", "status": "${second}"}]}`;
  const script = `
call update_plan ${steps("completed", "in_progress")}
call run_terminal_command {"command": "echo serving on 8080; sleep 600", "background": true, "direct": true}
---
say The server is up.
wait plan
call update_plan ${steps("completed", "completed")}
---
say Done.`;
  await using agent = await start(`${STILL}, ${COMMANDS}`, { script, columns: 160 });
  const { nvim, server } = agent;
  await nvim.command("Agent go");
  await nvim.waitForScreen("The server is up.");
  await nvim.waitForScreen("2/2 reject empty names · scripted");
  await nvim.waitForScreen("· 1 running · working");
  const width = await nvim.lua<number>(
    `return vim.api.nvim_win_get_width(require("agent.chat").current().windows.transcript)`,
  );
  assert.equal(width, 100, "lines that can be read");
  await nvim.keys("gl");
  await nvim.waitForScreen(/╭ Plan ─+╮/);
  await nvim.waitForScreen(/│✓ read the parser *│/);
  await nvim.waitForScreen(/│▸ reject empty names *│/);
  await nvim.keys("q");
  await nvim.waitForScreenGone(/╭ Plan/);
  server.release("plan");
  await waitForTurn(nvim);
  await nvim.waitForScreenGone("reject empty names · scripted");

  // A choice is typed. On a busy machine the command has printed nothing at first.
  await waitUntil("what the command prints", async () => {
    await nvim.command("Agent jobs");
    await nvim.waitForScreen("echo serving on 8080; sleep 600 · running");
    await nvim.keys("1<CR>");
    await nvim.waitForScreen("Read what it has printed");
    await nvim.keys("1<CR>");
    await nvim.waitForScreen("[running]");
    const hasPrinted = /^serving on 8080/m.test(nvim.text());
    await nvim.keys("q");
    await nvim.waitForScreenGone("[running]");
    return hasPrinted;
  });
  await nvim.command("Agent jobs");
  await nvim.waitForScreen("· running");
  await nvim.keys("1<CR>");
  await nvim.waitForScreen("Stop it");
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("is stopped");
  await nvim.waitFor("not require('agent').status():find('running')");
  assert.equal(await nvim.lua<string>("return vim.v.errmsg"), "");
});

const GROWING = `
call read_file {"path": "src/greet.ts"}
call write_file {"path": "one.txt", "content": "a\\nb\\n"}
---
wait second
say I go on.
call edit_file {"path": "src/greet.ts", "old_str": "function greet(", "new_str": "function salute("}
call edit_file {"path": "one.txt", "old_str": "b\\n", "new_str": "B\\n"}
---
say That was all.
wait end
`;

Deno.test("the list of changed files grows during the turn, and <CR> opens one", async () => {
  await using agent = await start(STILL, { script: GROWING });
  const { nvim, server } = agent;
  await nvim.command("Agent Go");
  await nvim.waitForScreen(/Changed 1 file +\+2.*\n.*A one\.txt +\+2/);
  server.release("second");
  // Net counts, where it was last changed, once.
  const both =
    /✓ edit {3}one\.txt.*\n[^]*Changed 2 files +\+3 −1.*\n.*A one\.txt +\+2 .*\n.*M src\/greet\.ts +\+1 −1/;
  const screen = await nvim.waitForScreen((text) => both.test(text) && text.includes("That was all."));
  assert.equal(screen.match(/Changed \d/g)?.length, 1, screen);

  await nvim.keys("<Esc>");
  await nvim.lua(TRANSCRIPT);
  await nvim.keys("/M src<CR><CR>");
  await nvim.waitFor(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "greet.ts"`);
  await nvim.command("Agent");
  server.release("end");
  await nvim.waitForScreen(/That was all\.[^]*Changed 2 files +\+3 −1/);
  await nvim.waitForScreen("· ready");
  assert.equal(nvim.text().match(/Changed \d/g)?.length, 1, nvim.text());

  // What is stored is the end alone.
  await endEngines(agent);
  await nvim.command("Agent resume");
  await nvim.waitForScreen(/That was all\.[^]*Changed 2 files/);
  assert.equal(nvim.text().match(/Changed \d/g)?.length, 1);
});

Deno.test("the call that asks the user waits visibly until the answer", async () => {
  await using agent = await start(STILL, {
    script: 'call ask_user {"question": "Which side?", "options": ["left", "right"]}\n---\nsay Done.',
  });
  const { nvim } = agent;
  await nvim.command("Agent Choose a side");
  await nvim.waitForScreen(/2 {2}right/);
  assert.match((await transcript(nvim)).join("\n"), /^\? ask Which side\? {2}waiting for your answer$/m);
  await nvim.lua(`require("agent.approval").choose_answer("2")`);
  await waitForTurn(nvim);
  assert.match((await transcript(nvim)).join("\n"), /^✓ ask Which side\? {2}right$/m);
});
