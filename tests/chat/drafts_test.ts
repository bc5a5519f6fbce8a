/** Text that was not sent outlives Neovim, however that ends: it comes back into an input once, and is never sent. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { endTrials, lastProgram, runTrial } from "../loss/drafts/trial.ts";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { marked } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import { reached } from "../support/server.ts";

const READ = 'call read_file {"path": "README.md"}';

async function input(nvim: ChildNvim): Promise<string> {
  return await nvim.lua('return require("agent.chat").current().input:text()');
}

async function waitForInput(nvim: ChildNvim, text: string): Promise<void> {
  await waitUntil(`${JSON.stringify(text)} in the input`, async () => await input(nvim) === text);
}

/** The texts of all drafts on disk. */
async function kept(agent: RunningAgent): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const name of await names(agent)) {
    const { messages } = JSON.parse(await agent.state.read(`drafts/${name}`));
    texts.push(messages.map(({ text }: { text: string }) => text).join("\n\n"));
  }
  return texts.sort();
}

async function names({ state }: RunningAgent): Promise<readonly string[]> {
  const all = await Array.fromAsync(Deno.readDir(state.path("drafts")));
  return all.map(({ name }) => name).filter((name) => name.endsWith(".json"));
}

async function waitForKept(agent: RunningAgent, ...texts: readonly string[]): Promise<void> {
  await waitUntil(
    `drafts ${JSON.stringify(texts)}`,
    async () => JSON.stringify(await kept(agent).catch(() => [])) === JSON.stringify(texts),
  );
}

/** One message is logged, one steers, two wait for the turn's end, and one is typed. */
async function typeAll(agent: RunningAgent): Promise<void> {
  const { nvim, server } = agent;
  await nvim.command("Agent Logged");
  await reached(server, "here");
  await nvim.command("Agent! Steering");
  await waitForChat(nvim, "Steering (waiting for the next step)");
  await nvim.keys("iQueued<C-s>Queued too<C-s>A draft<CR>of two lines<Esc>");
  await waitForChat(nvim, "Queued too (waiting for the turn to end)");
  await waitForKept(agent, UNSENT);
}

const UNSENT = "Steering\n\nQueued\n\nQueued too\n\nA draft\nof two lines";

async function modeOf(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

async function gone({ nvim }: RunningAgent, end: "quit" | "SIGKILL" | "SIGHUP"): Promise<void> {
  if (end === "quit") await nvim.quit();
  else await nvim.end(end);
}

const MARK = crypto.randomUUID();

const SCRIPT = `wait here\n${READ}\n---\nsay Nobody asked.`;

/** In the second one the supervisor and then Neovim are killed. Another one is played in tests/sessions/loss_test.ts. */
const SEEDS = IS_FULL ? Array.from({ length: 30 }, (_, index) => index + 1) : [2];

Deno.test("Neovim ends at random moments, with :qa and with its terminal: nothing unsent is lost, doubled or sent", async () => {
  const lost: string[] = [];
  try {
    for (const seed of SEEDS) lost.push(...await runTrial(seed));
    assert.deepEqual(lost, []);
    const agent = await lastProgram();
    await agent.nvim.keys("<Esc>q");
    await agent.nvim.command("edit README.md");
    agent.server.restart(SCRIPT);
    await endInEachWay(agent);
  } finally {
    await endTrials();
  }
});

/** Unsent messages come back once and unsent; what a log has stays; two Neovims take a draft each. */
async function endInEachWay(agent: RunningAgent): Promise<void> {
  const { server, state } = agent;
  await typeAll(agent);
  // Lines that go along come back as well.
  await agent.nvim.keys("q");
  await agent.nvim.command("1Agent");
  await agent.nvim.waitForScreen("README.md L1 ");
  assert.equal(await modeOf(state.path("drafts")), 0o700);
  for (const name of await names(agent)) assert.equal(await modeOf(state.path(`drafts/${name}`)), 0o600);
  await gone(agent, "quit");

  await using second = await startAgent({ script: "", beside: agent });
  await second.nvim.command("Agent");
  await waitForInput(second.nvim, UNSENT);
  await waitForChat(second.nvim, 'Unsent text of "Logged" is back in the input.');
  await second.nvim.waitForScreen("README.md L1 ");
  await second.nvim.command("Agent resume");
  await waitForChat(second.nvim, "Interrupted");
  assert.equal(await input(second.nvim), UNSENT);
  assert.equal(server.requests.length, 1);
  assert.deepEqual((await transcript(second.nvim))[0], "Logged");
  await waitForKept(agent, UNSENT);
  await second.nvim.keys("<Esc>");
  await second.nvim.lua(
    'local chat = require("agent.chat").current() chat.input:set("") chat.selections:drop()',
  );
  await waitForKept(agent);
  server.restart(SCRIPT);
  await typeAll(second);
  // What somebody has scheduled fails meanwhile, in many lines.
  await second.nvim.lua(`require("agent.client").request = function() end
    require("agent.review.files").request(nil, "review_files", {}, function() end)
    vim.uv.new_timer():start(0, 5, vim.schedule_wrap(function()
      assert(vim.v.exiting == vim.NIL, ("failed\\n"):rep(100))
    end))`);
  await gone(second, "SIGHUP");

  await using third = await startAgent({ script: "", beside: agent, env: { AGENT_TEST_MARK: MARK } });
  // This time the session is chosen before a chat is on the screen.
  await third.nvim.command("Agent resume");
  await waitForInput(third.nvim, UNSENT);
  await waitForChat(third.nvim, "Unsent text is back in the input.");
  assert.equal(server.requests.length, 1);
  await third.nvim.command("Agent new");
  await third.nvim.waitFor(`#require("agent.chat").list() == 2`);
  assert.equal(await input(third.nvim), "");
  await third.nvim.lua(`vim.iter(require("agent.chat").list()):each(function(chat)
    chat.input:set("")
    chat.selections:drop()
  end)`);
  await waitForKept(agent);
  const logged = await loseSupervisor(agent, third);
  await takeDrafts(agent, third, logged);
  await takeOneEach(agent);
}

/** A file as a Neovim leaves it that was killed. */
async function leave({ project, state }: RunningAgent, name: string, draft: object): Promise<void> {
  await Deno.mkdir(state.path("drafts"), { recursive: true });
  const time = Math.round(Date.now() / 1_000);
  const text = JSON.stringify({ root: project.root, time, messages: [{ id: name, text: name }], ...draft });
  await Deno.writeTextFile(join(state.path("drafts"), `${name}-1.json`), text);
}

const DAY = 24 * 60 * 60;

/** @returns the ids of messages that are logged */
async function loseSupervisor(agent: RunningAgent, { nvim }: RunningAgent): Promise<readonly string[]> {
  const { server, state } = agent;
  const [database = ""] = [...Deno.readDirSync(state.root)]
    .map(({ name }) => state.path(`${name}/agent.db`)).filter((path) => existsSync(path));
  using stored = new DatabaseSync(database, { readOnly: true });
  const logged = () =>
    stored.prepare("SELECT name FROM memory WHERE topic = 'message'").all().map(({ name }) => String(name));
  const earlier = logged();
  server.restart("say Hello.\n---\nsay Hello again.\n---\nwait here\nsay Never.");
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Hello.");
  await waitForTurn(nvim);
  await nvim.command("Agent! Hello again");
  await waitForChat(nvim, "Hello again.");
  await waitForTurn(nvim);
  const added = logged().filter((name) => !earlier.includes(name));
  assert.equal(added.length, 2);

  // The supervisor is killed before it tells that a message is logged.
  await nvim.lua(`local client = require("agent.client")
    _G.receive = client.receive
    client.receive = function(batch)
      return receive(vim.tbl_filter(function(update) return update.type ~= "turn" end, batch))
    end`);
  await nvim.command("Agent Logged");
  await reached(server, "here");
  await nvim.command("Agent send Queued");
  await waitForChat(nvim, "Queued (waiting for the turn to end)");
  const supervisor = (await marked(MARK)).find(({ command }) => command.includes("standalone.ts"));
  assert.ok(supervisor);
  Deno.kill(supervisor.pid, "SIGKILL");
  await waitForInput(nvim, "Queued");
  await nvim.lua(`require("agent.client").receive = receive require("agent.chat").current().input:set("")`);
  await waitForKept(agent);
  return added;
}

/** A closed chat leaves its draft; old ones and those of other projects stay away. */
async function takeDrafts(
  agent: RunningAgent,
  { nvim }: RunningAgent,
  logged: readonly string[],
): Promise<void> {
  const { server, state } = agent;
  // Neovim was killed after the engine had logged them, and before it knew.
  const messages = [...logged, "aa"].map((id, index) => ({ id, text: `text ${index}`, is_sent: true }));
  await leave(agent, "aa", { messages });
  const now = Math.round(Date.now() / 1_000);
  await leave(agent, "bb", { root: "/elsewhere", time: now - 29 * DAY });
  await leave(agent, "cc", { time: now - 31 * DAY });
  await nvim.command("Agent new");
  await waitForInput(nvim, "text 2");
  await waitForKept(agent, "bb", "text 2");

  // What is typed meanwhile stays below. Files that are no drafts hide none.
  await leave(agent, "dd", {});
  const others = [{ was: 5 }, { title: {} }, {
    messages: [{ id: "a", text: "a", given: [{ type: "file", text: "" }] }],
  }];
  for (const [index, other] of others.entries()) await leave(agent, `f${index}`, { time: now + 1, ...other });
  const pipes = ["e0-1.json", "e1.lock"].map((name) => state.path(`drafts/${name}`));
  await new Deno.Command("mkfifo", { args: pipes }).output();
  await leave(agent, "e1", { time: now - 1 });
  await nvim.keys("<Esc>");
  await nvim.lua(`require("agent").new() vim.api.nvim_input("ityped")`);
  await waitForInput(nvim, "dd\n\ntyped");
  for (const index of others.keys()) await Deno.remove(state.path(`drafts/f${index}-1.json`));
  for (const pipe of [...pipes, state.path("drafts/e1-1.json")]) await Deno.remove(pipe);
  await nvim.keys(" on<Esc>");
  await waitForInput(nvim, "dd\n\ntyped on");
  await waitForKept(agent, "bb", "dd\n\ntyped on", "text 2");

  // A message that is looked up in the history hides the draft.
  await nvim.keys("i<C-p><Esc>");
  await waitForInput(nvim, "Queued");
  await nvim.lua(`require("agent.chat").close(require("agent.chat").current())`);
  await nvim.waitForScreen("agent: unsent text comes back in the project's next chat");
  await nvim.command("Agent new");
  await waitForInput(nvim, "dd\n\ntyped on");
  await waitForKept(agent, "bb", "dd\n\ntyped on", "text 2");

  // A chat that is opened again takes no second draft, and a worktree leaves its drafts to the project.
  // Times are whole seconds.
  await leave(agent, "ee", { time: now - 1 });
  await nvim.keys("<Esc>q");
  await nvim.command("Agent");
  await nvim.command("Agent new --worktree");
  await waitForChat(nvim, "Worktree worktree-1 on branch");
  await nvim.keys("<Esc>iof a worktree<Esc>");
  await waitForInput(nvim, "of a worktree");
  await nvim.command("tabclose");
  await nvim.waitForScreen("removed the worktree worktree-1");
  await waitForInput(nvim, "dd\n\ntyped on");
  // A chat that is opened twice takes one.
  await nvim.lua(`vim.cmd("Agent new") vim.cmd("Agent")`);
  await waitForInput(nvim, "of a worktree");
  await waitForChat(nvim, "Unsent text is back in the input.");
  await nvim.waitForScreen(/│ :Agent new brings back 1 more\. *│/);
  await nvim.lua(`require("agent.chat").current().input:set("")`);
  await waitForKept(agent, "bb", "dd\n\ntyped on", "ee", "text 2");

  // A draft that comes after a message stands not between it and the answer.
  server.play("new-history\nwait draft\nsay Answer.");
  await nvim.keys("<Esc>");
  await nvim.lua(`vim.cmd("Agent new") vim.cmd("Agent Hi")`);
  await waitForInput(nvim, "ee");
  await nvim.waitForScreen("agent: unsent text is back in the input");
  server.release("draft");
  await waitForChat(nvim, "Answer.");
  await waitForTurn(nvim);
  const shown = await nvim.lua<string>(
    `return table.concat(vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, false), "\\n")`,
  );
  assert.equal(shown, "Hi\n\nAnswer.");
  await nvim.lua(`require("agent.chat").current().input:set("")`);
  await waitForKept(agent, "bb", "dd\n\ntyped on", "text 2");
  await nvim.end("SIGKILL");
}

async function takeOneEach(agent: RunningAgent): Promise<void> {
  const { server, state } = agent;
  await using one = await startAgent({ script: "", beside: agent });
  await using other = await startAgent({ script: "", beside: agent });
  const before = await names(agent);
  await one.nvim.command("Agent");
  await waitUntil("a draft to be taken", async () => {
    const now = await names(agent);
    return !before.every((name) => now.includes(name));
  });
  // Its engine still has to say what is logged.
  await other.nvim.command("Agent");
  const inputs = () => Promise.all([one, other].map(({ nvim }) => input(nvim)));
  await waitUntil("both drafts", async () => !(await inputs()).includes(""));
  assert.deepEqual((await inputs()).sort(), ["dd\n\ntyped on", "text 2"]);

  await leave(agent, "ee", {});
  await Promise.all([one, other].map(({ nvim }) => nvim.command("Agent new")));
  await waitUntil("the last draft", async () => (await inputs()).includes("ee"));
  // Until its Neovim has written a file of its own, and removed the one that it took.
  await waitUntil("a file that was another one", async () => {
    const all = await Promise.all(
      (await names(agent)).map((name) => state.read(`drafts/${name}`).catch(() => "{}")),
    );
    return all.some((text) => JSON.parse(text).was?.includes("ee"));
  });
  await waitForKept(agent, "bb", "dd\n\ntyped on", "ee", "text 2");
  assert.deepEqual((await inputs()).sort(), ["", "ee"]);

  const [full, empty] = await input(one.nvim) === "ee" ? [one, other] : [other, one];
  await loseTerminals(full);
  await waitForKept(agent, "bb", "dd\n\ntyped on", "ee", "text 2");
  // Neovim quits while a chat is being opened: it starts nothing that it would wait for.
  await empty.nvim.lua(`vim.schedule(function()
    vim.cmd("Agent new --worktree there") vim.cmd("Agent Held") vim.cmd("qa!")
  end)`);
  await empty.nvim.quit();
  assert.deepEqual(await kept(agent), ["Held", "bb", "dd\n\ntyped on", "ee", "text 2"]);
  assert.equal(server.requests.length, 4);
}

/** Neovim exits when its terminal is gone, also with a :terminal beside the chat whose lines are gone. */
async function loseTerminals(agent: RunningAgent): Promise<void> {
  const { nvim } = agent;
  await nvim.keys("<Esc>q");
  await nvim.command("topleft 5split | terminal printf 'tests failed\\n'; exec sleep 100");
  await nvim.waitForScreen("tests failed");
  await nvim.command("Agent");
  await nvim.keys("<Esc>");
  await waitForInput(nvim, "ee");
  await waitForKept(agent, "bb", "dd\n\ntyped on", "ee", "text 2");
  // The chat shows what goes along while Neovim waits for the draft's file.
  await nvim.lua(`vim.api.nvim_create_autocmd("VimLeavePre", { callback = function()
    vim.schedule(function() require("agent.chat").current().attachments:show() end)
    vim.wait(100, function() return false end)
  end })`);
  // Neovim empties its buffers before autocommands run.
  await gone(agent, "SIGHUP");
}
