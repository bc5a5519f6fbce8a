/**
 * While something slow is being opened (a worktree, a stored session, a copy, another provider), messages wait and go
 * there, or come back into the input. In a real Neovim, whose supervisor sleeps until told.
 */
import assert from "node:assert/strict";
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import type { RunningAgent } from "../support/agent.ts";
import { pressStopUntil, waitForChat, waitForTurn } from "../support/chat.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { whileEnginesSleep, whileSupervisorSleeps } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const test = inOneNeovim({
  script: "",
  options: "sessions = { title = false }",
  lua: `vim.g.agent = vim.tbl_deep_extend("force", vim.g.agent, {
    providers = { keyless = { wire = "openai_chat", base_url = "http://127.0.0.1:9/v1", api_key = "env:NOBODY" } },
  })`,
});

/** A session that is stored, in the current chat. */
async function begin({ nvim, server }: RunningAgent, text: string): Promise<void> {
  server.play("new-history\nsay Begun.");
  await nvim.command(`Agent ${text}`);
  await waitForChat(nvim, "Begun.");
  await waitForTurn(nvim);
  await nvim.keys("<Esc>");
}

function input(nvim: ChildNvim): Promise<string> {
  return nvim.lua(`return require("agent.chat").get().input:text()`);
}

async function waitForInput(nvim: ChildNvim, text: string): Promise<void> {
  let now = "";
  await waitUntil(
    () => `the input to hold ${JSON.stringify(text)}, and not ${JSON.stringify(now)}`,
    async () => (now = await input(nvim)) === text,
  );
}

/** What the model was sent, request by request from this one on. */
function sent({ server }: RunningAgent, from: number): readonly string[] {
  return server.requests.slice(from).map(({ body }) => JSON.stringify(body));
}

test("a worktree: messages, a choice and what is being typed go there, in order", async (agent) => {
  const { nvim, server, project } = agent;
  await begin(agent, "main talk");
  const before = server.requests.length;
  server.play("new-history\nexpect first\nsay One.\n---\nnew-history\nexpect second\nsay Two.");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent new --worktree there");
    await nvim.waitForScreen("· opening");
    await nvim.command("Agent first");
    await waitForChat(nvim, "first (waiting for the chat to open)");
    await nvim.command("Agent mode plan");
    await nvim.command("Agent! second");
    await nvim.command("Agent undo");
    await nvim.waitForScreen("cannot run :Agent undo: the chat is opening.");
    await nvim.keys("ia dra");
  });
  await waitForChat(nvim, "Worktree there on branch agent/there");
  await nvim.keys("ft");
  await waitForChat(nvim, "Two.");
  await waitForTurn(nvim);
  assert.equal(await input(nvim), "a draft");
  const requests = sent(agent, before);
  assert.equal(requests.length, 2);
  for (const body of requests) assert.ok(body.includes("/worktrees/") && !body.includes(project.root));
  const modes = requests.map((body) => body.match(/<mode_\w+>(\w+):/g)?.at(-1)?.split(">")[1]);
  assert.deepEqual(modes, ["agent:", "plan:"]);
  assert.deepEqual(server.problems, []);
  await nvim.keys("<Esc>cc<Esc>");
  await nvim.command("tabclose");
  await nvim.waitForScreen("removed the worktree there");
});

test("what is not made, or given up: all texts are in the input", async (agent) => {
  const { nvim, server } = agent;
  const before = server.requests.length;
  await begin(agent, "main talk");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent new --worktree ../x");
    for (const text of ["one", "two", "three", "four"]) await nvim.command(`Agent ${text}`);
    await nvim.command("Agent btw five");
    await nvim.keys("ia draft");
  });
  await waitForChat(nvim, '../x: use letters, digits, ".", "_", "-"');
  assert.equal(await input(nvim), "one\n\ntwo\n\nthree\n\nfour\n\n/btw five\n\na draft");
  await nvim.keys("<Esc>ggdG");

  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent new");
    await nvim.command("Agent resume main");
    await nvim.command("Agent one");
    await nvim.command("Agent two");
    await pressStopUntil(nvim, waitForInput(nvim, "one\n\ntwo"));
    await nvim.waitForScreen("· ready");
  });
  server.play("new-history\nexpect one\nsay A new one.");
  await nvim.keys("<Esc><CR>");
  await waitForChat(nvim, "A new one.");
  const [, body] = sent(agent, before);
  assert.ok(body !== undefined && !body.includes("main talk"), "the stored session is not gone on with");
  assert.deepEqual(server.problems, []);
});

test("a stored session goes on with what was sent while it was looked for", async (agent) => {
  const { nvim, server } = agent;
  await begin(agent, "tell of whales");
  const before = server.requests.length;
  await nvim.command("Agent new");
  server.play("new-history\nexpect go on\nsay Blue ones.");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent resume whales");
    await waitForChat(nvim, "Opening the newest session with whales …");
    await nvim.command("Agent go on");
  });
  await waitForChat(nvim, "Blue ones.");
  await waitForTurn(nvim);
  assert.equal(server.requests.length, before + 1);
  assert.deepEqual(server.problems, []);
  assert.ok(sent(agent, before)[0]?.includes("tell of whales"));
  assert.equal(await nvim.lua("return #require('agent.chat').list()"), 1, "it is the chat that has it");

  await nvim.command("Agent new");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent resume sharks");
    await nvim.command("Agent go on");
    await nvim.keys("iand on");
  });
  await waitForChat(nvim, "no session has sharks in its title");
  assert.equal(await input(nvim), "go on\n\nand on");
  assert.equal(server.requests.length, before + 1);
});

test("the transcript names the stored session that is being opened, before its engine answers", async (agent) => {
  const { nvim } = agent;
  await begin(agent, "tell of seals");
  await waitUntil("the session to be listed", async () => {
    return (await storedSessions(agent.state.root))[0]?.title === "tell of seals";
  });
  await nvim.command("Agent new");
  await whileEnginesSleep(nvim, async () => {
    await nvim.command("Agent resume");
    await waitForChat(nvim, 'Opening "tell of seals" …');
    await nvim.waitForScreen((screen) => !screen.includes("@ attaches files"));
  });
  await waitForChat(nvim, "Begun.");
  await nvim.waitForScreen((screen) => !screen.includes("Opening"));
});

test("a copy gets what was sent after it was asked for; the session itself does not", async (agent) => {
  const { nvim, server } = agent;
  await begin(agent, "tell of owls");
  server.play("new-history\nexpect for the copy\nsay Copied.");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent fork");
    await nvim.command("Agent for the copy");
  });
  await waitForChat(nvim, "Copied.");
  await waitForTurn(nvim);
  assert.ok(sent(agent, -1)[0]?.includes("tell of owls"));
  const texts = await nvim.lua<string[]>(`return vim.tbl_map(function(chat)
    return table.concat(vim.api.nvim_buf_get_lines(chat.transcript.buffer, 0, -1, false), "\\n")
  end, require("agent.chat").list())`);
  assert.deepEqual(texts.map((text) => text.includes("for the copy")), [false, true]);
  assert.deepEqual(server.problems, []);
});

test("another provider that cannot be had: what was sent for it comes back, before and after the turn's end", async (agent) => {
  const { nvim, server } = agent;
  const before = server.requests.length;
  server.play("new-history\nsay Slow\nwait gate\nsay ly.");
  await nvim.command("Agent go");
  await server.reached("gate");
  await nvim.command("Agent provider keyless some-model");
  await waitForChat(nvim, "After this turn the session continues with keyless.");
  await nvim.command("Agent one");
  await nvim.command("Agent two");
  await nvim.keys("ia draft<Esc>");
  server.release("gate");
  await nvim.waitForScreen("NOBODY");
  await waitForInput(nvim, "one\n\ntwo\n\na draft");
  await waitForTurn(nvim);
  await nvim.keys("ggdG");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent provider keyless some-model");
    await nvim.command("Agent three");
    await waitForChat(nvim, "three (waiting for the chat to open)");
    await nvim.command("Agent mode plan");
  });
  await waitForInput(nvim, "three");
  await nvim.waitForScreen(/ plan · scripted · .*ready/);
  assert.equal(server.requests.length, before + 1);
  assert.deepEqual(server.problems, []);
});

test("a chat that is deleted leaves its texts to the next one", async (agent) => {
  const { nvim, server } = agent;
  await begin(agent, "a chat that stays");
  await nvim.command("Agent new");
  await begin(agent, "a chat that goes");
  await nvim.keys("ia draft<Esc>");
  await nvim.lua("vim.ui.select = function(items, _, done) done(items[2], 2) end");
  await whileSupervisorSleeps(agent.nvim, async () => {
    await nvim.command("Agent delete");
    await nvim.waitForScreen("· closing");
    await nvim.command("Agent too late");
    await nvim.waitForScreen("the message is in the input");
  });
  await nvim.waitFor("#require('agent.chat').list() == 1");
  assert.equal(await input(nvim), "");
  await nvim.command("Agent new");
  await waitForInput(nvim, "too late\n\na draft");
  assert.deepEqual(server.problems, []);
});

test("a chat that opens while another one closes gets its text", async (agent) => {
  const { nvim } = agent;
  await begin(agent, "a chat that closes");
  await nvim.keys("ia draft<Esc>");
  await nvim.lua("local chats = require('agent.chat'); chats.close(chats.get()); vim.cmd('Agent new')");
  await waitForInput(nvim, "a draft");
});
