/** The chat as its user sees it. */
import type { ChildNvim } from "./nvim.ts";
import { waitUntil } from "./project.ts";

/** The text between the borders of the floats, with lines that were wrapped for the screen put together again. */
export function unwrapped(screen: string): string {
  const rows = screen.split("\n").map((row) => /│(.*)│/.exec(row)?.[1]?.trim() ?? "");
  return rows.filter((row) => row !== "").join(" ");
}

/** Waits until the chat shows this, whatever the place where it is wrapped. */
export async function waitForChat(nvim: ChildNvim, text: string): Promise<void> {
  try {
    await nvim.waitForScreen((screen) => unwrapped(screen).includes(text));
  } catch (error) {
    throw new Error(`The chat never showed ${JSON.stringify(text)}.`, { cause: error });
  }
}

/** The lines of the transcript that are not empty, from the first or the given one on. */
export async function transcript(nvim: ChildNvim, from = 0): Promise<readonly string[]> {
  const lines = await nvim.lua<string[]>(
    "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('^agent://chat/1$'), ..., -1, false)",
    from,
  );
  return lines.filter((line) => line !== "");
}

/** Types a message into the input, which has the cursor, and sends it. */
export async function say(nvim: ChildNvim, text: string): Promise<void> {
  await nvim.keys(`i${text}<Esc><CR>`);
}

/** Waits until a turn is over; the longest time that Neovim took to answer meanwhile, in milliseconds. */
export async function longestSilence(nvim: ChildNvim): Promise<number> {
  let longest = 0;
  await waitUntil("the turn to end", async () => {
    const from = performance.now();
    const status = await nvim.lua<string>("return require('agent').status()");
    longest = Math.max(longest, performance.now() - from);
    return status.endsWith("ready");
  }, { timeout: 20_000 });
  return longest;
}
