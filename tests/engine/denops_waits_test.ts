/** The plugin where denops.vim is there, and its server never gets ready: all in one Neovim. */
import assert from "node:assert/strict";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { say, waitForChat } from "../support/chat.ts";
import { scratch } from "../support/project.ts";

/** denops.vim as far as we see it, with a server that starts when the test says so, and is never ready. */
const NEVER_READY = {
  "plugin/denops.vim": "let g:loaded_denops = 1\n",
  "autoload/denops/server.vim":
    "function! denops#server#status() abort\n  return get(g:, 'status', 'stopped')\nendfunction\n" +
    "function! denops#server#wait_async(callback) abort\nendfunction\n",
  "autoload/denops/plugin.vim": "function! denops#plugin#wait_async(name, callback) abort\nendfunction\n",
};

Deno.test("a server that does not get ready, in one Neovim", async (test) => {
  await using denops = await scratch(NEVER_READY);
  await using agent = await startAgent({
    script: "",
    runtime: [denops.root],
    options: `host = "denops"`,
    commands: ["checkhealth agent"],
  });
  const { nvim, server } = agent;
  await test.step("`nvim '+checkhealth agent'` with host = denops, whose server starts later: one line at once", () => {
    const screen = nvim.text().replaceAll(/\s+/g, " ");
    assert.ok(
      screen.includes("Cannot start: denops.vim's server starts after Neovim. Try again once"),
      screen,
    );
  });
  await nvim.lua("vim.cmd.bwipeout() vim.g.status = 'starting'");

  await test.step("it stops while it is waited for, with host = denops", async () => {
    await stopServer(agent);
    await waitForChat(
      nvim,
      "Cannot start: denops.vim's server stopped. Look at :messages, try :call denops#server#restart(), or set the " +
        'option host to "standalone".',
    );
    await nvim.lua("require('agent').setup({ host = 'standalone' })");
    server.restart("say Hi.");
    await say(nvim, "Hello again");
    await waitForChat(nvim, "Hi.");
  });

  await test.step("it stops while it is waited for, with host = auto", async () => {
    await closeChats(agent);
    await nvim.lua("require('agent').setup({ host = 'auto' })");
    server.restart("say Hi.");
    await stopServer(agent);
    await waitForChat(nvim, "Hi.");
  });

  await test.step("after a while the plugin goes on without it", async () => {
    await closeChats(agent);
    // Its patience, in a hurry.
    await nvim.lua("local wait = vim.defer_fn vim.defer_fn = function(f, ms) return wait(f, ms / 20) end");
    server.restart("say Hi.");
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "Hi.");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "standalone");
  });
});

async function stopServer({ nvim }: RunningAgent): Promise<void> {
  await nvim.command("Agent Hello");
  await nvim.waitForScreen("· starting");
  await nvim.command("doautocmd <nomodeline> User DenopsProcessStopped:1");
}

/** The next chat has a new host. */
async function closeChats({ nvim }: RunningAgent): Promise<void> {
  await nvim.waitForScreen("· ready");
  await nvim.keys("<Esc>");
  await nvim.lua(`local chats = require("agent.chat")
    vim.iter(chats.list()):each(chats.close)
    for _, host in ipairs(require("agent.host").all()) do vim.fn.jobstop(host.process.channel) end`);
  await nvim.waitFor("require('agent.client').host() == nil");
  await nvim.waitForScreenGone("Hi.");
}
