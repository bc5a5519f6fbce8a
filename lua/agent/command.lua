-- The :Agent command.
local arguments = require("agent.arguments")

local M = {}

---@param name string
---@return agent.Action?
local function action(name)
  for _, row in ipairs(require("agent.actions")) do
    if row.name == name then
      return row
    end
  end
end

--- Whether words after the name of a sub-command are for it, and not a message that begins with this name.
---@param row agent.Action
---@param words string
---@return boolean is_its
---@return string? argument
local function takes(row, words)
  if words == "" then
    return true
  end
  local argument = arguments.read(row, words)
  if row.answers then
    local approval = package.loaded["agent.approval"]
    return approval ~= nil and approval.count() > 0, argument
  end
  return argument ~= nil, argument
end

--- Those that may stand behind a slash in the input: no prompts themselves, and without need of lines.
---@return agent.Action[]
function M.slashed()
  local prompts = require("agent.menus.prompts").names
  return vim.tbl_filter(function(row)
    return not row.ranged and not vim.list_contains(prompts, row.name)
  end, require("agent.actions"))
end

--- What does as the sub-command says that these words call; nil if they are a message.
---@param words string
---@return fun()?
function M.called(words)
  local name, rest = words:match("^(%S+)%s*(.*)$")
  local row = vim.iter(M.slashed()):find(function(each)
    return each.name == name
  end)
  local is_its, argument
  if row then
    is_its, argument = takes(row, rest)
  end
  return is_its and function()
    require("agent")[name](argument)
  end or nil
end

--- `:Agent`, `:Agent {sub-command} …`, `:Agent {text}`; a range adds the lines, `!` sends without opening;
--- to some sub-commands it means something else.
---@param command table see nvim_create_user_command
function M.run(command)
  local agent = require("agent")
  local context = command.range > 0 and require("agent.context.given").selection(0, command.line1, command.line2) or nil
  local name, rest = command.args:match("^(%S+)%s*(.*)$")
  local row = name and action(name)
  if row and not (row.ranged and rest ~= "" and (not context or command.bang)) then
    local is_its, argument = takes(row, rest)
    if is_its then
      return agent[row.name](argument, {
        context = context,
        bang = command.bang,
        range = context and { first = command.line1, last = command.line2 },
      })
    end
  end
  if command.args == "" and not context then
    return agent.open()
  end
  if command.args == "" then
    return agent.open(nil, { context = context })
  end
  agent.send(command.args, { context = context, open = not command.bang, steer = command.bang })
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = line:match("^.*Agent!?%s+(.*)$") or ""
  local name, rest = before:match("^(%S+)%s+(.*)$")
  local row = name and action(name)
  local shape = row and arguments.shapes[row.takes]
  if shape and shape.complete then
    return shape.complete(lead, rest)
  end
  local phrases = row and row.words
    or not name and vim.tbl_map(function(each)
      return each.name
    end, require("agent.actions"))
    or {}
  -- Of a phrase of several words, the one that is next.
  local typed = name and rest or before
  local words = {}
  for _, phrase in ipairs(phrases) do
    local word = vim.startswith(phrase, typed) and phrase:sub(#typed - #lead + 1):match("^%S+")
    if word and not vim.list_contains(words, word) then
      table.insert(words, word)
    end
  end
  return words
end

return M
