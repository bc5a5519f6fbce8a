-- The input buffer: any number of lines, a history, and nothing that is lost.
local M = {}

--- Sent messages, oldest first; shared by all chats.
---@type string[]
local history = {}

---@class agent.Input
---@field buffer integer
---@field at? integer    place in the history
---@field draft? string  what was being typed before the history was looked through
---@field lost? string   what stood there when the buffer was unloaded
local Input = {}
Input.__index = Input

---@param buffer integer
---@return agent.Input
function M.new(buffer)
  return setmetatable({ buffer = buffer }, Input)
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
  local present = self:text()
  self:set(vim.trim(present) == "" and text or text .. "\n\n" .. present)
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
  self:set("")
  return text
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
