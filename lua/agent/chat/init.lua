-- The chats of this Neovim, and their updates.
local announce = require("agent.chat.announce")
local beside = require("agent.chat.beside")
local Chat = require("agent.chat.chat")
local client = require("agent.client")
local config = require("agent.config")
local projects = require("agent.projects")
local room = require("agent.chat.draw.room")
local say = require("agent.ui.say")
local terminals = require("agent.editor.terminals")
local timeline = require("agent.timeline")
local window = require("agent.chat.window")

---@class agent.Chats
local M = {}

---@type table<integer, agent.Chat>
local chats = {}
--- The current chat of each project, by its root; "" for a chat without a project.
---@type table<string, agent.Chat>
local current = {}
local last_id = 0

--- Functions of other rooms that chats call. The starter connects them.
---@class agent.ChatPeers
---@field focus_approval fun(): boolean        goes to the pending approval; false if there is none
---@field answer_approval fun()                answers it with the text of the input
---@field input_changed fun()
---@field turn_done fun(chat: agent.Chat)
---@field sub_commands fun(): agent.Action[]   sub-commands that work after a slash in the input
---@field is_sub_command fun(words: string): boolean  they begin with the name of a sub-command
---@field near fun(word: string): string?      the sub-command that a misspelt word means
---@field refusal fun(words: string): string?  the error message for a sub-command with a wrong argument
---@field sub_command fun(words: string): (fun())?  a function that runs a sub-command; nil if the words are a message
---@field undo fun(call: agent.UndoneCall)
---@field review fun(verb: "keep"|"undo", listed: agent.ListedFiles)  keeps or undoes files of a list
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
  is_sub_command = function()
    return false
  end,
  near = function() end,
  refusal = function() end,
  sub_command = function() end,
  undo = function() end,
  review = function() end,
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

--- The chat whose window has the cursor.
---@return agent.Chat?
local function at_cursor()
  local buffer = vim.api.nvim_get_current_buf()
  return vim.iter(M.list()):find(function(chat)
    return chat.transcript.buffer == buffer or chat.input.buffer == buffer
  end)
end

--- True if the user is in a chat and not typing: another chat then opens in Normal mode too.
---@return boolean
function M.stays_normal()
  local chat = at_cursor()
  return chat ~= nil and not chat.was_typing and not vim.api.nvim_get_mode().mode:find("^i")
end

--- The project of the chat at the cursor, else the project of the current window.
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

--- Visible chats name their project once chats of several projects are open.
local function show_names()
  for _, chat in pairs(chats) do
    chat.status:show()
  end
end

--- Lists the attachments in the visible chat: they may have changed.
local show_attachments = vim.schedule_wrap(function()
  local chat = M.current()
  if chat and chat:is_visible() then
    chat.attachments:show()
  end
end)

--- Adds the texts of a closed chat to the input of its project's next chat.
---@param chat agent.Chat
---@param texts string[]
local function leave(chat, texts)
  local root = chat.timeline.root
  local heir = root and M.of_project(root) or M.get()
  heir.input:add(table.concat(texts, "\n\n"))
end

--- Makes a chat that is not the current one.
---@param root? string default: the project of the current window
---@param turn_done? fun(chat: agent.Chat)  replaces all other reactions to the end of a turn
---@return agent.Chat
function M.background(root, turn_done)
  require("agent.ui.highlights").ensure()
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
  terminals.watch(show_attachments)
  show_names()
  return chat
end

--- Makes a chat that is the current one of its project.
---@param root? string default: the project of the current window
---@return agent.Chat
function M.new(root)
  local chat = M.background(root)
  M.switch(chat)
  return chat
end

--- Begins to open a session in a chat. The chat is the current one of its project at once, and messages wait in it.
---@param is_new? boolean  makes a new chat even if the current one is blank
---@param root? string     default: the project of the current window
---@return agent.Chat chat
---@return agent.Opening opening
---@return agent.Chat? before  the current one before
function M.begin(is_new, root)
  local before = M.current()
  local can_use = before and not is_new and before:is_blank() and (not root or before.timeline.root == root)
  local chat = can_use and before or M.new(root)
  return chat, chat.phases:begin_opening(), before
end

--- Ends a failed opening. Waiting messages return to the input; an otherwise blank chat closes.
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
      -- The end of Insert mode clears the last line.
      local function tell()
        say.error(problem)
      end
      return vim.api.nvim_create_autocmd("InsertLeave", { once = true, callback = vim.schedule_wrap(tell) })
    end
  end
  say.error(problem)
end

--- Moves a chat to the project of the session that it has opened.
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

--- Removes a chat and its buffers. The stored session stays.
---@param chat agent.Chat
---@param project? string its next chat gets the draft; default: the chat's project
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
  if not next(chats) then
    terminals.unwatch()
  end
  show_names()
end

--- The chat with this number, or the current one, made if there is none.
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

--- Makes a chat the current one of its project. The previous one is hidden and continues.
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

--- Makes room for an approval beside the chat, if the chat is visible.
---@param rows integer the most; 0 gives the room back
---@return agent.Room?
function M.make_room(rows)
  local chat = M.current()
  if chat and chat:is_visible() then
    return room.make(chat.windows, rows)
  end
  room.give_back()
end

--- The chat at the cursor, else the current one of the current window's project.
---@return agent.Chat?
function M.current()
  local chat = at_cursor()
  if chat then
    return chat
  end
  local root = projects.here()
  for begun, other in pairs(root and not current[root] and current or {}) do
    -- The chat was begun outside of any project.
    other.timeline.root = other.timeline.root or root
    if other.timeline.root == root then
      current[root], current[begun] = other, nil
      break
    end
  end
  return current[root or ""]
end

--- Messages that the supervisor returns go back into the input. An outdated transcript is read again.
---@param chat agent.Chat
---@param update table
local function take_back(chat, update)
  if update.type == "unsent" then
    chat.phases:return_texts(update.texts)
  elseif update.type == "taken_back" then
    chat.queue:give_back(update.text)
  elseif update.type == "continued_elsewhere" then
    chat.history:reload()
  end
end

--- The supervisor's process ended or never started: reports it in every chat that used it.
---@param update table
local function host_lost(update)
  for _, chat in ipairs(vim.tbl_map(M.get, update.chats)) do
    local text = update.text
    -- The supervisor has forgotten the choice.
    chat.timeline.permission, chat.timeline.refusal = nil, nil
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

--- Places the windows of the visible chats again.
function M.fit()
  for _, chat in pairs(current) do
    if chat:is_visible() then
      window.fit(chat.windows)
      window.grow(chat.windows)
      chat.status:show()
    end
  end
end

vim.api.nvim_create_autocmd({ "VimResized", "TabEnter" }, { group = group, callback = M.fit })
vim.api.nvim_create_autocmd("OptionSet", { group = group, pattern = "laststatus", callback = M.fit })

--- After a SIGHUP the buffers are empty, so scheduled functions may fail. Without these options Neovim would wait for
--- a key before it exits.
vim.api.nvim_create_autocmd("VimLeavePre", {
  group = group,
  callback = function()
    vim.o.more, vim.o.messagesopt = false, "wait:0,history:500"
  end,
})

-- The lines at the input fill the width of the window. A transcript at its end stays there.
vim.api.nvim_create_autocmd("WinResized", {
  group = group,
  callback = function()
    local changed = vim.v.event.windows or {}
    for _, chat in pairs(current) do
      if chat.windows then
        window.hint(chat.windows)
        chat.status:show()
        if window.is_open(chat.windows) and vim.list_contains(changed, chat.windows.transcript) then
          chat.transcript:fit()
          window.show_end(chat.windows.transcript)
        end
      end
    end
  end,
})

--- Frees our buffer names: a session file that is about to be read may use them.
vim.api.nvim_create_autocmd("SessionLoadPre", {
  group = group,
  callback = function()
    for _, chat in pairs(chats) do
      chat:hide()
      chat:name_buffers("agent-before://")
    end
  end,
})

--- Removes the empty buffers that a session file has made under our names.
---@param buffers integer[]
function M.restored(buffers)
  local ours = {}
  for _, chat in pairs(chats) do
    ours[chat.transcript.buffer], ours[chat.input.buffer] = true, true
  end
  for _, buffer in ipairs(buffers) do
    if not ours[buffer] then
      window.close({}, { buffer })
      pcall(vim.api.nvim_buf_delete, buffer, { force = true })
    end
  end
  for _, chat in pairs(chats) do
    chat:name_buffers()
  end
end

vim.api.nvim_create_autocmd({ "DiagnosticChanged", "BufWinEnter", "BufDelete" }, {
  group = group,
  callback = show_attachments,
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

-- Comes after the whole command, and before Neovim draws.
vim.api.nvim_create_autocmd("SafeState", {
  group = group,
  nested = true,
  callback = function()
    for _, chat in pairs(chats) do
      beside.restore(chat)
    end
  end,
})

-- When the user closes one of the two windows, the other one closes too.
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
