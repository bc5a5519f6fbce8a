-- Finds a place for a float that hides neither the input nor the end of the chat.
local dock = require("agent.chat.dock")
local status_line = require("agent.ui.status_line")
local window = require("agent.chat.window")

local M = {}

--- Columns below which text is unreadable, and those of a comfortable width.
local NARROWEST, COMFORTABLE = 22, 82

--- Over the transcript: below its text if there is room, else over the older part.
---@param windows agent.Windows
---@param rows integer
---@return agent.Room
local function over(windows, rows)
  local win = windows.transcript
  local top, left = unpack(vim.api.nvim_win_get_position(win))
  local line = status_line.rows(win)
  local height = vim.api.nvim_win_get_height(win) - line
  local range = { start_row = vim.fn.line("w0", win) - 1, end_row = vim.fn.line("w$", win) - 1 }
  local text = math.min(height, vim.api.nvim_win_text_height(win, range).all)
  rows = math.min(rows, math.max(window.LOWEST, height - 3))
  local below = height - text >= rows and height - rows or 0
  return { row = top + line + below, col = left, rows = rows, columns = vim.api.nvim_win_get_width(win) }
end

--- Gives the room back.
function M.give_back()
  dock.close()
end

---@param windows agent.Windows on the current tab page
---@param rows integer the most, borders included; 0 gives the room back
---@return agent.Room? room nil if there is none
function M.make(windows, rows)
  if windows.layout ~= "float" then
    if rows == 0 or vim.api.nvim_win_get_width(windows.transcript) < NARROWEST then
      return M.give_back()
    end
    return dock.make(windows, rows) or over(windows, rows)
  end
  local row, free = window.keep_free(windows, rows)
  local chat = vim.api.nvim_win_get_config(windows.transcript)
  local wide = math.min(COMFORTABLE, vim.o.columns)
  if chat.width + 2 >= wide then
    return { row = row, col = chat.col, rows = free, columns = chat.width + 2 }
  end
  return { row = row, col = math.floor((vim.o.columns - wide) / 2), rows = free, columns = wide }
end

return M
