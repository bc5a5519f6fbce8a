-- What the user does while a chat is being opened: it waits, and then goes there or comes back into the input.
local held = require("agent.timeline.held")
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
---@field is_bound boolean  it cannot be given up

---@return agent.Phase
function Phases:current()
  return states.phase(self.chat.timeline)
end

--- Does an action, or what the phase makes of it.
---@param action string see states.lua
---@param run fun(chat: agent.Chat, verdict: agent.Verdict) may be called later, of another chat too
---@param text? string of the user's, which must not be lost
---@param id? string of the text
---@return agent.Verdict
function Phases:act(action, run, text, id)
  local verdict = self.chat.is_closed and "back" or states.verdict(action, self.chat.timeline)
  if verdict == "hold" then
    id = id or text and self.chat.input:sent_id()
    self.chat:apply({ { type = "held", held = { action = action, text = text, id = id, run = run } } })
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

--- From here on actions wait.
---@param is_bound? boolean it cannot be given up
---@return agent.Opening
function Phases:begin_opening(is_bound)
  local opening = { is_bound = is_bound == true }
  self.chat:apply({ { type = "opening", opening = opening } })
  return opening
end

--- False once the user has given it up.
---@param opening agent.Opening
---@return boolean
function Phases:is_opening(opening)
  return not self.chat.is_closed and vim.list_contains(self.chat.timeline.openings, opening)
end

--- What waits is done; or comes back, if this has failed.
---@param opening agent.Opening
---@param failed? boolean
---@return boolean wanted false if the user has given it up
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
  for _, one in ipairs(self.chat.timeline.held) do
    self.chat:apply({ { type = "unheld", held = one } })
    self:act(one.action, one.run, one.text, one.id)
  end
end

--- The user waits no longer.
function Phases:give_up()
  for _, opening in ipairs(self.chat.timeline.openings) do
    if not opening.is_bound then
      self.chat:apply({ { type = "opened", opening = opening } })
    end
  end
  self:return_texts({})
end

--- Messages come back into the input, those that wait for the chat to open behind them. A choice is this chat's still.
---@param texts string[]
function Phases:return_texts(texts)
  local choices = vim.tbl_filter(function(one)
    return one.text == nil
  end, self.chat.timeline.held)
  texts = vim.list_extend(vim.deepcopy(texts), held.texts(self.chat.timeline))
  self.chat:apply({ { type = "unheld" } })
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

--- What waits here waits for another chat.
---@param chat agent.Chat
function Phases:hand_over(chat)
  local list = self.chat.timeline.held
  self.chat:apply({ { type = "unheld" } })
  local theirs = chat.selections
  theirs.by_message = vim.tbl_extend("keep", theirs.by_message, self.chat.selections.by_message)
  for _, one in ipairs(list) do
    chat.phases:act(one.action, one.run, one.text, one.id)
  end
end

return Phases
