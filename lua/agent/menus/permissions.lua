-- Chooses what the session may do unasked. The supervisor holds the choice and confirms it.
local say = require("agent.ui.say")

local M = {}

---@class agent.Permission
---@field name string
---@field doc string
---@field bar? string      the word of the chat's first line
---@field short? string    the same in a narrow window
---@field loosens? string  the question before it takes effect, and its answer
---@field yes? string

---@type agent.Permission[] the same as SESSION_PERMISSIONS in protocol/access.ts
M.all = {
  {
    name = "ask",
    doc = "every write and every command asks; reading the project does not",
    bar = "asks everything",
    short = "asks all",
  },
  { name = "default", doc = "your options and rules decide" },
  {
    name = "commands",
    doc = "commands run unasked, in their sandbox and offline",
    bar = "unasked: commands",
    short = "unasked",
    loosens = "Run commands of this session unasked, in their sandbox and offline?",
    yes = "Run commands unasked",
  },
  {
    name = "sensitive",
    doc = "sensitive files of the project are written unasked",
    bar = "unasked: sensitive",
    short = "unasked",
    loosens = "Write sensitive files of the project unasked in this session, also those that your tools run?",
    yes = "Write sensitive files unasked",
  },
  {
    name = "both",
    doc = "commands and sensitive files",
    bar = "unasked: commands, sensitive",
    short = "unasked: both",
    loosens = "Run commands offline and write sensitive files, also those that your tools run, unasked in this session?",
    yes = "Run commands and write sensitive files unasked",
  },
}

---@param name? string
---@return agent.Permission
local function by_name(name)
  return vim.iter(M.all):find(function(one)
    return one.name == (name or "default")
  end)
end

--- The words of the chat's first line; nil by default.
---@param chat agent.Chat
---@return agent.Permission
function M.current(chat)
  return by_name(chat.timeline.permission)
end

---@return string[]
function M.names()
  return vim.tbl_map(function(one)
    return one.name
  end, M.all)
end

---@param chat agent.Chat
---@param choice agent.Permission
local function set(chat, choice)
  chat.phases:act("permissions", function(opened)
    local where = { chat = opened.id, session = opened.timeline.session }
    local action = { type = "permission", permission = choice.name }
    require("agent.client").send(vim.tbl_extend("error", where, opened:place(), action))
  end)
end

--- Asks before it loosens, never before it tightens.
---@param chat agent.Chat
---@param choice agent.Permission
local function confirm(chat, choice)
  local refusal = chat.timeline.refusal
  if not choice.loosens then
    return set(chat, choice)
  elseif refusal and refusal ~= "" then
    return say.error(refusal)
  end
  vim.ui.select({ "Leave it as it is", choice.yes }, { prompt = choice.loosens }, function(_, answer)
    if answer == 2 then
      set(chat, choice)
    end
  end)
end

---@param chat agent.Chat
---@param name? string  one of `M.names()`; without it a list opens
function M.choose(chat, name)
  if name then
    local choice = vim.list_contains(M.names(), name) and by_name(name)
    if not choice then
      return say.error("permissions takes " .. table.concat(M.names(), ", "):gsub(", (%l+)$", " or %1"))
    end
    return confirm(chat, choice)
  end
  local now, untrusted = M.current(chat), chat.timeline.untrusted or ""
  local asks = untrusted ~= "" and ("; %s: network and sensitive writes ask"):format(untrusted) or ""
  vim.ui.select(M.all, {
    prompt = ("Permissions of this session (now %s)%s"):format(now.name, asks),
    format_item = function(one)
      return ("%-9s %s"):format(one.name, one.doc)
    end,
  }, function(choice)
    if choice then
      confirm(chat, choice)
    end
  end)
end

return M
