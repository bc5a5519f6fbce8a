-- Chooses how much the model thinks before it answers.
local agent_options = require("agent.menus.agent_options")
local client = require("agent.client")
local config = require("agent.config")
local say = require("agent.ui.say")

local M = {}

---@type { name: string, doc: string }[] the same as in protocol/config.ts
local LEVELS = {
  { name = "default", doc = "as the provider has it" },
  { name = "none", doc = "answers at once, where the model can" },
  { name = "low", doc = "thinks little" },
  { name = "medium", doc = "thinks" },
  { name = "high", doc = "thinks much: for what is hard" },
  { name = "max", doc = "thinks as much as it can: slow and dear" },
}

--- The effort of the chat's next message.
---@param chat agent.Chat
---@return string
function M.current(chat)
  for _, option in ipairs(chat.timeline.options or {}) do
    if option.id == "effort" then
      return option.value
    end
  end
  return config.get().effort or "default"
end

---@return string[]
function M.names()
  return vim.tbl_map(function(level)
    return level.name
  end, LEVELS)
end

---@param chat agent.Chat
---@param name string
local function set(chat, name)
  local options = vim.tbl_filter(function(option)
    return option.id ~= "effort"
  end, chat.timeline.options or {})
  table.insert(options, { id = "effort", name = "Effort", value = name })
  chat:apply({ { type = "agent_state", options = options } })
  chat.phases:act("effort", function(opened)
    local where = { chat = opened.id, session = opened.timeline.session }
    client.send(vim.tbl_extend("error", where, opened:place(), { type = "effort", effort = name }))
  end)
  say.info(("effort %s, from the next message on"):format(name))
end

---@param chat agent.Chat
---@param name? string asked for unless told
local function choose_own(chat, name)
  if name then
    return set(chat, name)
  end
  vim.ui.select(LEVELS, {
    prompt = ("Effort (now %s)"):format(M.current(chat)),
    format_item = function(level)
      return ("%-8s %s"):format(level.name, level.doc)
    end,
  }, function(level)
    if level then
      set(chat, level.name)
    end
  end)
end

--- Another agent has levels of its own.
---@return boolean
function M.is_open()
  local chat = require("agent.menus.current").chat()
  return chat ~= nil and agent_options.is_for(chat)
end

---@param chat agent.Chat
---@param name? string asked for unless told
function M.choose(chat, name)
  if agent_options.is_for(chat) then
    return agent_options.think(chat, name)
  end
  choose_own(chat, name)
end

return M
