/** What is typed while a turn runs: into it, behind it, taken back; and a turn that is paused. */
import assert from "node:assert/strict";
import { copyOfPlugin, startAgent } from "../support/agent.ts";
import { pressStop, transcript, waitForChat } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { ask } from "../support/review.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { reached } from "../support/server.ts";

const READ = 'call read_file {"path": "a.txt"}';
const FILES = { "a.txt": "alpha\n" };

Deno.test("a message steers the turn, one waits for its end, one is edited, one removed; a pause holds the next step", async () => {
  await using agent = await sharedAgent({
    options: "sessions = { title = false }",
    project: FILES,
    script:
      `wait here\n${READ}\n---\nexpect In French\nwait there\nsay Oui.\n---\nexpect Second, changed\nsay Done with it.`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await reached(server, "here");
  await nvim.waitForScreen("· working");
  await nvim.command("Agent! In French");
  await waitForChat(nvim, "In French (waiting for the next step)");
  await nvim.keys("iSecond<C-s>Third<C-s>Gone<M-CR><Esc>");
  await waitForChat(nvim, "Gone (waiting for the next step)");
  await waitForChat(nvim, "Third (waiting for the turn to end)");

  // One is removed in the transcript, one comes back to be edited.
  await nvim.keys("<C-w>kG");
  await nvim.lua("vim.fn.search('^Gone', 'bw')");
  await nvim.keys("dd");
  await nvim.waitForScreen((screen) => !screen.includes("Gone"));
  await nvim.lua("vim.fn.search('^Third', 'bw')");
  await nvim.keys("dd");
  await nvim.waitForScreen((screen) => !screen.includes("Third"));
  await nvim.lua("vim.fn.search('^Second', 'bw')");
  await nvim.keys("<CR>");
  await waitUntil(
    "the message to be in the input",
    async () =>
      await nvim.lua(
        "return vim.api.nvim_buf_get_lines(require('agent.chat').current().input.buffer, 0, -1, false)[1]",
      ) ===
        "Second",
  );
  await nvim.keys("<C-w>jA, changed<C-s><Esc>");
  await waitForChat(nvim, "Second, changed (waiting for the turn to end)");

  await nvim.command("Agent pause");
  await nvim.waitForScreen(/working.* · pausing/);
  await ask(agent);
  server.release("here");
  await nvim.waitForScreen("· paused");
  assert.equal(server.requests.length, 1);
  await nvim.command("Agent pause");
  await reached(server, "there");
  await nvim.waitForScreenGone("(waiting for the next step)");
  assert.deepEqual(await transcript(nvim), [
    "Hello",
    "Second, changed (waiting for the turn to end)",
    "✓ read a.txt  1 line",
    "In French",
  ]);
  server.release("there");
  await waitForChat(nvim, "Done with it.");
  await nvim.waitForScreen("· ready");
  assert.deepEqual(server.problems, []);
  assert.deepEqual(await transcript(nvim), [
    "Hello",
    "✓ read a.txt  1 line",
    "In French",
    "Oui.",
    "Second, changed",
    "Done with it.",
  ]);
  await nvim.command("Agent pause");
  await nvim.waitForScreen("no turn is running");
});

Deno.test("a stop gives what was to steer back to the input; what comes too late is the next message", async () => {
  await using agent = await sharedAgent({
    options: "sessions = { title = false }",
    script: "wait here\nsay Never.\n---\nwait there\nsay One.\n---\nsay Two.",
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await reached(server, "here");
  await nvim.command("Agent! Quick");
  await waitForChat(nvim, "Quick (waiting for the next step)");
  await pressStop(nvim);
  await waitUntil(
    "the message to be in the input",
    async () =>
      await nvim.lua(
        "return vim.api.nvim_buf_get_lines(require('agent.chat').current().input.buffer, 0, -1, false)[1]",
      ) ===
        "Quick",
  );
  await nvim.keys("<CR>");
  await reached(server, "there");
  await nvim.command("Agent! Late");
  await waitForChat(nvim, "Late (waiting for the next step)");
  server.release("there");
  await waitForChat(nvim, "Two.");
  assert.deepEqual((await transcript(nvim)).slice(-4), ["Quick", "One.", "Late", "Two."]);
});

Deno.test("a stop that overtakes what was to steer gives it back too, and nothing more is sent", async () => {
  const prompts = Array.from({ length: 300 }, (_, at) => [`.agents/commands/p${at}.md`, "Explain it."]);
  await using agent = await sharedAgent({
    options: "sessions = { title = false }",
    script: "wait here\nsay Never.\n---\nsay Nobody asked.",
    project: Object.fromEntries(prompts),
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await reached(server, "here");
  // The supervisor still reads the prompts when the stop passes by.
  await nvim.lua(`vim.cmd("Agent! /p1 quick") require("agent.chat").current():stop()`);
  await nvim.waitForScreen("Stopped.");
  await nvim.waitFor(`require("agent.chat").current().input:text() == "/p1 quick"`);
  await nvim.waitForScreen("· ready");
  assert.equal(server.requests.length, 1);
  assert.deepEqual(await transcript(nvim), ["Hello", "Stopped."]);
});

Deno.test("lines and files go along into the turn; what waits stands above the input, is sent at once, edited; a pause ends with the turn", async () => {
  await using agent = await sharedAgent({
    options: "sessions = { title = false }",
    project: { "a.txt": "alpha\nbeta\n", "b.txt": "gamma\n" },
    files: ["a.txt"],
    script:
      `wait here\n${READ}\n---\nexpect See @b.txt\nexpect gamma\nexpect selected code from a.txt:L2-L2\n` +
      `expect beta\nwait there\n${READ}\n---\nsay never`,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await reached(server, "here");
  await nvim.keys("q");
  await nvim.command("Agent pause");
  await nvim.waitForScreen("agent: the turn pauses before its next step");
  await nvim.command("Agent pause");
  await nvim.waitForScreen("agent: the turn continues");
  await nvim.command("2Agent! See @b.txt");
  await nvim.command("Agent");
  await waitForChat(nvim, "See @b.txt (waiting for the next step)");
  await nvim.waitForScreen(" 1 waiting (gm): See @b.txt ");
  await nvim.waitForScreen("<C-s> queue  <M-CR> steer");
  server.release("here");
  await reached(server, "there");
  assert.deepEqual(server.problems, []);
  await nvim.waitForScreenGone("1 waiting");
  await nvim.waitForScreen("a.txt L2 · b.txt");
  assert.deepEqual((await transcript(nvim)).slice(-2), ["See @b.txt", "▸ a.txt L2 · b.txt"]);

  // With nothing typed what waits for the turn's end goes into it. What comes back brings its lines along.
  await nvim.keys("<Esc>q:1Agent<CR>Later<C-s>Next<C-s><M-CR><Esc>");
  await waitForChat(nvim, "Later (waiting for the next step)");
  await nvim.waitForScreen(" 2 waiting (gm): Next · Later ");
  await nvim.keys("gm");
  await nvim.waitForScreen("next step  Later");
  await nvim.keys("2<CR>");
  await nvim.waitForScreen(" 1 waiting (gm): Next ");
  await nvim.waitForScreen("a.txt L1 ");
  assert.equal(await nvim.lua("return vim.api.nvim_get_current_line()"), "Later");

  await nvim.keys("gz");
  await nvim.waitForScreen("· pausing");
  await ask(agent);
  server.release("there");
  await nvim.waitForScreen("paused (gz resumes) · 1 waiting (gm): Next");
  await pressStop(nvim);
  await nvim.waitForScreen("· ready");
  assert.ok(!nvim.text().includes("paused"));
  assert.equal(await nvim.lua('return require("agent.chat").current().input:text()'), "Next\n\nLater");
  assert.equal(server.requests.length, 2);
});

Deno.test("an agent that cannot be steered or paused: the message is the next one, and a line says so", async () => {
  await using plugin = await copyOfPlugin();
  const file = "denops/agent/engine/acp/session_requests.ts";
  const answers = await plugin.read(file);
  assert.match(answers, /steer: async[^]*pause: async/);
  await plugin.write(
    file,
    answers.replace("steer: async", "other1: async").replace("pause: async", "other2: async"),
  );
  await using agent = await startAgent({
    plugin: plugin.root,
    script: "wait here\nsay One.\n---\nexpect Quick\nsay Two.",
  });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await reached(server, "here");
  await nvim.command("Agent! Quick");
  await waitForChat(nvim, "Quick (waiting for the turn to end)");
  await nvim.command("Agent pause");
  await nvim.waitForScreen("this agent cannot do that: pause");
  server.release("here");
  await waitForChat(nvim, "Two.");
  assert.deepEqual(server.problems, []);
  assert.ok(!nvim.text().includes("pausing"));
});
