/** Keys, maps and commands of a review. Whole program. */
import assert from "node:assert/strict";
import { FILE, hunks, lines, review, settledSoon, turn, write } from "../support/review.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const ONE = FILE.replace("line 6", "LINE 6");
const TWO = ONE.replace("line 12", "LINE 12");

const test = inOneNeovim({ script: "", project: { "a.txt": FILE }, files: ["a.txt"] });

test("after the last hunk its keys replace no character", async (agent) => {
  const { nvim, project } = agent;
  await review(agent, turn(write(TWO)));
  await nvim.keys("gg]rgrk]rgru");
  assert.equal(await project.read("a.txt"), ONE);
  for (const key of ["grk", "gru"]) {
    await nvim.command("messages clear");
    await nvim.keys(key);
    await nvim.waitFor(`vim.fn.execute("messages"):find("agent: no hunks left", 1, true)`);
  }
  await nvim.keys("grmWhy?<CR>grm<C-u><CR><C-u>vgrm<C-u><CR>");
  assert.deepEqual(await lines(agent), ONE.trimEnd().split("\n"));
  await nvim.command("edit");
  await nvim.keys("gru");
  assert.deepEqual(await lines(agent), ONE.trimEnd().split("\n"));
});

test("its keys leave a buffer that is unloaded, and the user's are there again", async (agent) => {
  const { nvim } = agent;
  await review(agent, turn(write(TWO)), () => nvim.command("nnoremap <buffer> gru <Cmd>let g:own = 1<CR>"));
  const maps =
    `return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_buf_get_keymap(vim.g.buf, "n"))`;
  await nvim.command("let g:buf = bufnr()|enew|execute 'bunload' g:buf");
  assert.deepEqual(await nvim.lua(maps), ["gru"]);
  await nvim.command("execute 'buffer' g:buf");
  await settledSoon(agent, 2);
  await nvim.keys("gg]rgru]rgrk");
  assert.deepEqual(await lines(agent), TWO.replace("LINE 6", "line 6").trimEnd().split("\n"));
  await nvim.keys("gru");
  assert.equal(await nvim.lua("return vim.g.own"), 1);
});

test("keys come with the first hunk, and a map of the user's comes back after the last", async (agent) => {
  const { nvim } = agent;
  await nvim.lua(`require("agent").setup({ review = { keys = { keep = "<Space>k", undo_all = "" } } })`);
  await review(
    agent,
    turn(write(ONE)),
    () =>
      nvim.command(
        "nnoremap <buffer> ]r <Cmd>let g:mine = 1<CR>|nnoremap <buffer> x <Cmd>let g:x = 1<CR>|" +
          "nnoremap grK <Cmd>let g:global = 1<CR>",
      ),
  );
  await nvim.keys("gg]r");
  assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [6, 0]);
  assert.equal(await nvim.lua("return vim.g.mine"), undefined);
  assert.equal(await nvim.lua("return vim.fn.maparg('gr-', 'n')"), "");
  await nvim.keys("<Space>k");
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("]rxgrK");
  assert.deepEqual(await nvim.lua("return { vim.g.mine, vim.g.x, vim.g.global }"), [1, 1, 1]);
  await nvim.command("nunmap grK");
});

test("without keys the <Plug> maps and commands do the same", async (agent) => {
  const { nvim, project } = agent;
  await nvim.lua(`require("agent").setup({ review = { keys = false } })`);
  await review(agent, turn(write(TWO)));
  await nvim.command("nmap <F5> <Plug>(AgentReviewPrevious)|nmap <F6> <Plug>(AgentReviewUndo)");
  assert.equal(await nvim.lua("return #vim.api.nvim_buf_get_keymap(0, 'n')"), 0);
  await nvim.keys("gg<F5><F6>");
  assert.equal(await project.read("a.txt"), ONE);
  await nvim.command("normal! gg");
  await nvim.command("Agent review next");
  await nvim.command("Agent keep");
  assert.deepEqual(await hunks(agent), []);
  assert.deepEqual(await nvim.lua(`return vim.fn.getcompletion("Agent review undo ", "cmdline")`), [
    "hunk",
    "file",
    "all",
  ]);
});

test("what only begins like a sub-command is a message", async (agent) => {
  agent.server.play("say One.\n---\nsay Two.");
  await agent.nvim.command("Agent! review my changes, please");
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.match(agent.server.requests[0]?.text ?? "", /review my changes, please/);
});
