-- Where a project is looked for.
local config = require("agent.config")

local M = {}

--- At the file in this window, else in the working folder; in the tab page of a worktree that one.
---@param window integer
---@return { folder: string, cwd: string, root?: string } see protocol/ui.ts
function M.here(window)
  local worktree = vim.t.agent_worktree
  if worktree then
    return { folder = worktree, cwd = worktree, root = worktree }
  end
  local buffer = vim.api.nvim_win_get_buf(window)
  local name = vim.api.nvim_buf_get_name(buffer)
  local cwd = vim.fn.getcwd()
  local is_file = vim.bo[buffer].buftype == "" and name ~= ""
  return { folder = is_file and vim.fs.dirname(name) or cwd, cwd = cwd, root = config.get().root }
end

return M
