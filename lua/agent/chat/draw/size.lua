-- The size of a chat.
local config = require("agent.config")

local M = {}

--- Default shares of the screen.
M.FLOAT, M.SPLIT = 0.8, 0.4

--- A float uses the whole width of screens with at most this many columns.
M.NARROW = 60

--- A share of the whole, or an absolute size, within bounds.
---@param size number
---@param whole integer
---@return integer
function M.fit(size, whole)
  local wanted = size <= 1 and math.floor(whole * size) or math.floor(size)
  return math.max(10, math.min(wanted, whole - 2))
end

--- Columns of the chat. Without an option for the width it is limited, because long lines are hard to read.
---@param share number
---@param least? integer if the screen has as many
---@return integer
function M.columns(share, least)
  local options = config.get().ui
  local width = M.fit(options.width or share, vim.o.columns)
  width = options.width and width or math.max(width, math.min(least or 0, vim.o.columns - 2))
  return options.width and width or math.min(width, options.max_width)
end

return M
