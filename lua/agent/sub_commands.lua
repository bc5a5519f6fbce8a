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

--- The problem with the second of two words that call no sub-command, such as "session exprot".
---@param words string
---@return string?
local function group_problem(words)
  local group, name = words:match("^(%S+)%s+(%S+)$")
  for _, known in ipairs(group and actions.listed(group) or {}) do
    if require("agent.config.distance")(name, known) <= 1 then
      return ("did you mean :Agent %s %s?"):format(group, known)
    end
  end
end

--- The error message for words that are a sub-command with a wrong argument, and hardly a message.
---@param words string
---@return string?
function M.refusal(words)
  local row, rest = actions.read(words)
  local problem
  if not row then
    problem = group_problem(words)
  elseif rest ~= "" and not M.read(row, rest) then
    problem = arguments.problem(row, rest)
  end
  return problem and ("%s To send the words as a message: :Agent send %s"):format(problem, words) or nil
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
