/** A review in rounds: comments on lines, sent together. Whole program. */
import assert from "node:assert/strict";
import { FILE, hunks, reviewed, turn, write } from "../support/review.ts";

const TWO = FILE.replace("line 6", "LINE 6").replace("line 12", "LINE 12");

Deno.test("comments go with their lines, are changed, listed and sent with unsaved text; gone after that", async () => {
  await using agent = await reviewed({
    script: `${turn(write(TWO))}\n---\nexpect Why in capitals?\nsay Because.`,
    options: "review_advance = true",
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
});
