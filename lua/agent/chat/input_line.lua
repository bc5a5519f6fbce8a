-- Pure: what stands in a line at the input, as far as there is room.
local format = require("agent.ui.format")

local M = {}

--- Columns of a name that are the least to be told of it.
local SHORTEST = 8

--- Columns that what waits has beside what goes along: "2 waiting (gm)".
local FEWEST = 17

--- What goes along with the next message, in so many columns: of long paths the end is left, and what has no room
--- even so is counted.
---@param windows agent.Windows
---@param room integer
---@return string
function M.attached(windows, room)
  local labels = vim.deepcopy(windows.attached or {})
  if #labels == 0 then
    return ""
  end
  local all = #labels
  local function line()
    local more = all > #labels and (" · +%d"):format(all - #labels) or ""
    return (" ▸ %s%s "):format(table.concat(labels, " · "), more)
  end
  for index, name in ipairs(labels) do
    local over = vim.api.nvim_strwidth(line()) - room
    if over > 0 and name:find("%p") then
      labels[index] = format.cut_start(name, math.max(SHORTEST, vim.api.nvim_strwidth(name) - over))
    end
  end
  while #labels > 1 and vim.api.nvim_strwidth(line()) > room do
    table.remove(labels)
  end
  return line()
end

--- What waits for the turn.
---@param text string
---@param width integer columns of the window
---@param first_key? string|false that shares the line with it, and with what goes along
---@return string
function M.waits(text, width, first_key)
  local room = first_key and math.max(FEWEST, width - #first_key - 2 * SHORTEST) or width
  return text ~= "" and room >= SHORTEST and (" %s "):format(format.cut(text, room - 2)) or ""
end

return M
