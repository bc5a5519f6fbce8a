-- The input buffer: lines of text and a history.
local pasted = require("agent.context.pasted")

local M = {}

--- Sent messages, oldest first; shared by all chats.
---@type string[]
local history = {}

---@class agent.Input
---@field buffer integer
---@field id string      of the message in the input
---@field taken? string  id of the text that was taken last, until it is sent
---@field at? integer    position in the history
---@field draft? string  text from before the user went through the history
---@field lost? string   text at the time the buffer was unloaded
---@field seen? string   last known text
---@field placeholder? string
---@field is_writing? boolean  we change the buffer, not the user
local Input = {}
Input.__index = Input

local prefix, last_id = vim.uv.random(8):gsub(".", function(byte)
  return ("%02x"):format(byte:byte())
end), 0

---@return string id unique among all Neovims
local function new_id()
  last_id = last_id + 1
  return ("%s-%d"):format(prefix, last_id)
end

---@param buffer integer
---@return agent.Input
function M.new(buffer)
  return setmetatable({ buffer = buffer, id = new_id() }, Input)
end

---@return string
function Input:text()
  return table.concat(vim.api.nvim_buf_get_lines(self.buffer, 0, -1, false), "\n")
end

--- Writes lines, even if the user has made the buffer read-only: its text must not be lost, nor sent twice.
---@param last integer the line, exclusive, that they replace all lines up to
---@param lines string[]
function Input:write(last, lines)
  vim.bo[self.buffer].modifiable = true
  self.is_writing = true
  vim.api.nvim_buf_set_lines(self.buffer, 0, last, false, lines)
  self.is_writing = nil
end

---@param text string
---@param is_foreign? boolean the user may not have written it
function Input:set(text, is_foreign)
  text = is_foreign and pasted.plain(text) or text
  local lines = vim.split(text, "\n")
  self:write(-1, lines)
  local is_here = vim.api.nvim_get_current_buf() == self.buffer and vim.api.nvim_get_mode().mode:find("^i")
  if is_here and vim.fn.pumvisible() == 1 then
    -- The menu completed the previous text.
    vim.fn.complete(1, {})
  end
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    vim.api.nvim_win_set_cursor(window, { #lines, #lines[#lines] })
  end
end

--- Puts text above the present text: a returned message, or context for the next one.
---@param text string
---@param is_foreign? boolean the user may not have written it
function Input:add(text, is_foreign)
  if self:is_empty() then
    return self:set(text, is_foreign)
  end
  text = is_foreign and pasted.plain(text) or text
  -- Above the line that the user may be typing.
  self:write(0, vim.split(text .. "\n", "\n"))
end

--- Inserts words at the cursor, or at the end, after a space.
---@param words string
function Input:insert(words)
  local window = vim.fn.win_findbuf(self.buffer)[1]
  local row, column = unpack(window and vim.api.nvim_win_get_cursor(window) or { -1, -1 })
  local line = vim.api.nvim_buf_get_lines(self.buffer, row - 1, row, false)[1] or ""
  -- In Normal mode the cursor is on a letter.
  local at = vim.api.nvim_get_mode().mode:find("^i") and column or math.min(#line, column + 1)
  local before = at > 0 and not line:sub(at, at):find("%s") and " " or ""
  vim.api.nvim_buf_set_text(self.buffer, row - 1, at, row - 1, at, { before .. words })
  if window then
    vim.api.nvim_win_set_cursor(window, { row, at + #before + #words })
  end
end

---@return boolean
function Input:is_empty()
  return vim.trim(self:text()) == ""
end

local namespace = vim.api.nvim_create_namespace("agent.input")

--- Says in the empty input what to type.
---@param is_running boolean  messages wait
function Input:show_placeholder(is_running)
  if not vim.api.nvim_buf_is_loaded(self.buffer) then
    return
  end
  local words
  if #table.concat(vim.api.nvim_buf_get_lines(self.buffer, 0, 2, false), "\n") == 0 then
    words = is_running and "Queue a message" or "Ask, or @file, /command"
  end
  if words ~= self.placeholder then
    self.placeholder = words
    vim.api.nvim_buf_clear_namespace(self.buffer, namespace, 0, -1)
    if words then
      local text = { virt_text = { { words, "AgentHint" } }, virt_text_pos = "overlay" }
      vim.api.nvim_buf_set_extmark(self.buffer, namespace, 0, 0, text)
    end
  end
end

--- Takes the text and empties the input.
---@return string? text nil if it is blank
function Input:take()
  pasted.settle(self.buffer)
  local text = vim.trim(self:text())
  if text == "" then
    return nil
  end
  self.at, self.draft = nil, nil
  self.taken, self.id, self.seen = self.id, new_id(), nil
  self:set("")
  return text
end

--- The id of the message that is sent now.
---@return string
function Input:sent_id()
  local id = self.taken or new_id()
  self.taken = nil
  return id
end

--- Typed text that is not sent. It differs from the buffer while the user goes through the history.
---@return string
function Input:unsent()
  -- Neovim empties its buffers before it runs autocommands for a signal.
  if vim.api.nvim_buf_is_loaded(self.buffer) then
    self.seen = self:text()
  end
  local text = self.lost or self.seen or ""
  if not self.at then
    return text
  end
  return text == history[self.at] and self.draft or vim.trim(text .. "\n\n" .. self.draft)
end

---@param text string
function M.remember(text)
  if history[#history] ~= text then
    table.insert(history, text)
  end
end

--- Replaces the history.
---@param messages string[]
---@return string[] before
function M.swap(messages)
  local before = history
  history = messages
  return before
end

--- Shows an earlier (-1) or later (1) message; after the last one, the draft.
---@param step integer
function Input:browse(step)
  if not self.at then
    self.draft = self:text()
  end
  local at = (self.at or #history + 1) + step
  if at < 1 or #history == 0 then
    return
  end
  if at > #history then
    self.at = nil
    return self:set(self.draft or "")
  end
  self.at = at
  self:set(history[at])
end

return M
