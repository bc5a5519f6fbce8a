/** "Always allow": the rules that are proposed would have answered, and are written all or none. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const call = (command: string, more: object = {}) =>
  `call run_terminal_command ${JSON.stringify({ command, ...more })}`;

const test = inOneNeovim({
  script: "",
  group: "always",
  options: `sessions = { title = false }, shell = { commands = "ask" }`,
});

/** The rules of earlier tests stay: each test asks about a command of its own. */
async function begin({ nvim, server }: RunningAgent, ...calls: readonly string[]): Promise<void> {
  server.play([...calls, "say Seen."].join("\n---\n"));
  await nvim.command("Agent go");
  await nvim.waitForScreen("a once");
}

test("with the network the rule for the network is proposed as well, and both answer", async (agent) => {
  await begin(
    agent,
    call("touch one", { access: "write+network" }),
    call("touch two", { access: "write+network" }),
  );
  const { nvim } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(touch *), network(touch *)");
  await nvim.keys("<CR>");
  const screen = await nvim.waitForScreen("Seen.");
  assert.match(screen, /✓ run {4}touch two/);
  assert.doesNotMatch(screen, /Always allow:/, "nothing is left of the question");
});

test("of several rules none is added if one of them is wrong, nothing runs, and the approval comes again", async (agent) => {
  await begin(agent, call("mkdir one"), call("mkdir two"));
  const { nvim, project } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(mkdir *)");
  await nvim.keys(", run(mkdir<CR>");
  await nvim.waitForScreen(/The rule was not added, so answer again\. Not a rule: +│\n.*run\(mkdir\./);
  await nvim.waitForScreen(/\$ mkdir one[^]*a once/);
  await assert.rejects(project.read("one"), Deno.errors.NotFound);
  await nvim.lua(`require("agent").approve()`);
  await nvim.waitForScreen("? run    mkdir two");
  await nvim.command("Agent log");
  const log = await nvim.waitForScreen("run mkdir one");
  const lines = log.split("\n").filter((line) => line.includes("run mkdir one"));
  assert.doesNotMatch(lines.join("\n"), /always|from now on/);
  await nvim.keys("q");
});

test("a rule that does not allow the request itself is told, and the request runs once", async (agent) => {
  await begin(agent, call("mktemp -u one"), call("mktemp -u one"));
  const { nvim } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(mktemp");
  await nvim.keys("<C-u>run(rmdir other)<CR>");
  await nvim.waitForScreen("The rule does not match this request: allowed only this once.");
  await nvim.waitForScreen("? run    mktemp -u one");
});

test("where the rules allow it already, as for the third call in a row, none is proposed", async (agent) => {
  await begin(agent, call("mkfifo one"), call("mkfifo x"), call("mkfifo x"), call("mkfifo x"));
  const { nvim } = agent;
  await nvim.keys("A");
  await nvim.waitForScreen("Always allow: run(mkfifo *)");
  await nvim.keys("<CR>");
  await nvim.waitForScreen("the same call comes for the third time in a row");
  assert.doesNotMatch(await nvim.waitForScreen("a once"), /A always/);
});

test("a command whose changes are dropped says so, also when it comes for the third time", async (agent) => {
  const { nvim, server } = agent;
  await nvim.lua(
    `require("agent").setup({ shell = { commands = "project" }, sessions = { title = false } })`,
  );
  server.play([...Array.from({ length: 3 }, () => call("echo same")), "say Seen."].join("\n---\n"));
  await nvim.command("Agent go");
  await nvim.waitForScreen("the same call comes for the third time in a row");
  await nvim.waitForScreen("try: changes nothing, drops what it writes, no network · severity: none");
  await nvim.lua(`require("agent").approve()`);
  await nvim.waitForScreen("Seen.");
});
