-- A chat: one conversation with its transcript, its input and its windows.
local client = require("agent.client")
local config = require("agent.config")
local history = require("agent.chat.history")
local keymaps = require("agent.chat.keymaps")
local new_input = require("agent.chat.input")
local navigate = require("agent.chat.navigate")
local Renderer = require("agent.chat.renderer")
local status = require("agent.chat.status")
local timeline = require("agent.timeline")
local window = require("agent.chat.window")

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
---@field home? table          place of the project that its stored session belongs to
---@field older? integer        where in the session the older part ends that is not here yet
---@field reading? boolean      a part of the session is on its way
---@field told? { session: string, title: string }  in the last AgentSessionChanged
---@field target? integer       turn that is looked for in the older parts
local Chat = vim.tbl_extend("error", {}, history, navigate, status)
Chat.__index = Chat

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

---@param id integer
---@return agent.Chat
function Chat.new(id)
  local buffer = transcript_buffer()
  local chat = setmetatable({
    id = id,
    timeline = timeline.new(),
    transcript = buffer,
    input = new_input.new(id),
    renderer = Renderer.new(buffer),
  }, Chat)
  pcall(vim.api.nvim_buf_set_name, buffer, ("agent://chat/%d"):format(id))
  keymaps.map(chat)
  return chat
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
    self:fill()
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

--- Nothing was said, typed or read here.
---@return boolean
function Chat:is_blank()
  return #self.timeline.blocks == 0 and not self.timeline.session and self.input:is_empty()
end

--- Its project; before it has one, where that is looked for: at the file the user came from.
---@return table
function Chat:place()
  local root = self.timeline.root
  if root then
    return { folder = root, cwd = root, root = root }
  end
  return self.home or self:here()
end

--- Where the user is, as a place to look for a project.
---@return table
function Chat:here()
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
  local action = { type = "prompt", chat = self.id, text = text, session = self.timeline.session }
  client.send(vim.tbl_extend("error", action, self:place()))
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
  keymaps.show()
end

return Chat
