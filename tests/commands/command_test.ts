/** Commands: what the model gets of them, what the user sees, and what they cannot do. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { inOneNeovim, sharedAgent } from "../support/shared_agent.ts";
import { waitUntil } from "../support/project.ts";

/** Answers every approval as the user would with `a`. */
const APPROVE =
  `vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function()
  vim.schedule(function() require("agent").approve() end)
end })`;

function call(command: string, more: Readonly<Record<string, unknown>> = {}): string {
  return `call run_terminal_command ${JSON.stringify({ command, ...more })}`;
}

/** Runs these commands in one turn each after the other; what the model got of each. */
async function run(agent: RunningAgent, ...calls: readonly string[]): Promise<readonly string[]> {
  const first = agent.server.requests.length;
  agent.server.play([...calls, "say All done."].join("\n---\n"));
  await agent.nvim.command("Agent! go");
  await agent.nvim.waitFor(`require("agent").status():find("working")`);
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  return agent.server.requests.slice(first + 1).map(({ text }) => text);
}

/** Of the program that all tests of this file share: the last one ends it. */
const OWN = { script: "", group: "commands", env: { MY_TOKEN: "secret-token-1", LC_TIME: "C" } };

const ANSWERED = { ...OWN, project: { "README.md": "# demo\n" }, lua: APPROVE };

const test = inOneNeovim(ANSWERED);

const testAsked = inOneNeovim({ ...OWN, options: 'shell = { commands = "ask" }' });

const testDefault = inOneNeovim(OWN);

const LOOK = `${call("ls src", { access: "look" })}\n---\nsay Seen.`;

testAsked("the exact command is what is asked, edited and run", async ({ nvim, server }) => {
  server.play(
    `${call("touch one")}\n---\nexpect the user changed the command to: echo two\nexpect two\nsay Seen.`,
  );
  await nvim.command("Agent go");
  await nvim.waitForScreen("$ touch one");
  await nvim.waitForScreen("e edit");
  await nvim.keys("e");
  await nvim.waitForScreen("Edit the command");
  await nvim.keys("ccecho two<Esc><CR>");
  await nvim.waitForScreen("edited by you");
  await nvim.waitForScreen("a once");
  await nvim.keys("a");
  await nvim.waitForScreen("Seen.");
  assert.deepEqual(server.problems, []);
});

testAsked("two approvals at the same time are two questions, each answered for itself", async (agent) => {
  const { nvim, server, project } = agent;
  server.play(
    `when one\n${call("touch first")}\n---\nwhen two\n${call("touch second")}\n---\nrepeat\nsay Done.`,
  );
  await nvim.command("Agent one");
  await nvim.waitForScreen("$ touch first");
  await nvim.command("Agent new");
  await nvim.command("Agent two");
  await nvim.waitForScreen("1 of 2");
  await nvim.command("Agent reject not now");
  await nvim.waitForScreen("$ touch second");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("Done.");
  await waitUntil("the second file", () => project.read("second").then(() => true, () => false));
  await assert.rejects(project.read("first"), Deno.errors.NotFound);
  assert.ok(server.requests.some(({ text }) => text.includes("The user rejected this: not now")));
});

async function asksForLook({ nvim }: RunningAgent): Promise<void> {
  await nvim.command("Agent go");
  const shown = await nvim.waitForScreen("a once");
  assert.match(shown, /look: changes nothing, no network/);
}

async function lookIsAllowed({ nvim }: RunningAgent): Promise<void> {
  await nvim.keys("a");
  await nvim.waitForScreen("Seen.");
}

testAsked("looks ask by the option commands", async (agent) => {
  agent.server.play(LOOK);
  await asksForLook(agent);
  await lookIsAllowed(agent);
});

Deno.test("looks ask by the option's earlier name too, which is told", async () => {
  await using agent = await sharedAgent({ ...OWN, script: LOOK, options: "allow_safe_commands = false" });
  await asksForLook(agent);
  const messages = await agent.nvim.lua<string>(`return vim.fn.execute("messages")`);
  const notice = "agent: option allow_safe_commands is now shell.commands";
  assert.ok(messages.includes(notice), messages);
  await lookIsAllowed(agent);
});

Deno.test("without a sandbox each command asks, runs, and ends with all that it started", async () => {
  const options = `sandbox = "off", rules = { allow = { "run(echo *)" } }`;
  await using agent = await sharedAgent({ ...OWN, lua: APPROVE, options, hasOwnState: true });
  const mark = `sleep 36${Math.floor(Math.random() * 1e6)}`;
  const [first, second, third] = await run(
    agent,
    call("echo out; echo err >&2; cd src; exit 3"),
    call(`pwd; ${mark} & ${mark}`, { timeout: 1 }),
    call(`${mark} & echo left`),
  );
  assert.match(first ?? "", /^out\nerr\n\[exit code 3\]/);
  assert.match(second ?? "", /\/src\n(Terminated\n)?\[timed out after 1 s\]/);
  assert.match(third ?? "", /left\n\[exit code 0\]/);
  await waitUntil("the sleepers to be gone", async () => !(await running(mark)));
  const log = await agent.nvim.lua<string>(`require("agent").log()
    vim.wait(3000, function() return vim.api.nvim_buf_get_lines(0, 0, -1, true)[3] ~= nil end)
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\\n")`);
  assert.equal(log.match(/ {2}allowed by you {2}/g)?.length, 3, log);
});

test("exit code, output, error output and the folder come back, and the folder carries over; long output keeps its first 15 and last 85 lines; a hint says why a known failure happened", async (agent) => {
  const results = await run(
    agent,
    call("mkdir sub && cd sub && echo out && echo err >&2 && exit 3"),
    call("pwd && printf '\\033[31mred\\033[0m plain\\n'"),
    call("cd / && pwd"),
    call("pwd", { cwd: "../.." }),
    call("seq 1 1000"),
    call("definitely-not-a-program"),
  );
  assert.match(results[0] ?? "", /^out\nerr\n\[exit code 3\]\n\[kept: /);
  assert.equal(results[1], `${agent.project.path("sub")}\nred plain\n[exit code 0]`);
  assert.match(results[2] ?? "", /^\/\n\[exit code 0\]$/);
  assert.match(
    results[3] ?? "",
    /outside of the project: the command runs in its root\]\n.*\n\[exit code 0\]$/,
  );
  const lines = (results[4] ?? "").split("\n");
  assert.deepEqual(lines.slice(13, 18), ["14", "15", "[900 lines truncated]", "916", "917"]);
  assert.match(results[5] ?? "", /\[exit code 127\]\n\[hint\] definitely-not-a-program is not installed/);
});

test("a command that takes too long is ended, with all that it started", async (agent) => {
  const mark = `sleep 31${Math.floor(Math.random() * 1e6)}`;
  const [result] = await run(agent, call(`${mark} & ${mark}`, { timeout: 1 }));
  assert.match(result ?? "", /\[timed out after 1 s\]/);
  await waitUntil("the sleepers to be gone", async () => !(await running(mark)));
});

test("live output is on the screen while the command runs, and stop ends it at once", async (agent) => {
  const { nvim, server } = agent;
  const mark = `sleep 32${Math.floor(Math.random() * 1e6)}`;
  server.play(`${call(`printf 'tick %s\\n' {1..40}; ${mark}`)}\n---\nsay Never.`);
  await nvim.command("Agent go");
  await nvim.waitForScreen(/[…\u2800-\u28ff] run {4}printf/);
  // Below its line, without a key: the newest of it.
  await nvim.waitForScreen(/^.*│ {3}tick 40 *│/m);
  assert.doesNotMatch(nvim.text(), /│ {3}tick 35 *│/);
  await waitUntil("the sleeper to run", () => running(mark));
  await nvim.command("Agent stop");
  await nvim.waitForScreen("Stopped.");
  // What has ended is one line.
  await nvim.waitForScreenGone(/│ {3}tick/);
  await waitUntil("the sleeper to be gone", async () => !(await running(mark)));
});

testDefault(
  "looks run unasked; a look that has to write fails and says which access to ask for; what that changes is asked about",
  async ({ nvim, project, server }) => {
    server.play(LOOK);
    await nvim.command("Agent go");
    await nvim.waitForScreen("Seen.");
    assert.match(server.requests.at(-1)?.text ?? "", /^greet\.ts\n\[exit code 0\]$/);
    await nvim.waitFor(`require("agent").status():find("ready$")`);

    const line = "echo x > made.txt";
    server.play(
      `${call(line, { access: "look" })}\n---\nexpect call it again with access write\n${
        call(line, { access: "write" })
      }\n---\n${call("git add made.txt", { access: "write" })}\n---\nexpect call it again with access git\n${
        call("git add made.txt", { access: "git" })
      }\n---\nsay Added.`,
    );
    await nvim.command("Agent go");
    assert.match(await nvim.waitForScreen("a keep"), /✓ A made.txt {2}\+1/);
    await assert.rejects(project.read("made.txt"), Deno.errors.NotFound);
    await nvim.command("Agent approve");
    await nvim.waitForScreen("git: changes files and the repository, no network");
    assert.equal(await project.read("made.txt"), "x\n");
    await nvim.command("Agent approve");
    await nvim.waitForScreen("Added.");
    assert.deepEqual(server.problems, []);
  },
);

testDefault(
  "a command that has to write fails in a read-only mode, and the call says why",
  async ({ nvim, server }) => {
    server.play(`${call("rm README.md")}\n---\nexpect this mode only reads\nsay Not done.`);
    await nvim.command("Agent mode ask");
    await nvim.command("Agent go");
    assert.match(await nvim.waitForScreen("Not done."), /exit code 1: this mode is read-only/);
    await nvim.command("Agent mode agent");
    assert.deepEqual(server.problems, []);
  },
);

async function running(mark: string): Promise<boolean> {
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    const line = await Deno.readTextFile(`/proc/${entry.name}/cmdline`).catch(() => "");
    if (line.replaceAll("\0", " ").trim() === mark) return true;
  }
  return false;
}

Deno.test("the last tests of the program, which ends", async (test) => {
  const mark = `sleep 33${Math.floor(Math.random() * 1e6)}`;
  {
    await using agent = await sharedAgent(ANSWERED);

    await test.step("commands in the background: output and stop; no key is in their environment", async () => {
      const results = await run(
        agent,
        call(`echo serving; touch ready; ${mark}`, { background: true }),
        call(`echo other; ${mark}`, { background: true }),
        // An overlay may not show what others make after it was laid.
        call("until [ -e ready ]; do sleep 0.05; done", { direct: true }),
        'call command_output {"id": "cmd_1"}',
        'call stop_command {"id": "cmd_1"}',
        'call command_output {"id": "cmd_9"}',
        call("env"),
      );
      assert.match(results[0] ?? "", /in the background as cmd_1/);
      assert.match(results[3] ?? "", /serving\n\[still running\]/);
      assert.match(results[4] ?? "", /serving\n\[stopped\]/);
      assert.match(results[5] ?? "", /Unknown command id cmd_9. Known ids: cmd_1, cmd_2/);
      assert.doesNotMatch(results[6] ?? "", /TEST_API_KEY|sk-test|MY_TOKEN|NVIM|AGENT_MARK/);
      assert.match(results[6] ?? "", /CI=1/);
      assert.match(results[6] ?? "", /LC_TIME=C/);
      assert.ok(await running(mark), "the second one goes on after the turn");
    });

    await test.step("a .git folder that becomes a file stops no command, and is named in one line", async () => {
      const { project } = agent;
      const calls = [call("ls"), "call changes {}"];
      assert.match((await run(agent, ...calls))[0] ?? "", /README\.md/);
      await Deno.remove(project.path(".git"), { recursive: true });
      await project.write(".git", "gitdir: ../elsewhere\n");
      const [files, changes] = await run(agent, ...calls);
      assert.match(files ?? "", /README\.md[^]*\[exit code 0\]/);
      assert.match(changes ?? "", /\/\.git leads to a repository elsewhere, or is none\.$/);
    });

    await agent.nvim.quit();
  }
  await waitUntil("the background's second one to end with Neovim", async () => !(await running(mark)));
});
