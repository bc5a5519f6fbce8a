--- Compares and merges texts in a buffer's format. Pure.
local merge = require("agent.reload.merge")

local M = {}

---@param a agent.reload.Text
---@param b agent.reload.Text
---@return boolean
function M.same(a, b)
  if #a.lines ~= #b.lines or not vim.deep_equal(a.format, b.format) then
    return false
  end
  for i, line in ipairs(a.lines) do
    if line ~= b.lines[i] then
      return false
    end
  end
  return true
end

--- Merges text and options: takes the file's changes, and keeps everything else from the user.
---@param base agent.reload.Text
---@param mine agent.reload.Text
---@param theirs agent.reload.Text
---@return agent.reload.Text merged
---@return agent.merge.Conflict[]
function M.merge(base, mine, theirs)
  local result = merge.merge3(base.lines, mine.lines, theirs.lines)
  local format = vim.deepcopy(mine.format)
  for _, name in ipairs({ "fileformat", "endofline", "endoffile" }) do
    if theirs.format[name] ~= base.format[name] then
      format[name] = theirs.format[name]
    end
  end
  return { lines = result.lines, format = format }, result.conflicts
end

return M
