-- Text to read, in a tab of its own; q closes it.
local prose = require("agent.ui.prose")

local M = {}

--- `q` in this buffer closes the tab, whatever map of the user's begins with it.
---@param buffer integer
---@param what string what it closes, for the key's description
function M.closes(buffer, what)
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = buffer, nowait = true, desc = "Agent: close " .. what })
end

---@param lines string[]
---@param what string what q closes, for the key's description and the buffer's name
---@return integer buffer
function M.open(lines, what)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.cmd("tab split")
  vim.api.nvim_win_set_buf(0, buffer)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modeline = false
  -- Two of the same are possible: the second one has no name.
  pcall(vim.api.nvim_buf_set_name, buffer, "agent://" .. what:gsub("^the ", ""))
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  prose.style(vim.api.nvim_get_current_win())
  M.closes(buffer, what)
  return buffer
end

return M
