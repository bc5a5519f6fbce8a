-- How much of the screen a chat takes.
local config = require("agent.config")

local M = {}

--- Shares of the screen where the user names no size.
M.FLOAT, M.SPLIT = 0.8, 0.4

--- Columns that a screen has at the most to be used whole by a float.
M.NARROW = 60

--- A share of the whole, or an absolute size, kept within what fits.
---@param size number
---@param whole integer
---@return integer
function M.fit(size, whole)
  local wanted = size <= 1 and math.floor(whole * size) or math.floor(size)
  return math.max(10, math.min(wanted, whole - 2))
end

--- Columns of the chat. Longer lines are hard to read: unless the user says how wide it is, it has a limit.
---@param share number
---@param least? integer if there are so many
---@return integer
function M.columns(share, least)
  local options = config.get().ui
  local width = M.fit(options.width or share, vim.o.columns)
  width = options.width and width or math.max(width, math.min(least or 0, vim.o.columns - 2))
  return options.width and width or math.min(width, options.max_width)
end

return M
