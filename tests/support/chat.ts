/** The chat as its user sees it. */
import type { ChildNvim } from "./nvim.ts";
import { within } from "./project.ts";

/** Whether the chat shows this text, whatever the places where it is wrapped. */
export function chatShows(screen: string, text: string): boolean {
  const rows = screen.split("\n").map((row) => /│(.*)│/.exec(row)?.[1] ?? "");
  return packed(rows.join("")).includes(packed(text));
}

/** A line is broken at a blank, which then is not shown, or behind a hyphen or a stop. */
function packed(text: string): string {
  return text.replaceAll(/\s/g, "");
}

export async function waitForChat(nvim: ChildNvim, text: string): Promise<void> {
  try {
    await nvim.waitForScreen((screen) => chatShows(screen, text));
  } catch (error) {
    throw new Error(`The chat never showed ${JSON.stringify(text)}.`, { cause: error });
  }
}

/** The lines of a chat's transcript that are not empty, from the first or the given one on; chats count from the oldest. */
export async function transcript(nvim: ChildNvim, from = 0, chat = 1): Promise<readonly string[]> {
  const lines = await nvim.lua<string[]>(
    `local from, chat = ...
    local numbers = vim.iter(vim.api.nvim_list_bufs()):map(function(buffer)
      return tonumber(vim.api.nvim_buf_get_name(buffer):match("^agent://chat%-(%d+)$"))
    end):totable()
    table.sort(numbers)
    return vim.api.nvim_buf_get_lines(vim.fn.bufnr(("^agent://chat-%d$"):format(numbers[chat])), from, -1, false)`,
    from,
    chat,
  );
  return lines.filter((line) => line !== "");
}

/** Presses keys on the first line of the current chat's transcript that begins with a text, with or without its indent. */
export async function pressOn(nvim: ChildNvim, line: string, keys: string): Promise<void> {
  await nvim.command("Agent open");
  await nvim.keys("<Esc>");
  await nvim.lua(
    `local chat, line = require("agent.chat").current(), ...
    vim.api.nvim_set_current_win(chat.windows.transcript)
    for row, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
      if vim.startswith(text, line) or vim.startswith(vim.trim(text), line) then
        return vim.api.nvim_win_set_cursor(0, { row, 0 })
      end
    end
    error("no line " .. line)`,
    line,
  );
  await nvim.keys(keys);
}

/** Types a message into the input, which has the cursor, and sends it. */
export async function say(nvim: ChildNvim, text: string): Promise<void> {
  await nvim.keys(`i${text}<Esc><CR>`);
}

/** Presses <C-c> until the screen shows what comes of it. */
export async function pressStop(nvim: ChildNvim, shown = "Stopped."): Promise<void> {
  await pressStopUntil(nvim, nvim.waitForScreen(shown));
}

/** Presses <C-c> as a user would: again, where Neovim was not waiting for keys and took it for an interrupt. */
export async function pressStopUntil(nvim: ChildNvim, done: Promise<unknown>): Promise<void> {
  let isDone = false;
  const ended = done.finally(() => isDone = true);
  while (!isDone) {
    await nvim.keys("<C-c>");
    await within(1_000, ended);
  }
  await ended;
}

/** Waits until a turn is over. */
export async function waitForTurn(nvim: ChildNvim): Promise<void> {
  await nvim.waitFor(`require("agent").status():find("ready$")`);
}

/** Waits until the cursor is in this file or folder of the project. */
export async function waitForFile(nvim: ChildNvim, file: string, line?: number): Promise<void> {
  const name = `vim.fn.fnamemodify(vim.b.netrw_curdir or vim.api.nvim_buf_get_name(0), ":."):gsub("/$", "")`;
  const isLine = line === undefined ? "true" : `vim.fn.line(".") == ${line}`;
  await nvim.waitFor(`${name} == ${JSON.stringify(file)} and ${isLine}`);
}
