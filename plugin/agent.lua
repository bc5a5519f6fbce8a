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

-- The user types a message for seconds: by then the processes run.
vim.api.nvim_create_autocmd("CmdlineChanged", {
  pattern = ":",
  callback = function()
    local word = vim.fn.getcmdline():match("^[%p%d%s]*(A%a*)")
    -- Only this command begins so.
    local is_certain = word and ("Agent"):find(word, 1, true) == 1 and vim.fn.exists(":" .. word) == 1
    if is_certain or word == "Agent" then
      require("agent").preload()
    end
  end,
})

vim.api.nvim_create_autocmd("SessionLoadPost", {
  callback = function()
    require("agent.chat.drafts.restored")()
  end,
})

-- Written out, and as Ex commands: this runs at every startup, and a loop over the API takes twice as long. In Visual
-- mode the command line begins with '<,'>, so that the selected lines go along.
vim.api.nvim_exec2(
  [[
nnoremap <expr> <Plug>(AgentEditOperator) v:lua.require'agent.in_place.edit_operator'.start()
xnoremap <expr> <Plug>(AgentEditOperator) v:lua.require'agent.in_place.edit_operator'.start()
nnoremap <expr> <Plug>(AgentOperator) v:lua.require'agent.in_place.operator'.start()
xnoremap <silent> <Plug>(AgentOperator) :Agent open<CR>
nnoremap <Plug>(AgentOpen) <Cmd>Agent open<CR>
xnoremap <silent> <Plug>(AgentOpen) :Agent open<CR>
nnoremap <Plug>(AgentToggle) <Cmd>Agent toggle<CR>
xnoremap <silent> <Plug>(AgentToggle) :Agent toggle<CR>
nnoremap <Plug>(AgentNew) <Cmd>Agent new<CR>
xnoremap <silent> <Plug>(AgentNew) :Agent new<CR>
nnoremap <Plug>(AgentChats) <Cmd>Agent chats<CR>
xnoremap <silent> <Plug>(AgentChats) :Agent chats<CR>
nnoremap <Plug>(AgentStop) <Cmd>Agent stop<CR>
xnoremap <silent> <Plug>(AgentStop) :Agent stop<CR>
nnoremap <Plug>(AgentSend) <Cmd>Agent send<CR>
xnoremap <silent> <Plug>(AgentSend) :Agent send<CR>
nnoremap <Plug>(AgentQueue) <Cmd>Agent queue<CR>
xnoremap <silent> <Plug>(AgentQueue) :Agent queue<CR>
nnoremap <Plug>(AgentPause) <Cmd>Agent pause<CR>
xnoremap <silent> <Plug>(AgentPause) :Agent pause<CR>
nnoremap <Plug>(AgentPaste) <Cmd>Agent paste<CR>
xnoremap <silent> <Plug>(AgentPaste) :Agent paste<CR>
nnoremap <Plug>(AgentSessions) <Cmd>Agent sessions<CR>
xnoremap <silent> <Plug>(AgentSessions) :Agent sessions<CR>
nnoremap <Plug>(AgentResume) <Cmd>Agent resume<CR>
xnoremap <silent> <Plug>(AgentResume) :Agent resume<CR>
nnoremap <Plug>(AgentFork) <Cmd>Agent session fork<CR>
xnoremap <silent> <Plug>(AgentFork) :Agent session fork<CR>
nnoremap <Plug>(AgentCompact) <Cmd>Agent compact<CR>
xnoremap <silent> <Plug>(AgentCompact) :Agent compact<CR>
nnoremap <Plug>(AgentMode) <Cmd>Agent mode<CR>
xnoremap <silent> <Plug>(AgentMode) :Agent mode<CR>
nnoremap <Plug>(AgentEffort) <Cmd>Agent effort<CR>
xnoremap <silent> <Plug>(AgentEffort) :Agent effort<CR>
nnoremap <Plug>(AgentModel) <Cmd>Agent model<CR>
xnoremap <silent> <Plug>(AgentModel) :Agent model<CR>
nnoremap <Plug>(AgentOptions) <Cmd>Agent options<CR>
xnoremap <silent> <Plug>(AgentOptions) :Agent options<CR>
nnoremap <Plug>(AgentProvider) <Cmd>Agent provider<CR>
xnoremap <silent> <Plug>(AgentProvider) :Agent provider<CR>
nnoremap <Plug>(AgentStart) <Cmd>Agent start<CR>
xnoremap <silent> <Plug>(AgentStart) :Agent start<CR>
nnoremap <Plug>(AgentAgents) <Cmd>Agent agents<CR>
xnoremap <silent> <Plug>(AgentAgents) :Agent agents<CR>
nnoremap <Plug>(AgentJobs) <Cmd>Agent jobs<CR>
xnoremap <silent> <Plug>(AgentJobs) :Agent jobs<CR>
nnoremap <Plug>(AgentMcp) <Cmd>Agent mcp<CR>
xnoremap <silent> <Plug>(AgentMcp) :Agent mcp<CR>
nnoremap <Plug>(AgentSkills) <Cmd>Agent skills<CR>
xnoremap <silent> <Plug>(AgentSkills) :Agent skills<CR>
nnoremap <Plug>(AgentHooks) <Cmd>Agent hooks<CR>
xnoremap <silent> <Plug>(AgentHooks) :Agent hooks<CR>
nnoremap <Plug>(AgentIndex) <Cmd>Agent index<CR>
xnoremap <silent> <Plug>(AgentIndex) :Agent index<CR>
nnoremap <Plug>(AgentApproval) <Cmd>Agent approval<CR>
xnoremap <silent> <Plug>(AgentApproval) :Agent approval<CR>
nnoremap <Plug>(AgentApprove) <Cmd>Agent approve<CR>
xnoremap <silent> <Plug>(AgentApprove) :Agent approve<CR>
nnoremap <Plug>(AgentReject) <Cmd>Agent reject<CR>
xnoremap <silent> <Plug>(AgentReject) :Agent reject<CR>
nnoremap <Plug>(AgentUndo) <Cmd>Agent undo<CR>
xnoremap <silent> <Plug>(AgentUndo) :Agent undo<CR>
nnoremap <Plug>(AgentRedo) <Cmd>Agent redo<CR>
xnoremap <silent> <Plug>(AgentRedo) :Agent redo<CR>
nnoremap <Plug>(AgentRestore) <Cmd>Agent restore<CR>
xnoremap <silent> <Plug>(AgentRestore) :Agent restore<CR>
nnoremap <Plug>(AgentChanges) <Cmd>Agent changes<CR>
xnoremap <silent> <Plug>(AgentChanges) :Agent changes<CR>
nnoremap <Plug>(AgentReview) <Cmd>Agent review<CR>
xnoremap <silent> <Plug>(AgentReview) :Agent review<CR>
nnoremap <Plug>(AgentReviewNext) <Cmd>Agent review next<CR>
nnoremap <Plug>(AgentReviewPrevious) <Cmd>Agent review previous<CR>
nnoremap <Plug>(AgentReviewKeep) <Cmd>Agent review keep<CR>
nnoremap <Plug>(AgentReviewUndo) <Cmd>Agent review undo<CR>
nnoremap <Plug>(AgentReviewKeepFile) <Cmd>Agent review keep file<CR>
nnoremap <Plug>(AgentReviewUndoFile) <Cmd>Agent review undo file<CR>
nnoremap <Plug>(AgentReviewKeepAll) <Cmd>Agent review keep all<CR>
nnoremap <Plug>(AgentReviewUndoAll) <Cmd>Agent review undo all<CR>
nnoremap <Plug>(AgentReviewDiff) <Cmd>Agent review diff<CR>
nnoremap <Plug>(AgentReviewComment) <Cmd>Agent review comment<CR>
nnoremap <Plug>(AgentWhy) <Cmd>Agent why<CR>
xnoremap <silent> <Plug>(AgentWhy) :Agent why<CR>
]],
  {}
)
