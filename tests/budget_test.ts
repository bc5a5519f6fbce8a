/** Money: shown while it is spent, and asked about over a cap. Whole program. */
import assert from "node:assert/strict";
import { startAgent } from "./support/agent.ts";

const PRICES = "prices = { scripted = { input = 100, output = 1000 } }";

Deno.test("over a cap nothing is sent before the user agrees; no stops the turn, and the next message asks again", async () => {
  const script = `
call read_file {"path": "README.md"}
usage 10000 1000
---
say This is the answer.
usage 10000 100
---
say Later.
usage 100 10
`;
  await using agent = await startAgent({ script, options: `${PRICES}, max_cost_per_session = 1.5` });
  const { nvim, server } = agent;
  await nvim.command("Agent go");
  await nvim.waitForScreen("this session has cost 2.00; the cap is 1.50");
  assert.equal(server.requests.length, 1);
  await nvim.waitForScreen("2.00 · waits for you");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("This is the answer.");
  await nvim.waitForScreen("3.10 · ready");

  await nvim.keys("iMore<Esc><CR>");
  await nvim.waitForScreen("this session has cost 3.10");
  // A reason is asked for; none is given.
  await nvim.keys(":Agent reject<CR>");
  await nvim.keys("<CR>");
  await nvim.waitForScreen("stopped at the cap");
  await nvim.waitForScreen("· ready");
  assert.equal(server.requests.length, 2);
  assert.deepEqual(server.problems, []);
});

Deno.test("a turn's cap of tokens, and money by the day over several engines", async () => {
  const script = `call read_file {"path": "README.md"}\nusage 900 200\n---\nsay Done here.\nusage 900 100`;
  await using agent = await startAgent({ script, options: `${PRICES}, max_tokens_per_turn = 1000` });
  await agent.nvim.command("Agent go");
  await agent.nvim.waitForScreen("this turn has used 1100 tokens; the cap is 1000");
  await agent.nvim.command("Agent approve");
  await agent.nvim.waitForScreen("Done here.");
  await agent.nvim.waitForScreen("· ready");

  // Another configuration is another engine; what the first one has cost today counts.
  agent.server.play("new-history\nsay Never.");
  await agent.nvim.lua(`require("agent").setup({ max_cost_per_day = 0.1 })`);
  await agent.nvim.command("Agent new");
  await agent.nvim.command("Agent again");
  await agent.nvim.waitForScreen("this day has cost 0.48; the cap is 0.10");
});
