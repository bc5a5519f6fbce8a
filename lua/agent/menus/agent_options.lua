-- Chooses among the options that another agent lists, such as how much it thinks.
local client = require("agent.client")
local config = require("agent.config")
local say = require("agent.ui.say")

local M = {}

--- Whether the session is another agent's.
---@param chat agent.Chat
---@return boolean
function M.is_for(chat)
  if chat.timeline.provider then
    return chat.timeline.agent == true
  end
  return config.get().agent ~= nil
end

---@class agent.AgentValue
---@field value string
---@field name string
---@field description? string

---@class agent.AgentOption see protocol/results/agent_options.ts
---@field id string
---@field name string
---@field description? string
---@field category string
---@field current string
---@field values agent.AgentValue[]

---@class agent.AgentOptions
---@field title? string    the agent's; nil: the session has no other agent
---@field options agent.AgentOption[]
---@field mode? string
---@field asks boolean
---@field notes string[]

--- Options that have sub-commands of their own.
local OWN = { model = true, thought_level = true }

--- In the chat: the answer may come while the user types, when a message would be lost at once.
---@param chat agent.Chat
---@param severity "info"|"warning"|"error"
---@param text string
function M.tell(chat, severity, text)
  if chat:is_visible() then
    return chat:apply({ { type = "notice", severity = severity, text = text } })
  end
  say[severity == "warning" and "warn" or severity](text)
end

--- Asks the supervisor about the other agent. Problems and notes go to the chat.
---@param chat agent.Chat
---@param action table
---@param done fun(update: table)
function M.ask(chat, action, done)
  local place = vim.tbl_extend("error", { chat = chat.id, session = chat.timeline.session }, chat:place())
  client.ask(vim.tbl_extend("error", action, place), function(update, problem)
    problem = problem or update.problem
    if problem then
      return M.tell(chat, "error", problem)
    end
    for _, note in ipairs(update.notes or {}) do
      M.tell(chat, "warning", note)
    end
    done(update)
  end)
end

---@param chat agent.Chat
---@param change? { id: string, value: string }
---@param done fun(update: agent.AgentOptions)
local function ask(chat, change, done)
  M.ask(chat, { type = "agent_options", change = change }, done)
end

---@param chat agent.Chat
local function no_other(chat)
  M.tell(chat, "info", "Only other agents have options of their own. See `:Agent model`, `effort` and `mode`.")
end

---@param option agent.AgentOption
---@param value string
---@return agent.AgentValue?
local function find(option, value)
  return vim.iter(option.values):find(function(one)
    return one.value == value
  end)
end

---@param option agent.AgentOption
---@param value string
---@return string
local function name_of(option, value)
  local one = find(option, value)
  return one and one.name or value
end

---@param chat agent.Chat
---@param title string
---@param option agent.AgentOption
---@param value string
local function set(chat, title, option, value)
  ask(chat, { id = option.id, value = value }, function()
    M.tell(chat, "info", ("%s of %s: %s."):format(option.name, title, name_of(option, value)))
  end)
end

---@param chat agent.Chat
---@param title string
---@param option agent.AgentOption
local function choose_value(chat, title, option)
  vim.ui.select(option.values, {
    prompt = ("%s of %s (now %s)"):format(option.name, title, name_of(option, option.current)),
    format_item = function(one)
      local mark = one.value == option.current and "*" or "-"
      return vim.trim(("%s %s  %s"):format(mark, one.name, one.description or ""))
    end,
  }, function(one)
    if one then
      set(chat, title, option, one.value)
    end
  end)
end

---@param chat agent.Chat
---@param level? string
local function think(chat, level)
  ask(chat, nil, function(update)
    if not update.title then
      return no_other(chat)
    end
    local option = vim.iter(update.options):find(function(one)
      return one.category == "thought_level"
    end)
    if not option then
      return M.tell(chat, "info", ("%s decides itself how much it thinks."):format(update.title))
    elseif level and not find(option, level) then
      local levels = vim.tbl_map(function(one)
        return one.value
      end, option.values)
      local text = "Unknown level %s. %s has %s."
      return M.tell(chat, "error", text:format(level, update.title, table.concat(levels, ", ")))
    elseif level then
      return set(chat, update.title, option, level)
    end
    choose_value(chat, update.title, option)
  end)
end

--- Chooses how much the agent thinks.
---@param chat agent.Chat
---@param level? string  asked for unless told
function M.think(chat, level)
  chat.phases:act("effort", function(opened)
    think(opened, level)
  end)
end

--- Says why the mode cannot be chosen.
---@param update agent.AgentOptions
---@return string
local function about_mode(update)
  if update.asks then
    return ("its mode stays %s, in which it asks; :Agent mode plan lets it plan"):format(update.mode)
  end
  return ("its mode %s stays: which of its modes ask is unknown"):format(update.mode)
end

---@param chat agent.Chat
local function choose(chat)
  ask(chat, nil, function(update)
    if not update.title then
      return no_other(chat)
    end
    local rows = vim.tbl_filter(function(option)
      return not OWN[option.category] and #option.values > 0
    end, update.options)
    if #rows == 0 then
      local text = update.title .. " has no options"
      return M.tell(chat, "info", update.mode and ("%s; %s."):format(text, about_mode(update)) or text .. ".")
    end
    vim.ui.select(rows, {
      prompt = update.mode and ("Options of %s (%s)"):format(update.title, about_mode(update))
        or "Options of " .. update.title,
      format_item = function(option)
        return ("%s: %s"):format(option.name, name_of(option, option.current))
      end,
    }, function(option)
      if option then
        choose_value(chat, update.title, option)
      end
    end)
  end)
end

--- Lists the options without those that have sub-commands of their own; the chosen one gets another value.
---@param chat agent.Chat
function M.choose(chat)
  chat.phases:act("options", choose)
end

return M
