/** What a turn changes can be seen while it runs. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";

const SCRIPT = `
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
  await using agent = await startAgent({ script: SCRIPT, options: "title = false, spinner = false" });
  const { nvim, server } = agent;
  await nvim.command("Agent Go");
  await nvim.waitForScreen(/Changed 1 file {2}\+2.*\n.*A one\.txt {2}\+2/);
  server.release("second");
  // Net counts, where it was last changed, once.
  const both =
    /✓ edit one\.txt.*\n[^]*Changed 2 files {2}\+3 −1.*\n.*A one\.txt {2}\+2 .*\n.*M src\/greet\.ts {2}\+1 −1/;
  const screen = await nvim.waitForScreen((text) => both.test(text) && text.includes("That was all."));
  assert.equal(screen.match(/Changed \d/g)?.length, 1, screen);
  assert.match(screen, /Changed 2[^]*That was all\./);

  await nvim.keys("<Esc>");
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("/M src<CR><CR>");
  await nvim.waitFor(`vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "greet.ts"`);
  await nvim.command("Agent");
  server.release("end");
  await nvim.waitForScreen(/That was all\.[^]*Changed 2 files {2}\+3 −1/);
  await nvim.waitForScreen("· ready");
  assert.equal(nvim.text().match(/Changed \d/g)?.length, 1, nvim.text());

  // What is stored is the end alone.
  await using after = await startAgent({ script: "", beside: agent });
  await nvim.command("qa!").catch(() => {});
  await after.nvim.command("Agent resume");
  await after.nvim.waitForScreen(/That was all\.[^]*Changed 2 files/);
  assert.equal(after.nvim.text().match(/Changed \d/g)?.length, 1);
});
