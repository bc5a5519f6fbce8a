-- Highlight groups: all `default`, linked to standard ones, so that any colour scheme fits.
local M = {}

--- Name → group that it links to; the help is checked against this.
M.groups = {
  AgentUser = "Title",
  AgentThought = "Comment",
  AgentTool = "Comment",
  AgentToolRunning = "DiagnosticInfo",
  AgentToolDone = "DiagnosticOk",
  AgentToolFailed = "DiagnosticError",
  AgentToolWaiting = "DiagnosticWarn",
  AgentNotice = "DiagnosticInfo",
  AgentWarning = "DiagnosticWarn",
  AgentError = "DiagnosticError",
  AgentAdded = "Added",
  AgentRemoved = "Removed",
  AgentDiffAdd = "DiffAdd",
  AgentDiffDelete = "DiffDelete",
  AgentTitle = "FloatTitle",
  AgentHint = "Comment",
  AgentComment = "DiagnosticInfo",
  AgentBorder = "FloatBorder",
  AgentNormal = "NormalFloat",
}

function M.define()
  for name, target in pairs(M.groups) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
