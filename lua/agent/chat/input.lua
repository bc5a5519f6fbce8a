-- The input buffer: any number of lines, a history, and nothing that is lost.
local M = {}

--- Sent messages, oldest first; shared by all chats.
---@type string[]
local history = {}

---@class agent.Input
---@field buffer integer
---@field id string      of the message that is being typed
---@field taken? string  of the text that was taken last, until it is sent
---@field at? integer    place in the history
---@field draft? string  what was being typed before the history was looked through
---@field lost? string   what stood there when the buffer was unloaded
---@field seen? string   what stood there last
local Input = {}
Input.__index = Input

local prefix, last_id = vim.uv.random(8):gsub(".", function(byte)
  return ("%02x"):format(byte:byte())
end), 0

---@return string id that no other message has, in any Neovim
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

---@param text string
function Input:set(text)
  local lines = vim.split(text, "\n")
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, false, lines)
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    vim.api.nvim_win_set_cursor(window, { #lines, #lines[#lines] })
  end
end

--- Puts text before what stands there: a message that was taken back, or context for the next one.
---@param text string
function Input:add(text)
  if self:is_empty() then
    return self:set(text)
  end
  -- Above the line that the user may be typing.
  vim.api.nvim_buf_set_lines(self.buffer, 0, 0, false, vim.split(text .. "\n", "\n"))
end

--- Puts words where the cursor is, or at the end, with a blank before them.
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

--- The text to send; the input is empty afterwards.
---@return string? text nil if there is nothing to send
function Input:take()
  local text = vim.trim(self:text())
  if text == "" then
    return nil
  end
  self.at, self.draft = nil, nil
  self.taken, self.id, self.seen = self.id, new_id(), nil
  self:set("")
  return text
end

--- The id of a message that is sent now.
---@return string
function Input:sent_id()
  local id = self.taken or new_id()
  self.taken = nil
  return id
end

--- What the user has typed and not sent: while the history is looked through, that is not what stands here.
---@return string
function Input:unsent()
  -- A Neovim that a signal ends empties its buffers before it calls anybody.
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

--- Goes over to other sent messages.
---@param messages string[]
---@return string[] before
function M.swap(messages)
  local before = history
  history = messages
  return before
end

--- Shows an earlier (-1) or later (1) message; past the last one the draft comes back.
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
