/** What is written is seen as it is written, and what has changed as a diff in the colours of its language. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { transcript, waitForTurn } from "../support/chat.ts";

const LINES = ["one", "two", "three", "four", "five", "six", "seven"];
const CODE = LINES.map((name, index) => `local ${name} = "n${index + 1}"\n`).join("");

Deno.test("the last lines of a write stand under it as they come; its diff is open, coloured, and closes", async () => {
  const script = `
call write_file ${JSON.stringify({ path: "src/numbers.lua", content: CODE })}
wait written
---
say Done.
---
call read_file {"path": "src/numbers.lua"}
call read_file {"path": "src/greet.ts", "offset": 2, "limit": 2}
call search_workspace {"query": "local"}
---
say Read.`;
  await using agent = await startAgent({
    script,
    columns: 80,
    lines: 30,
    options: `title = false, spinner = false, show_diffs = "open"`,
    lua: "vim.o.termguicolors = true",
  });
  const { nvim, server } = agent;
  await nvim.command("Agent write it");
  await nvim.waitForScreen('│  local seven = "n7"');
  assert.deepEqual((await transcript(nvim)).slice(1), [
    "… write src/numbers.lua  8 lines",
    ...LINES.slice(2).map((name, index) => `  local ${name} = "n${index + 3}"`),
  ]);
  server.release("written");
  await waitForTurn(nvim);
  await nvim.waitForScreen("│  +local one =");
  const word = nvim.locate("+local one");
  assert.ok(word);
  const keyword = nvim.highlightAt(word.row, word.column + 1);
  const string = nvim.highlightAt(word.row, word.column + "+local one = ".length);
  assert.notEqual(keyword.fg, string.fg, "the language's own colours");
  assert.equal(keyword.bg, string.bg, "on the colour of an added line");
  assert.notEqual(keyword.bg, nvim.highlightAt(word.row + LINES.length + 1, word.column).bg);
  const transcriptWindow = "vim.api.nvim_set_current_win(vim.fn.bufwinid('^agent://chat/1$'))";
  await nvim.lua(transcriptWindow);
  await nvim.keys("gg/write src<CR><Tab>");
  await nvim.waitForScreenGone("+local one");
  await nvim.waitForScreen("✓ write src/numbers.lua  +7");

  await nvim.command("Agent read it");
  await nvim.waitForScreen("Read.");
  await waitForTurn(nvim);
  await nvim.waitForScreen("✓ read 2 files, searched once  src/numbers.lua, src/greet.ts,");
  await nvim.lua(transcriptWindow);
  await nvim.keys("gg/read 2 files<CR><Tab>zt");
  await nvim.waitForScreen("│  ✓ read src/greet.ts 2–3  2 lines");
  await nvim.keys("/search local<CR><CR>");
  await nvim.waitForScreen(/│ {4}src\/numbers\.lua {2}7/);
  await nvim.keys("/numbers.lua  7<CR>gf");
  await nvim.waitFor("vim.fn.expand('%:t') == 'numbers.lua'");
});
