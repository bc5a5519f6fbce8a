/** The colours of the groups, read from a screen on which each is drawn in a split and in a float. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { contrast } from "../support/contrast.ts";
import type { CellStyle } from "../support/grid.ts";
import { ChildNvim } from "../support/nvim.ts";

/** Five have light and dark colours, two only dark and one only light ones. */
const SCHEMES = ["default", "lunaperche", "retrobox", "wildcharm", "quiet", "habamax", "zaibatsu", "morning"];

const DIM: readonly string[] = [
  "AgentBorder",
  "AgentCodeLabel",
  "AgentHeading3",
  "AgentHint",
  "AgentQuote",
  "AgentTable",
  "AgentThought",
  "AgentTool",
];

/** Their backgrounds differ from those of windows. */
const FILLED: readonly string[] = [
  "AgentCode",
  "AgentCodeBlock",
  "AgentCodeLabel",
  "AgentUserLine",
  "AgentWaiting",
];

/** What is drawn on the line of another group. */
const ON_LINES: readonly (readonly [group: string, line: string])[] = [
  ["AgentUser", "AgentUserLine"],
  ["AgentHint", "AgentUserLine"],
  ["AgentCodeLabel", "AgentCodeBlock"],
];

/** Code in a diff has the scheme's own colours, if there are more than 256. */
const CODE = [
  "Comment",
  "Constant",
  "String",
  "Identifier",
  "Function",
  "Statement",
  "PreProc",
  "Type",
  "Special",
];
const CODE_ON = ["AgentDiffAdd", "AgentDiffDelete"];

interface Row {
  readonly group: string;
  /** The group that the whole line has. */
  readonly line?: string;
}

/** Columns at which a window begins. */
const WINDOWS = { split: 0, float: 60 };

/** Draws each row in both windows; the last line says which colours are on the screen. */
async function stage(): Promise<{ readonly nvim: ChildNvim; readonly rows: readonly Row[] }> {
  const nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 120, lines: 70 });
  const groups = await nvim.lua<readonly string[]>(`require("agent.chat")
    local highlights = require("agent.ui.highlights")
    highlights.define()
    return vim.tbl_map(function(group) return group[1] end, highlights.groups)`);
  const rows: readonly Row[] = [
    ...groups.map((group) => ({ group })),
    ...ON_LINES.map(([group, line]) => ({ group, line })),
    ...CODE_ON.flatMap((line) => CODE.map((group) => ({ group, line }))),
  ];
  await nvim.lua(
    `local rows, column = ...
    vim.o.laststatus, vim.o.ruler, vim.o.showcmd = 0, false, false
    local namespace = vim.api.nvim_create_namespace("test")
    local lines = vim.tbl_map(function(row) return row.group end, rows)
    vim.list_extend(lines, { "", "" })
    vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)
    for at, row in ipairs(rows) do
      vim.api.nvim_buf_set_extmark(0, namespace, at - 1, 0, { end_col = #row.group, hl_group = row.group, priority = 200 })
      if row.line then
        vim.api.nvim_buf_set_extmark(0, namespace, at - 1, 0, { end_row = at, hl_group = row.line, hl_eol = true, priority = 100 })
      end
    end
    local float = vim.api.nvim_open_win(0, false, { relative = "editor", row = 0, col = column, width = 50,
      height = vim.o.lines - 1, border = "none" })
    vim.wo[float].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
    vim.wo[float].wrap = false`,
    rows,
    WINDOWS.float,
  );
  await nvim.lua(
    `require("agent.review.marks").hint(0, { row = ... }, { "keys" })`,
    rows.findIndex(({ line }) => line === "AgentDiffAdd") + 1,
  );
  return { nvim, rows };
}

/** Loads a scheme. Its light or dark colours are missing if it has only the others. */
async function load(nvim: ChildNvim, scheme: string, background: string, isTrue: boolean): Promise<boolean> {
  const name = `${scheme} ${background} ${isTrue ? "true colours" : "256 colours"}`;
  await nvim.command(
    `set ${isTrue ? "" : "no"}termguicolors background=${background} | colorscheme ${scheme}`,
  );
  await nvim.lua(`vim.api.nvim_buf_set_lines(0, -2, -1, true, { ... })`, name);
  await nvim.waitForScreen(name);
  return await nvim.lua(`return vim.o.background`) === background;
}

const LEVELS = [0, 95, 135, 175, 215, 255];
/** The first colours of xterm; schemes for 256 colours seldom use them. */
const XTERM = (
  "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
).split(" ");

/** Source: the table of xterm's 256 colours. */
function terminalColour(number: number): string {
  const grey = 10 * number - 2312;
  const cube = [36, 6, 1].map((size) => LEVELS[Math.floor((number - 16) / size) % 6] ?? 0);
  const channels = number > 231 ? [grey, grey, grey] : cube;
  return `#${XTERM[number] ?? channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** Text and background as the terminal shows them. */
function colours(style: CellStyle, background: string, isTrue: boolean): readonly [string, string] {
  if (isTrue) return [style.fg, style.bg];
  const { fg, bg } = style.terminal;
  const [text, page] = background === "dark" ? ["#ffffff", "#000000"] : ["#000000", "#ffffff"];
  return [fg === undefined ? text : terminalColour(fg), bg === undefined ? page : terminalColour(bg)];
}

Deno.test("text has a contrast of 4.5 and dim text of 3 on every background, in eight colour schemes", async () => {
  const { nvim, rows } = await stage();
  await using _ = nvim;
  const failures: string[] = [];
  const groups = rows.map(({ group }) => group);
  let loads = 0;
  for (const scheme of SCHEMES) {
    for (const background of ["dark", "light"]) {
      for (const isTrue of [true, false]) {
        if (!await load(nvim, scheme, background, isTrue)) continue;
        loads += 1;
        const seen = (row: number, column: number) =>
          colours(nvim.highlightAt(row, column), background, isTrue);
        const { row = 0, column: last = 0 } = nvim.locate("keys") ?? {};
        const [keys, below] = seen(row, last);
        if (contrast(keys, below) < 3) {
          failures.push(`${scheme} ${background} ${isTrue}: keys in a diff have ${keys} on ${below}`);
        }
        for (const [window, column] of Object.entries(WINDOWS)) {
          const [, page] = seen(rows.length + 1, column + 40);
          const [text, dim] = ["AgentNormal", "AgentHint"].map((name) =>
            seen(groups.indexOf(name), column)[0]
          );
          if (text === dim) failures.push(`${scheme} ${background}: dim text is not dim`);
          for (const [at, { group, line }] of rows.entries()) {
            const [fg, bg] = seen(at, column);
            const much = contrast(fg, bg);
            const name = `${scheme} ${background} ${isTrue ? "true" : "256"} ${window}: ${group} ${
              line ?? ""
            }`;
            // A colour that is hard to read everywhere may be a little harder to read in a diff.
            const least = CODE.includes(group)
              ? isTrue ? Math.min(3, 0.75 * contrast(fg, page)) : 0
              : DIM.includes(group)
              ? 3
              : 4.5;
            if (much < least) {
              failures.push(`${name} has ${fg} on ${bg}, ${much.toFixed(1)}`);
            }
            // Red and green may be as light as the window.
            const isHidden = FILLED.includes(line ?? group)
              ? contrast(bg, page) < 1.05
              : isTrue && CODE_ON.includes(group) && bg === page;
            if (isHidden) {
              failures.push(`${name} has the background ${bg} on ${page}`);
            }
          }
        }
      }
    }
  }
  assert.deepEqual(failures, []);
  assert.equal(loads, 26);
});

Deno.test("groups that somebody else has set keep their colours; all others follow the scheme", async () => {
  const { nvim } = await stage();
  await using _ = nvim;
  const at = (text: string) => {
    const { row = 0, column = 0 } = nvim.locate(text) ?? {};
    return nvim.highlightAt(row, column);
  };
  await load(nvim, "habamax", "dark", true);
  const before = at("AgentCode").bg;
  await nvim.lua(`vim.api.nvim_create_autocmd("ColorScheme", { callback = function()
    vim.api.nvim_set_hl(0, "AgentUserLine", { bg = "#123456", ctermbg = 77 })
    vim.api.nvim_set_hl(0, "AgentHeading2", { link = "Error" })
    vim.api.nvim_set_hl(0, "AgentQuote", { fg = "#123456", ctermfg = 77 })
  end })`);
  for (const isTrue of [true, false, true]) {
    for (const background of ["light", "dark"]) {
      await load(nvim, "retrobox", background, isTrue);
      const [line, quote, code] = [at("AgentUserLine"), at("AgentQuote"), at("AgentCode")];
      assert.deepEqual(
        isTrue ? [line.bg, quote.fg] : [line.terminal.bg, quote.terminal.fg],
        isTrue ? ["#123456", "#123456"] : [77, 77],
      );
      assert.notEqual(isTrue ? code.bg : code.terminal.bg, isTrue ? before : undefined);
    }
  }
  assert.equal(await nvim.lua(`return vim.api.nvim_get_hl(0, { name = "AgentHeading2" }).link`), "Error");
});
