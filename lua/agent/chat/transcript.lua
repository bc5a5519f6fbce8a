-- The buffer that shows the session.
local buffers = require("agent.chat.buffers")
local config = require("agent.config")
local follow = require("agent.chat.draw.follow").follow
local keymaps = require("agent.chat.keymaps")
local markdown = require("agent.chat.draw.markdown")
local no_insert = require("agent.ui.no_insert")
local Renderer = require("agent.chat.draw.renderer")
local scratch = require("agent.ui.scratch")
local trace = require("agent.trace")
local window = require("agent.chat.window")

---@class agent.Transcript
---@field chat agent.Chat
---@field buffer integer
---@field renderer? agent.Renderer  nil while the buffer is lost
---@field has_hint? boolean  the empty transcript shows a hint
---@field view? table  of its window when the user left it; nil at its end
local Transcript = {}
Transcript.__index = Transcript

---@param chat agent.Chat
---@return agent.Transcript
function Transcript.new(chat)
  return setmetatable({ chat = chat }, Transcript)
end

---@return integer buffer
local function new_buffer()
  local buffer = scratch(nil, "hide")
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undolevels = -1
  vim.bo[buffer].filetype = "agent"
  vim.bo[buffer].formatlistpat = require("agent.ui.prose").LIST
  vim.bo[buffer].modifiable = false
  return buffer
end

local namespace = vim.api.nvim_create_namespace("agent.chat.empty")

--- An empty chat says what to do. Its lines fit the smallest chat.
local HELP = { "Type a message, <C-s> sends it.", "@ attaches files. g? shows all keys." }

--- Fills the empty transcript: names the session that is being opened, else says what to do.
function Transcript:show_hint()
  local timeline = self.chat.timeline
  local is_empty = #timeline.blocks == 0
  if not self.renderer or not is_empty and not self.has_hint then
    return
  end
  vim.api.nvim_buf_clear_namespace(self.buffer, namespace, 0, -1)
  local opening, is_reading = timeline.openings[1], self.chat.history.is_reading
  local what = opening and opening.what or (opening or is_reading) and timeline.title and ('"%s"'):format(timeline.title)
  local lines = what and { ("Opening %s …"):format(what) } or is_reading and {} or HELP
  self.has_hint = is_empty and #lines > 0
  if self.has_hint then
    vim.api.nvim_buf_set_extmark(self.buffer, namespace, 0, 0, {
      virt_text = { { lines[1], "AgentHint" } },
      virt_text_pos = "overlay",
      virt_lines = lines[2] and { { { lines[2], "AgentHint" } } } or nil,
    })
  end
end

--- Highlights and draws the markdown of answers.
function Transcript:highlight()
  -- It relies on internals of Neovim. If they have changed, tree-sitter parses the whole text.
  if not pcall(markdown.start, self.buffer, self.renderer) then
    pcall(vim.treesitter.start, self.buffer, "markdown")
  end
  require("agent.markdown.painter").attach(self.buffer, self.renderer)
end

--- Makes the buffer, also after it is lost.
function Transcript:make()
  local buffer = new_buffer()
  local old = self.buffer
  self.buffer = buffer
  self.renderer = Renderer.new(buffer, function()
    self:highlight()
  end)
  markdown.prepare()
  if #self.chat.timeline.blocks > 0 then
    self.renderer:prepend(self.chat.timeline.blocks, #self.chat.timeline.blocks, self.chat.history.older ~= nil)
  end
  self:show_hint()
  buffers.replace(old, buffer)
  no_insert(buffer)
  keymaps.map(self.chat, "transcript", buffer)
  vim.api.nvim_create_autocmd("BufLeave", {
    buffer = buffer,
    callback = function()
      local windows, win = self.chat.windows, vim.api.nvim_get_current_win()
      if windows and win == windows.transcript then
        self:keep_view(win)
      end
    end,
  })
  buffers.when_lost(buffer, function()
    self.renderer = nil
    vim.schedule(function()
      self.chat:revive()
    end)
  end)
  self:follow_all()
end

--- Keeps the place of its window, if it shows the transcript.
---@param win integer
function Transcript:keep_view(win)
  if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == self.buffer then
    self.view = not self:following()[win] and vim.api.nvim_win_call(win, vim.fn.winsaveview) or nil
  end
end

--- Windows at the end of the transcript, which should stay there.
---@return table<integer, true>
function Transcript:following()
  local at_end = {}
  local last = vim.api.nvim_buf_line_count(self.buffer)
  for _, win in ipairs(vim.fn.win_findbuf(self.buffer)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= last then
      at_end[win] = true
    end
  end
  return at_end
end

--- Moves every window on the transcript to its end, also the next one.
function Transcript:follow_all()
  self.view = nil
  local all = {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buffer)) do
    all[win] = true
  end
  self:follow(all)
end

---@param windows table<integer, true>
function Transcript:follow(windows)
  local last = self.chat.timeline.blocks[#self.chat.timeline.blocks]
  follow(self.buffer, windows, last ~= nil and last.kind == "text" and last.status == "open")
end

--- The option decides for diffs that the user has neither opened nor closed.
---@param blocks agent.Block[]
---@param changed table<integer, true>
local function open_diffs(blocks, changed)
  for index in pairs(config.get().review.show_diffs == "open" and changed or {}) do
    local block = blocks[index]
    if block.is_diff and block.expanded == nil then
      block.expanded = true
    end
  end
end

--- Fits the text to the width of its windows.
function Transcript:fit()
  if self.renderer then
    self.renderer:fit()
  end
end

--- Draws blocks. Windows at the end stay at the end.
---@param changed table<integer, true> indexes of blocks
function Transcript:draw(changed)
  local since = trace.now and trace.now()
  local blocks, following = self.chat.timeline.blocks, self:following()
  open_diffs(blocks, changed)
  local before = vim.api.nvim_buf_line_count(self.buffer)
  self.renderer:draw(blocks, changed)
  self:show_hint()
  self:follow(following)
  -- Neovim scrolls for text that grows, not back for text that shrinks.
  if vim.api.nvim_buf_line_count(self.buffer) < before then
    vim.iter(vim.tbl_keys(following)):each(window.show_end)
  end
  if since then
    trace.span("draw", since)
  end
end

return Transcript
