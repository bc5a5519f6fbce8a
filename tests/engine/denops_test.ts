/**
 * The plugin in denops.vim's server, whose folder DENOPS_TEST_DENOPS_PATH names. denops.vim takes its modules from
 * JSR, which is not reached everywhere.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import {
  type AgentOptions,
  copyOfPlugin,
  PLUGIN,
  type RunningAgent,
  SECRET,
  startAgent,
} from "../support/agent.ts";
import { say, transcript, waitForChat } from "../support/chat.ts";
import { USERS_PATH } from "../support/mines.ts";
import { SharedServer } from "../support/denops_server.ts";
import { type Scratch, waitUntil } from "../support/project.ts";
import { ENGINE, marked, parentOf, waitForMarked, waitForNone } from "../support/processes.ts";
import { reached } from "../support/server.ts";

const DENOPS = Deno.env.get("DENOPS_TEST_DENOPS_PATH");
if (DENOPS === undefined) {
  console.log("denops_test.ts is ignored: DENOPS_TEST_DENOPS_PATH names no folder of denops.vim");
}
const ignore = DENOPS === undefined;

/**
 * Its own switch for tests keeps denops.vim from asking for a key where its server cannot start. It starts Deno by the
 * user's PATH: whoever puts a folder of a project there has chosen so.
 */
function start(script: string, options: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  const lua = `vim.g["denops#_test"] = 1\n${options.lua ?? ""}`;
  // denops.vim asks git for its own version, in its own folder.
  const env = { ...USERS_PATH, GIT_TRACE: "", ...options.env };
  return startAgent({ ...options, script, runtime: DENOPS === undefined ? [] : [DENOPS], lua, env });
}

/** With a cold cache, or beside other work, the server takes longer than `host = "auto"` waits for it. */
async function untilLoaded(nvim: RunningAgent["nvim"]): Promise<void> {
  await nvim.waitFor("vim.fn['denops#plugin#is_loaded']('agent') == 1");
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
    await untilLoaded(nvim);
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
    await untilLoaded(nvim);
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "The first half");
    await nvim.command("call denops#server#stop()");
    await waitForChat(nvim, "The next message continues the stored session.");
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
    await untilLoaded(nvim);
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
    await using agent = await start("say Hi.", {
      lua: 'vim.g["denops#server#deno_args"] = { "--no-such-option" }',
    });
    await agent.nvim.command("Agent Hello");
    await waitForChat(agent.nvim, "Hi.");
    assert.equal(await agent.nvim.lua("return require('agent.client').host()"), "standalone");
  },
});

Deno.test({
  name:
    "a message while the server closes goes on without it; once it is back, the first chat of a new engine uses it",
  ignore,
  async fn() {
    await using agent = await start("say One.");
    const { nvim, server } = agent;
    const host = () => nvim.lua("return require('agent.client').host()");
    await untilLoaded(nvim);
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "One.");
    await nvim.waitForScreen("· ready");
    assert.equal(await host(), "denops");
    server.play("new-history\nexpect Second\nsay Two.\n---\nexpect Third\nsay Three.");
    // Nothing has told us that it closes when the message is sent.
    await nvim.lua("vim.fn['denops#server#stop']() vim.cmd('Agent Second')");
    await waitForChat(nvim, "Two.");
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /Hello.*One\..*Second/);
    assert.equal(await host(), "standalone");
    assert.doesNotMatch((await transcript(nvim)).join("\n"), /stopped|closed|E475/);
    await nvim.waitFor("vim.fn['denops#server#status']() == 'stopped'");
    await nvim.command("call denops#server#start()");
    await nvim.waitFor("vim.fn['denops#server#status']() == 'running'");
    await say(nvim, "Third");
    await waitForChat(nvim, "Three.");
    assert.equal(await host(), "standalone");
    server.play("new-history\nexpect Beside\nsay Beside it.");
    await nvim.command("Agent new");
    await nvim.command("Agent Beside");
    await waitForChat(nvim, "Beside it.");
    assert.equal(await host(), "standalone", "a second host would have a second engine");
    await nvim.lua(`local chats = require("agent.chat")
      for _, chat in ipairs(chats.list()) do chats.close(chat) end`);
    server.play("new-history\nexpect Anew\nsay Four.\n---\nexpect Fifth\nsay Five.");
    await untilLoaded(nvim);
    await nvim.command("Agent new");
    await nvim.lua("vim.cmd('Agent Anew')");
    await waitForChat(nvim, "Four.");
    assert.equal(await host(), "denops");
    await waitForOneEngine(agent);
    await say(nvim, "Fifth");
    await waitForChat(nvim, "Five.");
    assert.deepEqual(server.problems, []);
  },
});

Deno.test({
  name: "the end of a connection that nothing has told of: the message that finds it goes on without it",
  ignore,
  async fn() {
    await using agent = await start("say One.");
    const { nvim, server } = agent;
    await untilLoaded(nvim);
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "One.");
    await nvim.waitForScreen("· ready");
    server.play("new-history\nexpect Second\nsay Two.");
    await nvim.lua(`for _, channel in ipairs(vim.api.nvim_list_chans()) do
        if channel.client and channel.client.name == "denops" then vim.fn.chanclose(channel.id) end
      end
      vim.cmd("Agent Second")`);
    await waitForChat(nvim, "Two.");
    assert.deepEqual(server.problems, []);
    await waitForOneEngine(agent);
  },
});

Deno.test({
  name: ":Agent on the command line waits for the server",
  ignore,
  async fn() {
    await using agent = await start("expect Hello\nsay Hi.", {
      commands: ["Agent Hello"],
      options: `host = "denops"`,
    });
    await waitForChat(agent.nvim, "Hi.");
    assert.equal(await agent.nvim.lua("return require('agent.client').host()"), "denops");
  },
});

/** The module of the broken plugin that its supervisor lacks. */
const MISSING = "denops/agent/supervisor/sessions/chat.ts";

/** A module that gives what one of the plugin's own has, which Deno has compiled before. */
function reexport(module: string): string {
  return `export * from "${pathToFileURL(join(PLUGIN, "denops/agent", module))}";\n`;
}

/** A copy of the plugin whose supervisor cannot be loaded until MISSING is there. */
async function brokenPlugin(): Promise<Scratch> {
  const plugin = await copyOfPlugin();
  await plugin.write("denops/agent/supervisor/agents/boot.ts", reexport("supervisor/agents/boot.ts"));
  await plugin.write("denops/agent/supervisor/supervisor.ts", `export * from "./sessions/chat.ts";\n`);
  await Deno.remove(plugin.path(MISSING));
  return plugin;
}

for (const host of ["standalone", "auto", "denops"]) {
  Deno.test({
    name:
      `a supervisor that cannot be loaded, with host = "${host}": one line, and the next message tries again`,
    ignore: ignore && host !== "standalone",
    async fn() {
      await using plugin = await brokenPlugin();
      await using agent = await start("say Hi.", { plugin: plugin.root, options: `host = "${host}"` });
      const { nvim } = agent;
      await nvim.command("Agent Hello");
      await waitForChat(
        nvim,
        host === "denops" ? "could not load the supervisor" : "Cannot start: Module not found",
      );
      await nvim.waitForScreen("· ready");
      await plugin.write(MISSING, reexport("supervisor/supervisor.ts"));
      await say(nvim, "Hello again");
      await waitForChat(nvim, "Hi.");
    },
  });
}

Deno.test({
  name:
    "a shared server, started without the key: Neovim's own counts; nothing is left when Neovim is killed",
  ignore,
  async fn() {
    await using shared = await SharedServer.start(DENOPS ?? "");
    await using agent = await start("say One\nwait here\nsay two.", {
      lua: `vim.g.denops_server_addr = "${shared.address}"`,
    });
    const { nvim, project, server, state } = agent;
    await untilLoaded(nvim);
    await nvim.command("Agent Hello");
    await reached(server, "here");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "denops");
    server.release("here");
    await waitForChat(nvim, "two.");
    await nvim.lua("vim.env.TEST_API_KEY = nil");
    await nvim.command("Agent new");
    await nvim.lua("require('agent').setup({ limits = { max_iterations = 5 } }) vim.cmd('Agent Hello')");
    await waitForChat(nvim, "Cannot use test: TEST_API_KEY is not set.");
    assert.deepEqual(server.problems, []);
    assert.ok(!(await nvim.lua<string>("return vim.fn.execute('messages')")).includes(SECRET));
    for await (const { name, isFile } of Deno.readDir(state.root)) {
      if (isFile) assert.ok(!(await state.read(name)).includes(SECRET), name);
    }
    await waitForMarked([project.root], 1);
    nvim.kill("SIGKILL");
    await nvim.exited;
    await waitForNone([project.root]);
  },
});

/** Engines of this project, with the sandbox of each. */
async function engines({ project }: RunningAgent): Promise<readonly number[]> {
  const all = (await marked(project.root)).filter(({ command }) => ENGINE.test(command));
  const pids = new Set(all.map(({ pid }) => pid));
  const parents = await Promise.all(all.map(({ pid }) => parentOf(pid)));
  return [...pids].filter((_, at) => !pids.has(parents[at] ?? 0));
}

function waitForOneEngine(agent: RunningAgent): Promise<unknown> {
  return waitUntil("one engine", async () => (await engines(agent)).length === 1);
}

/** The server that Neovim has started itself. */
function serverOf(project: string): Promise<number> {
  return waitUntil(
    "the server",
    async () => (await marked(project)).find(({ command }) => command.includes("@denops-private"))?.pid,
  );
}

Deno.test({
  name:
    "a shared server that is slow: the plugin goes on without it, and one engine is left when it is fast again",
  ignore,
  async fn() {
    await using shared = await SharedServer.start(DENOPS ?? "");
    await using agent = await start("say Hi.\n---\nexpect And now?\nsay Ho.", {
      lua: `vim.g.denops_server_addr = "${shared.address}"
        -- The plugin's patience, in a hurry.
        local wait = vim.defer_fn vim.defer_fn = function(f, ms) return wait(f, ms == 5000 and 300 or ms) end`,
    });
    const { nvim } = agent;
    await untilLoaded(nvim);
    await nvim.lua(`local host = require("agent.host")
      local started = host.started
      host.started = function(...) _G.late = vim.g.slow return started(...) end`);
    shared.signal("SIGSTOP");
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "Hi.");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "standalone");
    assert.equal((await engines(agent)).length, 1);
    await nvim.lua("vim.g.slow = true");
    shared.signal("SIGCONT");
    // Its supervisor has come too late, with an engine.
    await nvim.waitFor("_G.late");
    await waitForOneEngine(agent);
    await say(nvim, "And now?");
    await waitForChat(nvim, "Ho.");
    await waitForOneEngine(agent);
    assert.deepEqual(agent.server.problems, []);
  },
});

Deno.test({
  name: "after kill -9 of the server in the middle of a turn one engine is left, and it knows all",
  ignore,
  async fn() {
    const mark = `agent-test-${crypto.randomUUID()}`;
    await using agent = await start("say The first half\nwait here\nsay and the second.", {
      env: { AGENT_TEST_MARK: mark },
    });
    const { nvim, server, project } = agent;
    await untilLoaded(nvim);
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "The first half");
    const [before] = await engines(agent);
    // The next message comes before denops.vim has started its server again.
    await nvim.lua(
      `vim.api.nvim_create_autocmd("User", { once = true, pattern = "DenopsProcessStopped:*", callback = function()
      vim.schedule(function() vim.cmd("Agent And now?") end)
    end })`,
    );
    server.play("new-history\nexpect And now?\nsay All is well again.\n---\nexpect Anew\nsay One more.");
    process.kill(await serverOf(mark), "SIGKILL");
    await waitForChat(nvim, "denops.vim's server stopped.");
    await waitForChat(nvim, "All is well again.");
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /Hello.*The first half.*And now/);
    await waitForOneEngine(agent);
    assert.notEqual((await engines(agent))[0], before);
    await nvim.waitFor("vim.fn['denops#server#status']() == 'running'");
    server.play("new-history\nexpect Anew\nsay One more.");
    await untilLoaded(nvim);
    await nvim.command("Agent new");
    await nvim.command("Agent Anew");
    await waitForChat(nvim, "One more.");
    await waitForOneEngine(agent);
    await nvim.quit();
    await waitForNone([project.root]);
  },
});

Deno.test({
  name: "in denops.vim's server, too, a proxy is never asked for a model on this machine",
  ignore,
  async fn() {
    const asked: string[] = [];
    const refuse = (request: Request) => {
      asked.push(request.url);
      return new Response("no", { status: 502 });
    };
    await using proxy = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, refuse);
    const address = `http://127.0.0.1:${proxy.addr.port}`;
    const env = { http_proxy: address, HTTP_PROXY: address, ALL_PROXY: address, DENO_NO_UPDATE_CHECK: "1" };
    await using agent = await start("say Hi.", { env, options: `host = "denops"` });
    await agent.nvim.command("Agent Hello");
    await waitForChat(agent.nvim, "Hi.");
    await agent.nvim.command("checkhealth agent");
    await agent.nvim.waitForScreen("OK test answers, and has the model scripted.");
    assert.deepEqual(asked, []);
  },
});

Deno.test({
  name: "the engine runs when the chat is open, without a word, and ends with Neovim",
  ignore,
  async fn() {
    await using agent = await start("say Hi.");
    const { nvim, project } = agent;
    await untilLoaded(nvim);
    await nvim.command("Agent");
    await waitForMarked([project.root], 1);
    await say(nvim, "Hello");
    await waitForChat(nvim, "Hi.");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "denops");
    await nvim.quit();
    await waitForNone([project.root]);
  },
});

Deno.test({
  name: "after :qa! no engine is left",
  ignore,
  async fn() {
    await using agent = await start("say One\nwait here\nsay two");
    const { nvim, project, server } = agent;
    await untilLoaded(nvim);
    await nvim.command("Agent Hello");
    await reached(server, "here");
    await waitForMarked([project.root], 1);
    await nvim.quit();
    await waitForNone([project.root]);
  },
});

Deno.test({
  name:
    "processes that start while :Agent is typed end if nothing is sent, and the next message starts them again",
  ignore,
  async fn() {
    await using agent = await start("say Hello.", {
      lua: `local defer = vim.defer_fn
        vim.defer_fn = function(callback, ms)
          if ms > 50000 then _G.end_unused = callback else return defer(callback, ms) end
        end`,
    });
    const { nvim, state } = agent;
    await untilLoaded(nvim);
    for (const key of ":Agent") await nvim.request("nvim_input", key);
    await nvim.waitFor("_G.end_unused ~= nil");
    const engine = [`--state=${state.root}`];
    await waitForMarked(engine, 1);
    await nvim.lua("_G.end_unused()");
    await waitForNone(engine);
    await nvim.keys("<Esc>");
    await nvim.command("Agent Hi");
    await waitForChat(nvim, "Hello.");
    assert.equal(await nvim.lua("return require('agent.client').host()"), "denops");
  },
});
