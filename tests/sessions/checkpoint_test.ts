/** What turns did to files is listed, taken back and done again, whatever the buffers hold. Whole program. */
import assert from "node:assert/strict";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { projectState } from "../../denops/agent/supervisor/system/project_state.ts";
import type { RunningAgent } from "../support/agent.ts";
import { pressOn, transcript } from "../support/chat.ts";
import { endEngines, inOneNeovim, sharedAgent } from "../support/shared_agent.ts";
import { waitUntil } from "../support/project.ts";

const A = "one\ntwo\nthree\nfour\nfive\n";

const APPROVE =
  `vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function()
  vim.schedule(function() require("agent").approve() end)
end })`;

function call(tool: string, args: Readonly<Record<string, unknown>>): string {
  return `call ${tool} ${JSON.stringify(args)}`;
}

const EDIT = `${call("read_file", { path: "a.txt" })}\n---\n${
  call("edit_file", { path: "a.txt", old_str: "two", new_str: "TWO" })
}`;

/** One turn, to its end. */
async function turn({ nvim, server }: RunningAgent, ...answers: readonly string[]): Promise<void> {
  server.play([...answers, "say All done."].join("\n---\n"));
  const before = server.requests.length;
  await nvim.command("Agent! go");
  await waitUntil("the model to be asked", () => server.requests.length > before);
  await nvim.waitFor(`require("agent").status():find("ready$")`);
}

const test = inOneNeovim({
  script: "",
  project: { "a.txt": A, "b.txt": A, "gone.txt": "text\n", "script.sh": "echo\n" },
  lua: APPROVE,
});

function lines({ nvim }: RunningAgent, name: string): Promise<string[]> {
  return nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)`, name);
}

/** Runs `:Agent …` and waits for what it says. */
async function say({ nvim }: RunningAgent, command: string, answer: string): Promise<void> {
  await nvim.command("messages clear");
  await nvim.command(`Agent ${command}`);
  await nvim.waitFor(`vim.fn.execute("messages"):find(${JSON.stringify(answer)}, 1, true)`);
}

/** Waits until the headers of the transcript's lists of files are these. Chats count from the oldest. */
async function waitForLists({ nvim }: RunningAgent, headers: readonly string[], chat = 1): Promise<void> {
  let now: readonly string[] = [];
  try {
    await waitUntil("the lists of changed files", async () => {
      now = (await transcript(nvim, 0, chat)).filter((line) => line.startsWith("Changed "));
      return now.join("\n") === headers.join("\n");
    });
  } catch (error) {
    throw new Error(`The lists are ${JSON.stringify(now)}.`, { cause: error });
  }
}

test("a turn ends with the list of what it changed; undo and redo; the model is told", async (agent) => {
  const { nvim, project, server } = agent;
  await nvim.command("edit a.txt");
  await turn(agent, EDIT, call("write_file", { path: "new/deep/b.txt", content: "new\n" }));
  const shown = await transcript(nvim);
  assert.deepEqual(shown.slice(shown.findIndex((line) => line.startsWith("Changed"))), [
    "Changed 2 files  +2 −1",
    "  M a.txt  +1 −1",
    "  A new/deep/b.txt  +1",
  ]);
  await say(agent, "undo", "undid turn 1: 2 files restored");
  assert.equal(await project.read("a.txt"), A);
  await assert.rejects(Deno.lstat(project.path("new")), Deno.errors.NotFound);
  await waitUntil("the buffer to follow", async () => (await lines(agent, "a.txt"))[1] === "two");
  await waitForLists(agent, ["Changed 2 files, undone  +2 −1"]);
  assert.deepEqual((await transcript(nvim)).slice(-3, -1), [
    "Changed 2 files, undone  +2 −1",
    "  M a.txt  +1 −1",
  ]);
  await say(agent, "undo", "nothing to undo");
  await say(agent, "redo", "redid turn 1: 2 files restored");
  assert.equal(await project.read("new/deep/b.txt"), "new\n");
  await waitForLists(agent, ["Changed 2 files  +2 −1"]);
  await say(agent, "undo 1", "undid turn 1");
  await turn(agent);
  const asked = server.requests.at(-1)?.text ?? "";
  assert.match(
    asked,
    /^\[The user has taken back changes that you made, in: a\.txt, new\/deep\/b\.txt\..*\]\n(?:<context_(\w+)>\n.*\n<\/context_\1>\n)?\ngo$/s,
  );
  // Once is enough.
  assert.doesNotMatch(asked, /Changed since/);
  assert.ok(
    !(await transcript(nvim)).some((line) => line.includes("taken back")),
    "the screen shows what was typed",
  );
  await say(agent, "redo", "nothing to redo");
  assert.deepEqual(server.problems, []);
});

test("an undo of a turn without changes says which turns have some", async (agent) => {
  const { project } = agent;
  await turn(agent);
  await say(agent, "undo 9", "cannot undo turn 9: this session has 1 turn. No turn has changed a file");
  await turn(agent, EDIT);
  await turn(agent);
  await turn(agent, EDIT.replaceAll("a.txt", "b.txt"));
  await say(
    agent,
    "undo 99",
    "cannot undo turn 99: this session has 4 turns. Turns with changed files: 2, 4",
  );
  await say(agent, "undo 3", "cannot undo turn 3: it has changed no file. Turns with changed files: 2, 4");
  await say(agent, "undo 2", "undid turn 2: 1 file restored");
  assert.equal(await project.read("a.txt"), A);
});

test("unsaved changes stay: undo goes into the buffer, beside them", async (agent) => {
  const { nvim, project } = agent;
  await nvim.command("edit a.txt");
  await turn(agent, EDIT);
  await nvim.command("call setline(5, 'MINE')");
  await say(agent, "undo", "undid turn 1: 1 file merged");
  assert.deepEqual(await lines(agent, "a.txt"), ["one", "two", "three", "four", "MINE"]);
  await nvim.command("write");
  assert.equal(await project.read("a.txt"), A.replace("five", "MINE"));
  await say(agent, "redo", "redid turn 1: 1 file restored");
  assert.equal(await project.read("a.txt"), A.replace("five", "MINE").replace("two", "TWO"));
});

test("what the user changed since and saved: other lines are merged, the same ones are a conflict", async (agent) => {
  const { nvim, project } = agent;
  await turn(agent, EDIT, EDIT.replaceAll("a.txt", "b.txt"));
  const changed = A.replace("two", "TWO");
  await project.write("a.txt", changed.replace("five", "5"));
  await project.write("b.txt", changed.replace("TWO", "2"));
  const listed = () => nvim.lua("return vim.tbl_map(function(i) return i.text end, vim.fn.getqflist())");
  await nvim.command("Agent changes");
  await nvim.waitFor("#vim.fn.getqflist() == 2");
  assert.deepEqual(await listed(), ["modified  +1 −1", "modified  +1 −1"]);
  await nvim.command("cclose | enew | startinsert");
  await say(agent, "undo", "undid turn 1 in part: b.txt conflicts (see quickfix)");
  await waitForLists(agent, ["Changed 2 files, undone in part  +2 −2"]);
  assert.deepEqual((await transcript(nvim)).slice(-2), ["  M a.txt  +1 −1, undone", "  M b.txt  +1 −1"]);
  assert.equal(await project.read("a.txt"), A.replace("five", "5"));
  assert.equal(await project.read("b.txt"), changed.replace("TWO", "2"));
  assert.deepEqual(await listed(), [
    "the same lines were changed since; nothing was written",
    "<<<<<<< now, line 2",
    "2",
    "=======",
    "two",
    ">>>>>>> to come back",
  ]);
  // Whoever types goes on typing, with the list on the screen.
  await nvim.waitForScreen("<<<<<<< now, line 2");
  await nvim.keys("typed");
  assert.equal(await nvim.lua("return vim.fn.mode() .. vim.fn.getline('.')"), "ityped");
  await nvim.keys("<Esc>");
  await say(agent, "undo", "turn 1 not undone: b.txt conflicts (see quickfix)");
  await nvim.waitForScreen("agent: turn 1 not undone: b.txt conflicts (see quickfix)");
  assert.equal(await project.read("b.txt"), changed.replace("TWO", "2"));
  await waitForLists(agent, ["Changed 2 files, undone in part  +2 −2"]);
  await project.write("b.txt", changed);
  await say(agent, "undo", "undid turn 1: 1 file restored");
  await waitForLists(agent, ["Changed 2 files, undone  +2 −2"]);
  assert.equal(await project.read("b.txt"), A);
  await say(agent, "changes", "no file has changed");
});

test("a list stays as it is where nothing was undone; a new folder counts as a file does", async (agent) => {
  const { project } = agent;
  await turn(agent, EDIT);
  await project.write("a.txt", A.replace("two", "2"));
  await say(agent, "undo", "turn 1 not undone: a.txt conflicts");
  await waitForLists(agent, ["Changed 1 file  +1 −1"]);
  await turn(agent, call("run_terminal_command", { command: "mkdir made && sed -i s/two/TWO/ b.txt" }));
  await project.write("b.txt", A.replace("two", "2"));
  await say(agent, "undo", "turn 2 not undone: b.txt conflicts");
  await assert.rejects(Deno.lstat(project.path("made")), Deno.errors.NotFound);
  await waitForLists(agent, ["Changed 1 file  +1 −1", "Changed 1 file, undone in part  +1 −1"]);
});

test("commands: buffers follow, and what they did is undone, links too", async (agent) => {
  const { nvim, project } = agent;
  await Deno.symlink("a.txt", project.path("link"));
  await Deno.symlink("/etc/hostname", project.path("outside"));
  await nvim.command("edit gone.txt");
  await nvim.command("edit a.txt");
  const command =
    "sed -i s/two/TWO/ a.txt && rm gone.txt link outside && chmod +x script.sh && echo 1 > made";
  await turn(agent, call("run_terminal_command", { command }));
  assert.equal((await lines(agent, "a.txt"))[1], "TWO");
  assert.equal(await nvim.lua("return vim.bo.modified"), false);
  const shown = await transcript(nvim);
  assert.ok(shown.includes("  D gone.txt  −1"), shown.join("\n"));
  // A link's path is no file of the project's to be named on the screen.
  await say(agent, "undo", "undid turn 1 in part: outside skipped (see quickfix)");
  assert.equal((await lines(agent, "a.txt"))[1], "two");
  assert.equal(await project.read("gone.txt"), "text\n");
  assert.equal(await Deno.readLink(project.path("link")), "a.txt");
  await assert.rejects(Deno.lstat(project.path("outside")), Deno.errors.NotFound);
  assert.equal(((await Deno.stat(project.path("script.sh"))).mode ?? 0) & 0o111, 0);
  await assert.rejects(Deno.lstat(project.path("made")), Deno.errors.NotFound);
  assert.match(
    await nvim.lua<string>("return vim.fn.getqflist()[1].text"),
    /symbolic link to \/etc\/hostname cannot be made: .*outside of the project/,
  );
  await nvim.command("buffer gone.txt");
  await nvim.command("checktime");
  await nvim.command("write");
  assert.equal(await project.read("gone.txt"), "text\n");
});

test("links that a command has made are undone, and a file that has become one since is left alone", async (agent) => {
  const { project } = agent;
  const command = "ln -s a.txt link && sed -i s/two/TWO/ a.txt b.txt";
  await turn(agent, call("run_terminal_command", { command }));
  assert.equal(await Deno.readLink(project.path("link")), "a.txt");
  await Deno.remove(project.path("b.txt"));
  await Deno.symlink("a.txt", project.path("b.txt"));
  await say(agent, "undo", "undid turn 1: 2 files restored");
  await assert.rejects(Deno.lstat(project.path("link")), Deno.errors.NotFound);
  assert.equal(await project.read("a.txt"), A);
  assert.equal(await Deno.readLink(project.path("b.txt")), "a.txt");
});

test("restore: choose a turn, look, agree; the list of changes", async (agent) => {
  await agent.nvim.lua(`vim.ui.select = function(items, options, done)
    _G.labels = vim.tbl_map(options.format_item, items)
    done(items[#items])
  end`);
  const { nvim, project } = agent;
  await turn(agent, EDIT);
  await turn(agent, call("edit_file", { path: "a.txt", old_str: "four", new_str: "FOUR" }));
  await nvim.command("Agent changes");
  await nvim.waitFor("#vim.fn.getqflist() == 1");
  assert.equal(await nvim.lua("return vim.fn.getqflist()[1].text"), "modified  +2 −2");
  await nvim.command("cclose");
  await nvim.command("Agent restore");
  await nvim.waitFor(`vim.fn.bufname() == "agent://preview"`);
  const labels = await nvim.lua<string[]>("return _G.labels");
  assert.match(labels.join("\n"), /^turn 2 .* 1 file {2}go\nturn 1 .* 1 file {2}go$/);
  assert.deepEqual((await nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")).slice(2), [
    "--- a.txt",
    "+++ a.txt",
    "@@ -1,5 +1,5 @@",
    " one",
    "-TWO",
    "+two",
    " three",
    "-FOUR",
    "+four",
    " five",
  ]);
  assert.equal(await nvim.lua("return vim.bo.modifiable"), false);
  await nvim.keys("q");
  assert.equal(await project.read("a.txt"), A.replace("two", "TWO").replace("four", "FOUR"));
  await nvim.command("Agent restore 1");
  await nvim.waitFor(`vim.fn.bufname() == "agent://preview"`);
  await nvim.keys("<CR>");
  await nvim.waitFor(`vim.fn.execute("messages"):find("back to before turn 1: 1 file restored", 1, true)`);
  assert.equal(await project.read("a.txt"), A);
  await waitForLists(agent, ["Changed 1 file, undone  +1 −1", "Changed 1 file, undone  +1 −1"]);
  await say(agent, "redo", "redid turn 1: 1 file restored");
  await waitForLists(agent, ["Changed 1 file  +1 −1", "Changed 1 file  +1 −1"]);
  assert.equal(await project.read("a.txt"), A.replace("two", "TWO").replace("four", "FOUR"));
});

test("restore: a long list comes page by page", async (agent) => {
  const { nvim, project, state } = agent;
  await nvim.lua(`_G.pages = {}
  vim.ui.select = function(items, options, done)
    table.insert(_G.pages, vim.tbl_map(options.format_item, items))
    done(items[#items])
  end`);
  await turn(agent, EDIT);
  {
    using database = await Database.openIn(await projectState(project.root, state.root));
    const { checkpoints } = new SqliteStore(database);
    const session = String(database.get("SELECT session FROM checkpoints ORDER BY id DESC")?.session);
    const [file] = checkpoints.list(session)[0]?.files ?? [];
    assert.ok(file !== undefined);
    for (let turn = 2; turn <= 51; turn++) {
      const id = checkpoints.begin({ session, turn, kind: "tool" }, []);
      checkpoints.finish(id, [{ ...file, path: project.path(`${turn}.txt`) }]);
    }
  }
  await nvim.command("Agent restore");
  await nvim.waitFor(`vim.fn.bufname() == "agent://preview"`);
  const [first = [], second = []] = await nvim.lua<string[][]>("return _G.pages");
  assert.deepEqual([first.length, first.at(-1)], [51, "… earlier turns"]);
  assert.match(
    first.slice(0, 1).concat(first.slice(49, 50)).join("\n"),
    /^turn 51 .* 1 file {2}\nturn 2 .* 1 file {2}$/,
  );
  assert.match(second.join("\n"), /^turn 1 .* 1 file {2}go$/);
  await nvim.keys("q");
});

test("a buffer's notice that its file was deleted goes once the file is back", async (agent) => {
  const { nvim } = agent;
  await nvim.command("edit b.txt");
  await turn(agent, call("delete_file", { path: "b.txt" }));
  const notices = async () => (await transcript(nvim)).filter((line) => line.includes("was deleted"));
  assert.deepEqual(await notices(), [
    "b.txt was deleted; its buffer keeps the text: `:write` brings the file back, `:bwipeout!` drops it",
  ]);
  await say(agent, "undo", "undid turn 1: 1 file restored");
  assert.deepEqual(await notices(), []);
  await say(agent, "redo", "redid turn 1: 1 file restored");
  assert.equal((await notices()).length, 1);
});

test("while a turn runs nothing is taken back", async (agent) => {
  const { nvim, project, server } = agent;
  await turn(agent, EDIT);
  server.play("wait here\nsay Done.");
  await nvim.command("Agent! go");
  await server.reached("here");
  await say(agent, "undo", "A turn is running. Stop it first.");
  assert.equal(await project.read("a.txt"), A.replace("two", "TWO"));
  server.release("here");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  await say(agent, "undo", "undid turn 1: 1 file restored");
});

Deno.test("while an approval waits, undo names it and what to do", async () => {
  await using agent = await sharedAgent({ script: "", project: { "a.txt": A } });
  const { nvim, server } = agent;
  await turn(agent, EDIT);
  server.play(`${call("write", { path: ".env", content: "KEY=1\n" })}\n---\nsay Done.`);
  await nvim.command("Agent! go");
  await nvim.waitFor(`require("agent.chat").current().timeline.state == "waiting"`);
  for (const command of ["undo", "rewind 1"]) {
    await say(
      agent,
      command,
      ': the approval of "write .env" is waiting. Answer it with :Agent approval, or use :Agent stop',
    );
  }
  for (
    const [line, what] of [["✓ edit a.txt", "this call"], ["  M a.txt", "the changes of this file"]] as const
  ) {
    await nvim.command("messages clear");
    await pressOn(nvim, line, "gru");
    const problem = `cannot undo ${what}: the approval of "write .env" is waiting.`;
    await nvim.waitFor(`vim.fn.execute("messages"):find(${JSON.stringify(problem)}, 1, true)`);
  }
  assert.equal(await agent.project.read("a.txt"), A.replace("two", "TWO"));
  await nvim.command("Agent reject no");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  await say(agent, "undo", "undid turn 1: 1 file restored");
});

Deno.test("after a restart of the engine the stored session and its fork show the lists, and which turns were undone; it is undone", async () => {
  await using agent = await sharedAgent({ script: "", project: { "a.txt": A, "b.txt": A }, lua: APPROVE });
  const { nvim, project } = agent;
  await turn(agent, EDIT);
  await turn(agent, EDIT.replaceAll("a.txt", "b.txt"));
  await turn(agent, call("write_file", { path: "c.txt", content: "new\n" }), EDIT.replaceAll("two", "three"));
  const left = await project.read("a.txt");
  await project.write("a.txt", A.replace("three", "3"));
  await say(agent, "undo", "undid turn 3 in part: a.txt conflicts");
  await say(agent, "undo 2", "undid turn 2: 1 file restored");
  const [first, second] = ["Changed 1 file  +1 −1", "Changed 1 file, undone  +1 −1"];
  await waitForLists(agent, [first, second, "Changed 2 files, undone in part  +2 −1"]);
  await endEngines(agent);
  await nvim.command("edit a.txt");
  await nvim.command("Agent resume");
  await nvim.waitForScreen(/Changed 2 files, undone in part +\+2 −1/);
  await waitForLists(agent, [first, second, "Changed 2 files, undone in part  +2 −1"]);
  assert.deepEqual((await transcript(nvim)).slice(-2), ["  M a.txt  +1 −1", "  A c.txt  +1, undone"]);
  await nvim.keys("<Esc>");
  await say(agent, "redo", "redid turn 2: 1 file restored");
  await waitForLists(agent, [first, first, "Changed 2 files, undone in part  +2 −1"]);
  await say(agent, "undo 2", "undid turn 2: 1 file restored");
  await project.write("a.txt", left);
  await say(agent, "undo 3", "undid turn 3: 1 file restored");
  assert.equal(await project.read("a.txt"), A.replace("two", "TWO"));
  assert.equal((await lines(agent, "a.txt"))[2], "three");
  await nvim.waitForScreen(/Changed 2 files, undone +\+2 −1/);
  await say(agent, "undo 1", "undid turn 1: 1 file restored");
  assert.equal(await project.read("a.txt"), A);
  assert.equal((await lines(agent, "a.txt"))[1], "two");
  await say(agent, "redo", "redid turn 1: 1 file restored");
  await nvim.command("Agent fork");
  await waitForLists(agent, [first, second, "Changed 2 files, undone  +2 −1"], 2);
  await nvim.keys("<Esc>");
  // Only the original session can undo and redo them.
  await say(agent, "undo", "nothing to undo");
  await pressOn(nvim, "✓ edit", "gru");
  await nvim.waitFor(
    `vim.fn.execute("messages"):find("only the original session can undo this call", 1, true)`,
  );
});

Deno.test("where only Deno's permissions hold the engine, an undo says which link it cannot bring back", async () => {
  await using agent = await sharedAgent({
    script: "say Nothing yet.",
    project: { "a.txt": A },
    options: `sandbox = "off"`,
    lua: APPROVE,
  });
  const { nvim, project } = agent;
  await Deno.symlink("a.txt", project.path("link"));
  await turn(agent, call("run_terminal_command", { command: "rm link a.txt" }));
  await say(agent, "undo", "undid turn 1 in part: link skipped (see quickfix)");
  assert.equal(await project.read("a.txt"), A);
  await assert.rejects(Deno.lstat(project.path("link")), Deno.errors.NotFound);
  assert.equal(
    await nvim.lua<string>("return vim.fn.getqflist()[1].text"),
    "the symbolic link to a.txt cannot be made: no sandbox of the operating system confines the engine",
  );
});
