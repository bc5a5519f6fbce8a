/** Sub-commands as messages: `/mode plan` in the input does what `:Agent mode plan` does. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { say, transcript, waitForChat } from "../support/chat.ts";

Deno.test("a sub-command behind a slash is carried out; a prompt of that name and other words are messages", async () => {
  await using agent = await startAgent({
    project: { ".agents/commands/usage.md": "Tell how this program is used." },
    script: "expect how this program is used\nsay By hand.\n---\nexpect /stop doing that\nsay Why?",
  });
  const { nvim, server } = agent;
  await nvim.command("Agent");
  await nvim.keys("/mo");
  await nvim.waitForScreen(/\/mode +choose how the agent works/i);
  await nvim.keys("<C-e><C-u><Esc>");
  await say(nvim, "/mode plan");
  await nvim.waitForScreen("plan · scripted");
  assert.equal(await nvim.lua('return require("agent.chat").current().input:text()'), "");
  await say(nvim, "/usage");
  await waitForChat(nvim, "By hand.");
  await say(nvim, "/stop doing that");
  await waitForChat(nvim, "Why?");
  assert.deepEqual(server.problems, []);
  assert.deepEqual((await transcript(nvim)).filter((line) => line.startsWith("/")), [
    "/usage",
    "/stop doing that",
  ]);
  await nvim.keys("i/new<C-s>");
  await nvim.waitFor('require("agent.chat").current().id == 2');
  await nvim.waitFor('vim.fn.mode() == "i"');
});
