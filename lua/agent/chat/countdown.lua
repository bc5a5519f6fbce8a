-- Counts the seconds before a request is sent again.

---@class agent.Countdown
---@field chat agent.Chat
---@field retry? agent.Retry    the one on screen
---@field clock? uv.uv_timer_t
local Countdown = {}
Countdown.__index = Countdown

---@param chat agent.Chat
---@return agent.Countdown
function Countdown.new(chat)
  return setmetatable({ chat = chat }, Countdown)
end

--- Starts or stops with the retry of the timeline.
function Countdown:update()
  local retry = self.chat.timeline.retry
  if retry == self.retry then
    return
  end
  if self.clock then
    self.clock:close()
  end
  self.retry, self.clock = retry, retry and assert(vim.uv.new_timer())
  local second = vim.schedule_wrap(function()
    if self.chat.timeline.retry == retry then
      self.chat:apply({ { type = "second" } })
    end
  end)
  if retry then
    self.clock:start(1000, 1000, second)
  end
end

return Countdown
