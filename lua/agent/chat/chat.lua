-- A chat: one session with its transcript, its input and its windows.
local attached = require("agent.chat.attached")
local buffers = require("agent.chat.buffers")
local client = require("agent.client")
local config = require("agent.config")
local drafts = require("agent.chat.drafts")
local given = require("agent.context.given")
local history = require("agent.chat.history")
local keymaps = require("agent.chat.keymaps")
local input = require("agent.chat.input")
local modes = require("agent.menus.modes")
local moves = require("agent.chat.moves")
local navigate = require("agent.chat.navigate")
local opening = require("agent.chat.opening")
local paste = require("agent.context.paste")
local plan = require("agent.chat.draw.plan")
local projects = require("agent.projects")
local pulse = require("agent.chat.draw.pulse")
local selections = require("agent.chat.selections")
local slash = require("agent.chat.complete.slash")
local status = require("agent.chat.draw.status")
local timeline = require("agent.timeline")
local trace = require("agent.trace")
local waiting = require("agent.chat.waiting")
local window = require("agent.chat.window")

---@class agent.Chat
---@field id integer
---@field timeline agent.Timeline
---@field transcript integer buffer
---@field input agent.Input
---@field renderer? agent.Renderer  nil while the transcript is lost, see buffers.lua
---@field windows? agent.Windows  nil while it is hidden
---@field counted? agent.Retry  the countdown on screen
---@field clock? uv.uv_timer_t   of that countdown
---@field peers agent.ChatPeers
---@field list fun(): agent.Chat[]  all of this Neovim
---@field older? integer        where in the session the older part ends that is not here yet
---@field reading? boolean      a part of the session is on its way
---@field told? { session: string, title: string }  in the last AgentSessionChanged
---@field stops integer           how often the user has stopped it
---@field is_quiet boolean      another place says how its turns end
---@field target? integer       turn that is looked for in the older parts
---@field is_closed? boolean     for good
---@field leave fun(chat: agent.Chat, texts: string[])  puts texts of a closed chat into the next one
local PARTS = { attached, buffers, drafts, history, moves, navigate, opening, plan, selections, status, waiting }
local Chat = vim.tbl_extend("error", {}, unpack(PARTS))
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
  chat:revive()
  return chat
end

--- On some tab page.
---@return boolean
function Chat:is_open()
  return self.windows ~= nil and window.is_open(self.windows)
end

--- On the tab page that is shown.
---@return boolean
function Chat:is_visible()
  return self:is_open() and vim.api.nvim_win_get_tabpage(self.windows.input) == vim.api.nvim_get_current_tabpage()
end

--- Opens the windows on this tab page, in the place of another chat's, and goes to the input. A chat with a tab page of
--- its own has that one.
function Chat:open()
  self:revive()
  local other = on_tab[vim.api.nvim_get_current_tabpage()]
  if other and other ~= self and other:is_visible() then
    other:hide()
  end
  local has_tab = self:is_open() and self.windows.layout == "tab"
  if not (self:is_visible() or has_tab) then
    self:close_windows()
    self.windows = window.open(self.transcript, self.input.buffer)
    self:follow({ [self.windows.transcript] = true })
    self:fill()
  else
    window.put_back(self.windows, self.transcript, self.input.buffer)
    window.come_from(self.windows, vim.api.nvim_get_current_win())
  end
  vim.api.nvim_set_current_win(self.windows.input)
  on_tab[vim.api.nvim_get_current_tabpage()] = self
  pulse.beat(self)
  self:show_state()
  self:show_attached()
  self:prepare()
end

--- The user types for seconds: by then the engine runs.
function Chat:prepare()
  if self:is_visible() and self:phase() == "ready" then
    local action = { type = "open", chat = self.id, session = self.timeline.session }
    client.send(vim.tbl_extend("error", action, self:place()))
  end
  if self:is_blank() then
    self:take_draft()
  end
end

--- Closes every window on one of the two buffers.
---@return agent.Windows? closed
function Chat:close_windows()
  local windows = self.windows
  self.windows = nil
  window.close(windows or {}, { self.transcript, self.input.buffer })
  return windows
end

--- Closes the windows and goes back, if they were on this tab page; a turn goes on.
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

--- Every window on the transcript shows its end.
function Chat:follow_all()
  local all = {}
  for _, win in ipairs(vim.fn.win_findbuf(self.transcript)) do
    all[win] = true
  end
  self:follow(all)
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
  if vim.v.exiting ~= vim.NIL then
    -- After a SIGHUP the buffers are already empty.
    return
  end
  self:revive()
  local changed = {}
  for _, update in ipairs(updates) do
    for index in pairs(timeline.apply(self.timeline, update)) do
      changed[index] = true
    end
  end
  if next(changed) then
    self:open_diffs(changed)
    local since = trace.now and trace.now()
    local following = self:following()
    self.renderer:draw(self.timeline.blocks, changed)
    self:follow(following)
    self:note_waiting(changed)
    if since then
      trace.span("draw", since)
    end
  end
  if self.timeline.state == "idle" then
    self.paused = nil
  end
  self:keep_messages(updates)
  self:count_down()
  pulse.beat(self, changed)
  self:show_state()
end

--- Diffs that the user has neither opened nor closed are as the option says.
---@param changed table<integer, true>
function Chat:open_diffs(changed)
  for index in pairs(config.get().show_diffs == "open" and changed or {}) do
    local block = self.timeline.blocks[index]
    if block.is_diff and block.expanded == nil then
      block.expanded = true
    end
  end
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

--- Nothing was said or read here.
---@return boolean
function Chat:has_no_session()
  local has_notices = vim.iter(self.timeline.blocks):all(function(block)
    return block.kind == "notice"
  end)
  return has_notices and not self.timeline.session and #self.timeline.openings == 0
end

--- The same, and nothing was typed. A draft of this session may be back.
---@param session? string
---@return boolean
function Chat:is_blank(session)
  return self:has_no_session() and (self.input:is_empty() or session ~= nil and self:has_draft_of(session))
end

--- Its project; while it has none, the one that the user is in.
---@return { root: string } see protocol/ui.ts
function Chat:place()
  local line = self.timeline
  -- An option may have named a folder that is not there.
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

---@param text string
---@param remember? string  no model is asked: this is written into the project's rules
---@param id? string         of a message that was to steer
function Chat:send(text, remember, id)
  local since = trace.now and trace.now()
  input.remember(text)
  id = id or self.input:sent_id()
  local _, along = self:attached(text)
  self:selection_sent(text)
  self:act("send", function(chat)
    chat:prompt({ id = id, text = text, given = along, shown = (chat:attached(text)), remember = remember })
  end, text, id)
  if since then
    trace.span("key", since)
  end
end

--- Sends a message to the supervisor.
---@param message table fields of the action `prompt`, see protocol/ui.ts
function Chat:prompt(message)
  self:apply({ { type = "submitted", text = message.text, id = message.id } })
  self:follow_all()
  local action = { type = "prompt", chat = self.id, session = self.timeline.session }
  client.send(vim.tbl_extend("error", action, message, self:place()))
end

--- The model changes these lines in place.
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
      self:send(text)
    end)
  end
end

function Chat:stop()
  self.stops = self.stops + 1
  self:act("stop", function()
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

function Chat:start_plan()
  self:act("start", modes.start)
end

--- In a menu the key moves in the menu.
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

--- Puts the image of the clipboard into the message, as a word that stands for it.
function Chat:paste()
  paste.image(function(base64)
    self:open()
    self.input:insert(given.keep_image(base64) .. " ")
  end)
end

--- Opens the chat and goes to its input, behind the text there.
---@param context? string|agent.Given for the message
function Chat:show(context)
  self:open()
  if type(context) == "string" then
    self.input:add(context .. "\n")
  elseif context then
    self:select(context)
  end
  vim.cmd("startinsert!")
end

function Chat:focus_input()
  self:open()
  vim.cmd.startinsert()
end

function Chat:show_keys()
  keymaps.show()
end

return Chat
