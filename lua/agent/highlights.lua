-- Highlight groups: all `default`, linked to standard ones, so that any colour scheme fits.
local M = {}

--- Each group, what it links to, and what it is for.
---@type { [1]: string, [2]: string, [3]: string }[]
M.groups = {
  { "AgentUser", "Title", "your messages" },
  { "AgentThought", "Comment", "thoughts" },
  { "AgentTool", "Comment", "a tool call's line" },
  { "AgentToolRunning", "DiagnosticInfo", "its sign while it runs" },
  { "AgentToolDone", "DiagnosticOk", "its sign when it is done" },
  { "AgentToolFailed", "DiagnosticError", "its sign when it has failed" },
  { "AgentToolWaiting", "DiagnosticWarn", "its sign when it waits or was stopped; the border of the approval" },
  { "AgentNotice", "DiagnosticInfo", "information in the transcript" },
  { "AgentWarning", "DiagnosticWarn", "warnings, and why an approval asks" },
  { "AgentError", "DiagnosticError", "errors" },
  { "AgentAdded", "Added", "the number of added lines" },
  { "AgentRemoved", "Removed", "the number of removed lines" },
  { "AgentDiffAdd", "DiffAdd", "added lines of an approval, of a review" },
  { "AgentDiffDelete", "DiffDelete", "removed lines of an approval, of a review" },
  { "AgentTitle", "FloatTitle", "titles of the windows" },
  { "AgentComment", "DiagnosticInfo", "comments on lines, until they are sent" },
  { "AgentHint", "Comment", "keys at the border, and `@@` lines" },
  { "AgentBorder", "FloatBorder", "borders of the chat" },
  { "AgentNormal", "NormalFloat", "text of the floating windows" },
}

function M.define()
  for _, group in ipairs(M.groups) do
    vim.api.nvim_set_hl(0, group[1], { link = group[2], default = true })
  end
end

return M
