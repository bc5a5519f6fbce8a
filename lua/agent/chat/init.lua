-- The chats of this Neovim, and what comes for them.
local announce = require("agent.chat.announce")
local Chat = require("agent.chat.chat")
local client = require("agent.client")
local room = require("agent.chat.room")
local timeline = require("agent.timeline")
local window = require("agent.chat.window")

local M = {}

---@type table<integer, agent.Chat>
local chats = {}
---@type agent.Chat?
local current
local last_id = 0

--- One that is not the current one.
---@return agent.Chat
function M.background()
  require("agent.highlights").define()
  last_id = last_id + 1
  local chat = Chat.new(last_id)
  chats[chat.id] = chat
  return chat
end

---@return agent.Chat
function M.new()
  local chat = M.background()
  M.switch(chat)
  return chat
end

--- The chat that shows this session, if there is one.
---@param session string
---@return agent.Chat?
function M.of(session)
  return vim.iter(M.list()):find(function(chat)
    return chat.timeline.session == session
  end)
end

--- Removes a chat and its buffers; what is stored stays.
---@param chat agent.Chat
function M.close(chat)
  client.send({ type = "close", chat = chat.id })
  chat:hide()
  chats[chat.id], chat.is_closed = nil, true
  if current == chat then
    current = M.list()[#M.list()]
  end
  for _, buffer in ipairs({ chat.transcript, chat.input.buffer }) do
    pcall(vim.api.nvim_buf_delete, buffer, { force = true })
  end
end

--- The chat of this number, or the current one, made if there is none.
---@param id? integer
---@return agent.Chat
function M.get(id)
  if id then
    return chats[id]
  end
  local chat = current or M.new()
  chat:revive()
  return chat
end

--- Every chat of this Neovim, oldest first.
---@return agent.Chat[]
function M.list()
  local list = vim.tbl_values(chats)
  table.sort(list, function(a, b)
    return a.id < b.id
  end)
  return list
end

--- Makes a chat the current one; the other one is hidden and goes on.
---@param chat agent.Chat
function M.switch(chat)
  if current and current ~= chat then
    current:hide()
  end
  current = chat
end

--- Room for something that must not hide the chat, if that is in view.
---@param rows integer so many at most, 0 to give it back
---@return agent.Room?
function M.make_room(rows)
  if current and current:is_visible() then
    return room.make(current.windows, rows)
  end
end

--- The current chat, if there is one.
---@return agent.Chat?
function M.current()
  return current
end

--- Messages that were taken back return to the input: nothing typed is lost.
---@param chat agent.Chat
---@param update table
local function take_back(chat, update)
  if update.type == "unsent" and #update.texts > 0 then
    chat.input:add(table.concat(update.texts, "\n\n"))
    chat:selection_unsent(update.texts)
  elseif update.type == "taken_back" then
    chat:give_back(update.text)
  end
end

--- The process that hosts the supervisor is gone, or never came up: every chat that waits for it is told.
---@param update table
local function host_lost(update)
  for _, chat in ipairs(vim.tbl_map(M.get, update.chats)) do
    local text = update.text
    local is_stored = chat.timeline.session and update.was_running
    if is_stored then
      text = text .. " The next message goes on from what is stored."
    end
    local unstored = timeline.unstored(chat.timeline)
    local texts = vim.list_extend({ unstored }, timeline.queued(chat.timeline))
    local unsent = { type = "unsent", texts = texts, unstored = unstored ~= nil }
    if chat.timeline.state ~= "idle" then
      local done = { type = "turn_done", reason = "error", error = text }
      chat:apply({ unsent, done })
      take_back(chat, unsent)
      announce(chat, done)
    elseif is_stored then
      chat:apply({ { type = "notice", severity = "error", text = text } })
    end
  end
end

client.listen(function(batch)
  local by_chat = {}
  for _, update in ipairs(batch) do
    if update.type == "host_lost" then
      host_lost(update)
    elseif update.type == "host_fetching" and current then
      by_chat[current.id] = by_chat[current.id] or {}
      local text = "Fetching the plugin's dependencies, once …"
      table.insert(by_chat[current.id], { type = "notice", severity = "info", text = text })
    elseif update.chat and chats[update.chat] then
      by_chat[update.chat] = by_chat[update.chat] or {}
      table.insert(by_chat[update.chat], update)
    end
  end
  for id, updates in pairs(by_chat) do
    chats[id]:apply(updates)
    for _, update in ipairs(updates) do
      take_back(chats[id], update)
      announce(chats[id], update)
    end
  end
end)

local group = vim.api.nvim_create_augroup("agent.chat", {})

vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, {
  group = group,
  callback = function(event)
    if not (current and current.windows) then
      return
    elseif event.event == "VimResized" then
      window.fit(current.windows)
    else
      window.hint(current.windows)
    end
    current:show_state()
  end,
})

--- A session file is read: it may name windows as ours are named.
vim.api.nvim_create_autocmd("SessionLoadPre", {
  group = group,
  callback = function()
    for _, chat in pairs(chats) do
      chat:hide()
      chat:name_buffers("agent-before://")
    end
  end,
})

--- It is read: what has such a name and is not ours is empty, and goes. Called once for each buffer.
---@param named integer[] buffers
function M.restored(named)
  local ours = {}
  for _, chat in pairs(chats) do
    ours[chat.transcript], ours[chat.input.buffer] = true, true
  end
  for _, buffer in ipairs(named) do
    if not ours[buffer] then
      window.close({}, { buffer })
      pcall(vim.api.nvim_buf_delete, buffer, { force = true })
    end
  end
  for _, chat in pairs(chats) do
    chat:name_buffers()
  end
end

--- What goes along has changed.
vim.api.nvim_create_autocmd({ "DiagnosticChanged", "BufWinEnter", "BufDelete" }, {
  group = group,
  callback = vim.schedule_wrap(function()
    if current and current:is_visible() then
      current:show_attached()
    end
  end),
})

local function define()
  require("agent.highlights").define()
end

vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = define })
vim.api.nvim_create_autocmd("OptionSet", {
  group = group,
  pattern = { "background", "termguicolors" },
  callback = define,
})

vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, {
  group = group,
  callback = function(event)
    for _, chat in pairs(chats) do
      if event.event == "WinScrolled" or event.buf == chat.transcript then
        chat:fill()
      end
    end
  end,
})

-- One of the two windows was closed by hand: the other one goes too.
vim.api.nvim_create_autocmd("WinClosed", {
  group = group,
  callback = function(event)
    local closed = tonumber(event.match)
    if current and current.windows and (closed == current.windows.transcript or closed == current.windows.input) then
      vim.schedule(function()
        if current and current.windows and not window.is_open(current.windows) then
          current:hide()
        end
      end)
    end
  end,
})

return M
