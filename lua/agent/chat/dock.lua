-- An empty window below the transcript of a chat in a split, to hold a float. It takes its rows from the windows
-- around it and gives them back.
local scratch = require("agent.ui.scratch")
local status_line = require("agent.ui.status_line")

local M = {}

--- Lines of text that the transcript keeps if it had them.
local READABLE = 3
--- Rows that the dock gets before the transcript gets more than those.
local LEAST = 5

---@class agent.Dock
---@field window integer
---@field rows integer         requested
---@field screen integer       lines of Neovim when it opened
---@field before table<integer, integer>  heights of the tab page's windows without the dock
---@field after table<integer, integer>   heights with the dock

---@type agent.Dock?
local dock

---@param tab integer
---@return table<integer, integer>
local function heights(tab)
  local all = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    if vim.api.nvim_win_get_config(window).relative == "" then
      all[window] = vim.api.nvim_win_get_height(window)
    end
  end
  return all
end

---@return boolean
local function is_there()
  return dock ~= nil and vim.api.nvim_win_is_valid(dock.window)
end

--- Gives the rows back, except to windows that somebody has resized.
function M.close()
  local old = dock
  dock = nil
  if not old or not vim.api.nvim_win_is_valid(old.window) then
    return
  end
  local tab = vim.api.nvim_win_get_tabpage(old.window)
  local is_as_left = vim.o.lines == old.screen and vim.deep_equal(heights(tab), old.after)
  -- Keeps Neovim from making all other windows equally high: see win_close() in Neovim's src/nvim/window.c.
  local direction = vim.o.eadirection
  vim.o.eadirection = "hor"
  pcall(vim.api.nvim_win_close, old.window, true)
  vim.o.eadirection = direction
  if not is_as_left then
    return
  end
  -- Twice, as |winrestcmd()| does: one window may need rows that another one still has.
  for _ = 1, 2 do
    for window, height in pairs(old.before) do
      vim.api.nvim_win_set_height(window, height)
    end
  end
end

---@return integer buffer
local function new_buffer()
  local buffer = scratch("dock")
  vim.bo[buffer].modifiable = false
  return buffer
end

---@param windows agent.Windows
---@param rows integer
---@return integer? window nil if there is no room
local function open(windows, rows)
  local least = READABLE + status_line.rows(windows.transcript)
  local readable = math.min(least, vim.api.nvim_win_get_height(windows.transcript))
  local config = { split = "below", win = windows.transcript, height = 1, noautocmd = true }
  local is_open, window = pcall(vim.api.nvim_open_win, new_buffer(), false, config)
  if not is_open then
    return
  end
  vim.wo[window].winfixheight = true
  vim.wo[window].winfixbuf = true
  vim.wo[window].fillchars = "eob: "
  for _, name in ipairs({ "number", "relativenumber", "cursorline", "list" }) do
    vim.api.nvim_set_option_value(name, false, { win = window, scope = "local" })
  end
  vim.api.nvim_win_set_height(window, rows)
  if vim.api.nvim_win_get_height(windows.transcript) < readable then
    vim.api.nvim_win_set_height(windows.transcript, readable)
  end
  if vim.api.nvim_win_get_height(window) < math.min(LEAST, rows) then
    vim.api.nvim_win_set_height(window, math.min(LEAST, rows))
  end
  return window
end

--- Opens the dock with at most this many rows of the screen, its status line included.
---@param windows agent.Windows of a chat in a split
---@param rows integer
---@return agent.Room? room nil if there is none
function M.make(windows, rows)
  local tab = vim.api.nvim_win_get_tabpage(windows.transcript)
  if not (is_there() and dock.rows == rows and vim.api.nvim_win_get_tabpage(dock.window) == tab) then
    M.close()
    local before = heights(tab)
    local window = open(windows, math.max(1, rows - 1))
    if not window then
      return
    end
    dock = { window = window, rows = rows, screen = vim.o.lines, before = before, after = heights(tab) }
  end
  local row, column = unpack(vim.api.nvim_win_get_position(dock.window))
  local height, width = vim.api.nvim_win_get_height(dock.window), vim.api.nvim_win_get_width(dock.window)
  return { row = row, col = column, rows = height + 1, columns = width, window = dock.window }
end

return M
