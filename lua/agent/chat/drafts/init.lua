-- Keeps unsent messages on disk. Typed text, waiting messages and messages without a log entry come back into the
-- input of a later chat. They are never sent automatically.
local client = require("agent.client")
local files = require("agent.chat.drafts.files")
local say = require("agent.ui.say")
local timeline = require("agent.timeline")

---@class agent.Drafts
---@field chat agent.Chat
---@field file? integer           number of the file with its messages
---@field draft? agent.ChatDraft  draft that has come back into the input
---@field is_taking? boolean     a draft is on its way into the input
---@field wants_more? boolean    another one was wanted meanwhile
---@field elsewhere table<string, true>  messages that another room keeps
---@field doubtful table<agent.DraftMessage[], true>  messages of a lost supervisor that a log may have
local Drafts = {}
Drafts.__index = Drafts

---@param chat agent.Chat
---@return agent.Drafts
function Drafts.new(chat)
  return setmetatable({ chat = chat, elsewhere = {}, doubtful = {} }, Drafts)
end

---@class agent.ChatDraft
---@field id string       of the message in the input
---@field was string[]    ids of the messages that it contains
---@field text string
---@field time integer
---@field session? string

--- Milliseconds between a key and the write.
local PAUSE = 200

--- Updates that change the unsent messages or their session.
local CHANGES = {
  submitted = true,
  steering = true,
  unsteered = true,
  taken_back = true,
  unsent = true,
  backlog_add = true,
  backlog_remove = true,
  turn_started = true,
  turn = true,
  turn_done = true,
  user = true,
  ready = true,
}

--- Chats with changes to write, and chats with a file.
---@type table<agent.Chat, true>
local changed, kept = {}, {}
local timer = assert(vim.uv.new_timer())

files.on_problem(function(problem)
  say.warn(("cannot keep unsent messages: %s. They are lost when Neovim exits."):format(problem))
end)

--- The draft that has come back, while it is in the input.
---@param chat agent.Chat
---@return agent.ChatDraft?
local function current(chat)
  local draft = chat.drafts.draft
  return draft and draft.id == chat.input.id and draft or nil
end

---@param chat agent.Chat
---@return agent.Draft?
local function draft_of(chat)
  if client.is_own(chat.id) then
    return nil
  end
  local line, draft = chat.timeline, current(chat)
  local messages = {}
  for doubtful in pairs(chat.drafts.doubtful) do
    vim.list_extend(messages, doubtful)
  end
  local elsewhere = chat.drafts.elsewhere
  for _, block in ipairs(timeline.on_the_way(line)) do
    if block.id and not elsewhere[block.text] then
      local attachments = chat.selections.by_message[block.text]
      table.insert(messages, { id = block.id, text = block.text, given = attachments, is_sent = true })
    end
  end
  local text, attachments = chat.input:unsent(), chat.selections.all
  local is_old = #messages == 0 and draft and draft.text == text
  if vim.trim(text) ~= "" and not elsewhere[text] or attachments[1] then
    table.insert(messages, { id = chat.input.id, text = text, given = attachments })
  end
  return messages[1]
    and {
      root = line.root or chat:place().root,
      session = line.session or draft and draft.session,
      title = line.title,
      time = is_old and draft.time or os.time(),
      messages = messages,
      was = draft and draft.was,
    }
end

---@param chat agent.Chat
---@param done? fun()
---@param is_exact? boolean
local function save(chat, done, is_exact)
  local draft = draft_of(chat)
  if draft then
    draft.is_exact = is_exact
    kept[chat] = true
    chat.drafts.file = chat.drafts.file or files.new()
  end
  done = done or function() end
  if chat.drafts.file then
    files.write(chat.drafts.file, draft, done)
  else
    done()
  end
end

local function save_changed()
  for chat in pairs(changed) do
    changed[chat] = nil
    if not chat.is_closed then
      save(chat)
    end
  end
end

--- Called after a change of the input.
function Drafts:keep()
  changed[self.chat] = true
  if not timer:is_active() then
    timer:start(PAUSE, 0, vim.schedule_wrap(save_changed))
  end
end

---@param updates table[] that were applied
function Drafts:keep_messages(updates)
  for _, update in ipairs(updates) do
    if CHANGES[update.type] then
      changed[self.chat] = true
      return vim.schedule(save_changed)
    end
  end
end

--- Called before the chat closes: the project's next chat gets its draft.
function Drafts:leave()
  local draft = not self.chat.is_quiet and draft_of(self.chat) or nil
  changed[self.chat], kept[self.chat] = nil, nil
  if not (draft or self.file) then
    return
  end
  files.leave(self.file or files.new(), draft)
  if draft then
    say.info("unsent text comes back in the project's next chat")
  end
end

--- Leaves a message that is about to be sent to another room.
---@param text string
function Drafts:keep_elsewhere(text)
  self.elsewhere[text] = true
end

---@param session string
---@return boolean
function Drafts:is_of(session)
  local draft = current(self.chat)
  return draft ~= nil and draft.session == session
end

---@param chat agent.Chat
---@param draft agent.Draft
---@param others integer drafts that wait for other chats
local function show(chat, draft, others)
  local texts = {}
  for _, message in ipairs(draft.messages) do
    -- Images are not kept, and another image may have this number.
    table.insert(texts, (message.text:gsub("@image:%d+", "(image)")))
    for _, attachment in ipairs(message.given or {}) do
      chat.selections:add(attachment)
    end
  end
  chat.input:add(vim.trim(table.concat(texts, "\n\n")))
  local is_other = draft.title and draft.session ~= chat.timeline.session
  local of = is_other and (' of "%s"'):format(draft.title) or ""
  local is_idle = chat.timeline.state == "idle"
  local function note(text)
    if is_idle then
      chat:apply({ { type = "notice", severity = "info", text = text } })
    else
      -- In the transcript it would part a message from its answer.
      say.info(text)
    end
  end
  note(("Unsent text%s is back in the input."):format(of))
  if others > 0 then
    -- A line of its own: Neovim may break a line behind the colon of a command.
    note((":Agent new brings back %d more."):format(others))
  end
end

--- Filters out messages that a log has. An engine that is about to end logs none of the others.
---@param chat agent.Chat
---@param messages agent.DraftMessage[]
---@param done fun(messages: agent.DraftMessage[])
local function without_logged(chat, messages, done)
  local ids = {}
  for _, message in ipairs(messages) do
    table.insert(ids, message.is_sent and message.id or nil)
  end
  if #ids == 0 then
    return done(messages)
  end
  client.request(chat, "withdraw_messages", { ids = ids }, function(result)
    -- Without an answer the user decides, so that nothing is lost.
    local logged = result and result.logged or {}
    done(vim.tbl_filter(function(message)
      return not vim.list_contains(logged, message.id)
    end, messages))
  end)
end

--- Called after the supervisor is lost. It may have sent some messages, so another supervisor looks them up.
---@param was_running boolean
---@param done fun(texts: string[]) gets those that no log has
function Drafts:unlogged(was_running, done)
  -- At exit no other supervisor is started.
  local is_doubtful = was_running and vim.v.exiting == vim.NIL
  local messages = vim.tbl_map(function(block)
    local is_sent = is_doubtful and block.status ~= "queued" and block.id ~= nil
    return { id = block.id or "", text = block.text, is_sent = is_sent }
  end, timeline.on_the_way(self.chat.timeline))
  self.doubtful[messages] = true
  without_logged(self.chat, messages, function(unlogged)
    self.doubtful[messages] = nil
    self:keep()
    done(vim.tbl_map(function(message)
      return message.text
    end, unlogged))
  end)
end

--- Puts a draft into the input.
---@param chat agent.Chat
---@param draft agent.Draft
---@param file integer that keeps it until then
---@param others integer
local function put(chat, draft, file, others)
  local function release()
    files.release(file)
  end
  if chat.is_closed then
    return release()
  end
  chat:revive()
  if #draft.messages > 0 then
    local was = current(chat) and chat.drafts.draft.was or {}
    show(chat, draft, others)
    for _, message in ipairs(draft.messages) do
      table.insert(was, message.id)
    end
    local text = chat.input:unsent()
    chat.drafts.draft = { id = chat.input.id, was = was, text = text, time = draft.time, session = draft.session }
  end
  -- If Neovim is killed in between, both files stay; `was` tells them apart.
  save(chat, function()
    files.write(file, nil, release)
  end)
end

--- An input takes one draft, however often it is opened meanwhile.
function Drafts:end_taking()
  local wants_more = self.wants_more and not self.chat.is_closed and self.chat.input:is_empty()
  self.is_taking, self.wants_more = nil, nil
  if wants_more then
    self:take()
  end
end

--- Takes the newest draft of the chat's session, else of its project.
function Drafts:take()
  if self.is_taking then
    self.wants_more = true
    return
  end
  self.is_taking = true
  local root, session = self.chat.timeline.root or self.chat:place().root, self.chat.timeline.session
  files.take(function(draft)
    return draft.root == root and (not session or draft.session == session)
  end, function(draft, file, others)
    if not draft then
      return self:end_taking()
    end
    for _, message in ipairs(draft.messages) do
      message.is_sent = message.is_sent or not draft.is_exact
    end
    without_logged(self.chat, draft.messages, function(messages)
      draft.messages = messages
      put(self.chat, draft, file, others)
      self:end_taking()
    end)
  end)
end

vim.api.nvim_create_autocmd("VimLeavePre", {
  group = vim.api.nvim_create_augroup("agent.drafts", {}),
  callback = function()
    for chat in pairs(vim.tbl_extend("force", changed, kept)) do
      if not chat.is_closed then
        save(chat, nil, vim.api.nvim_buf_is_loaded(chat.input.buffer))
      end
    end
    files.finish()
  end,
})

return Drafts
