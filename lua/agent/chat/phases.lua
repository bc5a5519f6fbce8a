-- Runs, holds or refuses an action of the user, by the phase of the chat. Held actions run once the chat is open, or
-- return to the input.
local backlog = require("agent.timeline.backlog")
local say = require("agent.ui.say")
local states = require("agent.timeline.states")

---@class agent.Phases
---@field chat agent.Chat
local Phases = {}
Phases.__index = Phases

---@param chat agent.Chat
---@return agent.Phases
function Phases.new(chat)
  return setmetatable({ chat = chat }, Phases)
end

---@class agent.Opening
---@field is_bound boolean  the user cannot cancel it
---@field what? string      as the transcript names it

---@return agent.Phase
function Phases:current()
  return states.phase(self.chat.timeline)
end

--- Runs an action, or what the phase makes of it.
---@param action string see states.lua
---@param run fun(chat: agent.Chat, verdict: agent.Verdict) may run later, and with another chat
---@param text? string typed by the user, never lost
---@param id? string of the text
---@return agent.Verdict
function Phases:act(action, run, text, id)
  local verdict = self.chat.is_closed and "back" or states.verdict(action, self.chat.timeline)
  if verdict == "hold" then
    id = id or text and self.chat.input:sent_id()
    self.chat:apply({ { type = "backlog_add", item = { action = action, text = text, id = id, run = run } } })
    self.chat.transcript:follow_all()
  elseif verdict == "refuse" then
    say.error(states.refusal(action, self.chat.timeline))
  elseif verdict == "give_up" then
    self:give_up()
  elseif verdict == "back" then
    self:return_texts({ text })
    say.info("the chat is being closed: the message is in the input")
  elseif verdict ~= "nothing" then
    run(self.chat, verdict)
  end
  return verdict
end

--- Holds actions from here on.
---@param is_bound? boolean the user cannot cancel it
---@return agent.Opening
function Phases:begin_opening(is_bound)
  local opening = { is_bound = is_bound == true }
  self.chat:apply({ { type = "opening", opening = opening } })
  return opening
end

--- False once the user has cancelled it.
---@param opening agent.Opening
---@return boolean
function Phases:is_opening(opening)
  return not self.chat.is_closed and vim.list_contains(self.chat.timeline.openings, opening)
end

--- Runs the held actions, or returns them if the opening has failed.
---@param opening agent.Opening
---@param failed? boolean
---@return boolean is_wanted false if the user has cancelled it
function Phases:end_opening(opening, failed)
  if not self:is_opening(opening) then
    return false
  end
  self.chat:apply({ { type = "opened", opening = opening } })
  if failed then
    self:return_texts({})
  elseif self:current() ~= "opening" then
    self:release()
  end
  self.chat:prepare()
  return true
end

function Phases:release()
  for _, one in ipairs(self.chat.timeline.backlog) do
    self.chat:apply({ { type = "backlog_remove", item = one } })
    self:act(one.action, one.run, one.text, one.id)
  end
end

--- Cancels the openings for the user.
function Phases:give_up()
  for _, opening in ipairs(self.chat.timeline.openings) do
    if not opening.is_bound then
      self.chat:apply({ { type = "opened", opening = opening } })
    end
  end
  self:return_texts({})
end

--- Returns messages to the input, the held ones behind them. Held choices run in this chat.
---@param texts string[]
function Phases:return_texts(texts)
  local choices = vim.tbl_filter(function(one)
    return one.text == nil
  end, self.chat.timeline.backlog)
  texts = vim.list_extend(vim.deepcopy(texts), backlog.texts(self.chat.timeline))
  self.chat:apply({ { type = "backlog_remove" } })
  if self.chat.is_closed then
    self.chat:leave(texts)
  elseif #texts > 0 then
    self.chat.input:add(table.concat(texts, "\n\n"))
    self.chat.selections:bring_back(texts)
  end
  for _, one in ipairs(choices) do
    self:act(one.action, one.run)
  end
end

--- Moves the held actions to another chat.
---@param chat agent.Chat
function Phases:hand_over(chat)
  local list = self.chat.timeline.backlog
  self.chat:apply({ { type = "backlog_remove" } })
  local theirs = chat.selections
  theirs.by_message = vim.tbl_extend("keep", theirs.by_message, self.chat.selections.by_message)
  for _, one in ipairs(list) do
    chat.phases:act(one.action, one.run, one.text, one.id)
  end
end

return Phases
