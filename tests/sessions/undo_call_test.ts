/** One call is undone on its line in the chat, like a turn. Whole program. */
import assert from "node:assert/strict";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { projectState } from "../../denops/agent/supervisor/system/project_state.ts";
import type { RunningAgent } from "../support/agent.ts";
import { pressOn, transcript } from "../support/chat.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { endEngines, inOneNeovim } from "../support/shared_agent.ts";

const A = "one\ntwo\nthree\nfour\nfive\n";

const APPROVE =
  `vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function()
  vim.schedule(function() require("agent").approve() end)
end })`;

const test = inOneNeovim({
  script: "",
  project: { "a.txt": A, "b.txt": A, "gone.txt": "text\n" },
  lua: APPROVE,
});

function call(tool: string, args: Readonly<Record<string, unknown>>): string {
  return `call ${tool} ${JSON.stringify(args)}`;
}

function edit(path: string, from: string, to: string): string {
  return call("edit_file", { path, old_str: from, new_str: to });
}

/** One turn with these answers, to its end. */
async function turn({ nvim, server }: RunningAgent, ...answers: readonly string[]): Promise<void> {
  server.play([...answers, "say All done."].join("\n---\n"));
  const before = server.requests.length;
  await nvim.command("Agent! go");
  await waitUntil("the model to be asked", () => server.requests.length > before);
  await nvim.waitFor(`require("agent").status():find("ready$")`);
}

/** Presses keys on a line of the chat, and waits for what is said. */
async function press({ nvim }: RunningAgent, line: string, keys: string, answer: string): Promise<void> {
  await nvim.command("messages clear");
  await pressOn(nvim, line, keys);
  await nvim.waitFor(`vim.fn.execute("messages"):find(${JSON.stringify(answer)}, 1, true)`);
}

function lines({ nvim }: RunningAgent, name: string): Promise<string[]> {
  return nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)`, name);
}

/** Waits until the lines of calls and lists of files are these. */
async function waitForLines({ nvim }: RunningAgent, wanted: readonly string[]): Promise<void> {
  let now: readonly string[] = [];
  try {
    await waitUntil("the lines of the calls", async () => {
      now = (await transcript(nvim)).filter((line) => /^(?: *✓ (?!read)|Changed )/.test(line));
      return now.join("\n") === wanted.join("\n");
    });
  } catch (error) {
    throw new Error(`The lines are ${JSON.stringify(now, undefined, 1)}.`, { cause: error });
  }
}

/** Call → the changes of its checkpoints, and how many of them are undone. */
async function rows({ project, state }: RunningAgent): Promise<readonly string[]> {
  using database = await Database.openIn(await projectState(project.root, state.root));
  return database.all(
    `SELECT kind, path, undone_by IS NOT NULL AS undone FROM checkpoints JOIN checkpoint_files ON checkpoint = id
     WHERE session = (SELECT session FROM checkpoints ORDER BY id DESC LIMIT 1) ORDER BY id, path`,
  ).map(({ kind, path, undone }) =>
    `${kind} ${String(path).slice(project.root.length + 1)}${undone === 1 ? " undone" : ""}`
  );
}

test("one edit of several: later edits and unsaved text stay; its line says so, also when it is resumed; redo", async (agent) => {
  const { nvim, project, server } = agent;
  await nvim.command("edit a.txt");
  await turn(
    agent,
    `${call("read_file", { path: "a.txt" })}\n---\n${edit("a.txt", "one", "ONE")}`,
    edit("a.txt", "three", "THREE"),
  );
  await nvim.command("call setline(5, 'MINE')");
  await press(agent, "✓ edit a.txt", "gru", "undid edit a.txt: 1 file merged");
  assert.deepEqual(await lines(agent, "a.txt"), ["one", "two", "THREE", "four", "MINE"]);
  assert.equal(await project.read("a.txt"), A.replace("one", "ONE").replace("three", "THREE"));
  const undone = [
    "✓ edit a.txt  +1 −1, undone",
    "✓ edit a.txt  +1 −1",
    "Changed 1 file, undone in part  +2 −2",
  ];
  await waitForLines(agent, undone);
  assert.deepEqual(await rows(agent), ["tool a.txt undone", "tool a.txt", "undo a.txt"]);
  await press(agent, "✓ edit a.txt", "gru", "this call is undone already");
  await press(agent, "✓ read a.txt", "gru", "this call has changed no file");
  await press(agent, "go", "gru", "nothing to undo under the cursor");

  await endEngines(agent);
  await nvim.command("Agent resume");
  await nvim.waitForScreen("undone in part");
  await waitForLines(agent, undone);
  await nvim.keys("<Esc>");
  await press(agent, "go", ":Agent redo<CR>", "redid the call: 1 file");
  assert.deepEqual(await lines(agent, "a.txt"), ["ONE", "two", "THREE", "four", "MINE"]);
  await waitForLines(agent, ["✓ edit a.txt  +1 −1", "✓ edit a.txt  +1 −1", "Changed 1 file  +2 −2"]);
  await press(agent, "✓ edit a.txt", "gru", "undid edit a.txt: 1 file merged");
  await nvim.keys("q");
  await nvim.command("buffer a.txt | write");
  assert.equal(await project.read("a.txt"), "one\ntwo\nTHREE\nfour\nMINE\n");
  await turn(agent);
  assert.match(
    server.requests.at(-1)?.text ?? "",
    /^\[The user has taken back changes that you made, in: a\.txt\./,
  );
});

test("a command, a move, a deletion and a new file: each on its own line, then the rest of the turn", async (agent) => {
  const { nvim, project } = agent;
  await nvim.command("edit a.txt");
  await turn(
    agent,
    call("run_terminal_command", { command: "sed -i s/two/TWO/ a.txt && mkdir made && echo 1 > made/x" }),
    call("move_file", { from: "b.txt", to: "moved.txt" }),
    call("delete_file", { path: "gone.txt" }),
    call("write_file", { path: "new.txt", content: "new\n" }),
  );
  await project.write("moved.txt", A.replace("five", "5"));
  await press(agent, "✓ move", "gru", "undid move b.txt");
  assert.equal(await project.read("b.txt"), A.replace("five", "5"));
  await assert.rejects(Deno.lstat(project.path("moved.txt")), Deno.errors.NotFound);
  await press(agent, "✓ run", "gru", "2 files restored");
  assert.equal(await project.read("a.txt"), A);
  await assert.rejects(Deno.lstat(project.path("made")), Deno.errors.NotFound);
  await waitUntil("the buffer to follow", async () => (await lines(agent, "a.txt"))[1] === "two");
  await press(agent, "✓ delete", "gru", "undid delete gone.txt: 1 file restored");
  assert.equal(await project.read("gone.txt"), "text\n");
  await project.write("new.txt", "new\nmine\n");
  await press(agent, "✓ write", "gru", "write new.txt not undone (see quickfix)");
  assert.equal(await project.read("new.txt"), "new\nmine\n");
  assert.match(
    await nvim.lua<string>("return vim.fn.getqflist({ title = true }).title"),
    /gru on its line tries again/,
  );
  await nvim.command("cclose");
  await project.write("new.txt", "new\n");
  await press(agent, "go", ":Agent undo<CR>", "undid turn 1: 1 file restored");
  await assert.rejects(Deno.lstat(project.path("new.txt")), Deno.errors.NotFound);
  const shown = (await transcript(nvim)).filter((line) =>
    line.startsWith("✓ ") || line.startsWith("Changed")
  );
  assert.ok(shown.every((line) => /undone/.test(line)), shown.join("\n"));
});

test("inside a sub-agent, and all that a sub-agent did", async (agent) => {
  const { nvim, project } = agent;
  await turn(
    agent,
    `call run_subagent {"title": "Write notes", "task": "Take notes", "mode": "agent"}
---
when Take notes
${call("write_file", { path: "n1.md", content: "1\n" })}
${call("write_file", { path: "n2.md", content: "2\n" })}
---
when Take notes
say Notes are taken.`,
  );
  const parent = "✓ agent: Write notes  done";
  await press(agent, parent, "<Tab>", "");
  await press(agent, "  ✓ write n2.md", "gru", "undid write n2.md: 1 file restored");
  await assert.rejects(Deno.lstat(project.path("n2.md")), Deno.errors.NotFound);
  assert.equal(await project.read("n1.md"), "1\n");
  await waitForLines(agent, [
    `${parent}, undone in part · allowed: a sub-agent`,
    "  ✓ write n1.md  +1",
    "  ✓ write n2.md  +1, undone",
    "Changed 2 files, undone in part  +2",
  ]);
  await press(agent, parent, "gru", "undid agent: Write notes: 1 file restored");
  await assert.rejects(Deno.lstat(project.path("n1.md")), Deno.errors.NotFound);
  await waitForLines(agent, [
    `${parent}, undone · allowed: a sub-agent`,
    "  ✓ write n1.md  +1, undone",
    "  ✓ write n2.md  +1, undone",
    "Changed 2 files, undone  +2",
  ]);
  await nvim.keys("gg");
});

test("nothing is undone while a turn runs; what is typed while an undo runs stays", async (agent) => {
  const { nvim, project, server } = agent;
  await nvim.command("edit a.txt");
  const reads = ["a.txt", "b.txt", "gone.txt"].map((path) => call("read_file", { path }));
  await turn(agent, reads.join("\n"), edit("a.txt", "two", "TWO"));
  await press(agent, "✓ read 3 files", "gru", "nothing to undo: these calls only read");
  server.play("wait here\nsay Done.");
  await nvim.command("Agent! go");
  await server.reached("here");
  await press(agent, "✓ edit a.txt", "gru", "cannot undo this call: a turn is running. Stop it first");
  await press(
    agent,
    "  M a.txt",
    "gru",
    "cannot undo the changes of this file: a turn is running. Stop it first",
  );
  await press(agent, "Changed 1 file", "gru", "cannot undo the changes of this file: a turn is running.");
  server.release("here");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.equal(await project.read("a.txt"), A.replace("two", "TWO"));
  // The request is on its way when these are typed.
  await nvim.lua(`local buffer = vim.fn.bufnr("a.txt")
    _G.typed = 0
    local request = require("agent.client").request
    require("agent.client").request = function(...)
      request(...)
      require("agent.client").request = request
      for line = 1, 3 do
        vim.defer_fn(function()
          vim.api.nvim_buf_set_lines(buffer, -1, -1, true, { "mine " .. line })
          _G.typed = _G.typed + 1
        end, 4 * (line - 1))
      end
    end`);
  await press(agent, "✓ edit a.txt", "gru", "edit a.txt");
  await nvim.waitFor("_G.typed == 3");
  const isUndone = await nvim.lua<boolean>(`return vim.fn.execute("messages"):find("undid", 1, true) ~= nil`);
  if (!isUndone) await press(agent, "✓ edit a.txt", "gru", "undid edit a.txt");
  const mine = ["mine 1", "mine 2", "mine 3"];
  await waitUntil("the buffer to have both", async () => {
    const now = await lines(agent, "a.txt");
    return now.join("\n") === [...A.trimEnd().split("\n"), ...mine].join("\n");
  });
  await nvim.keys("q");
  await nvim.command("buffer a.txt | write");
  assert.equal(await project.read("a.txt"), A + mine.join("\n") + "\n");
});

test("a call whose folder is a link by now is not undone, and says why", async (agent) => {
  const { project } = agent;
  await using other = await scratch({ "x.txt": "TWO\n" });
  await project.write("sub/x.txt", "two\n");
  await turn(agent, call("read_file", { path: "sub/x.txt" }), edit("sub/x.txt", "two", "TWO"));
  await Deno.rename(project.path("sub"), project.path("away"));
  await Deno.symlink(other.root, project.path("sub"));
  await press(
    agent,
    "✓ edit sub/x.txt",
    "gru",
    "edit sub/x.txt not undone: the files are behind a link by now, or outside of the project",
  );
  assert.equal(await other.read("x.txt"), "TWO\n");
  await Deno.remove(project.path("sub"));
  await Deno.rename(project.path("away"), project.path("sub"));
  await press(agent, "✓ edit sub/x.txt", "gru", "undid edit sub/x.txt: 1 file restored");
  assert.equal(await project.read("sub/x.txt"), "two\n");
});
