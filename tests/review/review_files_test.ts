/** Review beyond one buffer: whole files, the list, the diff, keys, other windows and another Neovim. Whole program. */
import assert from "node:assert/strict";
import { waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import type { RunningAgent } from "../support/agent.ts";
import { inOneNeovim } from "../support/shared_agent.ts";
import {
  ask,
  FILE,
  hunks,
  lines,
  modified,
  review,
  reviewedShared,
  settledSoon,
  turn,
  write,
} from "../support/review.ts";

const ONE = FILE.replace("line 6", "LINE 6");
const TWO = ONE.replace("line 12", "LINE 12");

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

const FILES = `
call read_file {"path": "a.txt"}
call read_file {"path": "old.txt"}
call read_file {"path": "gone.txt"}
---
${write(TWO)}
call write_file {"path": "new.txt", "content": "fresh\\nlines\\n"}
call delete_file {"path": "gone.txt"}
call move_file {"from": "old.txt", "to": "moved.txt"}
---
say Done.
`;
const PROJECT = { "a.txt": FILE, "old.txt": "old\n", "gone.txt": "gone 1\ngone 2\n" };

const testFiles = inOneNeovim({ script: "", project: PROJECT, files: ["a.txt"] });

const test = inOneNeovim({ script: "", project: { "a.txt": FILE }, files: ["a.txt"] });

interface Item {
  readonly name: string;
  readonly lnum: number;
  readonly text: string;
}

testFiles(
  "the quickfix list has every hunk and every whole file, and they can be settled from there",
  async (agent) => {
    await review(agent, FILES);
    const { nvim, project } = agent;
    const list = async () => {
      await nvim.command("call setqflist([]) | Agent review");
      await nvim.waitFor("#vim.fn.getqflist() > 0");
      return await nvim.lua<Item[]>(`return vim.tbl_map(function(item)
      return { name = vim.fn.bufname(item.bufnr), lnum = item.lnum, text = item.text }
    end, vim.fn.getqflist())`);
    };
    assert.deepEqual(await list(), [
      { name: "a.txt", lnum: 6, text: "+1 −1  LINE 6" },
      { name: "a.txt", lnum: 12, text: "+1 −1  LINE 12" },
      { name: "gone.txt", lnum: 1, text: "deleted  +0 −2" },
      { name: "moved.txt", lnum: 1, text: "renamed from old.txt  +0 −0" },
      { name: "new.txt", lnum: 1, text: "+2 −0  fresh" },
    ]);
    assert.equal(await nvim.lua("return vim.fn.bufname()"), "a.txt");
    assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [6, 0]);

    // The entries of whole files, in the list's own window.
    await nvim.keys("<C-w>j4G");
    await nvim.command("Agent review undo file");
    await nvim.waitFor(`vim.uv.fs_stat("old.txt") and not vim.uv.fs_stat("moved.txt")`);
    await nvim.keys("3G");
    await nvim.command("Agent review undo file");
    await nvim.waitFor(`vim.uv.fs_stat("gone.txt")`);
    assert.equal(await project.read("gone.txt"), "gone 1\ngone 2\n");
    await nvim.keys("5G");
    await nvim.command("Agent review undo");
    await nvim.waitFor(`not vim.uv.fs_stat("new.txt")`);
    assert.deepEqual((await ask(agent)).files.map(({ path }) => path), [project.path("a.txt")]);
  },
);

/** Whether the quickfix list has this title and as many entries, and its window is open. */
function listed(title: string, size: number, isOpen: boolean): string {
  return `(function()
    local list = vim.fn.getqflist({ title = true, size = true, winid = true })
    return list.title == "${title}" and list.size == ${size} and (list.winid ~= 0) == ${isOpen}
  end)()`;
}

/** Keeps or undoes all that the agent has changed, with the list open. */
async function settleAll(agent: RunningAgent, verb: string, done: string): Promise<void> {
  await review(agent, FILES);
  const { nvim } = agent;
  await nvim.command("call setqflist([]) | Agent review");
  await nvim.waitFor("#vim.fn.getqflist() == 5");
  await nvim.waitFor(listed("Agent review", 5, true));
  await nvim.command("messages clear");
  await nvim.command(`Agent ${verb} all`);
  await nvim.waitForScreen(`agent: ${done} the changes of 4 files`);
  await nvim.waitFor(listed("Agent review", 0, false));
  assert.deepEqual((await ask(agent)).files, []);
}

testFiles("keep all settles everything, says so, and the list of the review closes", async (agent) => {
  const { nvim, project } = agent;
  await settleAll(agent, "keep", "kept");
  await settledSoon(agent, 0);
  assert.equal(await project.read("a.txt"), TWO);
  assert.equal(await exists(project.path("gone.txt")), false);
  await nvim.command("Agent review keep all");
  await nvim.waitForScreen("nothing to review");
});

testFiles("undo all says what it did, and the list of the review closes", async (agent) => {
  await settleAll(agent, "review undo", "undid");
});

testFiles("undo all leaves in the list what it could not undo", async (agent) => {
  await review(agent, FILES);
  const { nvim, project } = agent;
  await nvim.command("call setqflist([]) | Agent review");
  await nvim.waitFor("#vim.fn.getqflist() == 5");
  await project.write("new.txt", "of the user\n");
  await nvim.command("Agent review undo all");
  await nvim.waitForScreen("undid the changes of 3 of 4 files");
  await nvim.waitFor(listed("Agent review", 1, true));
  assert.equal(await nvim.lua("return vim.fn.bufname(vim.fn.getqflist()[1].bufnr)"), "new.txt");
  assert.equal(await project.read("new.txt"), "of the user\n");
});

testFiles("undo all settles everything", async (agent) => {
  await review(agent, FILES);
  const { nvim, project } = agent;
  await nvim.keys("6Ggr-");
  await nvim.waitFor(
    `vim.uv.fs_stat("old.txt") and vim.uv.fs_stat("gone.txt") and not vim.uv.fs_stat("new.txt")`,
  );
  await waitUntil("everything to be settled", async () => (await ask(agent)).files.length === 0);
  for (const [name, text] of Object.entries(PROJECT)) assert.equal(await project.read(name), text);
  assert.equal(await modified(agent), false);
});

Deno.test("a binary file is looked at as a whole", async () => {
  const binary = Uint8Array.from([1, 0, 2]);
  const script = `call delete_file {"path": "a.bin"}\n---\nsay Done.`;
  await using agent = await reviewedShared({ script, project: { "a.txt": FILE, "a.bin": binary } });
  const { nvim, project } = agent;
  await nvim.command("Agent review");
  await nvim.waitForScreen("deleted  binary or large");
  await nvim.command("Agent review undo all");
  await nvim.waitFor(`vim.uv.fs_stat("a.bin")`);
  assert.deepEqual(await Deno.readFile(project.path("a.bin")), binary);
});

/** Hunks above which removed lines are drawn: beside a diff's other window they would shift its lines. */
const REMOVED =
  `#vim.tbl_filter(function(mark) return mark[4].virt_lines ~= nil end, vim.api.nvim_buf_get_extmarks(
  vim.fn.bufnr("a.txt"), vim.api.nvim_get_namespaces()["agent.review"], 0, -1, { details = true }))`;

test("the diff of two windows stands in its own tab and leaves nothing behind", async (agent) => {
  await review(agent, turn(write(TWO)));
  const { nvim } = agent;
  await nvim.keys("ggOmine<Esc>");
  await nvim.command("Agent review diff");
  const windows = await nvim.lua<{ name: string; diff: boolean; modifiable: boolean; lines: string[] }[]>(`
    return vim.tbl_map(function(win)
      local buf = vim.api.nvim_win_get_buf(win)
      return {
        name = vim.fn.bufname(buf),
        diff = vim.wo[win].diff,
        modifiable = vim.bo[buf].modifiable,
        lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true),
      }
    end, vim.api.nvim_tabpage_list_wins(0))`);
  assert.deepEqual(windows.map(({ name, diff, modifiable }) => ({ name, diff, modifiable })), [
    { name: "agent://baseline/a.txt", diff: true, modifiable: false },
    { name: "a.txt", diff: true, modifiable: true },
  ]);
  assert.deepEqual(windows[0]?.lines, ["mine", ...FILE.trimEnd().split("\n")]);
  await nvim.waitFor(`${REMOVED} == 0`);
  await nvim.keys("<C-w>hq");
  await nvim.waitFor(`${REMOVED} > 0`);
  assert.deepEqual(
    await nvim.lua(
      "return { #vim.api.nvim_list_tabpages(), vim.wo.diff, vim.fn.bufexists('agent://baseline/a.txt') }",
    ),
    [1, false, 0],
  );
  // The cursor is in the right window, whose buffer keeps its own "q" elsewhere.
  await nvim.lua(`vim.keymap.set("n", "q", "Aown<Esc>", { buffer = true })`);
  await nvim.command("tabnew | tabprevious");
  await nvim.command("Agent review diff");
  await nvim.keys("q");
  assert.deepEqual(
    await nvim.lua(`return { #vim.api.nvim_list_tabpages(), vim.fn.tabpagenr(), vim.fn.bufname(),
      vim.fn.maparg("q", "n"), vim.fn.reg_recording() }`),
    [2, 1, "a.txt", "Aown<Esc>", ""],
  );
  await nvim.command("tabonly");
  await nvim.lua(`vim.keymap.del("n", "q", { buffer = true })`);
  // Its left window closed by itself: the right one is a window like any other.
  await nvim.command("Agent review diff");
  await nvim.keys("<C-w>h:close<CR>");
  await nvim.waitFor("not vim.wo.diff");
  assert.equal(await nvim.lua("return vim.fn.bufname()"), "a.txt");
  assert.equal(await nvim.lua(`return vim.fn.maparg("q", "n")`), "");
});

test("two windows, closed folds and a buffer that is not shown", async (agent) => {
  await review(agent, turn(write(TWO)), async ({ nvim, project }) => {
    await project.write("b.txt", "b\n");
    await nvim.command("set hidden | edit b.txt");
  });
  const { nvim } = agent;
  await nvim.command("buffer a.txt | setlocal foldmethod=manual");
  assert.equal((await hunks(agent)).length, 2, "drawn when it is shown");
  await nvim.command("4,8fold | normal! gg");
  await nvim.command("vertical split");
  await nvim.keys("]r");
  assert.equal(await nvim.lua("return vim.fn.foldclosed('.')"), -1, "the fold is open");
  await nvim.keys("gru");
  assert.deepEqual((await hunks(agent)).map(({ row }) => row), [12]);
  await nvim.command("wincmd w | 12");
  await nvim.keys("grk");
  assert.deepEqual(await hunks(agent), []);
  assert.deepEqual((await ask(agent)).files, []);
});

test("undoing a turn leaves nothing to review, doing it again brings it back", async (agent) => {
  await review(agent, turn(write(TWO)));
  const { nvim } = agent;
  const before = await hunks(agent);
  const request = (name: string) =>
    nvim.lua(
      `local name = ...
      local files = require("agent.review.files")
      _G.done = nil
      files.request(nil, "review", { texts = false }, function(result)
        files.request(nil, name, { sessionId = _G.session or result.files[1].sessionId }, function(answer, problem)
          _G.done = problem or answer
        end)
        _G.session = _G.session or result.files[1].sessionId
      end)`,
      name,
    );
  await nvim.keys("6Ggrk");
  await request("undo");
  await nvim.waitFor("_G.done");
  await settledSoon(agent, 0);
  assert.deepEqual(await lines(agent), FILE.trimEnd().split("\n"));
  assert.deepEqual((await ask(agent)).files, []);
  await request("redo");
  await nvim.waitFor("_G.done");
  await settledSoon(agent, 2);
  assert.deepEqual(await hunks(agent), before);
});

test("why: the turn that wrote a line, through later edits, and nothing for the user's own lines", async (agent) => {
  const second = turn(
    `call edit_file {"path": "a.txt", "old_str": "line 2\\n", "new_str": "line 2\\nsecond\\n"}`,
  );
  await review(agent, turn(write(ONE)));
  const { nvim, server } = agent;
  server.play(second);
  await nvim.command("Agent! and another one");
  await nvim.waitForScreen("second");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  await nvim.keys("ggOmine<Esc>");
  const why = async (row: number) => {
    await nvim.command(`${row} | messages clear`);
    await nvim.command("Agent why");
    // The chat at a message, or that there is none.
    const told = await nvim.waitFor<string>(
      `vim.bo.filetype == "agent" and vim.api.nvim_get_current_line()
        or vim.fn.execute("messages"):match("agent: no recorded[^\\n]+")`,
    );
    if (!told.startsWith("agent:")) await nvim.command("Agent toggle");
    return told;
  };
  assert.match(await why(8), /edit it/);
  assert.match(await why(4), /and another one/);
  assert.match(await why(1), /no recorded turn/);
  assert.match(await why(2), /no recorded turn/);
  await nvim.command("%substitute/^/    /");
  assert.match(await why(8), /edit it/);
  assert.match(await why(4), /and another one/);
  assert.match(await why(1), /no recorded turn/);
});

/** Milliseconds of CPU time, the least of some runs, for a file of so many lines of which every tenth is changed. */
async function costs({ nvim }: RunningAgent, count: number): Promise<Readonly<Record<string, number>>> {
  const before = Array.from({ length: count }, (_, index) => `row ${index}`);
  const after = before.map((line, index) => index % 10 === 0 ? `${line} changed` : line);
  return await nvim.lua(
    `local before, after, runs = ...
    local track, review = require("agent.review.track"), require("agent.review")
    local path = vim.fs.joinpath(vim.fn.getcwd(), "big.txt")
    local took = {}
    local function time(name, work)
      collectgarbage()
      local start = os.clock()
      work()
      vim.cmd.redraw()
      took[name] = math.min(took[name] or math.huge, (os.clock() - start) * 1e3)
    end
    local function write(text)
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
    end
    for _ = 1, runs do
      write(before)
      vim.cmd("edit! " .. path)
      write(after)
      time("show", function()
        require("agent.reload").file_modified({ path = path, kind = "modified", before = before, after = after })
      end)
      local buffer = vim.api.nvim_get_current_buf()
      took.hunks = #track.get(buffer).hunks
      time("type", function()
        vim.api.nvim_buf_set_lines(buffer, 4, 4, true, { "typed" })
        track.get(buffer)
      end)
      time("move", function() review.run("next") end)
      time("undo", function() review.run("undo") end)
      vim.cmd("enew | bwipeout! " .. path)
    end
    return took`,
    before.join("\n") + "\n",
    after.join("\n") + "\n",
    IS_FULL ? 5 : 3,
  );
}

test("what a review does on a key costs no more than in proportion to the hunks of a large file", async (agent) => {
  const { nvim, server } = agent;
  server.play("say Hello.");
  await nvim.command("Agent! hello");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  const [few, many] = [await costs(agent, 5_000), await costs(agent, 20_000)];
  assert.deepEqual([few.hunks, many.hunks], [500, 2_000]);
  for (const name of ["show", "type", "move", "undo"]) {
    // Work for each hunk and each other one takes sixteen times as long. What is shorter is too short for the clock.
    const least = Math.max(few[name] ?? Infinity, 2);
    assert.ok((many[name] ?? Infinity) < 10 * least, JSON.stringify({ name, few, many }));
  }
});

test("what another program took back and the agent did again is to be reviewed again, also in a hidden buffer", async (agent) => {
  const { nvim, project } = agent;
  await review(agent, turn(write(TWO)));
  await settledSoon(agent, 2);
  await nvim.command("Agent keep all");
  await settledSoon(agent, 0);
  await nvim.command("enew");
  await project.write("a.txt", FILE);
  await review(agent, turn(write(TWO)));
  await nvim.command("call setqflist([]) | Agent review");
  await nvim.waitFor("#vim.fn.getqflist() == 2");
  assert.equal(await nvim.lua("return vim.fn.bufname()"), "a.txt");
  await settledSoon(agent, 2);
  await nvim.keys("grk");
  await settledSoon(agent, 1);
  await nvim.keys("12Ggru");
  await settledSoon(agent, 0);
  assert.equal(await project.read("a.txt"), ONE);
});
