-- Text to read in a tab page; q closes it.
local prose = require("agent.ui.prose")
local scratch = require("agent.ui.scratch")

local M = {}

--- Maps `q` in this buffer, even if a map of the user begins with it.
---@param buffer integer
---@param what string name of the page, for the key's description
function M.closes(buffer, what)
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = buffer, nowait = true, desc = "Agent: close " .. what })
end

---@param lines string[]
---@param what string name of the page, for the key's description and the buffer's name
---@return integer buffer
function M.open(lines, what)
  local buffer = scratch((what:gsub("^the ", "")))
  vim.cmd("tab split")
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  prose.style(vim.api.nvim_get_current_win())
  M.closes(buffer, what)
  return buffer
end

return M
