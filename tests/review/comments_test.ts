/** A review in rounds: comments on lines, sent together. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { waitUntil } from "../support/project.ts";
import {
  FILE,
  hunks,
  restarted,
  reviewed,
  reviewedShared,
  settledSoon,
  turn,
  write,
} from "../support/review.ts";

const TWO = FILE.replace("line 6", "LINE 6").replace("line 12", "LINE 12");

Deno.test("comments go with their lines, are changed, listed and sent with unsaved text; gone after that", async () => {
  await using agent = await reviewedShared({
    script: `${turn(write(TWO))}\n---\nexpect Why in capitals?\nsay Because.`,
    before: ({ nvim }) => nvim.lua(`require("agent").setup({ review = { advance = true } })`),
  });
  const { nvim, server } = agent;
  await nvim.keys("gg]rgrmWhy in capitals?<CR>");
  await nvim.waitForScreen("▎ Why in capitals?");
  await nvim.keys("ggVjgrmTwo lines<CR>");
  await nvim.waitForScreen("▎ Two lines");
  await nvim.keys("gg:4Agent review comment<CR>Gone<CR>");
  await nvim.waitForScreen("▎ Gone");
  // Lines move; a comment is changed, an empty one goes; what is typed is not saved.
  await nvim.keys("ggOnew<Esc>3jgrm<C-u><CR>");
  await nvim.waitForScreen((screen) => screen.includes("▎ Two lines") && screen.includes("▎ Gone"));
  await nvim.keys("ggjjgrm, or three<CR>5Ggrm<C-u><CR>");
  await nvim.waitForScreen((screen) =>
    screen.includes("▎ Two lines, or three") && !screen.includes("▎ Gone")
  );
  await nvim.keys("7GA, changed<Esc>");
  await nvim.command("Agent review comments");
  assert.deepEqual(
    await nvim.lua("return vim.tbl_map(function(one) return one.lnum end, vim.fn.getqflist())"),
    [2, 7],
  );
  await nvim.command("cclose");
  await nvim.command("Agent review send");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.deepEqual(server.problems, []);
  const text = server.requests.at(-1)?.text ?? "";
  assert.ok(
    text.endsWith(
      "a.txt:2-3\n> line 1\n> line 2\n\nTwo lines, or three\n\na.txt:7\n> LINE 6, changed\n\nWhy in capitals?",
    ),
    text,
  );
  assert.ok(!nvim.text().includes("▎"));
  await nvim.command("Agent review send");
  await nvim.waitForScreen("no comments to send");
  // Keeping goes on to the next hunk.
  await nvim.keys("gg]rgrk");
  assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [13, 0]);
  assert.equal((await hunks(agent)).length, 1);
  await nvim.lua(`require("agent").setup()`);
});

const DELETED = TWO.replace("LINE 6\n", "");

/** Changes of lines, and of whole files. */
const CHANGES = `
call read_file {"path": "a.txt"}
call read_file {"path": "b.txt"}
call read_file {"path": "old.txt"}
call read_file {"path": "gone.txt"}
---
${write(TWO)}
${write(DELETED, "b.txt")}
call write_file {"path": "new.txt", "content": "fresh\\nlines\\n"}
call delete_file {"path": "gone.txt"}
call move_file {"from": "old.txt", "to": "moved.txt"}
---
say Done.
---
expect Scratch?
say Because.
`;

Deno.test("hunks, created files and comments survive :bdelete, other edits on disk and a restart; kept hunks stay kept", async () => {
  const project = { "a.txt": FILE, "b.txt": FILE, "old.txt": "old\n", "gone.txt": "gone 1\ngone 2\n" };
  await using agent = await reviewed({ script: CHANGES, project });
  const { nvim } = agent;
  const rest = [{ row: 12, added: ["LINE 12"], removed: ["line 12"] }];
  await nvim.keys("6Ggrk");
  await nvim.command("bdelete | edit a.txt");
  await settledSoon(agent, 1);
  assert.deepEqual(await hunks(agent), rest);
  await nvim.command("bdelete");
  await agent.project.write("a.txt", "elsewhere\n" + TWO);
  await nvim.command("edit a.txt");
  await settledSoon(agent, 1);
  assert.deepEqual(await hunks(agent), [{ ...rest[0], row: 13 }]);
  await nvim.keys("1Gdd");
  // What was said last must reach the engine before all of it ends.
  await nvim.command("write");
  await comment(agent);
  await nvim.quit();

  await agent.project.write("b.txt", `above\n${await agent.project.read("b.txt")}`);
  await using second = await restarted(agent, ["a.txt", "new.txt"]);
  assert.equal(second.nvim.text().includes("LINE 12"), true);
  assert.equal(await second.nvim.lua("return package.loaded['agent.review']"), undefined);
  await second.nvim.command("Agent review");
  await second.nvim.waitForScreen("+2 −0  fresh");
  await settledSoon(second, 1);
  assert.deepEqual(await hunks(second), rest);
  await second.nvim.command("Agent review undo file");
  assert.equal(await agent.project.read("a.txt"), FILE.replace("line 6", "LINE 6"));
  await second.nvim.command("cclose | buffer new.txt");
  await settledSoon(second, 1);
  await second.nvim.command("Agent review undo file");
  await second.nvim.waitFor(`not vim.uv.fs_stat("new.txt")`);
  await sendComments(second);
});

/** Comments on what was deleted, before the change and without a name. */
async function comment(agent: RunningAgent): Promise<void> {
  const { nvim, state } = agent;
  await nvim.command("edit b.txt");
  await settledSoon(agent, 2);
  await nvim.keys("gg]rgrmWhy gone?<CR>");
  await nvim.waitForScreen("▎ Why gone?");
  await nvim.keys("ggVgrm漢字漢字 wide<CR>");
  await nvim.waitForScreen(/▎ ?line 1/);
  await nvim.command("Agent review diff");
  await nvim.keys("<C-w>h6GgrmThis was needed<CR>");
  await nvim.waitForScreen("▎ This was needed");
  await nvim.keys(":tabclose<CR>:tabnew<CR>ifree text<Esc>:Agent review comment<CR>Scratch?<CR>");
  await nvim.waitForScreen("▎ Scratch?");
  assert.equal([...Deno.readDirSync(state.path("comments"))].length, 4);
}

/** They stay until they are sent. */
async function sendComments({ nvim, server, state }: RunningAgent): Promise<void> {
  await nvim.command("edit b.txt");
  await nvim.command("Agent review comments");
  await nvim.waitForScreen("▎ 漢字漢字 wide");
  assert.deepEqual(
    await nvim.lua(
      "return vim.tbl_map(function(one) return { one.lnum, one.text } end, vim.fn.getqflist())",
    ),
    [[1, "Scratch?"], [2, "漢字漢字 wide"], [6, "Why gone?"], [6, "This was needed"]],
  );
  await nvim.command("cclose");
  await nvim.command("Agent review send");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.deepEqual(server.problems, []);
  const text = server.requests.at(-1)?.text ?? "";
  for (
    const part of [
      "an unnamed buffer:1\n> free text\n\nScratch?",
      "\n\nb.txt:2\n> line 1\n\n漢字漢字 wide",
      "b.txt:6 (before your changes)\n> line 6\n\nThis was needed",
      "b.txt:6 (you have deleted there)\n> line 6\n\nWhy gone?",
    ]
  ) assert.ok(text.includes(part), `${part}\n\n${text}`);
  await waitUntil("no comment to be kept", () => [...Deno.readDirSync(state.path("comments"))].length === 0);
  assert.ok(!nvim.text().includes("▎"));
}
