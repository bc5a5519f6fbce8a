-- Edits lines in place. Each edit has a chat of its own, which closes after success, and a mark in the buffer shows
-- its progress.
local find = require("agent.reload.find")
local attachment = require("agent.context.attachment")
local projects = require("agent.projects")
local say = require("agent.ui.say")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.in_place")
local FRAMES = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" }
local TICK_MS = 120

---@class agent.InPlace
---@field chat agent.Chat
---@field buffer integer
---@field mark integer
---@field wish string
---@field began integer  in milliseconds

---@type agent.InPlace[]
local running = {}
---@type uv.uv_timer_t?
local clock

---@param job agent.InPlace
---@return integer? first from 0
---@return integer? last
local function lines_of(job)
  if not vim.api.nvim_buf_is_valid(job.buffer) then
    return
  end
  local at = vim.api.nvim_buf_get_extmark_by_id(job.buffer, namespace, job.mark, { details = true })
  if at[1] then
    return at[1], math.max(at[1], at[3].end_row or at[1])
  end
end

---@param job agent.InPlace
local function draw(job)
  local first, last = lines_of(job)
  if not first then
    return
  end
  local now = vim.uv.now() - job.began
  local frame = FRAMES[math.floor(now / TICK_MS) % #FRAMES + 1]
  local text = (" %s %d s  %s"):format(frame, math.floor(now / 1000), vim.fn.strcharpart(job.wish:gsub("%c", " "), 0, 40))
  local count = vim.api.nvim_buf_line_count(job.buffer)
  vim.api.nvim_buf_set_extmark(job.buffer, namespace, first, 0, {
    id = job.mark,
    end_row = math.min(last, count - 1),
    end_col = 0,
    strict = false,
    sign_text = "▸",
    sign_hl_group = "AgentToolRunning",
    virt_text = { { text, "AgentHint" } },
  })
end

local function tick()
  for _, job in ipairs(running) do
    draw(job)
  end
  if #running == 0 and clock then
    clock:close()
    clock = nil
  end
end

--- The result of the turn in one line.
---@param chat agent.Chat
---@return string
local function outcome(chat)
  for index = #chat.timeline.blocks, 1, -1 do
    local block = chat.timeline.blocks[index]
    if block.text and block.text ~= "" and block.kind ~= "user" then
      return (vim.trim(block.text):gsub("\n.*", ""))
    end
  end
  return "nothing was changed"
end

---@param chats table
---@param job agent.InPlace
local function finish(chats, job)
  running = vim.tbl_filter(function(one)
    return one ~= job
  end, running)
  if vim.api.nvim_buf_is_valid(job.buffer) then
    vim.api.nvim_buf_del_extmark(job.buffer, namespace, job.mark)
  end
  tick()
  local text = outcome(job.chat)
  local is_changed = vim.startswith(text, "Changed ")
  local report = is_changed and say.info or say.warn
  report(say.fitting({ text, is_changed and "changed" or "nothing was changed; :Agent chats says why" }))
  -- The chat keeps the details of a failure.
  if is_changed and not job.chat:is_visible() then
    chats.close(job.chat)
  end
end

--- True if lines of a buffer can be changed; reports why not.
---@param buffer integer
---@return boolean
function M.can_edit(buffer)
  if not find.is_file_buffer(buffer) then
    say.error("only lines of a file can be edited in place: write this buffer first")
  elseif not vim.bo[buffer].modifiable then
    say.error("this buffer is not modifiable")
  else
    return true
  end
  return false
end

--- Changes lines of a buffer.
---@param chats table
---@param buffer integer
---@param range { first: integer, last: integer }
---@param wish string the change in words
---@return boolean begun
function M.edit(chats, buffer, range, wish)
  -- It may have closed while the user typed.
  if not vim.api.nvim_buf_is_loaded(buffer) or not M.can_edit(buffer) then
    return false
  end
  local selected = attachment.selection(buffer, range.first, range.last)
  local job
  local chat = chats.background(nil, function()
    vim.schedule(function()
      finish(chats, job)
    end)
  end)
  if not chat.attachments:has_file(selected.path) then
    -- The edit runs in the file's own project.
    chat.timeline.root = projects.of_file(selected.path) or chat.timeline.root
  end
  local mark = vim.api.nvim_buf_set_extmark(buffer, namespace, range.first - 1, 0, {
    end_row = math.min(selected.last, vim.api.nvim_buf_line_count(buffer)) - 1,
    end_col = 0,
    strict = false,
  })
  job = { chat = chat, buffer = buffer, mark = mark, wish = wish, began = vim.uv.now() }
  table.insert(running, job)
  chat:edit({ path = selected.path, line = range.first, text = selected.text, wish = wish })
  draw(job)
  if not clock then
    clock = assert(vim.uv.new_timer())
    clock:start(TICK_MS, TICK_MS, vim.schedule_wrap(tick))
  end
  return true
end

--- Stops the edit at the cursor.
---@return boolean stopped
function M.stop()
  local buffer, line = vim.api.nvim_get_current_buf(), vim.fn.line(".") - 1
  for _, job in ipairs(running) do
    local first, last = lines_of(job)
    if job.buffer == buffer and first and first <= line and line <= last then
      job.chat:stop()
      return true
    end
  end
  return false
end

--- Stops all edits in place.
---@return boolean stopped
function M.stop_all()
  local stopped = #running > 0
  for _, job in ipairs(vim.list_slice(running)) do
    job.chat:stop()
  end
  return stopped
end

return M
