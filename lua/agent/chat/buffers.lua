-- Replaces a chat's buffers after somebody unloads, wipes out or edits them.
local window = require("agent.chat.window")

local M = {}

--- Calls back just before the buffer loses its text. Autocommands would not do: those of others run without ours.
---@param buffer integer
---@param callback fun()
---@param changed? fun() called after a change of its text
function M.when_lost(buffer, callback, changed)
  vim.api.nvim_buf_attach(buffer, false, { on_detach = callback, on_lines = changed })
end

--- Shows a new buffer in all windows of a lost one.
---@param old integer?
---@param new integer
function M.replace(old, new)
  if old and vim.api.nvim_buf_is_valid(old) then
    for _, win in ipairs(vim.fn.win_findbuf(old)) do
      window.set_buffer(win, new)
    end
    pcall(vim.api.nvim_buf_delete, old, { force = true })
  end
end

return M
