/** Variables and virtual environments that carry over to the next command. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { endEngines, inOneNeovim } from "../support/shared_agent.ts";

const call = (command: string, more: Readonly<Record<string, unknown>> = {}) =>
  `call run_terminal_command ${JSON.stringify({ command, ...more })}`;

const testAsked = inOneNeovim({ script: "", options: 'shell = { commands = "ask" }' });

const testDefault = inOneNeovim({ script: "" });

/** Answers every approval as the user would with `a`. */
const APPROVE =
  `vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function()
  vim.schedule(function() require("agent").approve() end)
end })`;

const test = inOneNeovim({ script: "", project: { "README.md": "# demo\n" }, lua: APPROVE });

/** Runs these commands in one turn; the results that the model got. */
async function run(agent: RunningAgent, ...calls: readonly string[]): Promise<readonly string[]> {
  const { nvim, server } = agent;
  const first = server.requests.length;
  server.play([...calls, "say All done."].join("\n---\n"));
  await nvim.command("Agent! go");
  await nvim.waitFor(`require("agent").status():find("working")`);
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  return server.requests.slice(first + 1).map(({ text }) => text);
}

/** Like `python3 -m venv`. */
const ACTIVATE = `deactivate () { unset VIRTUAL_ENV; }
VIRTUAL_ENV="$PWD/.venv"
export VIRTUAL_ENV
_OLD_VIRTUAL_PATH="$PATH"
PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH
VIRTUAL_ENV_PROMPT=".venv"
export VIRTUAL_ENV_PROMPT
PS1="(.venv) "
export PS1
hash -r
`;

test(
  "an activated environment and exported variables hold until they are unset, and the model is told",
  async (agent) => {
    const { project } = agent;
    await project.write(".venv/bin/activate", ACTIVATE);
    await project.write(".venv/bin/greet", "#!/bin/sh\necho hello from the environment\n");
    await Deno.chmod(project.path(".venv/bin/greet"), 0o755);
    const results = await run(
      agent,
      call('. .venv/bin/activate && export MODE="two words" && greet'),
      call('echo "$MODE|$VIRTUAL_ENV"; greet', { access: "look" }),
      call("export HOME=/tmp MODE=one"),
      call("unset MODE VIRTUAL_ENV; PATH=${PATH#*:}"),
      call('echo "<$MODE>"; greet'),
    );
    assert.deepEqual(results.slice(0, 4), [
      "hello from the environment\n[exit code 0]\n" +
      "[the next commands start with VIRTUAL_ENV=.venv, .venv/bin in front of PATH, MODE=two words]",
      `two words|${project.path(".venv")}\nhello from the environment\n[exit code 0]`,
      "(no output)\n[exit code 0]\n" +
      "[the next commands start with VIRTUAL_ENV=.venv, .venv/bin in front of PATH, MODE=one]\n" +
      "[not carried over to the next commands: HOME]",
      "(no output)\n[exit code 0]\n[the next commands start without the variables of earlier ones]",
    ]);
    assert.match(results[4] ?? "", /^<>\n.*greet: command not found\n\[exit code 127\]/);
  },
);

testDefault(
  "variables of a command whose changes are refused, of a stopped one and of one in the background do not carry over",
  async (agent) => {
    const { nvim, server, project } = agent;
    const steps = [
      call("export A=refused; echo x > made", { access: "write" }),
      call('trap "exit 0" TERM; export A=late; echo "<$A>"; sleep 60', { timeout: 3 }),
      call("export A=background", { background: true }),
      call("export A=kept; echo x > made", { access: "write" }),
      call('echo "<$A>"'),
    ];
    server.play([...steps, "say Done."].join("\n---\n"));
    await nvim.command("Agent go");
    await nvim.waitForScreen("a keep");
    await nvim.command("Agent reject not yet");
    await nvim.waitForScreen("cmd_1");
    await nvim.waitForScreen("a keep");
    assert.ok(!nvim.text().includes("export A=refused; export"), "nothing carried over so far");
    await nvim.command("Agent approve");
    await nvim.waitForScreen("Done.");
    const results = server.requests.slice(-5).map(({ text }) => text);
    assert.doesNotMatch(results.slice(0, 3).join("\n"), /next commands/);
    assert.match(results[3] ?? "", /\[kept: made[^\]]*\]\n\[the next commands start with A=kept\]$/);
    assert.match(results[4] ?? "", /^<kept>\n/);
    assert.equal(await project.read("made"), "x\n");
  },
);

testAsked(
  "the approval shows the variables, in the line and beside it; what is edited runs; another value asks again",
  async (agent) => {
    const { nvim, server, project } = agent;
    await project.write("bin/x", "");
    const steps = [
      call("export A=1 PATH=$PWD/bin:$PATH"),
      call("echo a is $A"),
      `expect a is 1\n${call("echo a is $A")}`,
      `expect a is 1\n${call("export A=2")}`,
      call("echo a is $A"),
      "expect the user changed the command to: echo a is $A\nsay Seen.",
    ];
    server.play(steps.join("\n---\n"));
    await nvim.command("Agent go");
    await nvim.waitForScreen("$ export A=1 PATH=");
    await nvim.command("Agent approve");
    const screen = await nvim.waitForScreen("$ export A=1; echo a is $A");
    assert.ok(screen.includes("PATH starts with bin"), screen);
    assert.doesNotMatch(screen, /A always/);
    // For the session: the third call is the same and does not ask, the fourth is another line.
    await nvim.command("Agent approve session");
    await nvim.waitForScreen("$ export A=1; export A=2");
    await nvim.command("Agent approve");
    await nvim.waitForScreen("$ export A=2; echo a is $A");
    await nvim.waitForScreen("a once");
    await nvim.keys("e");
    await nvim.waitForScreen("Edit the command");
    await nvim.keys("ccecho a is $A<Esc><CR>");
    await nvim.waitForScreen("edited by you");
    await nvim.waitForScreen("a once");
    await nvim.keys("a");
    await nvim.waitForScreen("Seen.");
    assert.deepEqual(server.problems, []);
  },
);

testDefault("a resumed session starts with a new shell, and the model is told once", async (agent) => {
  const { nvim, server } = agent;
  await run(agent, call("export A=1"));
  await endEngines(agent);
  await nvim.command("Agent resume");
  await waitForChat(nvim, "All done.");
  server.play([call('echo "<$A>"'), call('echo "<$A>"'), "say Resumed."].join("\n---\n"));
  await nvim.command("Agent And now?");
  await waitForChat(nvim, "Resumed.");
  await waitForTurn(nvim);
  const [first, second] = server.requests.slice(-2).map(({ text }) => text);
  assert.equal(
    first,
    "[the session was resumed: variables that earlier commands have set are gone]\n<>\n[exit code 0]",
  );
  assert.equal(second, "<>\n[exit code 0]");
});
