-- Signs of life: a spinner and seconds where something runs. One timer serves all chats, and only while one with a
-- running turn is visible.
local config = require("agent.config")
local states = require("agent.timeline.states")
local text = require("agent.timeline.lines")

local M = {}

--- Milliseconds between two frames; without frames only the seconds change.
local TICK, SECOND = 150, 1000
--- Blocks from the end in which it looks for running calls.
local MOST_LOOKED_AT = 100

--- States in which the chat waits for anybody but the user.
local BUSY = {
  starting = true,
  working = true,
  retrying = true,
  stopping = true,
  folding = true,
  opening = true,
  closing = true,
}

local namespace = vim.api.nvim_create_namespace("agent.pulse")

---@type uv.uv_timer_t?
local timer
--- Chats with a running turn → start, in milliseconds of uv.now.
---@type table<agent.Chat, integer>
local at_work = setmetatable({}, { __mode = "k" })
--- Time of the last update of such a chat.
---@type table<agent.Chat, integer>
local heard = setmetatable({}, { __mode = "k" })
--- Running blocks → start.
---@type table<agent.Block, integer>
local waits = setmetatable({}, { __mode = "k" })
--- True if a statusline shows the state of a hidden chat.
local is_watched = false

---@param chat agent.Chat
---@return boolean
local function is_busy(chat)
  return BUSY[states.display(chat.timeline)] == true and chat.queue.paused ~= "paused"
end

--- The current frame; nil without frames.
---@return string?
local function frame()
  local frames = config.get().ui.spinner
  return type(frames) == "table" and #frames > 0 and tostring(frames[math.floor(vim.uv.now() / TICK) % #frames + 1])
    or nil
end

--- Nil before the first second is over.
---@param since? integer
---@return string?
local function seconds(since)
  local count = since and math.floor((vim.uv.now() - since) / SECOND) or 0
  return count > 0 and text.seconds(count) or nil
end

--- Extmarks of each transcript.
---@type table<agent.Chat, { buffer: integer, id: integer }[]>
local marked = setmetatable({}, { __mode = "k" })

---@param chat agent.Chat
local function clear(chat)
  for _, mark in ipairs(marked[chat] or {}) do
    if vim.api.nvim_buf_is_valid(mark.buffer) then
      vim.api.nvim_buf_del_extmark(mark.buffer, namespace, mark.id)
    end
  end
  marked[chat] = {}
end

---@param chat agent.Chat
---@param row integer
---@param words string
---@param group string
---@param position "overlay"|"eol"
local function put(chat, row, words, group, position)
  local id = vim.api.nvim_buf_set_extmark(chat.transcript.buffer, namespace, row, 0, {
    virt_text = { { words, group } },
    virt_text_pos = position,
    priority = 210,
  })
  table.insert(marked[chat], { buffer = chat.transcript.buffer, id = id })
end

---@param block agent.Block
---@return boolean
local function is_waiting(block)
  local runs = (block.kind == "tool" or block.kind == "run") and (block.status == "in_progress" or block.status == "pending")
  return runs or (block.kind == "thought" and block.status == "open")
end

--- Marks the first line of a call or a thought.
---@param chat agent.Chat
---@param index integer
local function mark_block(chat, index)
  local block, row = chat.timeline.blocks[index], chat.transcript.renderer:row(index)
  local icon, time = frame(), seconds(waits[block])
  if icon and block.kind ~= "thought" then
    put(chat, row, icon, "AgentToolRunning", "overlay")
  end
  if time then
    put(chat, row, time, "AgentHint", "eol")
  end
end

--- Marks the running lines of the current turn.
---@param chat agent.Chat
local function mark(chat)
  clear(chat)
  local blocks = chat.timeline.blocks
  local last, found
  for index = #blocks, math.max(1, #blocks - MOST_LOOKED_AT), -1 do
    local block = blocks[index]
    local is_passed = block.kind == "moved" or block.status == "queued"
    last = last or (not is_passed and index or nil)
    if is_waiting(block) then
      found = true
      mark_block(chat, index)
    elseif block.kind == "user" and not is_passed then
      break
    end
  end
  -- Growing text needs no sign.
  local is_text = last and blocks[last].kind == "text" and blocks[last].status == "open"
  local time = seconds(heard[chat])
  local sign = table.concat({ frame() or time, frame() and time }, " ")
  if last and not found and not is_text and sign ~= "" then
    local row = chat.transcript.renderer:row(last) + #chat.transcript.renderer:lines(last) - 1
    put(chat, row, sign, "AgentToolRunning", "eol")
  end
end

local function stop()
  if timer then
    timer:close()
    timer = nil
  end
end

local function tick()
  local is_seen = false
  for chat in pairs(at_work) do
    local is_at_work = is_busy(chat)
    if is_at_work and chat.transcript.renderer and chat:is_visible() then
      is_seen = true
      chat.status:show()
      mark(chat)
    elseif is_at_work and is_watched and not chat.is_closed then
      is_seen = true
      vim.cmd.redrawstatus()
    end
  end
  if not is_seen then
    stop()
  end
end

local function start()
  if not timer and config.get().ui.spinner then
    local every = frame() and TICK or SECOND
    timer = assert(vim.uv.new_timer())
    timer:start(every, every, vim.schedule_wrap(function()
      if timer and vim.v.exiting == vim.NIL then
        tick()
      end
    end))
  end
end

--- Starts or updates the signs after an update, or when the chat is shown.
---@param chat agent.Chat
---@param changed? table<integer, true> indexes of blocks
function M.beat(chat, changed)
  local now, is_text = vim.uv.now(), true
  for index in pairs(changed or {}) do
    local block = chat.timeline.blocks[index]
    is_text = is_text and block.kind == "text"
    waits[block] = is_waiting(block) and (waits[block] or now) or nil
  end
  if not is_busy(chat) then
    -- The time that the user takes is part of the turn.
    at_work[chat] = chat.timeline.state == "waiting" and at_work[chat] or nil
    if not vim.iter(at_work):any(is_busy) then
      stop()
    end
    return clear(chat)
  end
  at_work[chat] = at_work[chat] or now
  heard[chat] = changed and next(changed) and now or heard[chat] or now
  start()
  if timer and not is_text and chat:is_visible() then
    mark(chat)
  end
end

--- The state of a chat with its sign of life: "working 12 s ⠋".
---@param chat agent.Chat
---@param words string
---@return string
function M.state(chat, words)
  if not is_busy(chat) or not config.get().ui.spinner then
    return words
  end
  return table.concat(vim.list_extend({ words, seconds(at_work[chat]) }, { frame() }), " ")
end

--- Called by a statusline: redraws it while a hidden chat has a running turn.
function M.watch()
  if not is_watched then
    is_watched = true
    if next(at_work) then
      start()
    end
  end
end

vim.api.nvim_create_autocmd("TabEnter", {
  group = vim.api.nvim_create_augroup("agent.pulse", {}),
  callback = function()
    if next(at_work) then
      start()
    end
  end,
})

return M
