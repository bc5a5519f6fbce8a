/** What goes on beside the answer is seen all the time: commands in the background, and the plan. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";

Deno.test("commands in the background are counted, listed, read and stopped; the plan is pinned and opens", async () => {
  const steps = (first: string, second: string) =>
    `{"steps": [{"step": "read the parser", "status": "${first}"}, {"step": "reject empty names", "status": "${second}"}]}`;
  const script = `
call update_plan ${steps("completed", "in_progress")}
call run_terminal_command {"command": "echo serving on 8080; sleep 600", "background": true, "direct": true}
---
say It is up.
wait plan
call update_plan ${steps("completed", "completed")}
---
say Done.`;
  await using agent = await startAgent({
    script,
    columns: 160,
    options: `title = false, spinner = false, commands = "project", allow = { "run(*)" }`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent go");
  await nvim.waitForScreen("It is up.");
  await nvim.waitForScreen("2/2 reject empty names · scripted");
  await nvim.waitForScreen("· 1 running · working");
  const width = await nvim.lua<number>(
    "return vim.api.nvim_win_get_width(vim.fn.bufwinid('^agent://chat/1$'))",
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

  // A choice is typed.
  await nvim.command("Agent jobs");
  await nvim.waitForScreen("echo serving on 8080; sleep 600 · running");
  await nvim.keys("1<CR>");
  await nvim.waitForScreen("Read what it has printed");
  await nvim.keys("1<CR>");
  await nvim.waitForScreen(/^serving on 8080/m);
  await nvim.waitForScreen("[running]");
  await nvim.keys("q");
  await nvim.command("Agent jobs");
  await nvim.waitForScreen("· running");
  await nvim.keys("1<CR>");
  await nvim.waitForScreen("Stop it");
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("is stopped");
  await nvim.waitFor("not require('agent').status():find('running')");
  assert.equal(await nvim.lua<string>("return vim.v.errmsg"), "");
});
