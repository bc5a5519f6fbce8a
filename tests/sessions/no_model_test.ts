/** Without a model everything works that asks none. */
import assert from "node:assert/strict";
import { SECRET } from "../support/agent.ts";
import { chatShows, say, transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const WRITE = 'call write_file {"path": "a.txt", "content": "one\\n"}\n---\nsay Written.';
const PROBLEM = "Cannot use test: TEST_API_KEY is not set.";

Deno.test("without a key sessions are listed, read, reviewed and undone; a message says why it is not sent", async () => {
  await using agent = await sharedAgent({
    script: WRITE,
    options: "sessions = { title = false }, ui = { notify = false }",
    hasOwnState: true,
  });
  const { nvim, project, server } = agent;
  await nvim.command("Agent Write it");
  await waitForChat(nvim, "Written.");
  await waitForTurn(nvim);
  await nvim.lua(`vim.env.TEST_API_KEY = ""`);
  await endEngines(agent);
  await nvim.command("Agent sessions");
  await nvim.waitForScreen("Write it");
  await nvim.keys("<CR>");
  await waitForChat(nvim, "Written.");
  assert.ok(!(await transcript(nvim)).join().includes("TEST_API_KEY"));
  await nvim.command("Agent toggle");
  await nvim.command("Agent review");
  await nvim.waitForScreen("a.txt");
  await nvim.command("Agent undo");
  await waitUntil("the file to go", async () => await project.read("a.txt").catch(() => "") === "");

  await nvim.command("Agent Go on");
  await waitForChat(nvim, PROBLEM);
  await nvim.waitFor(`require("agent.chat").current().input:text() == "Go on"`);
  assert.equal(server.requests.length, 2);

  await nvim.command("Agent new");
  await say(nvim, "Hello");
  await waitForChat(nvim, PROBLEM);
  server.play("new-history\nsay Fresh.\n---\nnew-history\nexpect Go on\nsay I am back.");
  await nvim.lua("vim.env.TEST_API_KEY = ...", SECRET);
  await nvim.keys("<CR>");
  await waitForChat(nvim, "Fresh.");
  await waitForTurn(nvim);
  await nvim.keys("<Esc><Cmd>Agent chats<CR>1<CR>");
  await waitForChat(nvim, "Go on (not sent)");
  await nvim.keys("<Esc><CR>");
  await waitForChat(nvim, "I am back.");
  await waitForTurn(nvim);
  assert.ok(!chatShows(nvim.text(), "not stored"));
  assert.deepEqual(server.problems, []);
});
