/** Lines that go along with a message: as names above the input, which open and go again; in a real Neovim. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";

/** What goes along with the last message that went to the supervisor. */
const GIVEN = `return vim.iter(_G.sent):filter(function(action) return action.type == "prompt" end)
  :map(function(action) return vim.tbl_map(function(one) return one.text end, action.given) end):last()`;

Deno.test("selections add up as names above the input, open, and go by a key; at 80 and 40 columns", async () => {
  const lines = Array.from({ length: 12 }, (_, at) => `local line_${at + 1} = "漢字"`);
  await using folder = await scratch({ "src/app.lua": lines.join("\n") + "\n" });
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], lines: 24 });
  await nvim.lua(`_G.sent = {}
    require("agent.client").send = function(action) table.insert(_G.sent, action) end
    vim.keymap.set({ "n", "x" }, "gA", "<Plug>(AgentOperator)")`);
  await nvim.command(`cd ${folder.root}`);
  await nvim.command(`edit ${join("src", "app.lua")}`);

  // By an operator, which the dot repeats, in Visual mode and by a range: each time on to the input.
  const insert = async (keys: string, shows: string) => {
    await nvim.keys(keys);
    await nvim.waitForScreen(shows);
    assert.equal(await nvim.lua("return vim.fn.mode() .. vim.bo.filetype"), "iagent-input", keys);
    await nvim.keys("<Esc>");
  };
  await insert("gAj", "▸ src/app.lua:1 · src/app.lua L1–2");
  await nvim.keys("q");
  await insert("4G.", "src/app.lua L1–2 · src/app.lua L4–5");
  await nvim.keys("q");
  await insert("7GVjjgA", "L4–5 · src/app.lua L7–9");
  await nvim.keys("q");
  await insert(":12Agent<CR>", "L7–9 · src/app.lua L12");
  await nvim.keys("q");
  await insert("4GVj:Agent<CR>", "L12 · src/app.lua L4–5");
  assert.equal(await nvim.lua(`return require("agent.chat").current().input:text()`), "");

  await nvim.keys("K");
  await nvim.waitForScreen(/# src\/app\.lua L1–2[^]*local line_2 = "漢字"[^]*# src\/app\.lua L12/);
  await nvim.keys("jjx");
  await nvim.waitForScreenGone("L1–2");
  await nvim.waitForScreen("# src/app.lua L7–9");
  await nvim.keys("q<BS>");
  await nvim.waitForScreen(/▸ src\/app\.lua:4 · src\/app\.lua L7–9 · src\/app\.lua L12 [^·]/);
  await nvim.resize(40, 15);
  await nvim.waitForScreen(/ ▸ …\S+:4 · …\S+ L7–9 · …\S+ L12 /);
  await nvim.keys("ga");
  await nvim.waitForScreen("on  src/app.lua L12");
  await nvim.keys("2<CR>");
  await nvim.waitForScreenGone("L7–9");

  // They are the same lines after an edit above them; those that are gone go along as they were.
  await nvim.keys("q3ggOlocal new = 1<CR>local more = 2<Esc>");
  await nvim.command("Agent");
  await nvim.waitForScreen("L14");
  await nvim.keys("<Esc>q");
  await nvim.command("14delete");
  await nvim.command("Agent");
  await nvim.waitForScreen("L14, deleted");
  await nvim.keys("<Esc>q");
  await nvim.command("undo");
  await nvim.command("Agent");
  await nvim.waitForScreenGone("deleted");
  await nvim.keys("<Esc>iwhy?<Esc><CR>");
  await nvim.waitFor(`(function() ${GIVEN} end)()`);
  assert.deepEqual(await nvim.lua(GIVEN), [lines[11]]);
  await nvim.keys("<BS>");
  await nvim.waitForScreen("agent: no lines are selected");
});
