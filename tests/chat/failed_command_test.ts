/** Commands that fail in the user's terminals: a line above the input offers their output. In a real Neovim. */
import assert from "node:assert/strict";
import type { ChildNvim } from "../support/nvim.ts";
import { expectScreen } from "../support/screenshot.ts";
import { type EditorOptions, receive, sharedEditor } from "../support/shared_editor.ts";

/** A shell that does what each line says: a format of printf. */
const SHELL = 'stty -echo; echo ready; while IFS= read -r line; do printf "$line"; done';

/** Opens a terminal in the current window. */
function openTerminal(nvim: ChildNvim, ...command: readonly string[]): Promise<number> {
  return nvim.lua<number>(
    `vim.cmd.enew()
    vim.fn.jobstart({ ... }, { term = true })
    return vim.api.nvim_get_current_buf()`,
    ...command,
  );
}

/** A command as shells with OSC 133 report it: a prompt, what is typed, its output, its exit code. */
function command(typed: string, output: string, status: number): string {
  return String.raw`\033]133;A\007$ \033]133;B\007${typed}\n\033]133;C\007${output}` +
    String.raw`\033]133;D;${status}\007\033]133;A\007$ \033]133;B\007`;
}

let count = 0;

/** Prints in the terminal, and waits until everything that it may lead to has happened. */
async function print(nvim: ChildNvim, terminal: number, text: string): Promise<void> {
  count += 1;
  const end = `end_${count}`;
  await nvim.lua(
    "local buffer, text = ... vim.fn.chansend(vim.bo[buffer].channel, text)",
    terminal,
    `${text}${end}\n`,
  );
  await nvim.waitFor(
    `table.concat(vim.api.nvim_buf_get_lines(${terminal}, 0, -1, false)):find("${end}")`,
  );
  await later(nvim);
}

/** Timers that were started before have fired. */
async function later(nvim: ChildNvim): Promise<void> {
  await nvim.lua("_G.later = nil vim.defer_fn(vim.schedule_wrap(function() _G.later = true end), 60)");
  await nvim.waitFor("_G.later");
}

/** Opens a terminal, and the chat over or beside it. */
async function start(options: EditorOptions = {}) {
  const editor = await sharedEditor(options);
  const { nvim } = editor;
  const terminal = await openTerminal(nvim, "sh", "-c", SHELL);
  await nvim.waitForScreen("ready");
  await nvim.command("Agent");
  await nvim.waitForScreen("Ask, or @file");
  await nvim.keys("<Esc>");
  return { nvim, terminal, [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose]() };
}

const OFFER = "failed (exit 1)";
const SENT = `return vim.iter(_G.sent):filter(function(action) return action.type == "prompt" end)
  :map(function(action) return action.given end):last() or {}`;

Deno.test("a failed command is offered above the input, and only ga and a message of the user's send its output", async () => {
  await using agent = await start();
  const { nvim, terminal } = agent;
  const columns = await nvim.lua<number>("return vim.o.columns");
  const long = "0123456789".repeat(20);
  const rule = "=".repeat(columns);
  await print(nvim, terminal, command("npm test", String.raw`${long}\n${rule}\ntwo 漢字\n\n`, 1));
  await nvim.waitForScreen("npm test failed (exit 1) · ga adds its last lines");
  await nvim.keys("iwhy?<Esc>");
  assert.deepEqual(await nvim.lua(SENT), []);
  await nvim.keys("ga");
  await nvim.waitForScreenGone(OFFER);
  await nvim.waitForScreen("▸ output of npm test (exit 1)");
  await nvim.keys("K");
  await nvim.waitForScreen(/# output of npm test \(exit 1\)\s[^]*\$ npm test/);
  await nvim.keys("q<CR>");
  await nvim.waitFor(`(function() return #(function() ${SENT} end)() > 0 end)()`);
  const [given] = await nvim.lua<readonly { readonly text: string }[]>(SENT);
  assert.equal(given?.text, `$ npm test\n${long}\n${rule}\ntwo 漢字`);
});

Deno.test("the output goes along once, as output, and says that earlier lines are missing", async () => {
  await using agent = await start({ options: 'attach = { "terminal" }' });
  const { nvim, terminal } = agent;
  const shown = `return vim.iter(_G.sent):filter(function(action) return action.type == "prompt" end)
    :map(function(action) return action.shown.terminal end):last()`;
  const rows = Array.from({ length: 250 }, (_, at) => String.raw`row ${at + 1}\n`).join("");
  await nvim.waitForScreen("▸ terminal");
  await print(nvim, terminal, command("make", rows, 1));
  await nvim.waitForScreen(`make ${OFFER}`);
  await nvim.keys("ga");
  await nvim.waitForScreen("▸ output of make (exit 1)");
  await nvim.keys("iwhy?<Esc><CR>");
  await nvim.waitFor(`(function() return #(function() ${SENT} end)() > 0 end)()`);
  const [given] = await nvim.lua<readonly { readonly text: string; readonly output: boolean }[]>(SENT);
  assert.match(given?.text ?? "", /^\$ make\n\[earlier lines are left out\]\nrow 51\n[^]*row 250$/);
  assert.equal(given?.output, true);
  const { text } = await nvim.lua<{ readonly text: string }>(shown);
  assert.equal(text, "(its end is in: output of make (exit 1))");
});

Deno.test("the newest failure is offered until it is dismissed, its terminal closes or a command succeeds there", async () => {
  await using agent = await start({ columns: 120, lines: 30, options: 'ui = { layout = "right" }' });
  const { nvim, terminal } = agent;
  await print(nvim, terminal, command("make", "", 1));
  await nvim.waitForScreen(`make ${OFFER}`);
  await print(nvim, terminal, command("make test", "no\n", 2));
  await nvim.waitForScreen("make test failed (exit 2)");
  await nvim.keys("<BS>");
  await nvim.waitForScreenGone("failed (exit");

  // An empty line repeats the exit code; Ctrl-C is no failure.
  await print(nvim, terminal, String.raw`\033]133;D;2\007`);
  await print(nvim, terminal, command("sleep 9", "", 130));
  assert.doesNotMatch(nvim.text(), /failed/);

  // The shell may report the command itself.
  const url = String.raw`\033]133;C;cmdline_url=cargo%%20test%%20--all\007no\n\033]133;D;101\007`;
  await print(nvim, terminal, url);
  await nvim.waitForScreen("cargo test --all failed");
  await print(nvim, terminal, command("true", "", 0));
  await nvim.waitForScreenGone("failed");

  // In the transcript too; the output is that of the last command.
  await print(nvim, terminal, command("make", String.raw`first\n`, 1));
  await nvim.keys("<C-w>kga");
  await nvim.waitForScreen("▸ output of make (exit 1)");
  await nvim.keys("<C-w>j<BS>");
  await nvim.waitForScreenGone("output of make");

  await print(nvim, terminal, command("make", "", 1));
  await nvim.waitForScreen(`make ${OFFER}`);
  await nvim.lua("vim.api.nvim_buf_delete(..., { force = true })", terminal);
  await nvim.waitForScreenGone(OFFER);
});

Deno.test("a job of its own that fails is offered; a shell without marks, a hidden terminal and a chat that is gone are not", async () => {
  await using agent = await start({ columns: 120, lines: 30, options: 'ui = { layout = "right" }' });
  const { nvim, terminal } = agent;
  await nvim.keys("<C-w>h");
  await nvim.command("belowright split");
  await openTerminal(nvim, "sh");
  await nvim.lua('vim.fn.chansend(vim.bo.channel, "false\\nexit 3\\n")');
  await nvim.waitForScreen("[Process exited 3]");
  await later(nvim);
  assert.doesNotMatch(nvim.text(), /failed/);
  await openTerminal(nvim, "sh", "-c", "echo broken; exit 4");
  await nvim.waitForScreen("echo broken; exit 4 failed");
  await nvim.command("wincmd l");
  await nvim.keys("ga");
  await nvim.waitForScreen("echo broken; exit 4 (exit 4)");
  await nvim.keys("<BS>");

  await nvim.lua(
    "vim.api.nvim_win_set_buf(vim.fn.win_findbuf(...)[1], vim.api.nvim_create_buf(true, false))",
    terminal,
  );
  await print(nvim, terminal, command("make", "", 1));
  assert.doesNotMatch(nvim.text(), /failed/);
  await nvim.lua(`vim.iter(require("agent.chat").list()):each(require("agent.chat").close)`);
  assert.equal(await nvim.lua('return #vim.api.nvim_get_autocmds({ group = "agent.terminals" })'), 0);
});

Deno.test("the offer fits narrow windows, beside messages that wait", async () => {
  await using agent = await start({ columns: 40, lines: 15 });
  const { nvim, terminal } = agent;
  await print(nvim, terminal, command("npm run test:unit", "", 1));
  await nvim.waitForScreen("npm run test:un… failed · ga adds it");
  // The status line below names the terminal's process.
  await expectScreen(nvim, "failed-command-40x15", (text) => text.split("\n").slice(0, -2).join("\n"));
  await receive(nvim, { type: "turn_started" });
  await nvim.keys("iThen the docs<Esc><CR>");
  await nvim.waitForScreen("1 waiting (gm)…  npm ru… failed · ga");
});
