/** What a session may do unasked, as its user sees it: the menu, the first line of the chat, and what still asks. */
import assert from "node:assert/strict";
import { SESSION_PERMISSIONS } from "../../denops/agent/protocol/access.ts";
import type { RunningAgent } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const run = (command: string, access: string, more: object = {}) =>
  `call run_terminal_command ${JSON.stringify({ command, access, ...more })}`;
const write = (path: string) => `call write_file ${JSON.stringify({ path, content: `new ${path}` })}`;

/** Chooses the answers of menus one after the other, and keeps what they showed. */
const MENUS = `_G.menus, _G.answers = {}, {}
  vim.ui.select = function(items, options, done)
    local format = options.format_item or tostring
    table.insert(_G.menus, { options.prompt, vim.tbl_map(format, items) })
    local answer = table.remove(_G.answers, 1)
    done(answer and items[answer], answer)
  end`;

const test = inOneNeovim({
  script: "",
  options: `sessions = { title = false }, shell = { commands = "ask" }, ui = { layout = "right", width = 40 },
    rules = { ask = { "run(make *)", "tool(move_file)" }, deny = { "tool(delete_file)", "tool(find_files)", "tool(serch)" } }`,
  lua: MENUS,
  columns: 100,
});

/** A turn of these calls, until it ends or asks. */
async function turn({ nvim, server }: RunningAgent, ...calls: readonly string[]): Promise<void> {
  server.play([...calls, "say Seen."].join("\n---\n"));
  await nvim.command("Agent go");
}

/** Chooses and confirms. */
async function choose({ nvim }: RunningAgent, name: string): Promise<void> {
  await nvim.lua(`_G.answers = { 2 }`);
  await nvim.command(`Agent permissions ${name}`);
}

const status = ({ nvim }: RunningAgent) => nvim.lua<string>(`return require("agent").status()`);

/** Gives this answer to the request with this title, once it waits. */
async function answer({ nvim }: RunningAgent, title: string, command: string): Promise<void> {
  const first = `require("agent.approval.queue").first()`;
  await nvim.waitFor(`(${first} or { title = "" }).title:find(${JSON.stringify(title)}, 1, true)`);
  const request = await nvim.lua<number>(`return ${first}.request`);
  await nvim.command(`Agent ${command}`);
  await nvim.waitFor(`(${first} or {}).request ~= ${request}`);
}

async function reject(agent: RunningAgent, ...titles: readonly string[]): Promise<void> {
  for (const title of titles) await answer(agent, title, "reject no");
}

test("commands run unasked after a confirmation, and what is more than a sandboxed command still asks", async (agent) => {
  const { nvim } = agent;
  await nvim.command("Agent");
  await nvim.keys("<Esc>");
  // The key opens the menu; its question comes before the choice.
  await nvim.lua(`_G.answers = { 3, 1 }`);
  await nvim.keys("gP");
  await nvim.waitFor(`#_G.menus == 2`);
  const menus = await nvim.lua<readonly (readonly [string, readonly string[]])[]>(`return _G.menus`);
  assert.deepEqual(menus[0]?.[0], "Permissions of this session (now default)");
  assert.match(
    menus[0]?.[1].join("\n") ?? "",
    /^ask +every write .*\ndefault .*\ncommands .*\nsensitive .*\nboth /,
  );
  assert.deepEqual(menus[1], [
    "Run commands of this session unasked, in their sandbox and offline?",
    ["Leave it as it is", "Run commands unasked"],
  ]);
  assert.doesNotMatch(await status(agent), /unasked/, "it was not confirmed");
  await choose(agent, "commands");
  await nvim.waitForScreen("unasked: commands");
  await turn(
    agent,
    run("echo one", "look"),
    write(".envrc"),
    run("git commit -m x", "git"),
    run("curl http://a.example", "look+network"),
    run("make all", "look"),
    run("cat .env", "look"),
  );
  await reject(agent, "write .envrc", "run git commit", "run curl", "run make all", "run cat .env");
  await waitForTurn(nvim);
  const lines = (await transcript(nvim)).join("\n");
  assert.match(lines, /✓ run echo one/);
  // The colour of warnings.
  assert.match(
    await nvim.lua(`return vim.w[require("agent.chat").current().windows.transcript].agent_status_line.text`),
    /%#AgentWarning#unasked: commands%\*/,
  );
});

test("sensitive files are written unasked, but not git's own, unreadable ones or those of a rule", async (agent) => {
  const { nvim, project } = agent;
  await choose(agent, "sensitive");
  await nvim.waitFor(`require("agent").status():find("unasked: sensitive", 1, true)`);
  await turn(
    agent,
    write(".envrc"),
    write("CLAUDE.md"),
    write(".env"),
    write(".gitattributes"),
    run("echo one", "look"),
  );
  const why = "it may hold secrets; unasked sensitive files leave it out: it may not be read freely";
  await nvim.waitFor(
    `(require("agent.approval.queue").first() or {}).reason == ".env needs your approval: ${why}"`,
  );
  await reject(agent, "write .env", "write .gitattributes", "run echo one");
  await waitForTurn(nvim);
  assert.equal(await project.read(".envrc"), "new .envrc");
  assert.equal(await project.read("CLAUDE.md"), "new CLAUDE.md");
  await assert.rejects(project.read(".env"), Deno.errors.NotFound);
  // Tools never write there.
  await turn(agent, write(".git/config"));
  await waitForTurn(nvim);
  assert.match((await transcript(nvim)).join("\n"), /✗ write .git\/config/);
});

test("a session that asks about everything asks about each write and command, and needs no confirmation", async (agent) => {
  const { nvim } = agent;
  await nvim.lua(
    `require("agent").setup({ shell = { commands = "project" }, rules = { allow = { "run(echo *)", "write(**)" } } })`,
  );
  await nvim.command("Agent permissions ask");
  await nvim.waitFor(`require("agent").status():find("asks everything", 1, true)`);
  assert.deepEqual(await nvim.lua(`return _G.menus`), []);
  await turn(
    agent,
    'call read_file {"path": "README.md"}',
    write("src/new.ts"),
    write("src/new.ts"),
    run("echo one", "look"),
  );
  await answer(agent, "write src/new.ts", "approve session");
  await nvim.waitForScreen("this session asks about everything");
  await reject(agent, "write src/new.ts", "run echo one");
  await waitForTurn(nvim);
});

test("the choice ends with the chat: another session and the same one, resumed, begin as usual", async (agent) => {
  const { nvim } = agent;
  await choose(agent, "both");
  await nvim.waitFor(`require("agent").status():find("unasked: commands, sensitive", 1, true)`);
  await turn(agent, run("echo one", "look"));
  await waitForTurn(nvim);
  const session = await nvim.lua<string>(`return require("agent.chat").current().timeline.session`);
  await nvim.command("Agent new");
  await nvim.waitFor(`not require("agent").status():find("unasked")`);
  await turn(agent, run("echo two", "look"));
  await reject(agent, "run echo two");
  await waitForTurn(nvim);
  // A loosened empty chat takes the stored session in.
  await nvim.lua(`local chats = require("agent.chat") vim.iter(chats.list()):each(chats.close)`);
  await nvim.command("Agent");
  await choose(agent, "both");
  await nvim.waitFor(`require("agent").status():find("unasked: commands, sensitive", 1, true)`);
  await nvim.command(`Agent resume ${session}`);
  await nvim.waitForScreen("echo one");
  await turn(agent, run("echo three", "look"));
  await reject(agent, "run echo three");
  await waitForTurn(nvim);
  assert.doesNotMatch(await status(agent), /unasked/);
});

test("a session that has used the network asks again, and cannot be loosened", async (agent) => {
  const { nvim } = agent;
  await choose(agent, "commands");
  await nvim.waitFor(`require("agent").status():find("unasked: commands", 1, true)`);
  await turn(agent, run("echo one", "look+network"), run("echo two", "look"));
  await answer(agent, "run echo one", "approve");
  await reject(agent, "run echo two");
  await waitForTurn(nvim);
  assert.match((await transcript(nvim)).join(" "), /This session uses the network, and text/);
  assert.doesNotMatch(await status(agent), /unasked/);
  // It refuses before it asks.
  await nvim.lua(`_G.menus = {}`);
  await choose(agent, "both");
  await nvim.waitFor(
    `vim.fn.execute("messages"):find("cannot loosen this session: it has used the network", 1, true)`,
  );
  assert.deepEqual(await nvim.lua(`return _G.menus`), []);
  assert.doesNotMatch(await status(agent), /unasked/);
});

test("a message that attaches an earlier session ends what was unasked, for one of them has used the network", async (agent) => {
  const { nvim, server } = agent;
  await nvim.command("Agent new");
  await choose(agent, "commands");
  await nvim.waitFor(`require("agent").status():find("unasked: commands", 1, true)`);
  server.play([run("echo two", "look"), "say Seen."].join("\n---\n"));
  await nvim.command("Agent Do what @session says.");
  await reject(agent, "run echo two");
  await waitForTurn(nvim);
  assert.match((await transcript(nvim)).join(" "), /The earlier session may have used the network, and text/);
  assert.doesNotMatch(await status(agent), /unasked/);
});

test("a rule on a tool asks or denies under its old and its new name", async (agent) => {
  const { nvim, project } = agent;
  await turn(
    agent,
    'call delete {"path": "README.md"}',
    'call list {"glob": "*.md", "path": "."}',
    'call move {"from": "README.md", "to": "docs/README.md"}',
  );
  await nvim.waitForScreen("rule tool(move_file) asks");
  const warning = "rules.deny: tool(serch) matches no tool. Did you mean tool(search)?";
  assert.ok((await transcript(nvim)).includes(warning));
  await nvim.command("Agent reject no");
  await waitForTurn(nvim);
  assert.match(
    (await transcript(nvim)).join(" "),
    /✗ delete README.md +not allowed: denied by rule tool\(delete_file\)/,
  );
  assert.match(
    (await transcript(nvim)).join(" "),
    /✗ find \*\.md in \. +not allowed: denied by rule tool\(find_files\)/,
  );
  assert.equal(await project.read("README.md"), "# demo\n");
});

test("the words fit into a chat of 40 columns, and complete", async (agent) => {
  const { nvim } = agent;
  await nvim.command("Agent");
  await choose(agent, "both");
  await nvim.waitForScreen("unasked: commands, sensitive · ready");
  await turn(agent, run("make all", "look"));
  await nvim.waitForScreen("unasked: both · waiting for you");
  await reject(agent, "run make all");
  const words = await nvim.lua(`return vim.fn.getcompletion("Agent permissions ", "cmdline")`);
  assert.deepEqual(words, SESSION_PERMISSIONS);
  await nvim.command("Agent permissions comands");
  await nvim.waitForScreen("did you mean :Agent permissions commands?");
});
