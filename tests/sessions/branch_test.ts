/** With the option git_branch each session works on a branch of its own. Whole program, real repositories. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { say, transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { objects, string } from "../model/model_messages.ts";
import { git, scratch, waitUntil } from "../support/project.ts";
import { reached } from "../support/server.ts";
import { endEngines, sharedAgent } from "../support/shared_agent.ts";

const NO_BRANCH = "sessions = { title = false }";
const OPTIONS = 'sessions = { title = false, git_branch = "agent/" }';

function share(script: string, options = OPTIONS): Promise<RunningAgent> {
  return sharedAgent({ script, options });
}

function branch({ project }: RunningAgent): Promise<string> {
  return git(project.root, "symbolic-ref", "--short", "HEAD");
}

async function agentBranches({ project }: RunningAgent): Promise<readonly string[]> {
  const list = await git(project.root, "for-each-ref", "--format=%(refname:short)", "refs/heads/agent");
  return list.split("\n").filter((name) => name !== "");
}

/** Notices that speak of branches. */
async function said(agent: RunningAgent): Promise<readonly string[]> {
  return (await transcript(agent.nvim)).filter((line) => /branch/.test(line));
}

Deno.test("without the option no branch is made", async () => {
  await using agent = await share("say Hi.", NO_BRANCH);
  await agent.nvim.command("Agent Hello");
  await waitForChat(agent.nvim, "Hi.");
  await waitForTurn(agent.nvim);
  assert.equal(await branch(agent), "main");
  assert.deepEqual(await agentBranches(agent), []);
});

Deno.test("after a switch and an edit outside the next message tells git's state of that moment", async () => {
  await using agent = await share("say Hm.\nrepeat", NO_BRANCH);
  const { nvim, project, server } = agent;
  const told = async () => {
    const before = server.requests.length;
    await say(nvim, "Go on");
    await waitUntil("the model is asked", () => server.requests.length > before);
    await waitForTurn(nvim);
    const { content } = objects(server.requests.at(-1)?.body.messages).at(-1) ?? {};
    return (string(content) ?? "").split("\n").filter((line) => line.startsWith("Git: "));
  };
  await nvim.command("Agent open");
  await waitUntil("the branch is told", async () => (await told()).includes("Git: branch main"));
  await git(project.root, "switch", "--quiet", "--create", "elsewhere");
  await project.write("new.ts", "1\n");
  const lines: string[] = [];
  await waitUntil("the other branch is told", async () => {
    lines.push(...await told());
    return lines.includes("Git: branch elsewhere");
  });
  // A busy machine may know less in time, but never something else.
  const rest = new Set(lines).difference(new Set(["Git: branch elsewhere", "Git: uncommitted: ?? new.ts"]));
  assert.deepEqual(
    [...rest].filter((line) => !/^Git: (?:branch|uncommitted files) unknown now$/.test(line)),
    [],
  );
});

Deno.test("the first message makes a branch; changes stay, undo is of the files, a resume says what is checked out", async () => {
  await using agent = await share(
    'call read_file {"path": "src/greet.ts"}\n' +
      '---\ncall edit_file {"path": "src/greet.ts", "old_str": "greet", "new_str": "salute"}\n' +
      "---\nsay Renamed.\n---\nsay Not again.",
  );
  const { nvim, project, server } = agent;
  await project.write("README.md", "# mine\n");
  await nvim.command("Agent Rename greet, please");
  await waitForChat(nvim, "Renamed.");
  await waitForTurn(nvim);
  const made = await branch(agent);
  assert.match(made, /^agent\/\d{4}-\d\d-\d\d-rename-greet-please-[0-9a-f]{4}$/);
  assert.deepEqual(await said(agent), [`On branch ${made}`]);
  assert.equal(await git(project.root, "status", "--porcelain"), " M README.md\n M src/greet.ts");
  assert.equal(await git(project.root, "rev-parse", made), await git(project.root, "rev-parse", "main"));

  await say(nvim, "Once more");
  await waitForChat(nvim, "Not again.");
  await waitForTurn(nvim);
  assert.deepEqual(await agentBranches(agent), [made]);
  await nvim.keys("<Esc><Cmd>Agent undo 1<CR>");
  await nvim.waitForScreen("undid turn 1");
  assert.equal(await git(project.root, "status", "--porcelain"), " M README.md");
  assert.equal(await branch(agent), made);
  const resumed = async (last: string, answer: string) => {
    await endEngines(agent);
    server.play(`new-history\nsay ${answer}`);
    await nvim.command("Agent resume");
    await waitForChat(nvim, last);
    await say(nvim, "Go on");
    await waitForChat(nvim, answer);
    await waitForTurn(nvim);
  };

  // On its branch there is nothing to say.
  await resumed("Not again.", "Here again.");
  assert.deepEqual(await said(agent), []);

  await git(project.root, "switch", "--quiet", "main");
  await resumed("Here again.", "As I said.");
  const shown = (await transcript(nvim)).join(" ");
  assert.ok(
    shown.includes(
      `This session was on branch ${made}; now main is checked out. The session continues without switching.`,
    ),
    shown,
  );
  assert.equal(await branch(agent), "main");
  assert.deepEqual(await agentBranches(agent), [made]);
});

Deno.test("where no branch can be made it is said once, and the turn goes on", async () => {
  await using agent = await share("say Hi.\n---\nsay Hi again.");
  const { nvim, project } = agent;
  await git(project.root, "switch", "--quiet", "--detach");
  await nvim.command("Agent open");
  await say(nvim, "Hello");
  await waitForChat(nvim, "Hi.");
  await waitForTurn(nvim);
  const notice = "No branch was made for this session: HEAD is detached.";
  assert.deepEqual(await said(agent), [notice]);
  // It is said once, and a branch in the middle of a session would be a surprise.
  await git(project.root, "switch", "--quiet", "main");
  await say(nvim, "Hello again");
  await waitForChat(nvim, "Hi again.");
  await waitForTurn(nvim);
  assert.deepEqual(await said(agent), [notice]);
  assert.deepEqual(await agentBranches(agent), []);
});

Deno.test("a session without a message has no branch, its first message does, also in a language without Latin letters", async () => {
  await using agent = await share("say Hi.");
  const { nvim } = agent;
  await nvim.lua(`vim.api.nvim_create_autocmd("User", {
    pattern = "AgentReady", once = true, callback = function() vim.g.is_ready = true end })
    vim.ui.select = function() end`);
  await nvim.command("Agent open");
  // The list is that of a session, so one begins.
  await nvim.keys("<Esc><Cmd>Agent tools<CR>");
  await nvim.waitFor("vim.g.is_ready");
  assert.equal(await branch(agent), "main");
  await say(nvim, "修复解析器");
  await waitForChat(nvim, "Hi.");
  assert.match(await branch(agent), /^agent\/\d{4}-\d\d-\d\d-[0-9a-f]{4}$/);
  assert.equal((await agentBranches(agent)).length, 1);
});

Deno.test("of several roots the project's alone gets a branch; nothing is switched under a running turn", async () => {
  await using lib = await scratch({ "lib.ts": "" }, { git: true });
  await using agent = await share(
    "say First\nwait here\nsay done.\n---\nsay Second.\n---\nsay Third.",
    `${OPTIONS}, roots = { "${lib.root}" }`,
  );
  const { nvim, server } = agent;
  await nvim.command("Agent Look here");
  await reached(server, "here");
  const first = await branch(agent);
  await waitForChat(nvim, "only: the other roots stay as they are");
  assert.match(first, /^agent\/.*-look-here-/);
  assert.equal(await git(lib.root, "symbolic-ref", "--short", "HEAD"), "main");
  server.play("new-history\nsay Second.");
  await nvim.command("Agent new");
  await say(nvim, "Look there");
  await waitForChat(nvim, "another session is at work in this project");
  await waitForChat(nvim, "Second.");
  assert.equal(await branch(agent), first);
  server.release("here");
});

Deno.test("an impossible prefix is told", async () => {
  await using agent = await share("say Hi.", 'sessions = { git_branch = "../up" }');
  await agent.nvim.command("Agent Hello");
  await waitForChat(agent.nvim, "git_branch: must be the beginning of a branch's name");
  assert.deepEqual(await agentBranches(agent), []);
});
