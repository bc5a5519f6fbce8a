-- Text to read in a tab page; q closes it.
local hint = require("agent.ui.hint")
local prose = require("agent.ui.prose")
local scratch = require("agent.ui.scratch")
local winbar = require("agent.ui.winbar")

local M = {}

--- Maps `q` in this buffer, even if a map of the user begins with it.
---@param buffer integer
---@param what string name of the page, for the key's description
function M.closes(buffer, what)
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = buffer, nowait = true, desc = "Agent: close " .. what })
end

---@param lines string[]
---@param what string name of the page, for the key's description and the buffer's name
---@param keys? string[] keys besides q, each with a space and its action
---@return integer buffer
function M.open(lines, what, keys)
  local buffer = scratch((what:gsub("^the ", "")))
  vim.cmd.stopinsert()
  vim.cmd("tab split")
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  local window = vim.api.nvim_get_current_win()
  prose.style(window)
  local words = vim.list_extend(vim.list_slice(keys or {}), { "q close" })
  winbar.set(window, "%#AgentHint#" .. hint.one_line(words, vim.api.nvim_win_get_width(window)))
  M.closes(buffer, what)
  return buffer
end

return M
