/** Menus of `vim.ui.select` that a test answers. */
import type { ChildNvim } from "../nvim.ts";

/** Chooses the item whose line begins so in each menu, and keeps what the menus show. */
const CHOOSER = `
  _G.menus, _G.picks = {}, {}
  vim.ui.select = function(items, options, done)
    local lines = vim.tbl_map(options.format_item or tostring, items)
    table.insert(_G.menus, { prompt = options.prompt, lines = lines })
    local pick = table.remove(_G.picks, 1)
    for index, line in ipairs(lines) do
      if pick and vim.startswith(line, pick) then
        return done(items[index], index)
      end
    end
    done()
  end`;

export interface Menu {
  readonly prompt: string;
  readonly lines: readonly string[];
}

/** @returns runs a command, picks one line in each menu that follows, and returns these menus */
export async function menuPicker(
  nvim: ChildNvim,
): Promise<(command: string, ...picks: readonly string[]) => Promise<readonly Menu[]>> {
  await nvim.lua(CHOOSER);
  return async (command, ...picks) => {
    await nvim.lua(`_G.menus, _G.picks = {}, { ... }`, ...picks);
    await nvim.command(command);
    await nvim.waitFor(`#_G.menus >= ${Math.max(picks.length, 1)}`);
    return await nvim.lua<readonly Menu[]>(`return _G.menus`);
  };
}
