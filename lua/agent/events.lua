-- `User` events for other plugins: see |agent-events|.
local M = {}

--- Each name, and its data.
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

--- Reports an error in an autocommand.
---@type fun(text: string)
M.say = vim.notify

---@param name string
---@param data table
function M.emit(name, data)
  -- An error in an autocommand must not stop the drawing.
  local ok, problem = pcall(vim.api.nvim_exec_autocmds, "User", { pattern = name, data = data, modeline = false })
  if not ok then
    vim.schedule(function()
      M.say(("an autocommand for %s failed: %s"):format(name, problem))
    end)
  end
end

return M
