/** <C-c>: at once on screen, at the model's server too, and nothing is lost. */
import assert from "node:assert/strict";
import { GREET, PLUGIN, type RunningAgent } from "../support/agent.ts";
import { chatShows, pressStop, say, transcript, waitForChat } from "../support/chat.ts";
import { inOneNeovim, sharedAgent } from "../support/shared_agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { ENGINE, marked } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";
import { disconnected, reached } from "../support/server.ts";

/** Presses the key and waits for the word on screen. */
async function stop({ nvim }: RunningAgent): Promise<void> {
  await pressStop(nvim);
  await nvim.waitForScreen("· ready");
}

async function goesOn({ nvim, server }: RunningAgent): Promise<void> {
  server.play("expect And now?\nsay All is well again.");
  await say(nvim, "And now?");
  await waitForChat(nvim, "All is well again.");
  await nvim.waitForScreen("· ready");
  assert.deepEqual(server.problems, []);
}

/** All that the model was sent last. */
function lastBody({ server }: RunningAgent): string {
  return JSON.stringify(server.requests.at(-1)?.body);
}

/** Whoever asks for the key waits while nobody has written it. */
const OPTIONS = {
  script: "",
  group: "stop",
  options: `rules = { allow = { "run(sleep *)" } }`,
  lua: `vim.g.agent = vim.tbl_deep_extend("force", vim.g.agent, {
    providers = { test = { api_key = "cmd:cat key" } },
  })`,
  project: { ...GREET, key: "sk-late\n" },
};
const test = inOneNeovim(OPTIONS);

async function begin({ nvim, server }: RunningAgent, script: string): Promise<void> {
  server.play(script);
  await nvim.command("Agent Hello");
}

Deno.test("right after sending, when not even the supervisor is there, and while the engine is starting: shown at once", async () => {
  // The first test of the file: later ones find a supervisor, and its engine.
  await using agent = await sharedAgent(OPTIONS);
  const { nvim, server, project } = agent;
  await Deno.remove(project.path("key"));
  assert.ok((await new Deno.Command("mkfifo", { args: [project.path("key")] }).output()).success);
  assert.equal(await nvim.lua(`return require("agent.client").host() == nil`), true, "no supervisor runs");
  await nvim.command("Agent Hello");
  await nvim.waitForScreen("❯ Hello");
  await pressStop(nvim, "· stopping");
  await waitForChat(nvim, "Hello (not sent) Stopped.");
  await nvim.waitFor(`require("agent.chat").current().input:text() == "Hello"`);

  // The engine waits for the key: the model is never asked.
  await nvim.keys("cc<Esc>");
  await nvim.command("Agent Hello again");
  await nvim.waitForScreen("· working");
  await stop(agent);
  await nvim.waitFor(`require("agent.chat").current().input:text() == "Hello again"`);
  await nvim.keys("cc<Esc>");
  await project.write("key", "sk-late\n");
  await goesOn(agent);
  assert.equal(server.requests.length, 1);
  assert.equal(server.requests[0]?.headers.authorization, "Bearer sk-late");
});

test("in the middle of text: the connection is closed, the text is kept and the model knows it", async (agent) => {
  await begin(agent, "say The first half of the answer\nwait here\nsay and never the second.");
  const { nvim, server } = agent;
  await waitForChat(nvim, "The first half of the answer");
  await reached(server, "here");
  await stop(agent);
  await disconnected(server);
  assert.deepEqual(await transcript(nvim), ["Hello", "The first half of the answer", "Stopped."]);
  await goesOn(agent);
  assert.ok(lastBody(agent).includes("The first half of the answer\\n[The answer was interrupted here.]"));
});

test("in the middle of a flood", async (agent) => {
  await begin(agent, "slow 1\nflood 50000");
  // Words scroll by: on a busy machine no single one is sure to be drawn.
  await agent.nvim.waitForScreen(/word\d{3,} /);
  await stop(agent);
  await disconnected(agent.server);
  await goesOn(agent);
});

test("before the first word", async (agent) => {
  await begin(agent, "wait here\nsay never");
  await reached(agent.server, "here");
  await stop(agent);
  await disconnected(agent.server);
  assert.deepEqual(await transcript(agent.nvim), ["Hello", "Stopped."]);
  await goesOn(agent);
});

test("in the middle of a call's arguments: the call is marked and not run", async (agent) => {
  const lines = "one\\ntwo\\nthree\\nfour\\n".repeat(500);
  await begin(agent, `pieces 4\nslow 10\ncall write_file {"path": "notes.md", "content": "${lines}"}`);
  const { nvim, server, project } = agent;
  await nvim.waitForScreen(/[…\u2800-\u28ff] write {2}notes.md +\d+ lines/);
  await stop(agent);
  await disconnected(server);
  assert.deepEqual(await transcript(nvim), ["Hello", "■ write notes.md  stopped", "Stopped."]);
  await assert.rejects(project.read("notes.md"), Deno.errors.NotFound);
  await goesOn(agent);
});

test("while an approval waits: it is closed, and an answer that comes later does nothing", async (agent) => {
  await begin(agent, 'call write_file {"path": ".env", "content": "A=1\\n"}');
  const { nvim, project } = agent;
  await nvim.waitForScreen("a once");
  const request = await nvim.lua<number>("return require('agent.approval.queue').first().request");
  await stop(agent);
  assert.ok(!nvim.text().includes("Approval"));
  assert.equal((await transcript(nvim))[1], "■ write .env  stopped");
  await nvim.lua(
    "require('agent.client').send({ type = 'answer', request = ..., option = 'allow_once' })",
    request,
  );
  await goesOn(agent);
  await assert.rejects(project.read(".env"), Deno.errors.NotFound);
  assert.ok(lastBody(agent).includes("Cancelled by the user."));
});

test("while a retry waits: the countdown is over", async (agent) => {
  await begin(agent, "status 429 retry-after=60");
  const { nvim, server } = agent;
  await waitForChat(nvim, "Retrying in 60 s, attempt 2 of 5; <C-c> stops.");
  await stop(agent);
  assert.ok(!chatShows(nvim.text(), "Retrying"));
  assert.equal(server.requests.length, 1);
  await goesOn(agent);
});

test("messages that wait come back to the input, in their order", async (agent) => {
  await begin(agent, "say The first half of the answer\nwait here\nsay and never the second.");
  const { nvim, server } = agent;
  await waitForChat(nvim, "The first half of the answer");
  await say(nvim, "Second message");
  await say(nvim, "Third message");
  await waitForChat(nvim, "Third message (waiting for the turn to end)");
  await nvim.keys("iA draft<Esc>");
  await stop(agent);
  assert.equal(
    await nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|')"),
    "Second message||Third message||A draft",
  );
  assert.ok(!nvim.text().includes("waiting for the turn to end"));
  assert.equal(server.requests.length, 1);
  server.play("expect Second message\nexpect Third message\nexpect A draft\nsay One answer to all.");
  await nvim.keys("<CR>");
  await waitForChat(nvim, "One answer to all.");
  assert.deepEqual(server.problems, []);
});

test("a message that waits stands below the answer, and comes next", async (agent) => {
  await begin(agent, "say The first half\nwait here\nsay and the second.");
  const { nvim, server } = agent;
  await waitForChat(nvim, "The first half");
  await say(nvim, "And now?");
  await waitForChat(nvim, "And now? (waiting for the turn to end)");
  server.play("expect And now?\nsay All is well again.");
  server.release("here");
  await waitForChat(nvim, "All is well again.");
  assert.deepEqual(await transcript(nvim), [
    "Hello",
    "The first half",
    "and the second.",
    "And now?",
    "All is well again.",
  ]);
  assert.deepEqual(server.problems, []);
});

test("q is not stop: the turn goes on, a command can be typed at its end, and reopening shows everything", async (agent) => {
  await begin(agent, "say The first half of the answer\nwait here\nsay and then the second.");
  const { nvim, server } = agent;
  await waitForChat(nvim, "The first half of the answer");
  await nvim.keys("q");
  await nvim.waitForScreenGone("The first half");
  await nvim.keys(":Agent usa");
  server.release("here");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  await nvim.keys("ge");
  await nvim.waitForScreen(/^:Agent usage *$/m);
  await nvim.keys("<Esc>");
  await nvim.waitForScreen(/agent: done$/m);
  await nvim.command("Agent");
  await waitForChat(nvim, "The first half of the answer and then the second.");
  assert.equal(server.requests[0]?.aborted, false);
  await nvim.keys("<Esc>");
  await goesOn(agent);
});

/** The engine's processes; whoever hosts the supervisor has the same mark in its environment. */
async function enginesOf({ project }: RunningAgent): Promise<readonly number[]> {
  return (await marked(project.root)).filter(({ command }) => ENGINE.test(command))
    .map(({ pid }) => pid);
}

async function freeze(agent: RunningAgent): Promise<readonly number[]> {
  const pids = await enginesOf(agent);
  assert.ok(pids.length > 0, "the engine runs");
  for (const pid of pids) Deno.kill(pid, "SIGSTOP");
  return pids;
}

const GONE = "The engine stopped (it did not react to a stop within 5 s).";

test(
  "an engine that hangs: the turn ends at once, and the next message gets a new engine",
  async (agent) => {
    await begin(agent, "say The first half of the answer\nwait here\nsay and never the second.");
    const { nvim, server } = agent;
    await waitForChat(nvim, "The first half of the answer");
    const frozen = await freeze(agent);
    await stop(agent);
    assert.deepEqual(await transcript(nvim), ["Hello", "The first half of the answer", "Stopped."]);
    // Sent while it hangs: it waits until that engine is given up, and is told once.
    server.play("expect And now?\nsay All is well again.");
    await say(nvim, "And now?");
    await waitForChat(nvim, "All is well again.");
    await nvim.waitForScreen("· ready");
    const shown = await transcript(nvim, 3);
    assert.equal(shown.filter((line) => line.includes(GONE)).length, 1, shown.join("\n"));
    assert.equal(shown.at(-1), "All is well again.");
    assert.ok(shown.every((line) => !line.includes("never the second")));
    const running = await enginesOf(agent);
    assert.ok(running.length > 0 && running.every((pid) => !frozen.includes(pid)), "a new engine");
  },
  Deno.build.os !== "linux",
);

test(
  "an engine that wakes up late is heard no more about the turn that was stopped",
  async (agent) => {
    await begin(agent, "slow 5\nflood 50000");
    const { nvim } = agent;
    await nvim.waitForScreen("word50 ");
    const frozen = await freeze(agent);
    // Nothing that the menu after a slash asks the engine holds it up.
    await say(nvim, "/stop");
    await nvim.waitForScreen("· ready");
    const shown = await transcript(nvim);
    for (const pid of frozen) Deno.kill(pid, "SIGCONT");
    await disconnected(agent.server);
    await goesOn(agent);
    assert.deepEqual((await transcript(nvim)).slice(0, shown.length), shown);
    assert.deepEqual((await transcript(nvim)).slice(shown.length), ["And now?", "All is well again."]);
  },
  Deno.build.os !== "linux",
);

// Last: it leaves an engine that hangs.
test(
  "an engine that hangs while an approval waits and a command runs: both are over",
  async (agent) => {
    const seconds = `34${Math.floor(Math.random() * 1e6)}`;
    const command = JSON.stringify({ command: `sleep ${seconds}` });
    await begin(agent, `call run_terminal_command ${command}\n---\nsay never`);
    const { nvim, server, project } = agent;
    const sleeper = async () =>
      (await marked(seconds)).some(({ command }) => command.trim() === `sleep ${seconds}`);
    await nvim.waitForScreen("run    sleep");
    await waitUntil("the command to run", sleeper);
    await freeze(agent);
    await stop(agent);
    await nvim.waitForScreen("it did not react to a stop");
    await waitUntil("the command to end", async () => !await sleeper());
    assert.deepEqual(await enginesOf(agent), []);

    server.play('call write_file {"path": ".env", "content": "A=1\\n"}');
    await say(nvim, "Again");
    await nvim.waitForScreen("a once");
    await freeze(agent);
    await stop(agent);
    assert.ok(!nvim.text().includes("Approval"));
    await assert.rejects(project.read(".env"), Deno.errors.NotFound);
  },
  Deno.build.os !== "linux",
);

Deno.test("Neovim ends without a key although something fails meanwhile", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN] });
  await nvim.lua(`require("agent.chat")
    vim.api.nvim_create_autocmd("VimLeavePre", { callback = function()
      require("agent.ui.say").error("It has stopped.")
      error("broken")
    end })`);
  await nvim.quit();
  assert.equal((await nvim.exited).code, 0);
});
