/** What is too large for one message is an error of that call; the engine and its turn go on. Whole program. */
import assert from "node:assert/strict";
import { ask, toolResults, turn } from "../support/language_servers.ts";
import { sharedAgent } from "../support/shared_agent.ts";

Deno.test("an unsaved text that no message can hold is an error of the call that reads it", async () => {
  const script = turn(["read_file", { path: "a.txt" }], ["read_file", { path: "b.txt" }]);
  await using agent = await sharedAgent({ script, project: { "a.txt": "", "b.txt": "beta\n" } });
  await agent.nvim.command("edit a.txt");
  await agent.nvim.lua(`local line = ("x"):rep(999)
    local lines = {}
    for index = 1, 30000 do lines[index] = line end
    vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)`);
  const [first, second] = await ask(agent);
  assert.match(first ?? "", /its unsaved text is too large \(28 MB\); save it first/);
  assert.equal(second, "1\tbeta");
  assert.equal(toolResults(agent.server).length, 2);
});
