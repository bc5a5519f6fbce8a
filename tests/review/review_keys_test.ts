/** Keys, maps and commands of a review. Whole program. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { FILE, hunks, reviewed, turn, write } from "../support/review.ts";

const ONE = FILE.replace("line 6", "LINE 6");
const TWO = ONE.replace("line 12", "LINE 12");

Deno.test("keys are there with hunks only, and a map of the user's comes back", async () => {
  await using agent = await reviewed({
    script: turn(write(ONE)),
    options: `review_keys = { keep = "<Space>k", undo_all = "" }`,
    before: ({ nvim }) =>
      nvim.command("nnoremap <buffer> ]r <Cmd>let g:mine = 1<CR>|nnoremap <buffer> x <Cmd>let g:x = 1<CR>"),
  });
  const { nvim } = agent;
  await nvim.keys("gg]r");
  assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [6, 0]);
  assert.equal(await nvim.lua("return vim.g.mine"), undefined);
  assert.equal(await nvim.lua("return vim.fn.maparg('gr-', 'n')"), "");
  await nvim.keys("<Space>k");
  assert.deepEqual(await hunks(agent), []);
  await nvim.keys("]rx");
  assert.deepEqual(await nvim.lua("return { vim.g.mine, vim.g.x }"), [1, 1]);
  assert.equal(await nvim.lua("return vim.fn.maparg('[r', 'n')"), "");
});

Deno.test("without keys the <Plug> maps and commands do the same", async () => {
  await using agent = await reviewed({
    script: turn(write(TWO)),
    options: "review_keys = false",
    lua:
      `vim.keymap.set("n", "<F5>", "<Plug>(AgentReviewPrevious)") vim.keymap.set("n", "<F6>", "<Plug>(AgentReviewUndo)")`,
  });
  const { nvim, project } = agent;
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

Deno.test("what only begins like a sub-command is a message", async () => {
  const script = "say One.\n---\nsay Two.";
  await using agent = await startAgent({ script });
  await agent.nvim.command("Agent! review my changes, please");
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.match(agent.server.requests[0]?.text ?? "", /review my changes, please/);
});
