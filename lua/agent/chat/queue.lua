-- Messages that wait while a turn runs: for its next step, which they steer, or for its end. Also pauses the turn.
local client = require("agent.client")
local input = require("agent.chat.input")
local say = require("agent.ui.say")
local slash = require("agent.chat.complete.slash")
local states = require("agent.timeline.states")
local timeline = require("agent.timeline")
local waiting = require("agent.timeline.waiting")
local window = require("agent.chat.window")

---@class agent.Queue
---@field chat agent.Chat
---@field taken table<string, "edit"|"drop"|"steer">  purpose of each message that is being taken back
---@field paused? "pausing"|"paused"
---@field texts string[]  of messages that wait
local Queue = {}
Queue.__index = Queue

---@param chat agent.Chat
---@return agent.Queue
function Queue.new(chat)
  return setmetatable({ chat = chat, taken = {}, texts = {} }, Queue)
end

--- Messages listed at the input, and characters of each.
local MOST_TEXTS, LONGEST_TEXT = 5, 60

--- Sends a message into the running turn, before its next step. Without a turn it is an ordinary message.
---@param text string
---@param typed? boolean the user has typed all of the text here
function Queue:steer(text, typed)
  if states.verdict("steer", self.chat.timeline) ~= "steer" then
    return self.chat:send(text, { typed = typed })
  end
  input.remember(text)
  -- An earlier message with this text was taken back too late.
  self.taken[text] = nil
  local id = self.chat.input:sent_id()
  self.chat:apply({ { type = "steering", text = text, id = id } })
  self.chat.transcript:follow_all()
  local stops = self.chat.stops
  local action = { type = "steer", chat = self.chat.id, session = self.chat.timeline.session, id = id, text = text }
  local _, along = self.chat.attachments:for_message(text)
  action.given, action.typed = along, typed
  self.chat.selections:keep_for(text)
  client.ask(vim.tbl_extend("error", action, self.chat:place()), function(update, problem)
    local how = update and update.result and update.result["end"]
    problem = problem or update and update.error
    local still_waits = vim.iter(timeline.waiting(self.chat.timeline)):any(function(block)
      return block.status == "steering" and block.id == id
    end)
    -- The loss of the supervisor has already returned it.
    if self.chat.is_closed or how == "told" or not still_waits then
      return
    end
    -- After a stop nothing more is sent.
    local is_next = how == "ended" and self.chat.stops == stops and not self.taken[text]
    if is_next then
      self.chat.selections:bring_back({ text })
      -- It keeps its id, so that its draft on disk does not come back as well.
      self.chat:send(text, { id = id, typed = typed })
    else
      self:give_back(text)
    end
    -- Last, so that the draft has the message at every moment.
    self.chat:apply({ { type = "unsteered", id = id } })
    -- The chat reports a failed turn itself.
    if problem and self.chat.phases:current() ~= "ready" then
      say.error(problem)
    end
  end)
end

--- Sends the text of the input into the running turn, else the first message that waits for the end.
function Queue:submit_now()
  local text = self.chat.input:take()
  if text then
    return slash.call_or(self.chat, text, function()
      self:steer(text, true)
    end)
  end
  local block = vim.iter(timeline.waiting(self.chat.timeline)):find(function(one)
    return one.status == "queued" and not one.backlog_item
  end)
  if block then
    self:take_back(block, "steer")
  end
end

--- Puts a returned message into the input, unless it was taken back for another purpose. It stays in the history.
---@param text string
function Queue:give_back(text)
  local purpose = self.taken[text]
  self.taken[text] = nil
  if purpose == "drop" then
    return
  end
  self.chat.selections:bring_back({ text })
  if purpose == "steer" then
    return self:steer(text)
  end
  self.chat.input:add(text)
end

---@param block agent.Block
---@param purpose "edit"|"drop"|"steer"
function Queue:take_back(block, purpose)
  self.taken[block.text] = purpose
  if block.backlog_item then
    self:give_back(block.text)
    return self.chat:apply({ { type = "backlog_remove", item = block.backlog_item } })
  elseif block.status == "queued" then
    return client.send({ type = "take_back", chat = self.chat.id, text = block.text })
  end
  -- The first request reports the result.
  client.request(self.chat, "steer", { sessionId = self.chat.timeline.session, id = block.id }, function() end)
end

--- Notes the waiting messages for the line at the input.
---@param changed table<integer, true> indexes of blocks
function Queue:note(changed)
  for index in pairs(changed) do
    local kind = self.chat.timeline.blocks[index].kind
    if kind == "user" or kind == "moved" then
      self.texts = vim.tbl_map(function(block)
        return block.text
      end, timeline.waiting(self.chat.timeline))
      return
    end
  end
end

--- Messages wait until the chat is ready.
---@return boolean
function Queue:is_needed()
  return self.chat.phases:current() ~= "ready"
end

function Queue:show_placeholder()
  self.chat.input:show_placeholder(self:is_needed())
end

--- Shows at the input what waits, and the keys of a running turn.
function Queue:show()
  local is_running = self:is_needed()
  self:show_placeholder()
  local texts = is_running and self.texts or {}
  local parts = {}
  if self.paused == "paused" then
    table.insert(parts, "paused (gz resumes)")
  end
  if #texts > 0 then
    local words = vim.tbl_map(function(text)
      return vim.fn.strcharpart(vim.trim(text):gsub("%s+", " "), 0, LONGEST_TEXT)
    end, vim.list_slice(texts, 1, MOST_TEXTS))
    table.insert(parts, ("%d waiting (gm): %s"):format(#texts, table.concat(words, " · ")))
  end
  window.say_waiting(self.chat.windows, table.concat(parts, " · "), is_running)
end

--- Lists the waiting messages; the chosen one returns to the input.
function Queue:choose()
  local list = timeline.waiting(self.chat.timeline)
  if #list == 0 then
    return say.info("no message is waiting")
  end
  vim.ui.select(list, {
    prompt = "Messages that wait (choose one to edit it)",
    format_item = function(block)
      local when = block.backlog_item and "when open  " or block.status == "steering" and "next step  " or "turn's end  "
      return when .. (block.text:gsub("\n.*", " …"))
    end,
  }, function(_, index)
    -- A picker may return a copy, which is not the block of the timeline.
    local block = index and list[index]
    if block then
      self:take_back(block, "edit")
    end
  end)
end

--- Removes the waiting message under the cursor.
function Queue:drop()
  local block = self:at_cursor()
  if not block then
    return say.info("no message under the cursor is waiting")
  end
  self:take_back(block, "drop")
end

---@return agent.Block?
function Queue:at_cursor()
  local index = self.chat.transcript.renderer:block_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  local block = index and self.chat.timeline.blocks[index]
  return block and waiting.STATES[block.status] and block or nil
end

--- Pauses the turn before its next step, or resumes it.
function Queue:pause()
  local session = self.chat.timeline.session
  if self.chat.timeline.state == "idle" or not session then
    return say.info("no turn is running")
  end
  local wanted = self.paused == nil
  self.paused = wanted and "pausing" or nil
  self.chat.status:show()
  local stops = self.chat.stops
  if not self.chat:is_visible() then
    say.info(wanted and "the turn pauses before its next step" or "the turn continues")
  end
  client.request(self.chat, "pause", { sessionId = session, paused = wanted }, function(result, problem)
    if problem then
      say.error(problem)
    end
    if wanted and self.paused then
      self.paused = result and result.paused and "paused" or nil
      if result and not result.paused and self.chat.stops == stops then
        say.info("nothing to pause: the turn has not begun, or is over")
      end
    end
    self.chat.status:show()
  end)
end

return Queue
