-- The public API: each function is something that a user may do, see actions.lua.
local M = {}

--- Loads what listens to the supervisor, once.
---@return table chats
local function ready()
  require("agent.editor")
  local approval = require("agent.approval")
  local chats = require("agent.chat")
  local chat = chats.get()
  chat.on_tab = approval.focus
  return chats
end

--- Sets options; see |agent-options|. Not needed for the defaults.
---@param options? table
function M.setup(options)
  vim.validate("options", options, "table", true)
  local problems = require("agent.config").set(options)
  for _, problem in ipairs(problems) do
    vim.notify("agent: " .. problem .. " (see :help agent-options)", vim.log.levels.ERROR)
  end
end

--- Opens the chat and goes to its input.
---@param _? string
---@param extra? { context?: string }
function M.open(_, extra)
  local chat = ready().get()
  chat:open()
  if extra and extra.context then
    chat.input:add(extra.context .. "\n")
  end
  if chat.input:is_empty() then
    vim.cmd.startinsert()
  end
end

--- Opens the chat, or hides it; a turn goes on.
function M.toggle()
  local chat = ready().get()
  if chat:is_open() then
    chat:hide()
  else
    M.open()
  end
end

--- Begins a new conversation. The old one goes on in the background.
function M.new()
  ready().new()
  M.open()
end

--- Stops the turn of the current conversation at once.
function M.stop()
  local chat = ready().get()
  chat:stop()
end

--- Sends the text, or what stands in the input; opens the chat unless told not to.
---@param text? string
---@param extra? { context?: string, open?: boolean }
function M.send(text, extra)
  vim.validate("text", text, "string", true)
  local chat = ready().get()
  if not text then
    return chat:submit()
  end
  if extra and extra.context then
    text = text .. "\n\n" .. extra.context
  end
  if not (extra and extra.open == false) then
    chat:open()
  end
  chat:send(text)
end

local function nothing_waits()
  vim.notify("agent: nothing waits for an answer")
end

--- Goes to the approval that waits.
function M.approval()
  ready()
  if not require("agent.approval").focus() then
    nothing_waits()
  end
end

--- Allows what waits: once, or with "session" for this session.
---@param scope? string
function M.approve(scope)
  ready()
  if scope and scope ~= "session" then
    return vim.notify('agent: approve takes nothing or "session"', vim.log.levels.ERROR)
  end
  if not require("agent.approval").approve(scope) then
    nothing_waits()
  end
end

--- Rejects what waits; the agent is told the reason.
---@param reason? string
function M.reject(reason)
  ready()
  if require("agent.approval").count() == 0 then
    return nothing_waits()
  end
  require("agent.approval").reject(reason)
end

function M.health()
  vim.cmd.checkhealth("agent")
end

--- One line for a statusline: model, tokens, state; empty before the first use.
---@return string
function M.status()
  local chats = package.loaded["agent.chat"]
  local chat = chats and chats.current()
  return chat and chat:status() or ""
end

return M
