/** The sign of life: something moves and counts where something waits, and nothing at all where nothing does. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";

const FRAME = "[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]";

/** Timers that fire again and again. */
async function timers(nvim: ChildNvim): Promise<number> {
  return await nvim.lua<number>(`
    local count = 0
    vim.uv.walk(function(handle)
      local is_timer = handle:get_type() == "timer" and handle:is_active()
      count = count + (is_timer and handle:get_repeat() > 0 and 1 or 0)
    end)
    return count`);
}

Deno.test("what waits turns and counts: the first token, a thought, a command; and nothing is left of it", async () => {
  const script = `
wait first
think Hm.
wait thought
call run_terminal_command {"command": "until [ -e go ]; do sleep 0.05; done", "access": "look", "direct": true}
---
say Done.`;
  await using agent = await startAgent({
    script,
    columns: 60,
    options: `title = false, commands = "project", allow = { "run(until *)" }`,
  });
  const { nvim, server, project } = agent;
  const idle = await timers(nvim);
  await nvim.command("Agent Wait for it");
  await nvim.waitForScreen(new RegExp(`❯ Wait for it ${FRAME} 1 s`));
  await nvim.waitForScreen(new RegExp(`· working \\d+ s ${FRAME}`));
  assert.match(
    await nvim.lua<string>("return require('agent').status()"),
    new RegExp(`working \\d+ s ${FRAME}$`),
  );
  server.release("first");
  await nvim.waitForScreen(/Thinking …\s+1 s/);
  assert.doesNotMatch(nvim.text(), new RegExp(`Wait for it ${FRAME}`));
  server.release("thought");
  await nvim.waitForScreen(new RegExp(`${FRAME} run until`));
  assert.equal(await timers(nvim), idle + 1, "one timer for all of them");

  await project.write("go", "");
  await waitForTurn(nvim);
  await nvim.waitForScreen("✓ run until");
  await nvim.waitForScreenGone(new RegExp(FRAME));
  assert.equal(await timers(nvim), idle, "no timer is left");
});

Deno.test("without frames there are seconds, and with false there is neither", async () => {
  await using agent = await startAgent({
    script: "wait first\nsay Yes.",
    options: `title = false, spinner = {}, notify_with = "osc9"`,
    lua: "sent = {} vim.api.nvim_ui_send = function(data) table.insert(sent, data) end",
  });
  const { nvim, server } = agent;
  const idle = await timers(nvim);
  await nvim.command("Agent Wait for it");
  await nvim.waitForScreen(/❯ Wait for it 1 s/);
  // Nothing is counted for nobody.
  await nvim.keys("q");
  await waitUntil("the timer to stop", async () => await timers(nvim) === idle);
  await nvim.command("Agent");
  await nvim.waitForScreen(/❯ Wait for it \d+ s/);
  await nvim.lua("require('agent').setup(vim.tbl_extend('force', vim.g.agent, { spinner = false }))");
  await nvim.waitForScreen(/· working\s*│/);
  // Whoever looks elsewhere is told.
  await nvim.keys("<Esc>q");
  server.release("first");
  await waitForTurn(nvim);
  await nvim.waitFor("#sent > 0");
  assert.equal(await nvim.lua<string>("return table.concat(sent, '|')"), "\x1b]9;agent: done\x1b\\");
});
