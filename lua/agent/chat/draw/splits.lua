-- Opens the chat's windows as splits.
local config = require("agent.config")
local size = require("agent.chat.draw.size")

local M = {}

local SPLITS = {
  right = { split = "right", vertical = true },
  left = { split = "left", vertical = true },
  bottom = { split = "below", vertical = false },
}

--- Columns and lines from which a split leaves enough room.
local WIDE, TALL = 120, 30

--- The layout of the option. "auto" depends on the screen.
---@return string
function M.layout()
  local layout = config.get().ui.layout
  if layout ~= "auto" then
    return layout
  end
  return vim.o.columns >= WIDE and "right" or vim.o.lines >= TALL and "bottom" or "float"
end

---@param layout string with a row in SPLITS
---@return table size for nvim_open_win()
local function split_size(layout)
  -- A wide screen has room for readable lines.
  local least = vim.o.columns >= WIDE and size.NARROW or nil
  return SPLITS[layout].vertical and { width = size.columns(size.SPLIT, least) }
    or { height = size.fit(config.get().ui.height or size.SPLIT, vim.o.lines) }
end

--- Opens an ordinary window on the other side of the chat, which keeps its size or gets back from the whole screen.
---@param windows agent.Windows
---@return integer window
function M.open_opposite(windows)
  local layout = SPLITS[windows.layout] and windows.layout or "bottom"
  local side = ({ right = "left", left = "right", bottom = "above" })[layout]
  local new = vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), false, { split = side, win = -1 })
  if layout == windows.layout and SPLITS[layout].vertical then
    vim.api.nvim_win_set_width(windows.transcript, split_size(layout).width)
  elseif layout == windows.layout then
    local rows = split_size(layout).height - vim.api.nvim_win_get_height(windows.input) - 1
    vim.api.nvim_win_set_height(windows.transcript, math.max(1, rows))
  end
  return new
end

---@param buffer integer
---@param layout string
---@return integer window
local function open_first(buffer, layout)
  if layout == "tab" then
    vim.cmd("tab split")
    vim.wo.winfixbuf = false
  end
  if layout == "tab" or layout == "current" then
    vim.api.nvim_win_set_buf(0, buffer)
    return vim.api.nvim_get_current_win()
  end
  local place = { split = SPLITS[layout].split, win = -1 }
  return vim.api.nvim_open_win(buffer, false, vim.tbl_extend("error", place, split_size(layout)))
end

--- Called after the screen may have changed its size. A chat beside the user's windows takes its share of them again:
--- Neovim would take all columns from those.
---@param windows agent.Windows
function M.fit(windows)
  if windows.columns and windows.columns ~= vim.o.columns then
    windows.columns = vim.o.columns
    vim.api.nvim_win_set_width(windows.transcript, split_size(windows.layout).width)
  end
end

--- Opens both windows.
---@param windows agent.Windows
---@param transcript integer buffer
---@param input integer buffer
function M.open(windows, transcript, input)
  windows.transcript = open_first(transcript, windows.layout)
  local below = { split = "below", win = windows.transcript, height = config.get().ui.input_height }
  windows.input = vim.api.nvim_open_win(input, false, below)
  vim.wo[windows.input][0].winfixheight = true
  local is_vertical = SPLITS[windows.layout] ~= nil and SPLITS[windows.layout].vertical
  windows.columns = is_vertical and vim.o.columns or nil
  for _, window in ipairs({ windows.transcript, windows.input }) do
    vim.wo[window][0].winfixwidth = is_vertical
  end
end

return M
