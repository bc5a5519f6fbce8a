-- A chat: one conversation with its transcript, its input and its windows.
local announce = require("agent.chat.announce")
local client = require("agent.client")
local config = require("agent.config")
local keymaps = require("agent.chat.keymaps")
local navigate = require("agent.chat.navigate")
local new_input = require("agent.chat.input")
local Renderer = require("agent.chat.renderer")
local timeline = require("agent.timeline")
local window = require("agent.chat.window")

local M = {}

---@class agent.Chat
---@field id integer
---@field timeline agent.Timeline
---@field transcript integer buffer
---@field input agent.Input
---@field renderer agent.Renderer
---@field windows? agent.Windows
---@field counted? agent.Retry  the countdown on screen
---@field clock? uv.uv_timer_t   of that countdown
---@field on_tab? fun(): boolean  takes <Tab> if something waits for an answer
local Chat = setmetatable({}, { __index = navigate })
Chat.__index = Chat

---@type table<integer, agent.Chat>
local chats = {}
---@type agent.Chat?
local current
local last_id = 0

---@return integer buffer
local function transcript_buffer()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "hide"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undolevels = -1
  vim.bo[buffer].modeline = false
  vim.bo[buffer].filetype = "agent"
  vim.bo[buffer].modifiable = false
  pcall(vim.treesitter.start, buffer, "markdown")
  return buffer
end

---@return agent.Chat
function M.new()
  require("agent.highlights").define()
  last_id = last_id + 1
  local buffer = transcript_buffer()
  local chat = setmetatable({
    id = last_id,
    timeline = timeline.new(),
    transcript = buffer,
    input = new_input.new(last_id),
    renderer = Renderer.new(buffer),
  }, Chat)
  pcall(vim.api.nvim_buf_set_name, buffer, ("agent://chat/%d"):format(chat.id))
  chats[chat.id] = chat
  M.switch(chat)
  keymaps.map(chat)
  return chat
end

--- The chat of this number, or the current one, made if there is none.
---@param id? integer
---@return agent.Chat
function M.get(id)
  if id then
    return chats[id]
  end
  return current or M.new()
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

--- The current chat, if there is one.
---@return agent.Chat?
function M.current()
  return current
end

---@return boolean
function Chat:is_open()
  return self.windows ~= nil and window.is_open(self.windows)
end

--- Opens the windows and goes to the input.
function Chat:open()
  if not self:is_open() then
    if self.windows then
      window.close(self.windows)
    end
    self.windows = window.open(self.transcript, self.input.buffer)
    self:follow({ [self.windows.transcript] = true })
  end
  vim.api.nvim_set_current_win(self.windows.input)
  self:show_state()
end

--- Closes the windows; a turn goes on.
function Chat:hide()
  if self.windows then
    vim.cmd.stopinsert()
    window.close(self.windows)
    self.windows = nil
  end
end

--- Which windows show the end of the transcript, and so should go on to.
---@return table<integer, true>
function Chat:following()
  local at_end = {}
  local last = vim.api.nvim_buf_line_count(self.transcript)
  for _, win in ipairs(vim.fn.win_findbuf(self.transcript)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= last then
      at_end[win] = true
    end
  end
  return at_end
end

---@param windows table<integer, true>
function Chat:follow(windows)
  local last = vim.api.nvim_buf_line_count(self.transcript)
  -- To the last character: a paragraph may be longer than the window.
  local column = #vim.api.nvim_buf_get_lines(self.transcript, last - 1, last, false)[1]
  for win in pairs(windows) do
    vim.api.nvim_win_set_cursor(win, { last, column })
  end
end

--- Applies updates and draws what they changed, in one go.
---@param updates table[]
function Chat:apply(updates)
  local changed = {}
  for _, update in ipairs(updates) do
    for index in pairs(timeline.apply(self.timeline, update)) do
      changed[index] = true
    end
  end
  if next(changed) then
    local following = self:following()
    self.renderer:draw(self.timeline.blocks, changed)
    self:follow(following)
  end
  self:count_down()
  self:show_state()
end

--- A countdown on screen counts.
function Chat:count_down()
  local retry = self.timeline.retry
  if retry == self.counted then
    return
  end
  if self.clock then
    self.clock:close()
  end
  self.counted, self.clock = retry, retry and assert(vim.uv.new_timer())
  local second = vim.schedule_wrap(function()
    if self.timeline.retry == retry then
      self:apply({ { type = "second" } })
    end
  end)
  if retry then
    self.clock:start(1000, 1000, second)
  end
end

local STATES = {
  idle = "ready",
  starting = "starting",
  working = "working",
  waiting = "waits for you",
  retrying = "trying again",
  stopping = "stopping",
}

---@param count integer
---@return string
local function thousands(count)
  if count < 1000 then
    return tostring(count)
  end
  return (("%.1fk"):format(count / 1000):gsub("%.0k$", "k"))
end

--- Model, tokens and state, for the winbar and statuslines.
---@return string
function Chat:status()
  local line = self.timeline
  local parts = { line.model or config.get().model or "agent" }
  if line.used and line.size then
    table.insert(parts, ("%s of %s tokens"):format(thousands(line.used), thousands(line.size)))
  end
  if line.cost then
    table.insert(parts, require("agent.format").money(line.cost))
  end
  table.insert(parts, STATES[line.state])
  return table.concat(parts, " · ")
end

--- One line for a list of chats: number, state, first message.
---@return string
function Chat:label()
  local first = vim.iter(self.timeline.blocks):find(function(block)
    return block.kind == "user"
  end)
  local text = first and vim.trim(first.text):gsub("%s*\n.*", " …") or "(nothing said yet)"
  return ("%d  %s  %s"):format(self.id, STATES[self.timeline.state], vim.fn.strcharpart(text, 0, 60))
end

function Chat:show_state()
  if not self.windows or not vim.api.nvim_win_is_valid(self.windows.transcript) then
    return
  end
  local text = " " .. self:status():gsub("%%", "%%%%")
  if vim.wo[self.windows.transcript].winbar ~= text then
    vim.wo[self.windows.transcript].winbar = text
  end
end

--- Where the project of this chat is looked for: at the file the user came from.
---@return table
function Chat:place()
  local back = self.windows and vim.api.nvim_win_is_valid(self.windows.back) and self.windows.back or 0
  local buffer = vim.api.nvim_win_get_buf(back)
  local name = vim.api.nvim_buf_get_name(buffer)
  local cwd = vim.fn.getcwd()
  local is_file = vim.bo[buffer].buftype == "" and name ~= ""
  return { folder = is_file and vim.fs.dirname(name) or cwd, cwd = cwd, root = config.get().root }
end

---@param text string
function Chat:send(text)
  new_input.remember(text)
  self:apply({ { type = "submitted", text = text } })
  self:follow(self:is_open() and { [self.windows.transcript] = true } or {})
  client.send(vim.tbl_extend("error", { type = "prompt", chat = self.id, text = text }, self:place()))
end

function Chat:submit()
  local text = self.input:take()
  if text then
    self:send(text)
  end
end

function Chat:stop()
  if self.timeline.state ~= "idle" then
    self:apply({ { type = "stopping" } })
    client.send({ type = "cancel", chat = self.id })
  end
end

function Chat:earlier()
  self.input:browse(-1)
end

function Chat:later()
  self.input:browse(1)
end

function Chat:focus_input()
  self:open()
  vim.cmd.startinsert()
end

function Chat:show_keys()
  vim.api.nvim_echo({ { table.concat(keymaps.explained(), "\n") } }, false, {})
end

--- Messages that were taken back return to the input: nothing typed is lost.
---@param chat agent.Chat
---@param update table
local function take_back(chat, update)
  if update.type == "unsent" and #update.texts > 0 then
    chat.input:add(table.concat(update.texts, "\n\n"))
  end
end

--- The process that hosts the supervisor is gone, or never came up: every chat that waits for it is told.
---@param update table
local function host_lost(update)
  for _, chat in pairs(chats) do
    local text = update.text
    if chat.timeline.root and update.was_running then
      text = text .. " What it knew of this conversation is gone; the next message starts a new one."
    end
    local unsent = { type = "unsent", texts = timeline.queued(chat.timeline) }
    if chat.timeline.state ~= "idle" then
      local done = { type = "turn_done", reason = "error", error = text }
      chat:apply({ done, unsent })
      take_back(chat, unsent)
      announce(chat, done)
    elseif chat.timeline.root and update.was_running then
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

vim.api.nvim_create_autocmd("VimResized", {
  group = group,
  callback = function()
    if current and current.windows then
      window.fit(current.windows)
    end
  end,
})

vim.api.nvim_create_autocmd("ColorScheme", {
  group = group,
  callback = function()
    require("agent.highlights").define()
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
