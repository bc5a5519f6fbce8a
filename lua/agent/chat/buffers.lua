-- The two buffers of a chat are made again when somebody unloads, wipes out or edits them.
local window = require("agent.chat.window")

local M = {}

--- Calls back once the buffer's text is about to go. No autocommand: in those of others there are none.
---@param buffer integer
---@param callback fun()
---@param changed? fun() its text has changed
function M.when_lost(buffer, callback, changed)
  vim.api.nvim_buf_attach(buffer, false, { on_detach = callback, on_lines = changed })
end

--- Puts a new buffer into the place of one that is lost.
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
