/** What a terminal is sent while an answer grows, in a real pty: no more than for a bare buffer in a bare window. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";
import { receive, sharedEditor } from "../support/shared_editor.ts";

const BENCH = join(PLUGIN, "scripts/bench");

/** Lines of one row, in pieces as they stream in. */
const SHORT = pieces(Array.from({ length: 30 }, (_, at) => `Line ${at} ${"of the answer ".repeat(3)}`));

/** Lines of two rows in a split of 60 columns. */
const WRAPPED = pieces(Array.from({ length: 24 }, (_, at) => `Line ${at} ${"of the answer ".repeat(5)}`));

function pieces(lines: readonly string[]): readonly string[] {
  return lines.join("\n").match(/[^]{1,60}/g) ?? [];
}

/** Lua of one side: how it starts, opens, and shows another piece. */
interface Side {
  readonly init: string;
  readonly open: string;
  readonly add: string;
}

const agent = (layout: string): Side => ({
  init: `vim.opt.runtimepath:prepend(${JSON.stringify(PLUGIN)})
    vim.g.agent = { ui = { spinner = false, layout = "${layout}" } }
    function receive(update)
      update.chat = 1
      require("agent.client").receive({ update })
    end`,
  open: `require("agent.client").send = function() end
    require("agent.approval")
    vim.cmd("Agent go")
    receive({ type = "turn_started" })`,
  add: `receive({ type = "text", message = "m", text = ... })`,
});

const bare = (window: unknown): Side => ({
  init: `Floor = dofile(${JSON.stringify(join(BENCH, "floor.lua"))})`,
  open: `Floor.open(vim.json.decode('${JSON.stringify(window)}')) vim.cmd.startinsert()`,
  add: `Floor.append(...)`,
});

const WINDOW = `local window = Floor and Floor.window or require("agent.chat").current().windows.transcript
  local info = vim.fn.getwininfo(window)[1]
  return { width = info.width, height = info.height, lines = vim.api.nvim_buf_line_count(info.bufnr), batch = 0 }`;

interface Sent {
  readonly bytes: number;
  readonly window: unknown;
}

/** Bytes for all pieces, each drawn before the next one. */
async function sent(
  outer: ChildNvim,
  side: Side,
  text: readonly string[],
  margins: boolean,
): Promise<Sent> {
  await using files = await scratch({ "init.lua": side.init });
  const command = [Deno.env.get("AGENT_NVIM") ?? "nvim", "-n", "-i", "NONE", "-u", files.path("init.lua")];
  await outer.lua("Terminal.start(...)", command, files.path("socket"), margins);
  await outer.lua("Terminal.lua(...)", side.open);
  const window = await outer.lua("return Terminal.lua(...)", WINDOW);
  const bytes = await outer.lua<number>(
    `local add, pieces = ...
    local before = Terminal.drawn()
    for _, piece in ipairs(pieces) do
      Terminal.lua(add, piece)
      Terminal.drawn()
    end
    return Terminal.drawn() - before`,
    side.add,
    text,
  );
  await outer.lua("Terminal.stop()");
  return { bytes, window };
}

/** Bytes of the chat's window in proportion to those of a bare one, at most. */
const LIMITS = [
  { layout: "float", text: SHORT, margins: 0.3, none: 1 },
  { layout: "right", text: WRAPPED, margins: 0.3 },
];

Deno.test("a growing answer scrolls in a terminal that can, and costs others no more than a bare buffer", async () => {
  const lua = `Terminal = dofile(${JSON.stringify(join(BENCH, "terminal.lua"))})`;
  await using outer = await ChildNvim.start({ lua });
  for (const { layout, text, margins, none } of LIMITS) {
    const ours = await sent(outer, agent(layout), text, true);
    // Below the input's float nothing scrolls.
    const floor = (await sent(outer, bare(ours.window), text, true)).bytes;
    assert.ok(ours.bytes <= margins * floor, `${layout}, with margins: ${ours.bytes} of ${floor}`);
    if (none !== undefined) {
      const { bytes } = await sent(outer, agent(layout), text, false);
      assert.ok(bytes <= none * floor, `${layout}, without margins: ${bytes} of ${floor}`);
    }
  }
});

/** The rows of the transcript, in a split at the right. */
const ROWS = `local window = require("agent.chat").current().windows.transcript
  local rows = {}
  for row = 1, vim.api.nvim_win_get_height(window) do
    local text = ""
    for column = 62, 120 do
      text = text .. vim.fn.screenstring(row, column)
    end
    rows[row] = vim.trim(text)
  end
  return rows`;

/** A chat in such a split, whose turn has started. */
async function startTurn() {
  const options = `ui = { layout = "right", spinner = false }`;
  const editor = await sharedEditor({ columns: 120, lines: 40, options });
  const { nvim } = editor;
  await nvim.command("Agent go");
  await nvim.keys("<Esc>");
  await receive(nvim, { type: "turn_started" });
  return { ...editor, rows: () => nvim.lua<readonly string[]>(`vim.cmd.redraw() ${ROWS}`) };
}

Deno.test("the end of a growing answer stays in view, and the end of the answer is at the lower edge", async () => {
  await using editor = await startTurn();
  const { nvim, rows } = editor;
  const long = `A paragraph ${"with many words ".repeat(30)}ends.`;
  let text = "", highest = 0, isUneven = false;
  for (const piece of [...WRAPPED, ...pieces(["", long, ""]), ...WRAPPED]) {
    text += piece;
    await receive(nvim, { type: "text", message: "m", text: piece });
    const now = await rows();
    const last = now.findLastIndex((row) => row !== "");
    const end = text.trimEnd().split(/\s/).at(-1) ?? "";
    assert.ok(now[last]?.endsWith(end), `${end} is not at the end of ${now.join("\n")}`);
    highest = Math.max(highest, last);
    // A new line may be empty, and two rows more: where a line of three has left as a whole.
    assert.ok(last >= highest - 3, `Rows are empty below ${now.join("\n")}`);
    isUneven = last < now.length - 1 && now.slice(0, 5).some((row) => row.startsWith("A paragraph"));
    if (isUneven) break;
  }
  assert.ok(isUneven, "No row was empty when the paragraph came to the top");
  // The paragraph is about to scroll by rows.
  await receive(nvim, { type: "text", message: "m", text: "!" });
  await receive(nvim, { type: "turn_done", reason: "end_turn" });
  assert.ok((await rows()).at(-1)?.endsWith("!"));
});

Deno.test("a window that does not follow stays where it is while the answer grows, and scrolls by rows", async () => {
  await using editor = await startTurn();
  const { nvim, rows } = editor;
  const add = () => receive(nvim, ...WRAPPED.map((text) => ({ type: "text", message: "m", text })));
  await add();
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("10<C-y>");
  await nvim.keys("M");
  const before = await rows();
  await add();
  assert.deepEqual(await rows(), before);
  await nvim.keys("<C-e>");
  assert.deepEqual((await rows()).slice(1, -1), before.slice(2));
});
