-- A chat: one session with its transcript, its input and its windows. Each part has a field.
local announce = require("agent.chat.announce")
local Attachments = require("agent.chat.attachments")
local client = require("agent.client")
local Countdown = require("agent.chat.countdown")
local Drafts = require("agent.chat.drafts")
local attachment = require("agent.context.attachment")
local History = require("agent.chat.history")
local input = require("agent.chat.input")
local input_buffer = require("agent.chat.input.buffer")
local keymaps = require("agent.chat.keymaps")
local modes = require("agent.menus.modes")
local Moves = require("agent.chat.moves")
local Navigation = require("agent.chat.navigation")
local paste = require("agent.context.paste")
local Phases = require("agent.chat.phases")
local Plan = require("agent.chat.draw.plan")
local projects = require("agent.projects")
local pulse = require("agent.chat.draw.pulse")
local Queue = require("agent.chat.queue")
local Selections = require("agent.chat.selections")
local slash = require("agent.chat.complete.slash")
local Status = require("agent.chat.draw.status")
local timeline = require("agent.timeline")
local trace = require("agent.trace")
local Transcript = require("agent.chat.transcript")
local window = require("agent.chat.window")

---@class agent.Chat
---@field id integer
---@field timeline agent.Timeline
---@field phases agent.Phases
---@field transcript agent.Transcript
---@field history agent.History
---@field navigation agent.Navigation
---@field moves agent.Moves
---@field input agent.Input         replaced when its buffer is lost
---@field attachments agent.Attachments
---@field selections agent.Selections
---@field drafts agent.Drafts
---@field queue agent.Queue
---@field status agent.Status
---@field plan agent.Plan
---@field countdown agent.Countdown
---@field windows? agent.Windows    nil while it is hidden
---@field peers agent.ChatPeers
---@field list fun(): agent.Chat[]  all chats of this Neovim
---@field leave fun(chat: agent.Chat, texts: string[])  puts texts of a closed chat into the next one
---@field stops integer             how often the user has stopped it
---@field is_quiet boolean          another room shows how its turns end
---@field is_closed? boolean        for good
---@field was_typing? boolean       a command of its input runs, which was sent in Insert mode
local Chat = {}
Chat.__index = Chat

--- The chat that each tab page shows.
---@type table<integer, agent.Chat>
local on_tab = {}

---@class agent.ChatOptions
---@field id integer
---@field root? string of its project
---@field list fun(): agent.Chat[]
---@field peers agent.ChatPeers
---@field leave fun(chat: agent.Chat, texts: string[])
---@field is_quiet boolean

---@param options agent.ChatOptions
---@return agent.Chat
function Chat.new(options)
  local chat = setmetatable({
    id = options.id,
    stops = 0,
    timeline = timeline.new(),
    list = options.list,
    peers = options.peers,
    leave = options.leave,
    is_quiet = options.is_quiet,
  }, Chat)
  chat.timeline.root = options.root
  chat.phases = Phases.new(chat)
  chat.transcript = Transcript.new(chat)
  chat.history = History.new(chat)
  chat.navigation = Navigation.new(chat)
  chat.moves = Moves.new(chat)
  chat.attachments = Attachments.new(chat)
  chat.selections = Selections.new(chat)
  chat.drafts = Drafts.new(chat)
  chat.queue = Queue.new(chat)
  chat.status = Status.new(chat)
  chat.plan = Plan.new(chat)
  chat.countdown = Countdown.new(chat)
  chat:revive()
  return chat
end

---@param scheme? string
function Chat:name_buffers(scheme)
  scheme = scheme or "agent://"
  pcall(vim.api.nvim_buf_set_name, self.transcript.buffer, ("%schat-%d"):format(scheme, self.id))
  pcall(vim.api.nvim_buf_set_name, self.input.buffer, ("%schat-%d-input"):format(scheme, self.id))
end

--- Makes lost buffers again. The windows of a deleted buffer are gone; the windows of the other one close too.
function Chat:revive()
  if self.is_closed or vim.v.exiting ~= vim.NIL then
    return
  end
  local has_transcript, has_input = self.transcript.renderer ~= nil, self.input ~= nil and not self.input.lost
  if has_transcript and has_input then
    return
  end
  if not has_transcript then
    self.transcript:make()
  end
  if not has_input then
    input_buffer.make(self)
  end
  self:name_buffers()
end

--- True if it is open on any tab page.
---@return boolean
function Chat:is_open()
  return self.windows ~= nil and window.is_open(self.windows)
end

--- True if it is open on the current tab page.
---@return boolean
function Chat:is_visible()
  return self:is_open() and vim.api.nvim_win_get_tabpage(self.windows.input) == vim.api.nvim_get_current_tabpage()
end

--- Opens the windows on this tab page, in place of another chat's, and goes to the input. A chat with its own tab page
--- opens there.
function Chat:open()
  self:revive()
  local other = on_tab[vim.api.nvim_get_current_tabpage()]
  if other and other ~= self and other:is_visible() then
    other:hide()
  end
  local has_tab = self:is_open() and self.windows.layout == "tab"
  if not (self:is_visible() or has_tab) then
    self:close_windows()
    self.windows = window.open(self.transcript.buffer, self.input.buffer)
    self.transcript:fit()
    window.show_view(self.windows.transcript, self.transcript.view)
    self.history:fill()
  else
    window.put_back(self.windows, self.transcript, self.input.buffer)
    window.come_from(self.windows, vim.api.nvim_get_current_win())
  end
  vim.api.nvim_set_current_win(self.windows.input)
  on_tab[vim.api.nvim_get_current_tabpage()] = self
  pulse.beat(self)
  self.status:show()
  self.attachments:show()
  -- A plugin may have taken the status line when the cursor came.
  window.grow(self.windows)
  self:prepare()
end

--- Hides the chat if it would cover another window.
---@return boolean? hidden
function Chat:step_aside()
  local layout = self.windows and self.windows.layout
  if self:is_visible() and (layout == "float" or layout == "tab" or layout == "current") then
    self:hide()
    return true
  end
end

--- Starts the engine while the user types.
---@param preloads? boolean  they type a command, and may not send anything
function Chat:start_engine(preloads)
  if self.phases:current() == "ready" then
    local action = { type = "open", chat = self.id, session = self.timeline.session, preloads = preloads }
    client.send(vim.tbl_extend("error", action, self:place()))
  end
end

function Chat:prepare()
  if self:is_visible() then
    self:start_engine()
  end
  if self:is_blank() then
    self.drafts:take()
  end
end

--- Closes every window on one of the two buffers. The transcript keeps its place.
---@return agent.Windows? closed
function Chat:close_windows()
  local windows = self.windows
  if windows then
    self.transcript:keep_view(windows.transcript)
  end
  self.windows = nil
  window.close(windows or {}, { self.transcript.buffer, self.input.buffer })
  return windows
end

--- Closes the windows, and goes back if they were on this tab page. A running turn continues.
function Chat:hide()
  local was_visible = self:is_visible()
  if was_visible then
    vim.cmd.stopinsert()
  end
  local windows = self:close_windows()
  if windows and was_visible then
    window.go_back(windows)
  end
end

--- Shows a stored session of the chat's project and continues it.
---@param session { sessionId: string, title: string }
function Chat:restore(session)
  self.timeline.session, self.timeline.title = session.sessionId, session.title
  -- The choice was for another session.
  self.timeline.permission, self.timeline.refusal, self.timeline.untrusted = nil, nil, nil
  announce(self, { type = "title" })
  self.history:read()
  self.drafts:take()
end

--- Applies updates and draws their changes in one step.
---@param updates table[]
function Chat:apply(updates)
  if vim.v.exiting ~= vim.NIL then
    -- After a SIGHUP the buffers are already empty.
    return
  end
  self:revive()
  local had_tools = self.attachments:has_tools()
  local changed = {}
  for _, update in ipairs(updates) do
    for index in pairs(timeline.apply(self.timeline, update)) do
      changed[index] = true
    end
  end
  if next(changed) then
    self.transcript:draw(changed)
    self.queue:note(changed)
  end
  if self.timeline.state == "idle" then
    self.queue.paused = nil
  end
  self.attachments:follow(updates, had_tools)
  self.transcript:show_hint()
  self.drafts:keep_messages(updates)
  self.countdown:update()
  pulse.beat(self, changed)
  self.status:show()
end

--- True if no session was begun or opened here.
---@return boolean
function Chat:has_no_session()
  local has_notices = vim.iter(self.timeline.blocks):all(function(block)
    return block.kind == "notice"
  end)
  return has_notices and not self.timeline.session and #self.timeline.openings == 0
end

--- True if it has no session and no typed text. A draft of this session may be in the input.
---@param session? string
---@return boolean
function Chat:is_blank(session)
  return self:has_no_session() and (self.input:is_empty() or session ~= nil and self.drafts:is_of(session))
end

--- Its project; before it has one, the project at the cursor.
---@return { root: string } see protocol/actions.ts
function Chat:place()
  local line = self.timeline
  -- An option may name a folder that does not exist.
  if line.root and not line.session and vim.fn.isdirectory(line.root) == 0 then
    line.root = nil
  end
  return line.root and { root = line.root } or projects.place(self:back())
end

--- The window that the user came from.
---@return integer
function Chat:back()
  return self.windows and vim.api.nvim_win_is_valid(self.windows.back) and self.windows.back or 0
end

---@class agent.SendOptions
---@field remember? string  a line for the project's rules; no model gets the message
---@field id? string        of a message that could not steer
---@field typed? boolean    the user has typed all of the text here

---@param text string
---@param options? agent.SendOptions
function Chat:send(text, options)
  options = options or {}
  local since = trace.now and trace.now()
  input.remember(text)
  local id = options.id or self.input:sent_id()
  local _, along = self.attachments:for_message(text)
  self.selections:keep_for(text)
  self.phases:act("send", function(chat)
    chat:prompt({
      id = id,
      text = text,
      given = along,
      typed = options.typed,
      shown = (chat.attachments:for_message(text)),
      remember = options.remember,
    })
  end, text, id)
  if since then
    trace.span("key", since)
  end
end

--- Sends a message to the supervisor.
---@param message table fields of the action `prompt`, see protocol/actions.ts
function Chat:prompt(message)
  self:apply({ { type = "submitted", text = message.text, id = message.id } })
  self.transcript:follow_all()
  local action = { type = "prompt", chat = self.id, session = self.timeline.session }
  client.send(vim.tbl_extend("error", action, message, self:place()))
end

--- Sends lines to the model to be edited in place.
---@param lines { path: string, line: integer, text: string, wish: string } see protocol/edit_place.ts
function Chat:edit(lines)
  local last = lines.line + select(2, lines.text:gsub("\n", ""))
  local label = ("%s L%d–%d"):format(vim.fn.fnamemodify(lines.path, ":."), lines.line, last)
  local message = ("Edit %s: %s"):format(label, lines.wish)
  self:prompt({ text = message, edit = lines })
end

function Chat:submit()
  local text = self.input:take()
  local what = text and text:match("^/commit%f[%s%z]%s*(.*)$")
  if what then
    require("agent.aside").commit(self, what)
  elseif text then
    slash.call_or(self, text, function()
      self:send(text, { typed = true })
    end)
  end
end

--- Answers an approval with the text of the input.
function Chat:answer_approval()
  self.peers.answer_approval()
end

--- Empties the input after another room has used its text. The history keeps the text.
function Chat:forget_typed()
  input.remember(assert(self.input:take()))
end

function Chat:stop()
  self.stops = self.stops + 1
  self.phases:act("stop", function()
    self:apply({ { type = "stopping" } })
    client.send({ type = "cancel", chat = self.id })
  end)
end

function Chat:next_mode()
  modes.next(self)
end

function Chat:choose_model()
  require("agent.menus.models").choose(self)
end

--- Continues with another agent.
---@param name string
function Chat:change_agent(name)
  require("agent.menus.models").choose_provider(self, "agent " .. name)
end

---@param name string
function Chat:change_mode(name)
  modes.choose(self, name)
end

function Chat:choose_permissions()
  require("agent.menus.permissions").choose(self)
end

function Chat:start_plan()
  self.phases:act("start", modes.start)
end

--- In a menu the key moves through the menu.
---@param key string
---@return boolean
local function in_menu(key)
  if vim.fn.pumvisible() == 0 then
    return false
  end
  vim.api.nvim_feedkeys(vim.keycode(key), "n", false)
  return true
end

function Chat:earlier()
  if not in_menu("<C-p>") then
    self.input:browse(-1)
  end
end

function Chat:later()
  if not in_menu("<C-n>") then
    self.input:browse(1)
  end
end

--- Puts the image of the clipboard into the message, as a mention.
function Chat:paste()
  paste.image(function(base64)
    self:open()
    self.input:insert(attachment.keep_image(base64) .. " ")
  end)
end

--- Opens the chat and goes to the end of its input.
---@param context? string|agent.Attachment for the message
---@param stays_normal? boolean  does not start Insert mode
function Chat:show(context, stays_normal)
  local comes_from_elsewhere = vim.api.nvim_get_current_buf() ~= self.input.buffer
  self:open()
  if type(context) == "string" then
    self.input:add(context .. "\n", true)
  elseif context then
    self.selections:add(context)
  end
  if comes_from_elsewhere and vim.api.nvim_get_mode().mode:find("^i") then
    -- Hiding another chat ends Insert mode later than now.
    vim.api.nvim_feedkeys(vim.keycode("<Cmd>startinsert!<CR>"), "n", false)
  elseif not stays_normal then
    vim.cmd("startinsert!")
  end
end

function Chat:focus_input()
  self:open()
  vim.cmd.startinsert()
end

function Chat:show_keys()
  keymaps.show()
end

return Chat
