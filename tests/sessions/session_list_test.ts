/** The list of stored sessions: what is in it, its keys, other projects, and what engines may write of themselves. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { SessionsFile } from "../../denops/agent/protocol/sessions_file.ts";
import { SessionLocks } from "../../denops/agent/engine/store/locks.ts";
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import { projectState } from "../../denops/agent/supervisor/system/project_state.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const ID = "00000000-0000-4000-8000-00000000000";

function file(root: string, change: Partial<SessionsFile["sessions"][number]> = {}): SessionsFile {
  const session = {
    ...{ id: `${ID}1`, title: "One", created: 1, updated: 2, archived: false, turns: 3 },
    state: "done" as const,
  };
  return { version: 1, root, sessions: [{ ...session, ...change }] };
}

Deno.test("the list: this project, states, words, other projects, and what the keys do", async () => {
  await using agent = await sharedAgent({
    hasOwnState: true,
    script:
      "say The first answer.\n---\nnew-history\nsay The second answer.\n---\nstatus 400 no\n---\nnew-history\nrepeat\nsay Elsewhere.",
    project: { "one/.git/HEAD": "", "one/a.txt": "a\n", "two/.git/HEAD": "", "two/b.txt": "b\n" },
    options: "sessions = { title = false }",
    files: ["one/a.txt"],
    lines: 30,
    columns: 100,
  });
  const { nvim, project } = agent;
  const list = (pattern: string | RegExp) => nvim.waitForScreen(pattern);
  const lines = () => nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, false)");
  let shown: readonly string[] = [];
  const rows = (texts: readonly RegExp[]) =>
    waitUntil(() => `the rows ${texts.join(", ")}; there are\n${shown.join("\n")}`, async () => {
      shown = await lines();
      return shown.length === texts.length && texts.every((text, at) => text.test(shown[at] ?? ""));
    });
  await nvim.command("cd one");
  await nvim.command("Agent first question");
  await waitForChat(nvim, "The first answer.");
  await waitForTurn(nvim);
  await nvim.command("Agent new");
  await nvim.command("Agent second question");
  await waitForChat(nvim, "The second answer.");
  await waitForTurn(nvim);
  await nvim.command("Agent new");
  await nvim.command("Agent third question");
  await waitForTurn(nvim);

  await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
  await list("Sessions of this project · 3");
  await rows([/^✗ third question .*\d\d:\d\d · 1 turn$/, /^✓ second question/, /^✓ first question/]);
  // The preview follows the cursor.
  await nvim.keys("jj");
  await list("The first answer.");
  await nvim.keys("r<C-u>Renamed<CR>");
  await rows([/^✗ third/, /^✓ second/, /^✓ Renamed/]);
  await nvim.keys("/SECOND<CR>");
  await list('Sessions of this project · 1 · "SECOND"');
  await rows([/^✓ second/]);
  await nvim.keys("/<C-u><CR>");
  await rows([/^✗ third/, /^✓ second/, /^✓ Renamed/]);
  await nvim.keys("gga");
  await rows([/^✓ second/, /^✓ Renamed/]);
  await nvim.keys("s");
  await list("archived (1)");
  await nvim.keys("7<CR>");
  await rows([/^▫ third/]);
  await nvim.keys("s1<CR>");
  await rows([/^✓ second/, /^✓ Renamed/]);
  await nvim.keys("Gd");
  await list("Delete it for good");
  await nvim.keys("2<CR>");
  await rows([/^✓ second/]);
  // The chat of the session that is open is gone back to.
  await nvim.keys("<CR>");
  await waitForChat(nvim, "The second answer.");

  // Another project, whose session opens in its place.
  await nvim.keys("<Esc>");
  await nvim.command("Agent toggle");
  await nvim.command(`cd ${project.path("two")}`);
  await nvim.command("edit b.txt");
  await nvim.command("Agent new");
  await nvim.command("Agent question of another project");
  await waitForChat(nvim, "Elsewhere.");
  await waitForTurn(nvim);
  await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
  await rows([/^✓ question of another project/]);
  await nvim.keys("P");
  await list("Sessions of all projects · 2");
  await rows([/two · \d\d:\d\d/, /^✓ second question .*one · \d\d:\d\d/]);
  await nvim.keys("j");
  await list("It is of another project");
  await nvim.keys("<CR>");
  await waitForChat(nvim, "The second answer.");
  assert.equal(
    await nvim.lua(`return require("agent.chat").current():place().root`),
    project.path("one"),
  );

  // Words that were said.
  await nvim.keys("<Esc><Cmd>tabonly<CR><Cmd>Agent toggle<CR>");
  await nvim.keys("<Cmd>Agent sessions elsewhere<CR>");
  await list("Found elsewhere · 1");
  await rows([/question of another project · .* · assistant: Elsewhere\./]);
  assert.equal(await nvim.lua("return #vim.api.nvim_list_tabpages()"), 2);
  await nvim.keys("q");
  await nvim.waitFor("#vim.api.nvim_list_tabpages() == 1");

  // Windows and buffers are closed by hand.
  await nvim.keys("<Cmd>Agent sessions<CR>");
  await list("Sessions of this project");
  await nvim.keys("<Cmd>only<CR>Pjkj<Cmd>bdelete<CR>");
  await nvim.waitFor("#vim.api.nvim_list_tabpages() == 1");
  await nvim.keys("<Cmd>Agent sessions<CR>");
  await list("Sessions of this project");
  await nvim.keys("<Cmd>bdelete<CR>");
  await nvim.waitFor("#vim.api.nvim_list_tabpages() == 1");
  assert.doesNotMatch(nvim.text(), /E\d+:/);
});

/** `_G.lists`: how often the list of sessions has been read. It is read when it opens, and soon after. */
const COUNT_LISTS = `local client = require("agent.client")
  _G.lists, _G.ask = 0, client.ask
  client.ask = function(action, done, ...)
    return _G.ask(action, action.type ~= "sessions" and done or function(...)
      done(...)
      _G.lists = _G.lists + 1
    end, ...)
  end`;

Deno.test("the preview of a session that was deleted meanwhile says so, without an error message", async () => {
  await using agent = await sharedAgent({
    hasOwnState: true,
    script: "say One.\n---\nnew-history\nsay Two.",
    options: "sessions = { title = false }",
    columns: 100,
  });
  const { nvim } = agent;
  for (const [question, answer] of [["first", "One."], ["second", "Two."]] as const) {
    await nvim.command("Agent new");
    await nvim.command(`Agent ${question} question`);
    await waitForChat(nvim, answer);
    await waitForTurn(nvim);
  }
  await nvim.lua(COUNT_LISTS);
  await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
  await nvim.waitForScreen(/✓ second question.*\n✓ first question/);
  await nvim.keys("gg");
  await nvim.waitForScreen("Two.");
  // A list that is read after the deletion has no such row.
  await nvim.waitFor("_G.lists == 2");
  await nvim.lua(`require("agent.client").ask = _G.ask`);
  await nvim.lua(`
    local chat = require("agent.chat").list()[1]
    require("agent.client").request(chat, "session_delete", { sessionId = chat.timeline.session }, function(result)
      vim.g.deleted = result ~= nil
    end)`);
  await nvim.waitFor("vim.g.deleted");
  await nvim.keys("j");
  await nvim.waitForScreen("This session is not stored any more: it was deleted.");
  assert.doesNotMatch(await nvim.lua<string>("return vim.fn.execute('messages')"), /not stored/);
});

Deno.test("of what engines write only what is theirs is shown, and made fit for the screen", async () => {
  await using state = await scratch();
  const write = async (root: string, text: string) => {
    const folder = await projectState(root, state.root);
    await Deno.writeTextFile(join(folder, "sessions.json"), text);
    return folder;
  };
  const own = await write(
    "/p/own",
    JSON.stringify(file("/p/own", { title: "A\u001b[31m\nB", state: "running" })),
  );
  await write("/p/other", JSON.stringify(file("/p/own")));
  await write("/p/broken", "{");
  await write("/p/id", JSON.stringify(file("/p/id", { id: "../../../../etc/passwd-000000000000000" })));
  await write("/p/large", JSON.stringify({ ...file("/p/large"), more: "x".repeat(600 * 1024) }));
  const linked = await projectState("/p/link", state.root);
  await Deno.writeTextFile(state.path("target"), JSON.stringify(file("/p/link")));
  await Deno.symlink(state.path("target"), join(linked, "sessions.json"));
  const shown = await storedSessions(state.root);
  assert.deepEqual(shown.map(({ root, title, state, open }) => [root, title, state, open]), [
    // Nobody has it open: it does not run.
    ["/p/own", "A␛[31m B", "stopped", false],
  ]);
  await Deno.mkdir(join(own, "locks"));
  using lock = await Deno.open(join(own, "locks", `${ID}1`), { create: true, write: true });
  await lock.lock(true);
  assert.deepEqual((await storedSessions(state.root)).map(({ state, open }) => [state, open]), [[
    "running",
    true,
  ]]);
  assert.deepEqual(await storedSessions(state.path("nowhere")), []);
});

Deno.test("while engines and supervisors test the locks, a session that nobody has open is never taken for open", async () => {
  await using state = await scratch();
  const folder = await projectState("/p/own", state.root);
  const own = file("/p/own");
  const sessions = ["1", "2"].flatMap((end) => own.sessions.map((one) => ({ ...one, id: ID + end })));
  await Deno.writeTextFile(join(folder, "sessions.json"), JSON.stringify({ ...own, sessions }));
  const [held, left] = [`${ID}1`, `${ID}2`];
  const writer = new SessionLocks(folder);
  assert.ok(await writer.take(held));
  const engines = [new SessionLocks(folder), new SessionLocks(folder)] as const;
  const ofSupervisor = async () =>
    (await storedSessions(state.root)).filter(({ open }) => open).map(({ sessionId }) => sessionId);
  for (let round = 0; round < 50; round++) {
    // The file of an engine that was killed.
    await Deno.writeTextFile(join(folder, "locks", left), "");
    const seen = await Promise.all([
      ...engines.map(async (locks) => [...await locks.openElsewhere()]),
      ofSupervisor(),
      ofSupervisor(),
    ]);
    for (const open of seen) assert.deepEqual(open, [held], `round ${round}`);
  }
  assert.ok(await engines[0].take(left));
  assert.deepEqual([...await engines[1].openElsewhere()].sort(), [held, left]);
  for (const [locks, id] of [[writer, held], [engines[0], left]] as const) await locks.free(id);
});
