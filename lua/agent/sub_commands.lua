-- Finds the sub-command of :Agent that words call.
local actions = require("agent.actions")
local arguments = require("agent.arguments")

local M = {}

--- True if the words after a name are its argument, and not a message that begins with the name.
---@param row agent.Action
---@param words string
---@return boolean is_argument
---@return string? argument
function M.read(row, words)
  if words == "" then
    return true
  end
  local argument = arguments.read(row, words)
  if row.answers then
    return require("agent.approval.queue").count() > 0, argument
  end
  return argument ~= nil, argument
end

--- Sub-commands for the input, after a slash: no prompts, and none that needs lines.
---@return agent.Action[]
function M.in_input()
  local prompts = require("agent.menus.prompts").names
  return vim.tbl_filter(function(row)
    return not row.ranged and not vim.list_contains(prompts, row.name)
  end, actions.all)
end

--- The sub-command that the words of the input call; nil if they are a message.
---@param words string
---@return agent.Action?
---@return string? argument
function M.find(words)
  local row, rest = actions.read(words)
  if row and vim.list_contains(M.in_input(), row) then
    local is_argument, argument = M.read(row, rest)
    if is_argument then
      return row, argument
    end
  end
end

return M
