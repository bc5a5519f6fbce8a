-- Reports turns as Neovim's progress messages, for statuslines, terminals and plugins. Nothing is written into the
-- last line: the user may type there, and a long message would wait for a key.
local M = {}

--- Source of the messages, and the prefix of their ids. See `:help progress-message`.
local SOURCE, ID = "agent", "agent.chat."

--- The last report of each chat whose turn runs.
---@type table<agent.Chat, string>
local reported = setmetatable({}, { __mode = "k" })

---@param chat agent.Chat
---@param status "running"|"success"|"failed"
---@param text string
---@param percent integer
local function echo(chat, status, text, percent)
  local kept = vim.o.messagesopt
  local quiet = kept:gsub(",?progress:%a*", "") .. ",progress:"
  vim.cmd("noautocmd set messagesopt=" .. quiet)
  local message = { kind = "progress", id = ID .. chat.id, status = status, percent = percent }
  message.source, message.title, message.data = SOURCE, "Agent", { chat = chat.id }
  pcall(vim.api.nvim_echo, { { text } }, false, message)
  vim.cmd("noautocmd set messagesopt=" .. kept)
end

--- The completed part of the plan.
---@param chat agent.Chat
---@return integer percent 0 without a plan
local function percent_of(chat)
  local steps = chat.timeline.steps or {}
  local done = vim.iter(steps):fold(0, function(count, step)
    return count + (step.status == "completed" and 1 or 0)
  end)
  return #steps > 0 and math.floor(100 * done / #steps) or 0
end

--- Streamed text does not change the progress.
local STREAMS = { text = true, thought = true }

--- Reports the progress of a turn if it has changed.
---@param chat agent.Chat
---@param update table that has come
---@param state string in words
function M.tell(chat, update, state)
  if STREAMS[update.type] then
    return
  elseif update.type == "turn_done" then
    local was_running = reported[chat]
    reported[chat] = nil
    if was_running then
      echo(chat, update.reason == "end_turn" and "success" or "failed", state, 100)
    end
  elseif chat.timeline.state ~= "idle" then
    local percent = percent_of(chat)
    local text = chat.plan:line() or chat.timeline.title or ""
    text = text == "" and state or ("%s · %s"):format(text, state)
    local now = ("%d %s"):format(percent, text)
    if reported[chat] ~= now then
      reported[chat] = now
      echo(chat, "running", text, percent)
    end
  end
end

-- A plugin that shows progress may ask to stop the turn.
vim.api.nvim_create_autocmd("Progress", {
  group = vim.api.nvim_create_augroup("agent.progress", {}),
  pattern = SOURCE,
  callback = function(event)
    for chat in pairs(event.data.status == "cancel" and reported or {}) do
      if event.data.id == ID .. chat.id then
        vim.schedule(function()
          chat:stop()
        end)
      end
    end
  end,
})

return M
