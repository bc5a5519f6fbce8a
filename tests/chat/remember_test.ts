/** `:Agent remember`: into the project's rules and into the user's own, each after an approval. Whole program. */
import assert from "node:assert/strict";
import { GREET, type RunningAgent } from "../support/agent.ts";
import { say, waitForChat, waitForTurn } from "../support/chat.ts";
import { objects, string } from "../model/model_messages.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const options = "sessions = { title = false }";

function system({ server }: RunningAgent): string {
  return string(objects(server.requests.at(-1)?.body.messages)[0]?.content) ?? "";
}

Deno.test("a line goes into the project's rules: asked about, told from then on, undone like any change", async () => {
  const project = { ...GREET, "AGENTS.md": "# Rules\n\n- Use tabs.\n" };
  await using agent = await sharedAgent({ script: "say Hm.", project, options, lines: 50 });
  const { nvim, server } = agent;
  // It is the user's own wish, whatever the model may do.
  await nvim.command("Agent mode ask");
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Hm.");
  await waitForTurn(nvim);
  await nvim.command("Agent remember Name   things in full.");
  await nvim.waitForScreen("+- Name things in full.");
  assert.equal(await agent.project.read("AGENTS.md"), project["AGENTS.md"]);
  await nvim.command("Agent reject not now");
  await waitForChat(nvim, "Not remembered.");
  await waitForTurn(nvim);
  assert.equal(await agent.project.read("AGENTS.md"), project["AGENTS.md"]);
  await nvim.command("Agent remember Name things in full.");
  await nvim.waitForScreen("+- Name things in full.");
  await nvim.command("Agent approve");
  await waitForChat(nvim, "Remembered in AGENTS.md.");
  await waitForTurn(nvim);
  assert.equal(await agent.project.read("AGENTS.md"), "# Rules\n\n- Use tabs.\n- Name things in full.\n");
  assert.equal(server.requests.length, 1, "no model is asked");
  server.play("new-history\nsay Well.");
  await say(nvim, "Go on");
  await waitForChat(nvim, "Well.");
  await waitForTurn(nvim);
  assert.match(system(agent), /- Use tabs\.\n- Name things in full\.\n<\/rules_/);
  await nvim.keys("<Esc>:Agent context<CR>");
  await nvim.waitForScreen("The next request sends");
  await nvim.keys("G");
  await nvim.waitForScreen("files of rules were read anew");
  await nvim.keys("q:Agent undo<CR>");
  await nvim.waitForScreen("restored");
  assert.equal(await agent.project.read("AGENTS.md"), project["AGENTS.md"]);
  assert.deepEqual(server.problems, []);
});

Deno.test("for all projects: shown as a change of its own file, written by no engine", async () => {
  await using agent = await sharedAgent({ script: "say Hm.", project: GREET, options, lines: 50 });
  const { nvim, server } = agent;
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Hm.");
  await waitForTurn(nvim);
  const file = await nvim.lua<string>(`return vim.fn.stdpath("config") .. "/agent/AGENTS.md"`);
  await nvim.command("Agent remember --global Answer in verse.");
  await nvim.waitForScreen("it is for all projects");
  await nvim.command("Agent reject not now");
  await waitForChat(nvim, "Not remembered.");
  await assert.rejects(Deno.lstat(file), Deno.errors.NotFound);
  await nvim.command("Agent! remember Answer in prose.");
  await nvim.waitForScreen("it is for all projects");
  await nvim.command("Agent stop");
  await nvim.waitForScreen("· ready");
  await assert.rejects(Deno.lstat(file), Deno.errors.NotFound);
  await nvim.command("Agent! remember Answer in verse.");
  await nvim.waitForScreen("it is for all projects");
  await nvim.command("Agent approve");
  await waitForChat(nvim, "Remembered for all projects in");
  assert.equal(await Deno.readTextFile(file), "- Answer in verse.\n");
  await nvim.waitForScreen("· ready");
  server.play("new-history\nsay Well.");
  await say(nvim, "Go on");
  await waitForChat(nvim, "Well.");
  assert.match(system(agent), /<rules_\w+ file="the user's, for all projects">\n- Answer in verse\.\n/);
  assert.deepEqual(server.problems, []);
});
