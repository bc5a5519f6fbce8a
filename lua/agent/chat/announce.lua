-- Reports what happens in a chat: `User` events, and notifications while the user looks elsewhere.
local config = require("agent.config")
local events = require("agent.events")
local progress = require("agent.chat.progress")
local say = require("agent.ui.say")

--- True while the terminal has no focus.
local is_away = false
vim.api.nvim_create_autocmd({ "FocusLost", "FocusGained" }, {
  group = vim.api.nvim_create_augroup("agent.announce", {}),
  callback = function(event)
    is_away = event.event == "FocusLost"
  end,
})

--- Sequences for the terminal. OSC 9 with a text is a desktop notification.
local SIGNALS = {
  bell = function()
    return "\a"
  end,
  osc9 = function(text)
    return ("\27]9;%s\27\\"):format((text:gsub("%c", " ")))
  end,
}

--- Notifies a user who looks elsewhere, by the options.
---@param text string
local function signal(text)
  local make = SIGNALS[config.get().ui.notify_with]
  if make then
    vim.api.nvim_ui_send(make(say.line(text)))
  end
end

---@param chat agent.Chat
---@param text string
local function tell(chat, text)
  local is_seen = chat:is_visible()
  text = chat.status:with_project(text)
  if config.get().ui.notify and not is_seen then
    say.info(text)
  end
  if config.get().ui.notify and (is_away or not is_seen) then
    signal(text)
  end
end

--- The end of a turn in words, with the number of changed files.
---@param timeline agent.Timeline
---@param update table
---@return string
local function outcome(timeline, update)
  local last = timeline.blocks[#timeline.blocks]
  if update.error then
    return update.error
  elseif update.reason ~= "end_turn" then
    return last and last.text or update.reason
  end
  for index = #timeline.blocks, 1, -1 do
    local block = timeline.blocks[index]
    if block.kind == "files" then
      return ("done, %d %s changed"):format(#block.files, #block.files == 1 and "file" or "files")
    elseif block.kind == "user" and block.status == "done" then
      break
    end
  end
  return "done"
end

--- The last session and title that AgentSessionChanged has reported of each chat.
---@type table<agent.Chat, { session: string, title: string }>
local reported = setmetatable({}, { __mode = "k" })

--- Emits AgentSessionChanged once for each session and title.
---@param chat agent.Chat
local function session_changed(chat)
  local session, title = chat.timeline.session, chat.timeline.title or ""
  local last = reported[chat]
  if session and not (last and last.session == session and last.title == title) then
    reported[chat] = { session = session, title = title }
    events.emit("AgentSessionChanged", { chat = chat.id, session = session, title = title })
  end
end

---@param chat agent.Chat
---@param update table
return function(chat, update)
  local line = chat.timeline
  progress.tell(chat, update, update.type == "turn_done" and outcome(line, update) or chat.status:state())
  local block = update.type == "tool" and (line.nested[update.id] or line.blocks[line.tools[update.id]])
  if block and update.status == "in_progress" then
    events.emit("AgentToolStart", { chat = chat.id, id = update.id, title = block.title })
  elseif block and (update.status == "completed" or update.status == "failed" or update.status == "stopped") then
    local data = { chat = chat.id, id = update.id, title = block.title, status = update.status }
    events.emit("AgentToolDone", data)
  elseif update.type == "turn_started" then
    events.emit("AgentTurnStart", { chat = chat.id })
  elseif update.type == "turn_done" then
    events.emit("AgentTurnDone", { chat = chat.id, reason = update.reason, error = update.error })
    if update.error then
      events.emit("AgentError", { chat = chat.id, text = update.error })
    end
    chat.peers.turn_done(chat)
    if not chat.is_quiet then
      tell(chat, outcome(chat.timeline, update))
    end
  elseif update.type == "approval" and config.get().ui.notify and (is_away or not chat:is_visible()) then
    -- Neovim shows the approval itself.
    signal(chat.status:with_project("waits for your answer: " .. update.title))
  elseif update.type == "notice" and update.severity == "error" then
    tell(chat, update.text)
  elseif update.type == "ready" then
    local data = { chat = chat.id, root = update.root, provider = update.provider, model = update.model }
    events.emit("AgentReady", data)
    session_changed(chat)
  elseif update.type == "title" then
    session_changed(chat)
  end
end
