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
  vim.keymap.set("n", "<Plug>(" .. plug .. ")", function()
    require("agent")[action]()
  end, { desc = "Agent: " .. action })
  -- The command line begins with '<,'> there, so that the selected lines go along.
  vim.keymap.set("x", "<Plug>(" .. plug .. ")", (":Agent %s<CR>"):format(action), {
    desc = "Agent: " .. action,
    silent = true,
  })
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
  vim.keymap.set("n", "<Plug>(" .. plug .. ")", function()
    require("agent").review(what)
  end, { desc = "Agent: review " .. what })
end
