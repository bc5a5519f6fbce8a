/** From a key that scrolls a long answer to the screen with its next line; the floor is the same text in a markdown buffer. */
import { PLUGIN } from "../../tests/support/agent.ts";
import { ChildNvim } from "../../tests/support/nvim.ts";
import { atMost, group, percentile, row } from "./row.ts";

const PARTS = 200;
const KEYS = 500;

/** A heading, a paragraph, a table whose cells wrap, and code. */
function part(number: number): readonly string[] {
  const words = "goes on and on with words enough to wrap in the window somewhere at last";
  return [
    `## Part ${number}`,
    "",
    `Some **bold** text with \`code\` and [a link](https://a.example) that ${words}.`,
    "",
    "| Name | What it does and why | Size |",
    "|:-----|----------------------|-----:|",
    ...Array.from({ length: 6 }, (_, at) => `| \`f${at}.ts\` | the **${number}** row ${words} | ${at} |`),
    "",
    "```lua",
    ...Array.from({ length: 10 }, (_, at) => `local x${at} = function(a, b) return a + b, "text ${at}" end`),
    "```",
    "",
  ];
}

const TEXT = `${Array.from({ length: PARTS }, (_, number) => part(number)).flat().join("\n")}\n`;

/** Milliseconds of each `<C-e>` and its redraw, from the top of the current window. */
const SCROLL = `
  local key, times = vim.keycode("<C-e>"), {}
  vim.cmd("stopinsert | normal! gg")
  vim.cmd.redraw()
  for at = 1, ${KEYS} do
    local start = vim.uv.hrtime()
    vim.cmd("normal! " .. key)
    vim.cmd.redraw()
    times[at] = (vim.uv.hrtime() - start) / 1e6
    -- Scheduled work belongs to the next key.
    vim.wait(1)
  end
  return times`;

export const scrolling = group(["scroll_long_answer_p95"], async () => {
  const lua = `vim.g.agent = { ui = { spinner = false, layout = "current" } }`;
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 120, lines: 40, lua });
  const floors = await nvim.lua<number[]>(
    `vim.bo.filetype = "markdown"
    vim.treesitter.start()
    vim.wo.conceallevel = 2
    vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(..., "\\n")) ${SCROLL}`,
    TEXT,
  );
  await nvim.lua(`vim.cmd("enew!") require("agent.client").send = function() end`);
  await nvim.command("Agent go");
  await nvim.lua(
    `require("agent.approval") return require("agent.client").receive(...)`,
    [
      { chat: 1, type: "turn_started" },
      { chat: 1, type: "text", message: "m", text: TEXT },
      { chat: 1, type: "turn_done", reason: "end_turn" },
    ],
  );
  await nvim.waitForScreen("· ready");
  const values = await nvim.lua<number[]>(
    `vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript) ${SCROLL}`,
  );
  return {
    scroll_long_answer_p95: row("ms", percentile(values, 0.95), atMost(16), percentile(floors, 0.95)),
  };
});
