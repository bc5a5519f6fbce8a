/** What hands find where they are: the input that grows, ways between the windows, `:w`, answers that are typed. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** A program that the tests share, with these options of the user's. */
async function start(script: string, options: string, columns = 120, lines = 40): Promise<RunningAgent> {
  const agent = await sharedAgent({ script, options: "sessions = { title = false }", columns, lines });
  await agent.nvim.lua(`require("agent").setup({ ${options} })`);
  return agent;
}

/** Heights of the transcript and of the input. */
async function heights(nvim: ChildNvim): Promise<readonly number[]> {
  return await nvim.lua<number[]>(`
    local windows = require("agent.chat").current().windows
    return { vim.api.nvim_win_get_height(windows.transcript), vim.api.nvim_win_get_height(windows.input) }
  `);
}

for (const layout of ["float", "right", "bottom"]) {
  Deno.test(`${layout}: the input grows to a third and shrinks, :w sends, the transcript scrolls from the input`, async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `say line ${at}.`).join("\n");
    await using agent = await start(`${lines}\n---\nsay Two.`, `ui = { layout = "${layout}", height = 30 }`);
    const { nvim, server } = agent;
    await nvim.command("Agent");
    const [above = 0, below = 0] = await heights(nvim);
    await nvim.keys(`${Array.from({ length: 30 }, (_, at) => `row ${at}`).join("<CR>")}`);
    await waitUntil("the input to have grown", async () => (await heights(nvim))[1] !== below);
    const [left = 0, grown = 0] = await heights(nvim);
    assert.equal(left + grown, above + below);
    assert.ok(grown > below + 2 && grown <= left, `${below} → ${grown} beside ${left}`);
    await nvim.waitForScreen("row 29");
    // What is not sent stops nobody from leaving, and is not sent by accident.
    assert.equal(await nvim.lua("return vim.bo.modified"), false);
    await nvim.keys("<Esc>:wa<CR>:w<CR>");
    await nvim.waitForScreen("line 59.");
    assert.equal(server.requests.length, 1);
    await waitUntil("the input to have shrunk", async () => (await heights(nvim))[1] === below);
    await nvim.waitForScreen("· ready");
    await nvim.keys("i<PageUp>");
    await nvim.waitForScreen((screen) => !screen.includes("line 59."));
    await nvim.keys("<PageDown><PageDown><Esc>");
    await nvim.waitForScreen("line 59.");
    await nvim.keys("<C-u>");
    await nvim.waitForScreen((screen) => !screen.includes("line 59."));
    await nvim.keys("<C-w>k");
    assert.equal(await nvim.lua("return vim.bo.filetype"), "agent");
    await nvim.keys("G<C-w>j");
    assert.equal(await nvim.lua("return vim.bo.filetype"), "agent-input");
    await nvim.keys("iBye<Esc>:w<CR>");
    await nvim.waitForScreen("Two.");
    assert.deepEqual(server.problems, []);
  });
}

Deno.test("what is typed while an approval waits is the reason of its rejection, by one key", async () => {
  const script =
    'call write_file {"path": ".env", "content": "A=1\\n"}\n---\nexpect Use config.json instead\nsay As you like.';
  await using agent = await start(script, "", 80, 24);
  const { nvim, server, project } = agent;
  await nvim.command("Agent Hello");
  await nvim.keys("iUse config.json");
  await nvim.waitForScreen("<M-r> reject with what you typed");
  // Also in a narrow window it says how else to answer.
  await nvim.lua("vim.o.columns = 40");
  await nvim.waitForScreen(/:Agent approval[^]*<M-r> reject/);
  await nvim.lua("vim.o.columns = 80");
  await nvim.keys(" instead<M-r>");
  await waitForChat(nvim, "As you like.");
  assert.equal(await nvim.lua("return vim.api.nvim_get_current_line()"), "");
  assert.deepEqual(server.problems, []);
  await assert.rejects(project.read(".env"), Deno.errors.NotFound);
  await nvim.keys("<Esc><M-r>");
  await nvim.waitForScreen("nothing is waiting for an answer");
});

Deno.test("auto: right on a wide screen, at the bottom of a tall one, else a float; from another tab it opens there", async () => {
  await using agent = await start("say Hi.", 'ui = { layout = "auto" }');
  const { nvim } = agent;
  const layout = async () => await nvim.lua('return require("agent.chat").current().windows.layout');
  await nvim.command("Agent");
  assert.equal(await layout(), "right");
  await nvim.keys("<Esc>:tabnew<CR>:Agent<CR>");
  assert.equal(await nvim.lua("return vim.fn.winnr('$')"), 3);
  await nvim.keys("<Esc>q");
  assert.deepEqual(await nvim.lua("return { vim.fn.tabpagenr(), vim.fn.winnr('$') }"), [2, 1]);
  for (
    const [columns, lines, expected] of [[80, 40, "bottom"], [80, 24, "float"], [40, 15, "float"]] as const
  ) {
    await nvim.resize(columns, lines);
    await nvim.command("Agent");
    assert.equal(await layout(), expected);
    await nvim.keys("<Esc>q");
  }
});
