-- The chats of this Neovim, and what comes for them.
local announce = require("agent.chat.announce")
local Chat = require("agent.chat.chat")
local client = require("agent.client")
local config = require("agent.config")
local projects = require("agent.projects")
local room = require("agent.chat.draw.room")
local say = require("agent.ui.say")
local timeline = require("agent.timeline")
local window = require("agent.chat.window")

---@class agent.Chats
local M = {}

---@type table<integer, agent.Chat>
local chats = {}
--- The current chat of each project, by its root; "" for a chat that has no project yet.
---@type table<string, agent.Chat>
local current = {}
local last_id = 0

--- What chats call in other rooms. The starter connects it.
---@class agent.ChatPeers
---@field focus_approval fun(): boolean        goes to what waits for an answer; false if nothing does
---@field answer_approval fun()                answers what waits with the text of the input
---@field input_changed fun()
---@field turn_done fun(chat: agent.Chat)
---@field sub_commands fun(): agent.Action[]   those that the input takes after a slash
---@field sub_command fun(words: string): (fun())?  runs the one that these words call; nil if they call none
local peers = {
  focus_approval = function()
    return false
  end,
  answer_approval = function() end,
  input_changed = function() end,
  turn_done = function() end,
  sub_commands = function()
    return {}
  end,
  sub_command = function() end,
}

--- Called once, by the starter.
---@param connected agent.ChatPeers
function M.connect(connected)
  peers = connected
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

--- The chat in whose window the cursor is.
---@return agent.Chat?
local function at_cursor()
  local buffer = vim.api.nvim_get_current_buf()
  return vim.iter(M.list()):find(function(chat)
    return chat.transcript.buffer == buffer or chat.input.buffer == buffer
  end)
end

--- The project of the chat at the cursor, else the one that the user is in.
---@return string? root
local function project_here()
  local chat = at_cursor()
  local root = chat and not config.get().root and chat.timeline.root
  return root or projects.here(chat and chat:back())
end

---@param root string
---@return agent.Chat?
local function newest_of(root)
  return vim.iter(M.list()):rfind(function(chat)
    return (chat.timeline.root or "") == root and not chat.is_quiet
  end)
end

--- The chats on screen name their project, once there is more than one.
local function show_names()
  for _, chat in pairs(chats) do
    chat.status:show()
  end
end

--- Texts that come back to a closed chat go to the next chat of its project.
---@param chat agent.Chat
---@param texts string[]
local function leave(chat, texts)
  local root = chat.timeline.root
  local heir = root and M.of_project(root) or M.get()
  heir.input:add(table.concat(texts, "\n\n"))
end

--- One that is not the current one.
---@param root? string default: the project that the user is in
---@param turn_done? fun(chat: agent.Chat)  only this hears of the end of a turn
---@return agent.Chat
function M.background(root, turn_done)
  require("agent.ui.highlights").define()
  last_id = last_id + 1
  local chat = Chat.new({
    id = last_id,
    root = root or project_here(),
    list = M.list,
    leave = leave,
    peers = turn_done and vim.tbl_extend("force", peers, { turn_done = turn_done }) or peers,
    is_quiet = turn_done ~= nil,
  })
  chats[chat.id] = chat
  show_names()
  return chat
end

--- One that is the current one of its project.
---@param root? string the project that the user is in unless told
---@return agent.Chat
function M.new(root)
  local chat = M.background(root)
  M.switch(chat)
  return chat
end

--- A chat in which something is opened. It is the current one of its project at once, so that messages wait for it.
---@param is_new? boolean  not the current one, even if nothing was said there
---@param root? string     the project that the user is in unless told
---@return agent.Chat chat
---@return agent.Opening opening
---@return agent.Chat? before  the current one before
function M.begin(is_new, root)
  local before = M.current()
  local can_use = before and not is_new and before:is_blank() and (not root or before.timeline.root == root)
  local chat = can_use and before or M.new(root)
  return chat, chat.phases:begin_opening(), before
end

--- Nothing has come of it. What waited is in the input; a chat without anything of the user's goes.
---@param chat agent.Chat
---@param opening agent.Opening
---@param problem string
---@param before? agent.Chat takes its place
function M.not_opened(chat, opening, problem, before)
  local was_visible = chat:is_visible()
  if not chat.phases:end_opening(opening, true) then
    return
  elseif was_visible and not chat:is_blank() then
    return chat:apply({ { type = "notice", severity = "error", text = problem } })
  elseif chat ~= before and chat:is_blank() then
    M.close(chat)
    if before and not before.is_closed then
      M.switch(before)
      if was_visible then
        before:open()
      end
    end
    if was_visible and vim.api.nvim_get_mode().mode:find("^i") then
      -- The end of Insert mode wipes the last line.
      local function tell()
        say.error(problem)
      end
      return vim.api.nvim_create_autocmd("InsertLeave", { once = true, callback = vim.schedule_wrap(tell) })
    end
  end
  say.error(problem)
end

--- What a chat has opened is another project: it is the current one of that.
---@param chat agent.Chat
---@param root string
function M.move(chat, root)
  local from = chat.timeline.root or ""
  chat.timeline.root = root
  if current[from] == chat then
    current[from] = newest_of(from)
  end
  current[root] = chat
  show_names()
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
---@param project? string whose next chat gets the draft, its own unless told
function M.close(chat, project)
  client.send({ type = "close", chat = chat.id })
  chat:hide()
  chat.timeline.root = project or chat.timeline.root
  chat.drafts:leave()
  chats[chat.id], chat.is_closed = nil, true
  for key, its in pairs(current) do
    if its == chat then
      current[key] = newest_of(key)
    end
  end
  for _, buffer in ipairs({ chat.transcript.buffer, chat.input.buffer }) do
    pcall(vim.api.nvim_buf_delete, buffer, { force = true })
  end
  show_names()
end

--- The chat of this number, or the current one, made if there is none.
---@param id? integer
---@return agent.Chat
function M.get(id)
  if id then
    return chats[id]
  end
  projects.refresh()
  local chat = M.current() or M.new()
  projects.enter(chat.timeline.root)
  chat:revive()
  return chat
end

--- The current chat of a project, made if there is none.
---@param root string
---@return agent.Chat
function M.of_project(root)
  return current[root] or M.new(root)
end

--- Makes a chat the current one of its project; the other one is hidden and goes on.
---@param chat agent.Chat
function M.switch(chat)
  local root = chat.timeline.root or ""
  local before = current[root]
  if before and before ~= chat then
    before:hide()
  end
  current[root] = chat
  projects.enter(chat.timeline.root)
end

--- Room for something that must not hide the chat, if that is in view.
---@param rows integer so many at most, 0 to give it back
---@return agent.Room?
function M.make_room(rows)
  local chat = M.current()
  if chat and chat:is_visible() then
    return room.make(chat.windows, rows)
  end
  room.give_back()
end

--- The chat at the cursor, else the current one of the project that the user is in, if there is one.
---@return agent.Chat?
function M.current()
  local chat = at_cursor()
  if chat then
    return chat
  end
  local root = projects.here()
  for begun, other in pairs(root and not current[root] and current or {}) do
    -- It was begun where no project is.
    other.timeline.root = other.timeline.root or root
    if other.timeline.root == root then
      current[root], current[begun] = other, nil
      break
    end
  end
  return current[root or ""]
end

--- Messages that were taken back return to the input: nothing typed is lost.
---@param chat agent.Chat
---@param update table
local function take_back(chat, update)
  if update.type == "unsent" then
    chat.phases:return_texts(update.texts)
  elseif update.type == "taken_back" then
    chat.queue:give_back(update.text)
  end
end

--- The process that hosts the supervisor is gone, or never came up: every chat that waits for it is told.
---@param update table
local function host_lost(update)
  for _, chat in ipairs(vim.tbl_map(M.get, update.chats)) do
    local text = update.text
    local is_stored = chat.timeline.session and update.was_running
    if is_stored then
      text = text .. " The next message continues the stored session."
    end
    if chat.timeline.state ~= "idle" then
      local texts, unstored = timeline.unsent(chat.timeline)
      chat.drafts:unlogged(update.was_running, function(unlogged)
        take_back(chat, { type = "unsent", texts = unlogged })
      end)
      local done = { type = "turn_done", reason = "error", error = text }
      chat:apply({ { type = "unsent", texts = texts, unstored = unstored, with_steering = true }, done })
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
    elseif update.type == "host_fetching" and M.current() then
      local id = M.current().id
      by_chat[id] = by_chat[id] or {}
      local text = "Fetching the plugin's dependencies, once …"
      table.insert(by_chat[id], { type = "notice", severity = "info", text = text })
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

--- The windows of the current chats are given their places anew.
function M.fit()
  for _, chat in pairs(current) do
    if chat.windows then
      window.fit(chat.windows)
      chat.status:show()
    end
  end
end

vim.api.nvim_create_autocmd("VimResized", { group = group, callback = M.fit })

--- Scheduled functions still run, and may fail: after a SIGHUP the buffers are empty. Neovim does not end before the
--- user has pressed a key for an error.
vim.api.nvim_create_autocmd("VimLeavePre", {
  group = group,
  callback = function()
    vim.o.more, vim.o.messagesopt = false, "wait:0,history:500"
  end,
})

-- What stands in a line is as wide as its window.
vim.api.nvim_create_autocmd("WinResized", {
  group = group,
  callback = function()
    for _, chat in pairs(current) do
      if chat.windows then
        window.hint(chat.windows)
        chat.status:show()
      end
    end
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
    ours[chat.transcript.buffer], ours[chat.input.buffer] = true, true
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
    local chat = M.current()
    if chat and chat:is_visible() then
      chat.attachments:show()
    end
  end),
})

local function define()
  require("agent.ui.highlights").define()
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
      if event.event == "WinScrolled" or event.buf == chat.transcript.buffer then
        chat.history:fill()
      end
    end
  end,
})

-- One of the two windows was closed by hand: the other one goes too.
vim.api.nvim_create_autocmd("WinClosed", {
  group = group,
  callback = function(event)
    local closed = tonumber(event.match)
    for _, chat in pairs(current) do
      if chat.windows and (closed == chat.windows.transcript or closed == chat.windows.input) then
        vim.schedule(function()
          if chat.windows and not window.is_open(chat.windows) then
            chat:hide()
          end
        end)
      end
    end
  end,
})

return M
