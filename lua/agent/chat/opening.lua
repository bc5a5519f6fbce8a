-- What the user does while a chat is being opened: it waits, and then goes there or comes back into the input. Methods
-- of the chat.
local held = require("agent.timeline.held")
local say = require("agent.ui.say")
local states = require("agent.timeline.states")

---@class agent.Chat
local M = {}

---@class agent.Opening
---@field is_bound boolean  it cannot be given up

---@return agent.Phase
function M:phase()
  return states.phase(self.timeline)
end

--- Does an action, or what the phase makes of it.
---@param action string see states.lua
---@param run fun(chat: agent.Chat, verdict: agent.Verdict) may be called later, of another chat too
---@param text? string of the user's, which must not be lost
---@param id? string of the text
---@return agent.Verdict
function M:act(action, run, text, id)
  local verdict = self.is_closed and "back" or states.verdict(action, self.timeline)
  if verdict == "hold" then
    id = id or text and self.input:sent_id()
    self:apply({ { type = "held", held = { action = action, text = text, id = id, run = run } } })
    self:follow_all()
  elseif verdict == "refuse" then
    say.error(states.refusal(action, self.timeline))
  elseif verdict == "give_up" then
    self:give_up()
  elseif verdict == "back" then
    self:return_texts({ text })
    say.info("the chat is being closed: the message is in the input")
  elseif verdict ~= "nothing" then
    run(self, verdict)
  end
  return verdict
end

--- From here on actions wait.
---@param is_bound? boolean it cannot be given up
---@return agent.Opening
function M:begin_opening(is_bound)
  local opening = { is_bound = is_bound == true }
  self:apply({ { type = "opening", opening = opening } })
  return opening
end

--- False once the user has given it up.
---@param opening agent.Opening
---@return boolean
function M:is_opening(opening)
  return not self.is_closed and vim.list_contains(self.timeline.openings, opening)
end

--- What waits is done; or comes back, if this has failed.
---@param opening agent.Opening
---@param failed? boolean
---@return boolean wanted false if the user has given it up
function M:end_opening(opening, failed)
  if not self:is_opening(opening) then
    return false
  end
  self:apply({ { type = "opened", opening = opening } })
  if failed then
    self:return_texts({})
  elseif self:phase() ~= "opening" then
    self:release()
  end
  self:prepare()
  return true
end

function M:release()
  for _, one in ipairs(self.timeline.held) do
    self:apply({ { type = "unheld", held = one } })
    self:act(one.action, one.run, one.text, one.id)
  end
end

--- The user waits no longer.
function M:give_up()
  for _, opening in ipairs(self.timeline.openings) do
    if not opening.is_bound then
      self:apply({ { type = "opened", opening = opening } })
    end
  end
  self:return_texts({})
end

--- Messages come back into the input, those that wait for the chat to open behind them. A choice is this chat's still.
---@param texts string[]
function M:return_texts(texts)
  local choices = vim.tbl_filter(function(one)
    return one.text == nil
  end, self.timeline.held)
  texts = vim.list_extend(vim.deepcopy(texts), held.texts(self.timeline))
  self:apply({ { type = "unheld" } })
  if self.is_closed then
    self:leave(texts)
  elseif #texts > 0 then
    self.input:add(table.concat(texts, "\n\n"))
    self:selection_unsent(texts)
  end
  for _, one in ipairs(choices) do
    self:act(one.action, one.run)
  end
end

--- What waits here waits for another chat.
---@param chat agent.Chat
function M:hand_over(chat)
  local list = self.timeline.held
  self:apply({ { type = "unheld" } })
  chat.sent_with = vim.tbl_extend("keep", chat.sent_with or {}, self.sent_with or {})
  for _, one in ipairs(list) do
    chat:act(one.action, one.run, one.text, one.id)
  end
end

return M
