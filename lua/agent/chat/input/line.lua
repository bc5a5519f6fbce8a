-- Pure: the texts of the lines at the input, fitted to their width.
local format = require("agent.ui.format")
local terminals = require("agent.editor.terminals")

local M = {}

--- Columns that a shortened name keeps at least.
local SHORTEST = 8

--- Columns of "2 waiting (gm)", which it keeps beside the attachments.
local FEWEST = 17

--- Ways to offer the output of a command, behind its name, the longest first.
local OFFERS = {
  " failed (exit %d) in terminal %d · ga adds its last lines",
  " failed (exit %d) · ga adds its last lines",
  " failed (exit %d) · ga adds its lines",
  " failed · ga adds its lines",
  " failed · ga adds it",
  " failed · ga",
}
--- Columns of a command's name: wanted, and in the shortest offer.
local COMMAND, SHORTEST_COMMAND = 16, 5

--- The attachments of the next message. Long paths keep their end; a number stands for attachments without room.
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

--- The offer of a failed command's output; empty if there is none, or no room.
---@param windows agent.Windows
---@param room integer
---@return string
function M.failed(windows, room)
  local failed = windows.failed
  if not failed then
    return ""
  end
  room = room - 2 - ((windows.waits or "") ~= "" and FEWEST or 0)
  local name = terminals.name(failed)
  local width = vim.api.nvim_strwidth(name)
  for index, form in ipairs(OFFERS) do
    local offer = form:format(failed.status, failed.buffer)
    local left = room - vim.api.nvim_strwidth(offer)
    if left >= math.min(width, index < #OFFERS and COMMAND or SHORTEST_COMMAND) then
      return (" %s%s "):format(format.cut(name, left), offer)
    end
  end
  return ""
end

--- The waiting messages.
---@param text string
---@param width integer columns of the window
---@param first_key? string|false shares the line with them and with the attachments
---@return string
function M.waits(text, width, first_key)
  local room = first_key and math.max(FEWEST, width - #first_key - 2 * SHORTEST) or width
  return text ~= "" and room >= SHORTEST and (" %s "):format(format.cut(text, room - 2)) or ""
end

return M
