/** What a terminal is sent while an answer grows, in a real pty: no more than for a bare buffer in a bare window. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";

const BENCH = join(PLUGIN, "scripts/bench");

/** Lines of one row, in pieces as they stream in. */
const SHORT = pieces(Array.from({ length: 40 }, (_, at) => `Line ${at} ${"of the answer ".repeat(3)}`));

function pieces(lines: readonly string[]): readonly string[] {
  return lines.join("\n").match(/[^]{1,20}/g) ?? [];
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

/** Bytes of the chat's window in proportion to those of a bare one. */
async function ratio(layout: string, text: readonly string[], margins: boolean): Promise<number> {
  const lua = `Terminal = dofile(${JSON.stringify(join(BENCH, "terminal.lua"))})`;
  await using outer = await ChildNvim.start({ lua });
  const ours = await sent(outer, agent(layout), text, margins);
  const floor = await sent(outer, bare(ours.window), text, margins);
  return ours.bytes / floor.bytes;
}

Deno.test("a terminal that scrolls within margins scrolls the float with a growing answer", async () => {
  assert.ok(await ratio("float", SHORT, true) < 0.3);
});

Deno.test("another terminal is sent no more of a growing answer than for a bare buffer", async () => {
  assert.ok(await ratio("float", SHORT, false) < 1);
});
