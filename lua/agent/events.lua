-- `User` events, so that others can react: see |agent-events|.
local M = {}

--- Each name, and what its data holds.
---@type { [1]: string, [2]: string }[]
M.names = {
  { "AgentReady", "chat, root, provider, model: an engine has the session" },
  { "AgentSessionChanged", "chat, session, title: the session or its title changed" },
  { "AgentTurnStart", "chat" },
  { "AgentTurnDone", "chat, reason, error" },
  { "AgentToolStart", "chat, id, title" },
  { "AgentToolDone", "chat, id, title, status" },
  { "AgentFileModified", "chat, path, kind" },
  { "AgentApprovalRequested", "chat, request, title, reason" },
  { "AgentApprovalAnswered", "chat, request, answer" },
  { "AgentError", "chat, text" },
}

--- Tells the user of a mistake in an autocommand.
---@type fun(text: string)
M.say = vim.notify

---@param name string
---@param data table
function M.emit(name, data)
  -- A mistake in somebody's autocommand must not stop the drawing.
  local ok, problem = pcall(vim.api.nvim_exec_autocmds, "User", { pattern = name, data = data, modeline = false })
  if not ok then
    vim.schedule(function()
      M.say(("an autocommand for %s failed: %s"):format(name, problem))
    end)
  end
end

return M
