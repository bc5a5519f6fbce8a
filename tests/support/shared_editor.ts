/**
 * Tests of one file that share a Neovim with the plugin, without a supervisor: starting one and showing the first text
 * in it takes longer than most tests do.
 *
 * ```ts
 * await using editor = await sharedEditor({ options: `ui = { layout = "right" }`, columns: 90 });
 * const { nvim } = editor;
 * ```
 */
import { PLUGIN } from "./agent.ts";
import { FORGET, REMEMBER } from "./neovim_reset.ts";
import { ChildNvim } from "./nvim.ts";

export interface EditorOptions {
  readonly columns?: number;
  readonly lines?: number;
  /** Lua table fields of the user's options, such as `ui = { layout = "right" }`. */
  readonly options?: string;
  /** Is run before the test; Neovim's options are those of before in the next test. */
  readonly lua?: string;
}

export interface Editor extends AsyncDisposable {
  readonly nvim: ChildNvim;
}

/** Neovims that no test uses. */
const idle: ChildNvim[] = [];

Deno.test.afterAll(async () => {
  await Promise.all(idle.splice(0).map((nvim) => nvim[Symbol.asyncDispose]()));
});

/**
 * A Neovim that later tests of this file use again. It begins with one window, an empty buffer, no chat and no
 * approval; `_G.sent` lists what goes to the supervisor, which does not run.
 */
export async function sharedEditor(
  { columns = 80, lines = 24, options = "", lua = "" }: EditorOptions = {},
): Promise<Editor> {
  const used = idle.pop();
  const nvim = used ?? await ChildNvim.start({ runtime: [PLUGIN], columns, lines, lua: REMEMBER });
  if (used !== undefined) {
    await nvim.keys("<Esc><C-\\><C-n>");
    await nvim.lua(`${CLOSE_APPROVALS}\n${FORGET}`);
    await nvim.resize(columns, lines);
  }
  await nvim.lua(`_G.sent = {}
    require("agent.client").send = function(action) table.insert(_G.sent, action) end
    require("agent").setup({ ${options} })
    ${lua}`);
  return { nvim, [Symbol.asyncDispose]: () => Promise.resolve(void idle.push(nvim)) };
}

/** What the supervisor would tell, of the current chat unless an update names one. */
export function receive(nvim: ChildNvim, ...updates: readonly object[]): Promise<unknown> {
  return nvim.lua(
    `local current = require("agent.chat").current()
    require("agent.approval")
    require("agent.client").receive(vim.tbl_map(function(update)
      return vim.tbl_extend("keep", update, { chat = current and current.id or 1 })
    end, ...))`,
    updates,
  );
}

/** No supervisor closes the approvals that a test leaves. */
const CLOSE_APPROVALS = `
require("agent.approval")
local client, queue = require("agent.client"), require("agent.approval.queue")
local approval = queue.first()
while approval do
  client.receive({
    { type = "approval_closed", chat = approval.chat, request = approval.request, answer = "cancelled" },
  })
  approval = queue.first()
end`;
