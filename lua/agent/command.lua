-- The :Agent command.
local actions = require("agent.actions")
local arguments = require("agent.arguments")
local sub_commands = require("agent.sub_commands")

local M = {}

--- `:Agent`, `:Agent {sub-command} …`, `:Agent {text}`. A range adds the lines, and `!` sends without opening. Some
--- sub-commands give `!` another meaning. A single word that is nearly a sub-command is not sent, nor is a sub-command with
--- a wrong argument.
---@param command table see nvim_create_user_command
function M.run(command)
  local agent = require("agent")
  local context = command.range > 0 and require("agent.context.attachment").selection(0, command.line1, command.line2) or nil
  local row, rest = actions.read(command.args)
  if row and not (row.ranged and rest ~= "" and (not context or command.bang)) then
    local is_argument, argument = sub_commands.read(row, rest)
    if is_argument then
      return agent[row.name](argument, {
        context = context,
        bang = command.bang,
        typed = true,
        range = context and { first = command.line1, last = command.line2 },
      })
    end
  end
  -- vim.fs would fail at many places.
  if not vim.uv.cwd() then
    return require("agent.ui.say").error("Neovim's working folder was deleted. Choose another one with :cd")
  end
  local problem = not context and sub_commands.refusal(command.args)
  if problem then
    return require("agent.ui.say").error(problem)
  end
  if command.args == "" and not context then
    return agent.open()
  end
  if command.args == "" then
    return agent.open(nil, { context = context })
  end
  local meant = not row and not context and actions.near(command.args)
  if meant then
    local text = "did you mean :Agent %s? To send the word as a message: :Agent send %s"
    return require("agent.ui.say").error(text:format(meant, command.args))
  end
  agent.send(command.args, { context = context, open = not command.bang, steer = command.bang, typed = true })
end

--- The keys of a <Plug> map. In Visual mode the selected lines go along.
---@param words string  of the sub-command
---@return string
function M.keys(words)
  local is_visual = vim.fn.mode():match("^[vV\22]")
  return ("%sAgent %s\r"):format(is_visual and ":" or vim.keycode("<Cmd>"), words)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local typed = line:match("^.*Agent!?%s+(.*)$") or ""
  local first, after = typed:match("^(%S+)%s+(.*)$")
  local phrases = actions.listed(first)
  if first and (#phrases == 0 or after:find("%s")) then
    local row, rest = actions.read(typed)
    local shape = row and arguments.shapes[row.takes]
    if shape and shape.complete then
      return shape.complete(lead, rest)
    end
    local more = shape and shape.values and shape.values(rest) or {}
    phrases, typed = vim.list_extend(more, row and row.words or {}), rest
  else
    typed = after or typed
  end
  -- Of a phrase with several words, the next one.
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
