-- Chooses the mode, switches to the next one, and starts a plan.
local client = require("agent.client")
local config = require("agent.config")
local say = require("agent.ui.say")

local M = {}

--- Built-in modes, the same as in protocol/modes.ts.
M.built_in = {
  "agent",
  "ask",
  "plan",
  "explore",
  "deep-explore",
  "deep-explore-write",
  "review",
  "orchestrator",
  "chat",
  "auto",
}

local GO = "Carry out the plan, step by step, and keep it up to date."

---@param chat agent.Chat
---@return string
local function current(chat)
  return chat.timeline.mode or config.get().mode
end

---@param chat agent.Chat
---@return table
local function where(chat)
  return vim.tbl_extend("error", { chat = chat.id, session = chat.timeline.session }, chat:place())
end

--- Sets the mode from the next message on. An update reports the result.
---@param chat agent.Chat
---@param name string
local function set(chat, name)
  chat:apply({ { type = "agent_state", mode = name } })
  chat.phases:act("mode", function(opened)
    client.send(vim.tbl_extend("error", where(opened), { type = "mode", mode = name }))
  end)
end

local CHANGES = { read = "changes nothing", docs = "writes documentation only" }

---@param mode { name: string, title: string, description: string, access: string }
---@return string
local function item(mode)
  local access = CHANGES[mode.access]
  local text = mode.description
  if access and not text:find("changes nothing", 1, true) then
    text = text == "" and access or ("%s (%s)"):format(text, access)
  end
  return ("%-20s %s"):format(mode.name, text)
end

---@param chat agent.Chat
---@param name? string asked for unless told
function M.choose(chat, name)
  if name then
    return set(chat, name)
  end
  client.ask(vim.tbl_extend("error", where(chat), { type = "modes" }), function(update, problem)
    if not update then
      return say.error(problem)
    end
    vim.ui.select(update.modes, {
      prompt = ("Mode (now %s)"):format(update.current),
      format_item = item,
    }, function(mode)
      if mode then
        set(chat, mode.name)
      end
    end)
  end)
end

--- Switches to the next mode.
---@param chat agent.Chat
function M.next(chat)
  local known = chat.timeline.modes or M.built_in
  local at = vim.fn.index(known, current(chat))
  set(chat, known[(at + 1) % #known + 1])
end

--- The modes of the current chat.
---@return string[]
function M.names()
  local chat = require("agent.menus.current").chat()
  return chat and chat.timeline.modes or M.built_in
end

---@param chat agent.Chat
---@param from? integer first block to look at
---@return boolean
local function has_plan(chat, from)
  return vim.iter(vim.list_slice(chat.timeline.blocks, from or 1)):any(function(block)
    return block.kind == "plan"
  end)
end

--- After a turn that has made a plan, says how to start it.
---@param chat agent.Chat
function M.offer_start(chat)
  local begin = 1
  for index, block in ipairs(chat.timeline.blocks) do
    begin = block.kind == "user" and block.status == "done" and index or begin
  end
  if current(chat) == "plan" and has_plan(chat, begin) then
    chat:apply({ { type = "notice", severity = "info", text = "gs or :Agent start carries this plan out." } })
  end
end

--- Starts the plan in mode agent.
---@param chat agent.Chat
function M.start(chat)
  if not has_plan(chat) then
    return say.info("no plan yet: ask for one in mode plan")
  end
  if current(chat) ~= "agent" then
    set(chat, "agent")
  end
  chat:send(GO)
end

return M
