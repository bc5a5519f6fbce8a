/**
 * The plugin in denops.vim's server, whose folder DENOPS_TEST_DENOPS_PATH names. denops.vim takes its modules from
 * JSR, which is not reached everywhere.
 */
import assert from "node:assert/strict";
import { type RunningAgent, startAgent } from "./support/agent.ts";
import { say, waitForChat } from "./support/chat.ts";
import { scratch } from "./support/project.ts";
import { waitForMarked, waitForNone } from "./support/processes.ts";
import { reached } from "./support/server.ts";

const DENOPS = Deno.env.get("DENOPS_TEST_DENOPS_PATH");
if (DENOPS === undefined) {
  console.log("denops_test.ts is ignored: DENOPS_TEST_DENOPS_PATH names no folder of denops.vim");
}
const ignore = DENOPS === undefined;

/** Its own switch for tests keeps denops.vim from asking for a key where its server cannot start. */
function start(script: string, lua = ""): Promise<RunningAgent> {
  return startAgent({ script, runtime: [DENOPS ?? ""], lua: `vim.g["denops#_test"] = 1 ${lua}` });
}

Deno.test({
  name: "the main job in denops.vim's server: a call, an approval, a second message",
  ignore,
  async fn() {
    await using agent = await start(`
call read_file {"path": "src/greet.ts"}
---
call edit_file {"path": "src/greet.ts", "old_str": "greet", "new_str": "salute"}
call write_file {"path": ".env", "content": "GREETING=salute\\n"}
---
expect Edited src/greet.ts
expect Created .env
say Done: it is now salute.
---
expect And the README?
say It needs no change.
`);
    const { nvim, project, server } = agent;
    await nvim.command("Agent rename greet to salute");
    await nvim.waitForScreen("a once");
    await nvim.keys("a");
    await waitForChat(nvim, "Done: it is now salute.");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "denops");
    assert.equal(await project.read(".env"), "GREETING=salute\n");
    await nvim.waitForScreen("· ready");
    await say(nvim, "And the README?");
    await waitForChat(nvim, "It needs no change.");
    assert.deepEqual(server.problems, []);
  },
});

Deno.test({
  name: "a server that stops in the middle of a turn: an honest line, and the next message works",
  ignore,
  async fn() {
    await using agent = await start("say The first half\nwait here\nsay and the second.");
    const { nvim, server } = agent;
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "The first half");
    await nvim.command("call denops#server#stop()");
    await waitForChat(nvim, "The next message goes on from what is stored.");
    server.play("new-history\nexpect And now?\nsay All is well.");
    await say(nvim, "And now?");
    await waitForChat(nvim, "All is well.");
    assert.deepEqual(server.problems, []);
  },
});

Deno.test({
  name: "a plugin that the server has not loaded is loaded with the first message",
  ignore,
  async fn() {
    await using agent = await start("say Hi.");
    const { nvim } = agent;
    await nvim.waitFor("vim.fn['denops#plugin#is_loaded']('agent') == 1");
    await nvim.command("autocmd User DenopsPluginUnloadPost:agent let g:unloaded = 1");
    await nvim.command("call denops#plugin#unload('agent')");
    await nvim.waitFor("vim.g.unloaded");
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "Hi.");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "denops");
  },
});

Deno.test({
  name: "a server that cannot start: the plugin goes on without it",
  ignore,
  async fn() {
    await using agent = await start("say Hi.", 'vim.g["denops#server#deno_args"] = { "--no-such-option" }');
    await agent.nvim.command("Agent Hello");
    await waitForChat(agent.nvim, "Hi.");
    assert.equal(await agent.nvim.lua("return require('agent.client').host()"), "standalone");
  },
});

/** denops.vim as far as we see it, with a server that is always starting. */
const NEVER_READY = {
  "plugin/denops.vim": "let g:loaded_denops = 1\n",
  "autoload/denops/server.vim": "function! denops#server#status() abort\n  return 'starting'\nendfunction\n" +
    "function! denops#server#wait_async(callback) abort\nendfunction\n",
  "autoload/denops/plugin.vim": "function! denops#plugin#wait_async(name, callback) abort\nendfunction\n",
};

for (const host of ["auto", "denops"]) {
  Deno.test(`a server that stops while it is waited for, with host = "${host}"`, async () => {
    await using denops = await scratch(NEVER_READY);
    await using agent = await startAgent({
      script: "say Hi.",
      runtime: [denops.root],
      options: `host = "${host}"`,
    });
    const { nvim } = agent;
    await nvim.command("Agent Hello");
    await nvim.waitForScreen("· starting");
    await nvim.command("doautocmd <nomodeline> User DenopsProcessStopped:1");
    if (host === "auto") return await waitForChat(nvim, "Hi.");
    await waitForChat(
      nvim,
      "Cannot start: denops.vim's server stopped. Look at :messages, try :call denops#server#restart(), or set the " +
        'option host to "standalone".',
    );
    await nvim.lua("require('agent').setup({ host = 'standalone' })");
    await say(nvim, "Hello again");
    await waitForChat(nvim, "Hi.");
  });
}

Deno.test({
  name: "after :qa! no engine is left",
  ignore,
  async fn() {
    await using agent = await start("say One\nwait here\nsay two");
    const { nvim, project, server } = agent;
    await nvim.command("Agent Hello");
    await reached(server, "here");
    await waitForMarked([project.root], 1);
    await nvim.quit();
    await waitForNone([project.root], 2_000);
  },
});
