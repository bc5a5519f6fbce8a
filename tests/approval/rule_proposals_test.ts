/** `:Agent rules suggest`: rules that would have given the user's answers, added for a project, for all, or not again. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const call = (command: string) => `call run_terminal_command ${JSON.stringify({ command })}`;

const test = inOneNeovim({
  script: "",
  group: "always",
  options: `sessions = { title = false }, shell = { commands = "ask" }`,
});

/** Answers each of these commands in one turn. The rules of other tests stay, so they are of other programs. */
async function answer(
  { nvim, server }: RunningAgent,
  answers: readonly (readonly [command: string, answer: "approve" | "reject"])[],
): Promise<void> {
  server.play([...answers.map(([command]) => call(command)), "say Seen."].join("\n---\n"));
  await nvim.command("Agent go");
  for (const [command, answer] of answers) {
    await nvim.waitForScreen(`$ ${command}`);
    await nvim.lua(`require("agent").${answer === "approve" ? "approve()" : 'reject("no")'}`);
  }
  await waitForTurn(nvim);
}

async function openProposals({ nvim }: RunningAgent): Promise<void> {
  await nvim.command("Agent rules suggest");
  await nvim.waitForScreen("Nothing is added unless you say so.");
}

test("equal answers are proposed as rules, one is added for the project, another one never until it is taken back", async (agent) => {
  const { nvim, server } = agent;
  await answer(agent, [
    ["pytest -q a", "approve"],
    ["chmod 700 x", "reject"],
    ["pytest -q b", "approve"],
    ["chmod 700 x", "reject"],
    ["pytest -q c", "approve"],
    ["chmod 700 x", "reject"],
  ]);
  await openProposals(agent);
  const screen = await nvim.waitForScreen("allow run(pytest -q *)");
  assert.match(
    screen,
    /In the last 30 days it would have allowed 3 requests that you allowed, and\s+nothing else\./,
  );
  assert.match(screen, /- run pytest -q b/);
  assert.match(screen, /deny run\(chmod 700 x\)\s+You rejected it 3 times\./);
  assert.match(screen, /- run chmod 700 x ×3/);
  await nvim.keys("w");
  await nvim.waitForScreen("allow run(pytest *)");
  await nvim.keys("w");
  await nvim.waitForScreen("allow run(pytest -q *)");
  // The rule that the user saw is added for the project of the view, whatever both show meanwhile.
  const move = async (root: string) =>
    await nvim.lua<string>(
      `local chats, root = require("agent.chat"), ...
      local chat = chats.list()[1]
      local before = chat.timeline.root
      chats.move(chat, root)
      return before`,
      root,
    );
  const root = await move("/");
  await nvim.keys("aw");
  await nvim.waitForScreen("agent: always allowed in this project: run(pytest -q *)");
  await move(root);
  await nvim.keys("x");
  await nvim.waitForScreen("No more proposals.");
  await nvim.keys("q");
  await nvim.command("Agent rules suggest");
  await nvim.waitForScreen("no proposals");

  const list = nvim.command("Agent rules");
  const rules = await nvim.waitForScreen("never deny run(chmod 700 x)  (a proposal)");
  const [, number = ""] = /(\d+): never deny run\(chmod 700 x/.exec(rules) ?? [];
  await nvim.keys(`${number}<CR>`);
  await list;
  await nvim.waitForScreen("May be proposed again: run(chmod 700 x)");
  await openProposals(agent);
  await nvim.waitForScreen("deny run(chmod 700 x)");
  await nvim.keys("x");
  await nvim.waitForScreen("not proposed again: run(chmod 700 x); :Agent rules takes it back");
  await nvim.keys("q");

  server.play(`${call("pytest -q d")}\n---\nsay Made.`);
  await nvim.command("Agent go");
  await nvim.waitForScreen("Made.");
  await nvim.command("Agent log");
  await nvim.waitForScreen(/allowed by rule {2}run pytest -q d {2}\(\w+, run\(pytest -q \*\)\)/);
  await nvim.keys("q");
});

test("a rule for all projects is listed as one, applies at once and can be removed", async (agent) => {
  const { nvim, server } = agent;
  await answer(agent, [["mypy one", "approve"], ["mypy two", "approve"], ["mypy three", "approve"]]);
  await openProposals(agent);
  await nvim.waitForScreen("allow run(mypy *)");
  await nvim.keys("A");
  await nvim.waitForScreen("agent: always allowed in all projects: run(mypy *)");
  await nvim.keys("q");
  server.play(`${call("mypy four")}\n---\nsay Made.`);
  await nvim.command("Agent go");
  await nvim.waitForScreen("Made.");
  const list = nvim.command("Agent rules");
  const screen = await nvim.waitForScreen("allow run(mypy *)  (all projects)");
  const [, number = ""] = /(\d+): allow run\(mypy/.exec(screen) ?? [];
  await nvim.keys(`${number}<CR>`);
  await list;
  await nvim.waitForScreen("Removed: run(mypy *)");
});
