/** How long a Neovim has let its user wait, and how much memory it holds. */
import type { ChildNvim } from "./nvim.ts";

export interface Worst {
  /** Milliseconds of work between two looks for keys, the longest. */
  readonly frame: number;
  readonly megabytes: number;
}

/**
 * Watches from now on. Counted is the time that the process itself has worked: on a machine with much else to do it
 * waits for its turn, too.
 */
export async function watchFrames(nvim: ChildNvim): Promise<void> {
  await nvim.lua(`
    _G.frame = 0
    local function worked()
      local usage = vim.uv.getrusage()
      return (usage.utime.sec + usage.stime.sec) * 1e3 + (usage.utime.usec + usage.stime.usec) / 1e3
    end
    local last = worked()
    assert(vim.uv.new_timer()):start(2, 2, function()
      local now = worked()
      _G.frame, last = math.max(_G.frame, now - last), now
    end)`);
}

export async function worst(nvim: ChildNvim): Promise<Worst> {
  return await nvim.lua("return { frame = _G.frame, megabytes = vim.uv.resident_set_memory() / 1e6 }");
}
