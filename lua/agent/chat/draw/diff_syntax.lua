-- Highlights the code of an expanded diff.
local diff_syntax = require("agent.ui.diff_syntax")

local M = {}

--- Column of the sign, after the indent.
local SIGN = 2

--- Highlights the lines of a block below its first one.
---@param buffer integer
---@param namespace integer
---@param block agent.Block
---@param lines string[] of the block
---@param row integer of the first one
function M.draw(buffer, namespace, block, lines, row)
  local location = block.locations and block.locations[1]
  if location and #lines > 1 then
    diff_syntax.draw({
      buffer = buffer,
      namespace = namespace,
      path = location.path,
      lines = vim.list_slice(lines, 2),
      row = row + 1,
      sign = SIGN,
    })
  end
end

return M
