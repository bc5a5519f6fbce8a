-- Pure: what stands in a line at the input, as far as there is room.
local M = {}

--- Characters of a name that are the least to be told of it.
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
    local count = vim.fn.strchars(name)
    if over > 0 and name:find("%p") and count > SHORTEST then
      local kept = math.max(SHORTEST, count - over)
      labels[index] = "…" .. vim.fn.strcharpart(name, count - kept + 1)
    end
  end
  while #labels > 1 and vim.api.nvim_strwidth(line()) > room do
    table.remove(labels)
  end
  return line()
end

--- So much of a text as there is room for.
---@param text string
---@param room integer columns
---@return string
local function cut(text, room)
  if text == "" or room < SHORTEST then
    return ""
  end
  while vim.api.nvim_strwidth(text) > room - 2 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 2) .. "…"
  end
  return (" %s "):format(text)
end

--- What waits for the turn.
---@param text string
---@param width integer columns of the window
---@param first_key? string|false that shares the line with it, and with what goes along
---@return string
function M.waits(text, width, first_key)
  return cut(text, first_key and math.max(FEWEST, width - #first_key - 2 * SHORTEST) or width)
end

return M
