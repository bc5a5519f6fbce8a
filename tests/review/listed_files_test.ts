/** Keep and undo on the chat's own list of changed files, without opening them. Whole program. */
import assert from "node:assert/strict";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { projectState } from "../../denops/agent/supervisor/system/project_state.ts";
import type { RunningAgent } from "../support/agent.ts";
import { pressOn, transcript } from "../support/chat.ts";
import { ask, FILE, review, write } from "../support/review.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const CHANGED = FILE.replace("line 6", "LINE 6");

const FILES = `
call read_file {"path": "a.txt"}
call read_file {"path": "b.txt"}
call read_file {"path": "gone.txt"}
---
${write(CHANGED)}
${write(CHANGED, "b.txt")}
call write_file {"path": "new.txt", "content": "fresh\\nlines\\n"}
call delete_file {"path": "gone.txt"}
call move_file {"from": "old.txt", "to": "moved.txt"}
---
say Done.
`;

const PROJECT = { "a.txt": FILE, "b.txt": FILE, "old.txt": "old\n", "gone.txt": "gone 1\ngone 2\n" };

const test = inOneNeovim({ script: "", project: PROJECT, files: ["a.txt"] });

/** Presses a key on a line of the list and waits for what is said. */
async function press({ nvim }: RunningAgent, line: string, keys: string, answer: string): Promise<void> {
  await nvim.command("messages clear");
  await pressOn(nvim, line, keys);
  await nvim.waitFor(`vim.fn.execute("messages"):find(${JSON.stringify(answer)}, 1, true)`);
}

/** The project's files with their texts. */
async function disk({ project }: RunningAgent): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of ["a.txt", "b.txt", "old.txt", "moved.txt", "gone.txt", "new.txt"]) {
    const text = await project.read(name).catch(() => undefined);
    if (text !== undefined) found[name] = text;
  }
  return found;
}

/** The rows of the newest list in the chat. */
async function rows({ nvim }: RunningAgent): Promise<readonly string[]> {
  const lines = await transcript(nvim);
  return lines.slice(lines.findLastIndex((line) => line.startsWith("Changed")))
    .filter((line) => /^(?:Changed| {2}[AMDR] )/.test(line));
}

/** Names of the files that wait, as the database has them. */
async function waiting(agent: RunningAgent): Promise<readonly string[]> {
  const { project, state } = agent;
  // Answers come in order, so all that was said before has arrived.
  await ask(agent);
  using database = await Database.openIn(await projectState(project.root, state.root));
  return database.all("SELECT path FROM reviews ORDER BY path")
    .map(({ path }) => String(path).slice(project.root.length + 1));
}

/** Buffers of files and their windows: what a user sees of them. */
function shown({ nvim }: RunningAgent): Promise<unknown> {
  return nvim.lua(`return vim.iter(vim.api.nvim_list_bufs()):map(function(buf)
    local name = vim.fn.bufname(buf)
    return name:find("%.txt$") and { name, vim.bo[buf].buflisted, vim.api.nvim_buf_is_loaded(buf) } or nil
  end):totable()`);
}

function buffer({ nvim }: RunningAgent): Promise<string[]> {
  return nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, -1, true)`);
}

/** Drawn hunks of a.txt. */
const HUNKS =
  `#vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), vim.api.nvim_get_namespaces()["agent.review"], 0, -1, {})`;

const CHANGES = { "a.txt": CHANGED, "b.txt": CHANGED, "moved.txt": "old\n", "new.txt": "fresh\nlines\n" };

test("one file each: kept ones stay, undone ones are as before, and no buffer is opened", async (agent) => {
  const { nvim, project } = agent;
  await review(agent, FILES);
  assert.deepEqual(await waiting(agent), ["a.txt", "b.txt", "gone.txt", "moved.txt", "new.txt"]);
  const before = await shown(agent);
  assert.deepEqual(before, [["a.txt", true, true]]);
  await press(agent, "  M b.txt", "grk", "kept the changes of 1 file");
  assert.deepEqual(await waiting(agent), ["a.txt", "gone.txt", "moved.txt", "new.txt"]);
  await press(agent, "  M b.txt", "gru", "nothing to review in this file");
  assert.deepEqual(await disk(agent), CHANGES);
  const back = "undid the changes of 1 file; :Agent redo brings them back";
  await press(agent, "  D gone.txt", "gru", back);
  await press(agent, "  R old.txt", "gru", back);
  await press(agent, "  A new.txt", "gru", back);
  assert.deepEqual(await rows(agent), [
    "Changed 5 files, undone in part  +4 −4",
    "  M a.txt  +1 −1",
    "  M b.txt  +1 −1, kept",
    "  D gone.txt  −2, undone",
    "  R old.txt → moved.txt  undone",
    "  A new.txt  +2, undone",
  ]);
  assert.deepEqual(await disk(agent), { ...PROJECT, "a.txt": CHANGED, "b.txt": CHANGED });
  assert.deepEqual(await waiting(agent), ["a.txt"]);
  assert.deepEqual(await shown(agent), before);

  await press(agent, "Changed", ":Agent redo<CR>", "redid turn 1: 1 file restored");
  assert.equal(await project.read("new.txt"), "fresh\nlines\n");
  assert.equal((await rows(agent)).at(-1), "  A new.txt  +2");
  assert.deepEqual(await waiting(agent), ["a.txt", "new.txt"]);
  assert.equal(await nvim.lua(`return ${HUNKS}`), 1);
  await press(agent, "  M a.txt", "gru", "undid the changes of 1 file; u in its buffer brings them back");
  assert.deepEqual([await project.read("a.txt"), await buffer(agent)], [FILE, FILE.trimEnd().split("\n")]);
  assert.equal(await nvim.lua(`return ${HUNKS}`), 0);
  assert.deepEqual(await waiting(agent), ["new.txt"]);
  assert.equal((await rows(agent))[1], "  M a.txt  +1 −1, undone");
  await nvim.keys("q");
  await nvim.command("buffer a.txt");
  await nvim.keys("u");
  assert.deepEqual(await buffer(agent), CHANGED.trimEnd().split("\n"));
  await nvim.waitFor(`${HUNKS} == 1`);
  assert.equal((await rows(agent))[1], "  M a.txt  +1 −1");
  await nvim.command("silent! undo! | edit!");
  await press(agent, "Done.", "grk", "nothing to keep under the cursor");
});

test("all files of a list: those of another turn stay as they are", async (agent) => {
  const { nvim, project } = agent;
  await review(agent, `${write("other\n", "other.txt")}\n---\nsay Other.`);
  agent.server.play(FILES);
  await nvim.command("Agent! go on");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  await press(
    agent,
    "Changed 5 files",
    "gru",
    "undid the changes of 5 files; u in its buffer and :Agent redo bring them back",
  );
  assert.deepEqual(await disk(agent), PROJECT);
  assert.deepEqual(await buffer(agent), FILE.trimEnd().split("\n"));
  assert.deepEqual(await waiting(agent), ["other.txt"]);
  assert.equal(await project.read("other.txt"), "other\n");
  assert.deepEqual(await shown(agent), [["a.txt", true, true]]);
  assert.equal((await rows(agent))[0], "Changed 5 files, undone  +4 −4");
  await press(agent, "Changed 5 files", "grk", "nothing to review in these files");
  await press(agent, "Changed 5 files", ":Agent redo<CR>", "redid turn 2: 4 files restored");
  assert.deepEqual(await disk(agent), { ...CHANGES, "a.txt": FILE });
  assert.deepEqual(await waiting(agent), ["b.txt", "gone.txt", "moved.txt", "new.txt", "other.txt"]);
  await press(agent, "Changed 5 files", "grk", "kept the changes of 4 files");
  await press(agent, "Changed 1 file", "grk", "kept the changes of 1 file");
  assert.deepEqual(await waiting(agent), []);
});

test("keep all files of a list: the marks of open buffers go, unsaved text stays unsaved", async (agent) => {
  const { nvim, project } = agent;
  await review(agent, FILES);
  await nvim.command("call setline(1, 'mine')");
  await press(agent, "Changed 5 files", "grk", "kept the changes of 5 files");
  assert.deepEqual(await disk(agent), CHANGES);
  assert.equal(await nvim.lua(`return ${HUNKS}`), 0);
  assert.deepEqual(await buffer(agent), CHANGED.replace("line 1\n", "mine\n").trimEnd().split("\n"));
  assert.equal(await nvim.lua(`return vim.bo[vim.fn.bufnr("a.txt")].modified`), true);
  await nvim.keys("q");
  await nvim.command("buffer a.txt | write");
  assert.deepEqual(await waiting(agent), []);
  assert.equal(await project.read("a.txt"), CHANGED.replace("line 1\n", "mine\n"));
});

test("what the user types meanwhile stays, and a file that the user has changed there is left alone", async (agent) => {
  const { nvim, project } = agent;
  await review(agent, FILES);
  await project.write("new.txt", "of the user\n");
  await project.write("b.txt", CHANGED.replace("LINE 6", "MINE"));
  await nvim.lua(`local buffer = vim.fn.bufnr("a.txt")
    local refresh = require("agent.review.files").refresh
    require("agent.review.files").refresh = function(...)
      refresh(...)
      require("agent.review.files").refresh = refresh
      vim.api.nvim_buf_set_lines(buffer, -1, -1, true, { "typed" })
    end`);
  await press(agent, "Changed 5 files", "gru", "undid the changes of 3 of 5 files");
  assert.match(
    await nvim.lua<string>(`return vim.fn.execute("messages")`),
    /b\.txt was left alone: the same lines were changed since/,
  );
  assert.deepEqual(await buffer(agent), [...FILE.trimEnd().split("\n"), "typed"]);
  assert.deepEqual(await disk(agent), {
    ...PROJECT,
    "a.txt": CHANGED,
    "b.txt": CHANGED.replace("LINE 6", "MINE"),
    "new.txt": "of the user\n",
  });
  assert.deepEqual(await shown(agent), [["a.txt", true, true]]);
  await nvim.keys("q");
  await nvim.command("buffer a.txt | write");
  assert.equal(await project.read("a.txt"), `${FILE}typed\n`);
  await press(agent, "Changed 5 files", "grk", "kept the changes of 2 files");
});

test("a moved file returns, although another new file has its old name", async (agent) => {
  await review(
    agent,
    `call move_file {"from": "old.txt", "to": "moved.txt"}
---
call write_file {"path": "old.txt", "content": "new\\n"}
---
say Done.`,
  );
  assert.deepEqual(await waiting(agent), ["moved.txt", "old.txt"]);
  await press(agent, "Changed 2 files", "gru", "undid the changes of 2 files; :Agent redo brings them back");
  assert.deepEqual(await disk(agent), PROJECT);
  assert.deepEqual(await waiting(agent), []);
});
