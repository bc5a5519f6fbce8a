-- Messages that wait while a turn runs: for its next step, which they steer, or for its end. And the turn that waits
-- for the user to go on. Methods of the chat.
local client = require("agent.client")
local given = require("agent.given")
local input = require("agent.chat.input")
local say = require("agent.say")
local timeline = require("agent.timeline")
local waiting = require("agent.timeline.waiting")

---@class agent.Chat
---@field steered? integer          number of the last message that steers
---@field dropped? table<string, true>  queued messages that are not to come back into the input
---@field paused? "pausing"|"paused"
local M = {}

--- Sends a message into the turn that runs, before its next step. Without a turn, and with what only the beginning of
--- one can take along, it is sent as any other.
---@param text string
function M:steer(text)
  local is_running = self.timeline.state ~= "idle" and self.timeline.state ~= "folding" and self.timeline.session
  if not is_running or self.selected or #given.of(text, self:back()) > 0 then
    return self:send(text)
  end
  input.remember(text)
  self.steered = (self.steered or 0) + 1
  local id = tostring(self.steered)
  self:apply({ { type = "steering", text = text, id = id } })
  self:follow_all()
  local params = { sessionId = self.timeline.session, id = id, text = text }
  client.request(self, "steer", params, function(result, problem)
    local how = result and result["end"]
    if self.is_closed or how == "told" then
      return
    end
    self:apply({ { type = "unsteered", id = id } })
    if how == "ended" then
      return self:send(text)
    end
    self:give_back(text)
    if problem then
      say.error(problem)
    end
  end)
end

--- What stands in the input goes into the turn that runs.
function M:submit_now()
  local text = self.input:take()
  if text then
    self:steer(text)
  end
end

--- A message that was taken back comes into the input, unless it was to be removed. It stays in the history.
---@param text string
function M:give_back(text)
  local is_dropped = self.dropped and self.dropped[text]
  if is_dropped then
    self.dropped[text] = nil
  else
    self.input:add(text)
  end
end

---@param block agent.Block
---@param drop? boolean it does not come into the input
function M:take_back(block, drop)
  self.dropped = self.dropped or {}
  self.dropped[block.text] = drop
  if block.status == "queued" then
    return client.send({ type = "take_back", chat = self.id, text = block.text })
  end
  -- What has become of it the first request tells.
  client.request(self, "steer", { sessionId = self.timeline.session, id = block.id }, function() end)
end

--- What stands in the input is the answer to an approval.
function M:use_typed()
  self.on_typed()
end

--- What stands in the input was used elsewhere: it is empty afterwards, and the history has it.
function M:forget_typed()
  input.remember(assert(self.input:take()))
end

--- Lists what waits; the chosen message comes back into the input.
function M:choose_waiting()
  local list = timeline.waiting(self.timeline)
  if #list == 0 then
    return say.info("no message is waiting")
  end
  vim.ui.select(list, {
    prompt = "Messages that wait (choose one to edit it)",
    format_item = function(block)
      return (block.status == "steering" and "next step  " or "turn's end  ") .. (block.text:gsub("%s*\n.*", " …"))
    end,
  }, function(block)
    if block then
      self:take_back(block)
    end
  end)
end

--- Removes the message under the cursor, if it waits.
function M:drop_waiting()
  local block = self:waiting_at_cursor()
  if not block then
    return say.info("no message under the cursor is waiting")
  end
  self:take_back(block, true)
end

---@return agent.Block?
function M:waiting_at_cursor()
  local index = self.renderer:block_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  local block = index and self.timeline.blocks[index]
  return block and waiting.STATES[block.status] and block or nil
end

--- The turn stands still before its next step, or goes on.
function M:pause()
  local session = self.timeline.session
  if self.timeline.state == "idle" or not session then
    return say.info("no turn is running")
  end
  local wanted = self.paused == nil
  self.paused = wanted and "pausing" or nil
  self:show_state()
  client.request(self, "pause", { sessionId = session, paused = wanted }, function(result, problem)
    if problem then
      say.error(problem)
    end
    if wanted and self.paused then
      self.paused = result and result.paused and "paused" or nil
    end
    self:show_state()
  end)
end

return M
