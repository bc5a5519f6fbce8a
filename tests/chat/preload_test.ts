/** While the user types `:Agent`, the processes start; nothing else happens, and what is not used ends. */
import assert from "node:assert/strict";
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { waitForMarked, waitForNone } from "../support/processes.ts";

/** The end of what is unused waits for the test. */
const END_UNUSED = `local defer = vim.defer_fn
vim.defer_fn = function(callback, ms)
  if ms > 10000 then _G.end_unused = callback else return defer(callback, ms) end
end`;

/** Steps wait for the test, which runs the next one with `step`: the number of modules that it loads. */
const HELD = `local held, defer = {}, vim.defer_fn
vim.defer_fn = function(callback, ms)
  if ms > 10000 then return defer(callback, ms) end
  table.insert(held, callback)
end
local function loaded()
  return vim.tbl_filter(function(name) return vim.startswith(name, "agent") end, vim.tbl_keys(package.loaded))
end
function _G.step()
  local before, callback = #loaded(), table.remove(held, 1)
  if not callback then return nil end
  callback()
  return #loaded() - before
end
function _G.load_of(command)
  local before, new = {}, {}
  for _, name in ipairs(loaded()) do before[name] = true end
  vim.cmd(command)
  for _, name in ipairs(loaded()) do table.insert(new, not before[name] and name or nil) end
  return new
end`;

/** Runs steps, all by default: the modules that each has loaded. */
async function runSteps({ nvim }: RunningAgent, most = Infinity): Promise<readonly number[]> {
  const sizes: number[] = [];
  while (sizes.length < most) {
    const size = await nvim.lua<number | undefined>("return _G.step()");
    if (size === undefined) break;
    sizes.push(size);
  }
  return sizes;
}

/** A step that loads more modules would be felt while typing. */
const MOST_MODULES = 20;

async function type({ nvim }: RunningAgent, keys: string): Promise<void> {
  for (const key of keys) await nvim.request("nvim_input", key);
}

function engineRuns({ state }: RunningAgent): Promise<unknown> {
  return waitForMarked([state.root], 1);
}

Deno.test("the engine runs when :Agent is typed, and nothing is sent, stored or shown until <CR>", async (test) => {
  await using agent = await startAgent({
    script: "say Hello.\n---\nsay Switched off.",
    options: "sessions = { title = false }",
    lua: END_UNUSED,
  });
  await test.step("other commands, and sub-commands without an engine, start nothing", () =>
    typeOthers(agent));
  await test.step("a start that fails is tried once", () => failOnce(agent));
  await test.step("a command for a key runs with the message, and not before", () => askForNoKey(agent));
  await test.step("unused, it ends", () => startUnused(agent));
  await test.step("what is chosen meanwhile stays", () => chooseUnsent(agent));
  await test.step("a message uses it", () => useStarted(agent));
  await test.step("a chat of before stays", () => startBesideChat(agent));
  await test.step("the option switches it off", () => switchOff(agent));
});

async function typeOthers({ nvim }: RunningAgent): Promise<void> {
  await nvim.command("command Again echo 1");
  for (const line of ["Ag", "Aga", "Agents", "echo 'Agent", "Agent health", "Agent tutor"]) {
    await nvim.lua("vim.fn.histadd(':', ...)", line);
    await nvim.keys(":<Up>");
    await nvim.waitFor(`vim.fn.getcmdline() == ${JSON.stringify(line)}`);
    const host = await nvim.lua("vim.wait(200) return require('agent.client').host()");
    assert.equal(host, undefined, line);
    await nvim.keys("<Esc>");
  }
  await nvim.command("delcommand Again");
}

/** For a command line, not with each key. */
async function failOnce(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  await nvim.lua(`local process = require("agent.host.process")
    _G.starts, _G.start = 0, process.start
    process.start = function() _G.starts = _G.starts + 1 return nil, "there is no Deno" end`);
  await type(agent, ":Agent");
  await nvim.waitFor("_G.starts == 1");
  await type(agent, " fix it");
  await nvim.lua("vim.wait(200)");
  assert.equal(await nvim.lua("return _G.starts"), 1);
  await nvim.keys("<CR>");
  await nvim.waitForScreen("there is no Deno");
  await nvim.lua(`require("agent.host.process").start = _G.start
    local chats = require("agent.chat")
    vim.iter(chats.list()):each(function(chat)
      chat.input:set("")
      chats.close(chat)
    end)`);
}

/** Nothing is sent, stored or shown. */
async function assertNothing({ nvim, server, state }: RunningAgent): Promise<void> {
  assert.equal(server.requests.length, 0);
  assert.deepEqual(await storedSessions(state.root), []);
  assert.equal(await nvim.lua("return #vim.api.nvim_list_wins()"), 1);
}

async function askForNoKey(agent: RunningAgent): Promise<void> {
  const { nvim, project } = agent;
  const setKey = (key: string) =>
    nvim.lua(
      `vim.g.agent = vim.tbl_deep_extend("force", vim.g.agent, { providers = { test = { api_key = ... } } })
      require("agent").setup({})`,
      key,
    );
  await setKey("cmd:touch ran && printenv TEST_API_KEY");
  await type(agent, ":Agent");
  await nvim.waitFor("require('agent.client').host() ~= nil and #require('agent.chat').list() == 1");
  await nvim.waitFor("require('agent.host').all()[1].state == 'ready'");
  await nvim.keys("<Esc>");
  assert.equal(await Deno.stat(project.path("ran")).then(() => true, () => false), false);
  await nvim.lua("_G.end_unused() _G.end_unused = nil");
  await nvim.waitFor("require('agent.client').host() == nil and #require('agent.chat').list() == 0");
  await setKey("env:TEST_API_KEY");
}

/** It ends, and so does its chat. */
async function startUnused(agent: RunningAgent): Promise<void> {
  const { nvim, state } = agent;
  // A begin that no other command has is enough.
  await type(agent, ":Ag");
  await engineRuns(agent);
  await nvim.waitFor("require('agent.client').host() ~= nil and #require('agent.chat').list() == 1");
  await type(agent, "ent hello");
  await nvim.waitForScreen(":Agent hello");
  await assertNothing(agent);
  await nvim.lua("_G.end_unused() _G.end_unused = nil");
  await waitForNone([state.root]);
  await nvim.waitFor("require('agent.client').host() == nil");
  assert.equal(await nvim.lua("return #require('agent.chat').list()"), 0);
  await nvim.keys("<Esc>");
  await assertNothing(agent);
}

/** What the user has chosen meanwhile stays, although no message was sent. */
async function chooseUnsent(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  await type(agent, ":Agent");
  await nvim.waitFor("_G.end_unused ~= nil");
  await nvim.keys("<Esc>");
  await assertNothing(agent);
  await nvim.command("Agent mode plan");
  await nvim.lua("_G.end_unused()");
  assert.equal(await nvim.lua("return #require('agent.chat').list()"), 1);
  await nvim.command("Agent");
  await nvim.waitForScreen("plan");
  await nvim.keys("<Esc>");
}

/** A used chat stays. */
async function useStarted(agent: RunningAgent): Promise<void> {
  const { nvim, server } = agent;
  await nvim.lua("require('agent.chat').current():hide()");
  await type(agent, ":Agent hello");
  await nvim.keys("<CR>");
  await nvim.waitForScreen("Hello.");
  await waitForTurn(nvim);
  assert.equal(server.requests.length, 1);
  await nvim.lua("require('agent.chat').current():hide()");
  await type(agent, ":Agent");
  await nvim.lua("_G.end_unused() _G.end_unused = nil");
  await nvim.keys("<Esc>");
  assert.equal(await nvim.lua("return #require('agent.chat').list()"), 1);
  assert.equal(server.requests.length, 1);
}

async function killSupervisor({ nvim }: RunningAgent): Promise<void> {
  await nvim.lua(`for _, channel in ipairs(vim.api.nvim_list_chans()) do
    if vim.iter(channel.argv or {}):any(function(word) return word:find("standalone.ts", 1, true) end) then
      vim.uv.kill(vim.fn.jobpid(channel.id), "sigkill")
    end
  end`);
  await nvim.waitFor("require('agent.client').host() == nil");
}

/** A chat of before stays when what was started for it ends unused. */
async function startBesideChat(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  await nvim.command("Agent");
  await nvim.waitForScreen("· ready");
  await nvim.keys("<Esc>");
  await killSupervisor(agent);
  await nvim.lua(`local client = require("agent.client")
    local send = client.send
    client.send = function(action)
      _G.is_opened = _G.is_opened or action.preloads
      return send(action)
    end`);
  await type(agent, ":Agent");
  await nvim.waitFor("_G.end_unused ~= nil and require('agent.client').host() ~= nil");
  await nvim.waitFor("_G.is_opened");
  await nvim.lua("_G.end_unused()");
  await nvim.waitFor("require('agent.client').host() == nil");
  await nvim.keys("<Esc>");
  assert.equal(await nvim.lua("return #require('agent.chat').list()"), 1);
  await nvim.waitForScreen("Hello.");
}

async function switchOff(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  await nvim.lua(`vim.g.agent = vim.tbl_extend("force", vim.g.agent, { preload = false })
    require("agent").setup({})`);
  await type(agent, ":Agent");
  assert.equal(await nvim.lua("vim.wait(200) return require('agent.client').host()"), undefined);
  await nvim.keys(" hello<CR>");
  await nvim.waitForScreen("Switched off.");
}

Deno.test("the chat loads in small steps between the keys, which end with the command line and with a sub-command, so that <CR> has nothing left to load", async () => {
  await using agent = await startAgent({ script: "say Hello.", lua: HELD });
  const { nvim } = agent;
  const sizes: number[] = [];
  const unfinished = async (end: string) => {
    await type(agent, ":Agent");
    await nvim.waitForScreen(":Agent");
    sizes.push(...await runSteps(agent, 12));
    await nvim.keys(end);
    assert.deepEqual(await runSteps(agent, 2), [0], end);
    await nvim.keys("<Esc>");
    assert.equal(await nvim.lua("return package.loaded['agent.chat'] == nil"), true, end);
  };
  await unfinished("<Esc>");
  await unfinished(" health");
  // They continue with the next message.
  await type(agent, ":Agent");
  await nvim.waitForScreen(":Agent");
  sizes.push(...await runSteps(agent, 5));
  await type(agent, " hel");
  await nvim.waitForScreen(":Agent hel");
  assert.equal(await nvim.lua("return package.loaded['agent.chat'] == nil"), true, "some are loaded");
  sizes.push(...await runSteps(agent));
  assert.ok(Math.max(...sizes) <= MOST_MODULES, `modules of the steps: ${sizes.join(" ")}`);
  assert.ok(sizes.filter((size) => size > 0).length > 15, `modules of the steps: ${sizes.join(" ")}`);
  assert.equal(await nvim.lua("return #require('agent.chat').list()"), 1);
  await nvim.keys("<Esc>");
  assert.deepEqual(await nvim.lua("return _G.load_of('Agent hello')"), []);
  await nvim.waitForScreen("Hello.");
});

Deno.test("the first message loads what is drawn, and the rest afterwards in steps, or with the first update", async () => {
  await using agent = await startAgent({
    script: 'say A **bold** word.\ncall run_terminal_command {"command": "rm -r src"}\n---\nsay Done.',
    lua: HELD,
  });
  const { nvim } = agent;
  const first = await nvim.lua<readonly string[]>("return _G.load_of('Agent hello')");
  assert.ok(first.includes("agent.chat.transcript"));
  for (const name of ["approval.window", "review", "editor.lsp", "reload", "markdown.painter"]) {
    assert.ok(!first.includes(`agent.${name}`), name);
  }
  // No step has run.
  await nvim.waitForScreen("A bold word.");
  await nvim.waitFor("package.loaded['agent.approval'] and require('agent.approval').name(1)");
  await nvim.waitForScreen("rm -r src");
  const sizes = await runSteps(agent);
  assert.ok(Math.max(...sizes) <= MOST_MODULES, `modules of the steps: ${sizes.join(" ")}`);
});
