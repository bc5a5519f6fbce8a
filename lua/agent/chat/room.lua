-- Where something may stand that must hide neither the input nor the end of the chat.
local window = require("agent.chat.window")

local M = {}

--- Columns and rows below which a place is too small to read in.
local NARROWEST, LOWEST = 40, 6

---@class agent.Box
---@field top integer
---@field left integer
---@field bottom integer  exclusive
---@field right integer   exclusive

---@param win integer
---@return agent.Box
local function box(win)
  local top, left = unpack(vim.api.nvim_win_get_position(win))
  local bottom = top + vim.api.nvim_win_get_height(win)
  return { top = top, left = left, bottom = bottom, right = left + vim.api.nvim_win_get_width(win) }
end

--- Over the transcript: below its text if that leaves room, else over the older part of it.
---@param windows agent.Windows
---@param rows integer
---@return agent.Room
local function over(windows, rows)
  local at = box(windows.transcript)
  -- The winbar is above the text.
  local top, height = at.top + 1, at.bottom - at.top - 1
  local first, last = vim.fn.line("w0", windows.transcript), vim.fn.line("w$", windows.transcript)
  local range = { start_row = first - 1, end_row = last - 1 }
  local text = math.min(height, vim.api.nvim_win_text_height(windows.transcript, range).all)
  rows = math.min(rows, math.max(LOWEST, height - 3))
  local row = height - text >= rows and at.bottom - rows or top
  return { row = row, col = at.left, rows = rows, columns = at.right - at.left }
end

--- Beside the windows of the chat, over those of the user.
---@param windows agent.Windows
---@param rows integer
---@return agent.Room?
local function beside(windows, rows)
  local above, below = box(windows.transcript), box(windows.input)
  if above.left >= NARROWEST then
    local height = math.min(rows, below.bottom)
    return { row = below.bottom - height, col = 0, rows = height, columns = above.left - 1 }
  elseif vim.o.columns - above.right > NARROWEST then
    local height = math.min(rows, below.bottom)
    local columns = vim.o.columns - above.right - 1
    return { row = below.bottom - height, col = above.right + 1, rows = height, columns = columns }
  elseif above.top > LOWEST then
    local height = math.min(rows, above.top - 1)
    return { row = above.top - 1 - height, col = above.left, rows = height, columns = above.right - above.left }
  end
end

---@param windows agent.Windows of the tab page that is shown
---@param rows integer so many at most, borders included; 0 gives the room back
---@return agent.Room
function M.make(windows, rows)
  if windows.layout ~= "float" then
    return beside(windows, rows) or over(windows, rows)
  end
  local row, free = window.keep_free(windows, rows)
  return { row = row, col = 0, rows = free, columns = vim.o.columns }
end

return M
