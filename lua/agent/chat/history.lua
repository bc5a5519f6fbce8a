-- Loads a stored session: the newest turns first, older ones when the user scrolls up to them.
local client = require("agent.client")
local show_end = require("agent.chat.window").show_end
local timeline = require("agent.timeline")

---@class agent.History
---@field chat agent.Chat
---@field older? integer      position in the session before which turns are not loaded
---@field is_reading? boolean  a request for older turns is running
---@field target? integer     turn to go to once it is loaded
local History = {}
History.__index = History

---@param chat agent.Chat
---@return agent.History
function History.new(chat)
  return setmetatable({ chat = chat }, History)
end

--- Turns of one request, and of one that looks for a certain turn.
local PART, LARGE_PART = 20, 200
--- A window that shows one of these first lines needs older turns.
local NEAR = 5

--- Requests the turns before the loaded ones, at first the newest.
function History:read()
  self.is_reading = true
  self.chat.transcript:show_hint()
  local turns = self.target and LARGE_PART or PART
  local params = { sessionId = self.chat.timeline.session, before = self.older, turns = turns }
  client.request(self.chat, "session_history", params, function(result, problem)
    self.is_reading = false
    if self.chat.is_closed then
      return
    end
    self.chat:revive()
    if result then
      self:show_part(result)
    else
      self.target = nil
      self.chat:apply({ { type = "notice", severity = "error", text = problem } })
    end
  end)
end

--- Reads the session again, in place of the outdated blocks.
function History:reload()
  self.older, self.target = nil, nil
  self:read()
end

---@param part { updates: table[], before?: integer }
function History:show_part(part)
  local line, renderer = self.chat.timeline, self.chat.transcript.renderer
  local following = self.chat.transcript:following()
  local is_reload = line.outdated ~= nil
  if is_reload then
    timeline.drop_outdated(line)
    self.chat.transcript.view = nil
    renderer:clear()
  end
  local count = timeline.prepend(line, timeline.replay(part.updates))
  self.older = part.before
  renderer:prepend(line.blocks, is_reload and #line.blocks or count, part.before ~= nil)
  self.chat.transcript:show_hint()
  self.chat.transcript:follow(following)
  for window in pairs(following) do
    -- The new lines give the window room above.
    show_end(window)
  end
  self.chat.status:show()
  if self.target then
    self:go_to_turn(self.target)
  end
  self:fill()
end

--- Requests older turns if a window shows the first lines.
function History:fill()
  if not self.older or self.is_reading then
    return
  end
  for _, window in ipairs(vim.fn.win_findbuf(self.chat.transcript.buffer)) do
    if vim.fn.line("w0", window) <= NEAR then
      return self:read()
    end
  end
end

--- Puts the cursor on the message of a turn. Reads older turns until it is loaded.
---@param turn integer
function History:go_to_turn(turn)
  local found
  for index, block in ipairs(self.chat.timeline.blocks) do
    if block.turn and block.turn <= turn then
      found = index
    end
  end
  self.target = not found and turn or nil
  if not found and self.older and not self.is_reading then
    self:read()
  elseif found and self.chat:is_open() then
    local window = self.chat.windows.transcript
    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(window, { self.chat.transcript.renderer:row(found) + 1, 0 })
    vim.cmd("normal! zt")
  end
end

--- The turn at the cursor of the transcript.
---@return integer? turn nil if the cursor is elsewhere
---@return string? message the user's message, if the cursor is on one
function History:turn_at_cursor()
  if vim.api.nvim_get_current_buf() ~= self.chat.transcript.buffer then
    return
  end
  local index = self.chat.transcript.renderer:block_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  local block = index and self.chat.timeline.blocks[index]
  if block then
    return timeline.turn_of(self.chat.timeline, index), block.kind == "user" and block.text or nil
  end
end

return History
