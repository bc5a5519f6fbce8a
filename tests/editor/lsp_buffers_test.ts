/** Files that are loaded for their language server only: nobody sees them, and nothing of the user's changes. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { editor, FAKE } from "../support/fake_server.ts";
import { ChildNvim } from "../support/nvim.ts";
import { DEFAULT_TIMEOUT, scratch, within } from "../support/project.ts";

const LISTED = "return #vim.fn.getbufinfo({ buflisted = 1 })";
const HIDDEN = `require("agent.editor.lsp.buffers").hidden()`;

Deno.test("a file that is not open is loaded unseen, and unloaded again when it is idle", () =>
  editor(
    { "a.fake": "x\n", "b.fake": "x\n", "c.fake": "x\n", "d.fake": "vim: set tabstop=3 :\n" },
    async ({ nvim, ask }) => {
      for (const path of ["a.fake", "b.fake", "c.fake", "d.fake"]) {
        await ask({ op: "hover", path, symbol: "x" });
      }
      assert.equal(await nvim.lua(LISTED), 1);
      assert.equal(await nvim.lua(`return #${HIDDEN}`), 4);
      assert.equal(await nvim.lua("return vim.fn.bufname()"), "", "the current window shows what it did");
      assert.deepEqual(
        await nvim.lua(
          "return { vim.bo[vim.fn.bufnr('a.fake')].swapfile, vim.bo[vim.fn.bufnr('d.fake')].tabstop }",
        ),
        [false, 8],
      );
      assert.equal(await nvim.lua("return vim.bo[vim.fn.bufnr('a.fake')].filetype"), "fake");
      // One is opened by the user, one is changed by a plugin: these are the user's now.
      await nvim.command("edit b.fake");
      await nvim.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('c.fake'), 0, 0, true, { 'mine' })");
      await nvim.lua(`require("agent.editor.lsp.buffers").idle_ms = 0`);
      await ask({ op: "hover", path: "a.fake", symbol: "x" });
      // The timer is set for the first idle time; what is due is due at its next look.
      await nvim.lua(`
      local buffers = require("agent.editor.lsp.buffers")
      buffers.sweep()`);
      assert.equal(await nvim.lua(`return #${HIDDEN}`), 0);
      const loaded = "vim.api.nvim_buf_is_loaded(vim.fn.bufnr(name))";
      assert.deepEqual(
        await nvim.lua(
          `return vim.tbl_map(function(name) return vim.fn.bufexists(name) == 1 and ${loaded} end, { "a.fake", "b.fake", "c.fake", "d.fake" })`,
        ),
        [false, true, true, false],
      );
      assert.equal(
        await nvim.lua("return vim.bo[vim.fn.bufnr('b.fake')].swapfile"),
        await nvim.lua("return vim.go.swapfile"),
      );
      await nvim.command("bwipeout! c.fake");
      await nvim.command("qa").catch(() => {});
      assert.ok(
        (await within(DEFAULT_TIMEOUT, nvim.exited)).done,
        "no unseen buffer keeps Neovim from ending",
      );
    },
  ));

Deno.test("neither a foreign swap file nor a broken autocommand stops at a prompt", async () => {
  await using project = await scratch({ "a.fake": "x\n" });
  const lua = `
    vim.o.directory = vim.fn.getcwd()
    vim.api.nvim_create_autocmd("BufReadPost", { callback = function() error("broken\\nover\\nmany\\nlines") end })`;
  await using owner = await ChildNvim.start({ cwd: project.root, lua, files: [], runtime: [PLUGIN] });
  await owner.lua("vim.o.updatecount = 200 vim.cmd('silent! edit a.fake') vim.cmd('silent! preserve')");
  assert.ok((await Array.fromAsync(Deno.readDir(project.root))).some(({ name }) => name.endsWith(".swp")));
  await using nvim = await ChildNvim.start({ cwd: project.root, lua: FAKE + lua, runtime: [PLUGIN] });
  await nvim.lua("vim.o.updatecount = 200 _G.answer(...)", {
    roots: [project.root],
    request: { op: "hover", path: project.path("a.fake"), symbol: "x" },
  });
  const { result } = await nvim.waitFor<{ result: { reason: string } }>("_G.result");
  assert.equal(result.reason, "The language server fake offers no hover information.");
  const mode = await nvim.request("nvim_get_mode");
  assert.deepEqual(mode, { mode: "n", blocking: false });
});
