/** A workspace of two folders: both are read, searched and written; nothing beside them is. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { pressOn, waitForFile } from "../support/chat.ts";
import { scratch } from "../support/project.ts";

Deno.test("another root is read, searched, edited and used by commands; its neighbours are out of reach", async () => {
  await using folder = await scratch({
    "lib/util.ts": "export const LIMIT = 10;\n",
    "secret.txt": "neighbour\n",
  });
  const script = `
call read_file {"path": "lib/util.ts"}
call search_workspace {"query": "LIMIT"}
call search_workspace {"query": "LIMIT", "directory": "lib"}
call read_file {"path": "${folder.path("secret.txt")}"}
---
expect export const LIMIT
expect ── lib/util.ts ──
expect path is outside of the project
call edit_file {"path": "lib/util.ts", "old_str": "10", "new_str": "20"}
call run_terminal_command {"command": "cat util.ts && touch made", "cwd": "lib"}
call run_terminal_command {"command": "cat ../secret.txt; echo evil > ../secret.txt"}
---
expect LIMIT = 20
say Done.
`;
  await using agent = await startAgent({
    script,
    options: `roots = { "${folder.path("lib")}" }`,
    lua: `vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function()
      vim.schedule(function() require("agent").approve() end) end })`,
  });
  await agent.nvim.command("Agent raise the limit");
  await agent.nvim.waitForScreen("Done.");
  await agent.nvim.waitForScreen("· ready");
  assert.deepEqual(agent.server.problems, []);
  assert.equal(await folder.read("lib/util.ts"), "export const LIMIT = 20;\n");
  assert.equal(await folder.read("lib/made"), "");
  assert.equal(await folder.read("secret.txt"), "neighbour\n");

  await pressOn(agent.nvim, "✓ read 1 file, searched 2 times", "<Tab>");
  await pressOn(agent.nvim, "✓ search LIMIT  1 match", "<CR>");
  await pressOn(agent.nvim, "lib/util.ts:1: export const LIMIT", "gf");
  await waitForFile(agent.nvim, folder.path("lib/util.ts"), 1);
});
