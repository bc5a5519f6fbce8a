-- The two buffers of a chat. Whoever unloads, wipes out or edits one of them gets a new one with the same in it.
-- Methods of the chat.
local complete = require("agent.chat.complete")
local input = require("agent.chat.input")
local keymaps = require("agent.chat.keymaps")
local markdown = require("agent.chat.draw.markdown")
local no_insert = require("agent.ui.no_insert")
local Renderer = require("agent.chat.draw.renderer")
local window = require("agent.chat.window")

---@class agent.Chat
local M = {}

---@return integer buffer
local function transcript_buffer()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "hide"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undolevels = -1
  vim.bo[buffer].modeline = false
  vim.bo[buffer].filetype = "agent"
  vim.bo[buffer].formatlistpat = require("agent.ui.prose").LIST
  vim.bo[buffer].modifiable = false
  return buffer
end

---@return integer buffer
local function input_buffer()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "hide"
  -- ":write" sends.
  vim.bo[buffer].buftype = "acwrite"
  vim.bo[buffer].filetype = "agent-input"
  vim.bo[buffer].modeline = false
  return buffer
end

--- Calls back once the buffer's text is about to go. No autocommand: in those of others there are none.
---@param buffer integer
---@param callback fun()
---@param changed? fun() its text has changed
local function when_lost(buffer, callback, changed)
  vim.api.nvim_buf_attach(buffer, false, { on_detach = callback, on_lines = changed })
end

--- Puts a new buffer into the place of one that is lost.
---@param old integer?
---@param new integer
local function take_place(old, new)
  if old and vim.api.nvim_buf_is_valid(old) then
    for _, win in ipairs(vim.fn.win_findbuf(old)) do
      window.set_buffer(win, new)
    end
    pcall(vim.api.nvim_buf_delete, old, { force = true })
  end
end

---@param scheme? string
function M:name_buffers(scheme)
  scheme = scheme or "agent://"
  pcall(vim.api.nvim_buf_set_name, self.transcript, ("%schat/%d"):format(scheme, self.id))
  pcall(vim.api.nvim_buf_set_name, self.input.buffer, ("%sinput/%d"):format(scheme, self.id))
end

function M:make_transcript()
  local buffer = transcript_buffer()
  local old = self.transcript
  self.transcript, self.renderer = buffer, Renderer.new(buffer)
  -- What it builds on is inside of Neovim: without that all of the text is parsed.
  if not pcall(markdown.start, buffer, self.renderer) then
    pcall(vim.treesitter.start, buffer, "markdown")
  end
  if #self.timeline.blocks > 0 then
    self.renderer:prepend(self.timeline.blocks, #self.timeline.blocks, self.older ~= nil)
  end
  take_place(old, buffer)
  no_insert(buffer)
  keymaps.map(self, "transcript", buffer)
  when_lost(buffer, function()
    self.renderer = nil
    vim.schedule(function()
      self:revive()
    end)
  end)
  self:follow_all()
end

function M:make_input()
  local old = self.input
  local buffer = input_buffer()
  self.input = input.new(buffer)
  if old then
    self.input:set(old.lost)
    self.input.id = old.id
    vim.bo[buffer].modified = false
  end
  take_place(old and old.buffer, buffer)
  keymaps.map(self, "input", buffer)
  complete.attach(buffer, self)
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      -- Who saves within an autocommand of theirs does not mean to send.
      local _, autocommands = vim.fn.expand("<stack>"):gsub(" Autocommands for ", "")
      if autocommands == 1 then
        self:submit()
      end
    end,
  })
  local modes = { InsertEnter = "i", InsertLeave = "n", BufLeave = "n" }
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertEnter", "InsertLeave", "BufLeave" }, {
    buffer = buffer,
    callback = function(event)
      if event.event == "BufEnter" then
        self:show_attached()
      end
      window.hint(self.windows, modes[event.event])
    end,
  })
  when_lost(buffer, function()
    self.input.lost = self.input:text()
    vim.schedule(function()
      self:revive()
    end)
  end, function()
    -- What is not sent yet stops nobody from leaving, and ":wall" does not send it.
    vim.bo[buffer].modified = false
    vim.schedule(function()
      self:input_changed(buffer)
    end)
  end)
end

---@param buffer integer that of the input at that time
function M:input_changed(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  vim.bo[buffer].modified = false
  window.grow(self.windows)
  self:keep_draft()
  self.peers.input_changed()
end

--- Makes again what is lost. The windows of a buffer that was deleted are gone; the other one's go, too.
function M:revive()
  if self.is_closed or vim.v.exiting ~= vim.NIL then
    return
  end
  local has_transcript, has_input = self.renderer ~= nil, self.input ~= nil and not self.input.lost
  if has_transcript and has_input then
    return
  end
  if not has_transcript then
    self:make_transcript()
  end
  if not has_input then
    self:make_input()
  end
  self:name_buffers()
end

return M
