-- All that Neovim loads at startup: the command and the <Plug> maps. The rest loads with the first use.
if vim.g.loaded_agent then
  return
end
vim.g.loaded_agent = true

vim.api.nvim_create_user_command("Agent", function(command)
  require("agent.command").run(command)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Talk to the coding agent",
  complete = function(lead, line)
    return require("agent.command").complete(lead, line)
  end,
})

vim.api.nvim_create_autocmd("SessionLoadPost", {
  callback = function()
    require("agent.chat.restored")()
  end,
})

-- The API function and no more: vim.keymap.set takes several times as long, and this runs at every startup.
local map = vim.api.nvim_set_keymap

for plug, action in pairs({
  AgentOpen = "open",
  AgentToggle = "toggle",
  AgentNew = "new",
  AgentChats = "chats",
  AgentSessions = "sessions",
  AgentResume = "resume",
  AgentFork = "fork",
  AgentStop = "stop",
  AgentSend = "send",
  AgentApprove = "approve",
  AgentReject = "reject",
  AgentApproval = "approval",
  AgentReview = "review",
  AgentWhy = "why",
  AgentUndo = "undo",
  AgentRedo = "redo",
  AgentRestore = "restore",
  AgentChanges = "changes",
}) do
  local name, desc = "<Plug>(" .. plug .. ")", "Agent: " .. action
  map("n", name, "<Cmd>Agent " .. action .. "<CR>", { noremap = true, desc = desc })
  -- The command line begins with '<,'> there, so that the selected lines go along.
  map("x", name, ":Agent " .. action .. "<CR>", { noremap = true, silent = true, desc = desc })
end

for plug, what in pairs({
  AgentReviewNext = "next",
  AgentReviewPrevious = "previous",
  AgentReviewKeep = "keep",
  AgentReviewUndo = "undo",
  AgentReviewKeepFile = "keep file",
  AgentReviewUndoFile = "undo file",
  AgentReviewKeepAll = "keep all",
  AgentReviewUndoAll = "undo all",
  AgentReviewDiff = "diff",
}) do
  local rhs = "<Cmd>Agent review " .. what .. "<CR>"
  map("n", "<Plug>(" .. plug .. ")", rhs, { noremap = true, desc = "Agent: review " .. what })
end
