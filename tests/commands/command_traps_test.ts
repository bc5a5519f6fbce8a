/**
 * What commands that work on the files themselves change of those that the user's tools run is put back, then asked about.
 * Whole program.
 */
import assert from "node:assert/strict";
import type { AgentOptions, RunningAgent } from "../support/agent.ts";
import { git, waitUntil } from "../support/project.ts";
import { waitForChat } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const WORKFLOW = ".github/workflows/ci.yml";
const FILES = {
  "README.md": "# demo\n",
  ".gitignore": ".envrc\n.vscode/\nbuild/\n",
  [WORKFLOW]: "on: push\n",
  ".vscode/tasks.json": "{}\n",
  "build.sh": `#!/bin/sh
mkdir -p .husky build && printf 'evil\\n' > .husky/pre-commit && chmod 755 .husky/pre-commit
printf 'evil\\n' > .envrc && printf '["evil"]\\n' > .vscode/tasks.json && rm ${WORKFLOW}
printf '{}' > package-lock.json && mv README.md AGENTS.md && printf 'made\\n' > made.txt && printf 'x' > build/AGENTS.md
`,
};

const NOT_THE_FILES = `function(data) return not data.title:find("as the command did") end`;

/** Answers approvals as `_G.choose` says; their titles are in `_G.asked`. */
const ANSWER = `
vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function(event)
  vim.schedule(function()
    local data = event.data or {}
    table.insert(_G.asked, data.title or "")
    if _G.choose(data) then require("agent").approve() else require("agent").reject("not now") end
  end)
end })`;

const call = (command: string, more: Readonly<Record<string, unknown>> = {}) =>
  `call run_terminal_command ${JSON.stringify({ command, access: "write", direct: true, ...more })}`;

async function turn(agent: RunningAgent, ...calls: readonly string[]): Promise<readonly string[]> {
  const first = agent.server.requests.length;
  agent.server.play([...calls, "say All done."].join("\n---\n"));
  await agent.nvim.command("Agent! go");
  await agent.nvim.waitFor(`require("agent").status():find("working")`);
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  return agent.server.requests.slice(first + 1).map(({ text }) => text);
}

async function start(choose: string, more: Partial<AgentOptions> = {}): Promise<RunningAgent> {
  const agent = await sharedAgent({ script: "say Nothing yet.", project: FILES, lua: ANSWER, ...more });
  await agent.nvim.lua(`_G.asked, _G.choose = {}, ${choose}`);
  return agent;
}

const asked = ({ nvim }: RunningAgent) => nvim.lua<readonly string[]>("return _G.asked");

/** Path → content, of what is in the work tree. */
async function tree({ project }: RunningAgent): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const folders = [""];
  for (const folder of folders) {
    for await (const { name, isDirectory } of Deno.readDir(project.path(folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (isDirectory && name !== ".git") folders.push(path);
      else if (!isDirectory) found[path] = await project.read(path);
    }
  }
  return found;
}

const HELD = [".envrc", WORKFLOW, ".husky/pre-commit", ".vscode/tasks.json", "AGENTS.md"];

Deno.test("what a command changes of the list is put back, and each file is asked about", async () => {
  await using agent = await start(NOT_THE_FILES);
  const before = await tree(agent);
  const [result = ""] = await turn(agent, call("sh build.sh"));
  assert.deepEqual(await tree(agent), {
    ...before,
    "made.txt": "made\n",
    "package-lock.json": "{}",
    "build/AGENTS.md": "x",
  });
  assert.deepEqual((await asked(agent)).slice(1).sort(), [
    "delete .github/workflows/ci.yml, as the command did",
    ...[".envrc", ".husky/pre-commit", ".vscode/tasks.json", "AGENTS.md"].map((name) =>
      `write ${name}, as the command did`
    ),
  ]);
  for (const name of HELD) assert.ok(result.includes(`[${name} was put back to what it was, for `), result);
  assert.match(result, /\[changed, and sensitive: package-lock\.json\]/);
  assert.match(
    result,
    /\.husky\/pre-commit was put back to what it was, for git runs it automatically; the user did not agree: not now/,
  );
});

Deno.test("with the user's yes each is as the command left it, and undo and redo are exact", async () => {
  await using agent = await start(`function() return true end`);
  const before = await tree(agent);
  const [result = ""] = await turn(agent, call("sh build.sh"));
  const after = await tree(agent);
  assert.equal(after[".husky/pre-commit"], "evil\n");
  const { mode } = await Deno.stat(agent.project.path(".husky/pre-commit"));
  assert.equal((mode ?? 0) & 0o777, 0o755);
  assert.equal(after["AGENTS.md"], "# demo\n");
  for (const name of [WORKFLOW, "README.md"]) assert.ok(!(name in after), name);
  assert.match(result, /\[the user agreed that the command deleted \.github\/workflows\/ci\.yml\]/);
  await agent.nvim.command("Agent undo");
  await agent.nvim.waitForScreen("undid turn 1");
  assert.deepEqual(await tree(agent), { ...before, "build/AGENTS.md": "x" });
  await agent.nvim.command("Agent redo");
  await agent.nvim.waitForScreen("redid turn 1");
  assert.deepEqual(await tree(agent), after);
});

Deno.test("an approval that names the file, or its folder, is asked once; a rule names nothing", async () => {
  await using agent = await start(`function() return true end`, {
    options: `rules = { allow = { "run(sed -i *)" } }`,
  });
  await turn(agent, call(`sed -i s/push/pull/ ${WORKFLOW}`));
  assert.deepEqual(await asked(agent), [`write ${WORKFLOW}, as the command did`]);
  assert.equal(await agent.project.read(WORKFLOW), "on: pull\n");
  await turn(agent, call(`printf 'on: tag\\n' > ${WORKFLOW}`), call("touch .vscode/a && rm -r .vscode"));
  assert.equal((await asked(agent)).length, 3);
  assert.equal(await agent.project.read(WORKFLOW), "on: tag\n");
  await assert.rejects(agent.project.read(".vscode/tasks.json"));
  // Named in another folder, or by what the shell makes of it, it is not named.
  await turn(agent, call(`mkdir -p sub && cd sub && f=ci.yml && echo x > ../.github/workflows/$f`));
  assert.equal((await asked(agent)).length, 5);
});

Deno.test("what a command in the background changes is put back when the turn ends", async () => {
  await using agent = await start(NOT_THE_FILES);
  await turn(
    agent,
    call("f=.env; echo evil > ${f}rc; touch ready; exec sleep 30", { background: true }),
    call("until [ -e ready ]; do sleep 0.05; done"),
    'call stop_command {"id": "cmd_1"}',
  );
  await assert.rejects(agent.project.read(".envrc"), Deno.errors.NotFound);
  assert.ok((await asked(agent)).includes("write .envrc, as the command did"));
});

Deno.test("a background command that outlives its turn is watched in the next one, and what it changed between them is named", async () => {
  await using agent = await start(NOT_THE_FILES);
  const { nvim, project } = agent;
  const between = "until [ -e go ]; do sleep 0.05; done; f=tasks; echo evil > .vscode/$f.json; touch gone";
  const later =
    "until [ -e more ]; do sleep 0.05; done; f=.env; echo evil > ${f}rc; touch done; exec sleep 60";
  await turn(agent, call(`${between}; ${later}`, { background: true }));
  await project.write("go", "");
  await waitUntil("it to write", () => project.read("gone").then(() => true, () => false));
  await turn(agent, call("touch more; until [ -e done ]; do sleep 0.05; done"));
  await nvim.command("Agent");
  await nvim.resize(100, 40);
  await waitForChat(
    nvim,
    "its background command was running, these sensitive files changed: .vscode/tasks.json.",
  );
  assert.equal(await project.read(".vscode/tasks.json"), "evil\n");
  await assert.rejects(project.read(".envrc"), Deno.errors.NotFound);
  const questions = (await asked(agent)).filter((title) => title.includes("as the command did"));
  assert.deepEqual(questions, ["write .envrc, as the command did"]);
  await turn(agent, 'call stop_command {"id": "cmd_1"}');
  await turn(agent, call("true"));
  assert.doesNotMatch(agent.server.requests.at(-1)?.text ?? "", /envrc/);
});

Deno.test("of a manifest only a change of keys that run something is put back", async () => {
  await using agent = await start(NOT_THE_FILES);
  await agent.project.write("package.json", '{ "version": "1.0.0" }\n');
  await agent.project.write("Cargo.toml", '[package]\nname = "a"\n');
  await turn(
    agent,
    call(
      `echo '{ "version": "1.0.1", "dependencies": { "b": "1" } }' > package.json; f=Cargo; echo 'build = "x.rs"' >> $f.toml`,
    ),
  );
  assert.match(await agent.project.read("package.json"), /1\.0\.1/);
  assert.equal(await agent.project.read("Cargo.toml"), '[package]\nname = "a"\n');
  assert.deepEqual((await asked(agent)).slice(1), ["write Cargo.toml, as the command did"]);
});

Deno.test("nothing that git runs is left by a command, and git's settings say who can change them", async () => {
  await using agent = await start(`function() return true end`);
  const { project } = agent;
  const [swept = "", refused = ""] = await turn(
    agent,
    call(
      "git init -q sub && git -C sub config core.fsmonitor \"$PWD/trap\" && printf '#!/bin/sh\\ntouch ran' > trap && chmod +x trap",
      { access: "git" },
    ),
    call("git config user.name x", { access: "git" }),
  );
  assert.match(
    swept,
    /settings of sub\/\.git\/config were put aside, for core\.fsmonitor may make git run programs/,
  );
  assert.match(refused, /\[hint\] git's settings, hooks and other work trees are closed to commands/);
  await git(project.path("sub"), "status");
  await git(project.root, "status");
  await assert.rejects(project.read("sub/ran"), Deno.errors.NotFound);
  for (const name of ["commondir", "config.worktree"]) await assert.rejects(project.read(`.git/${name}`));
});
