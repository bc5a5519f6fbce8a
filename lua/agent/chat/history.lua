-- The stored part of a session: the newest turns first, older ones when somebody scrolls up to them. Methods
-- of the chat.
local announce = require("agent.chat.announce")
local client = require("agent.client")
local timeline = require("agent.timeline")

---@class agent.Chat
local M = {}

--- Turns that are asked for at once, and when a certain one is looked for.
local PART, LARGE_PART = 20, 200
--- A window that shows one of these first lines wants to see what is above.
local NEAR = 5

--- Shows a stored session of the chat's project, and goes on with it.
---@param session { sessionId: string, title: string }
function M:restore(session)
  self.timeline.session, self.timeline.title = session.sessionId, session.title
  announce(self, { type = "title" })
  self:read()
  self:take_draft()
end

--- Asks for the part before what is here, at first for the newest one.
function M:read()
  self.reading = true
  local turns = self.target and LARGE_PART or PART
  local params = { sessionId = self.timeline.session, before = self.older, turns = turns }
  client.request(self, "session_history", params, function(result, problem)
    self.reading = false
    if self.is_closed then
      return
    end
    self:revive()
    if result then
      self:show_part(result)
    else
      self.target = nil
      self:apply({ { type = "notice", severity = "error", text = problem } })
    end
  end)
end

---@param part { updates: table[], before?: integer }
function M:show_part(part)
  local following = self:following()
  local count = timeline.prepend(self.timeline, timeline.replay(part.updates))
  self.older = part.before
  self.renderer:prepend(self.timeline.blocks, count, part.before ~= nil)
  self:follow(following)
  for window in pairs(following) do
    -- There is room above for what has come.
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! zb")
    end)
  end
  self:show_state()
  if self.target then
    self:go_to_turn(self.target)
  end
  self:fill()
end

--- Asks for an older part if a window shows the beginning of what is here.
function M:fill()
  if not self.older or self.reading then
    return
  end
  for _, window in ipairs(vim.fn.win_findbuf(self.transcript)) do
    if vim.fn.line("w0", window) <= NEAR then
      return self:read()
    end
  end
end

--- Puts the cursor of the transcript on a turn's message; reads older parts until it is there.
---@param turn integer
function M:go_to_turn(turn)
  local found
  for index, block in ipairs(self.timeline.blocks) do
    if block.turn and block.turn <= turn then
      found = index
    end
  end
  self.target = not found and turn or nil
  if not found and self.older and not self.reading then
    self:read()
  elseif found and self:is_open() then
    local window = self.windows.transcript
    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(window, { self.renderer:row(found) + 1, 0 })
    vim.cmd("normal! zt")
  end
end

--- The turn at the cursor of the transcript.
---@return integer? turn nil if the cursor is elsewhere
---@return string? message the user's, if the cursor is on one
function M:turn_at_cursor()
  if vim.api.nvim_get_current_buf() ~= self.transcript then
    return
  end
  local index = self.renderer:block_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  local block = index and self.timeline.blocks[index]
  if block then
    return timeline.turn_of(self.timeline, index), block.kind == "user" and block.text or nil
  end
end

return M
