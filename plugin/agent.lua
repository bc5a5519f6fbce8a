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

-- Written out, and as Ex commands: this runs at every startup, and a loop over the API takes twice as long.
vim.api.nvim_exec2(
  [[
nnoremap <expr> <Plug>(AgentEditOperator) v:lua.require'agent.in_place.edit_operator'.start()
xnoremap <expr> <Plug>(AgentEditOperator) v:lua.require'agent.in_place.edit_operator'.start()
nnoremap <expr> <Plug>(AgentOperator) v:lua.require'agent.in_place.operator'.start()
xnoremap <silent> <Plug>(AgentOperator) :Agent open<CR>
noremap <expr> <silent> <Plug>(AgentOpen) v:lua.require'agent.command'.keys('open')
noremap <expr> <silent> <Plug>(AgentToggle) v:lua.require'agent.command'.keys('toggle')
noremap <expr> <silent> <Plug>(AgentNew) v:lua.require'agent.command'.keys('new')
noremap <expr> <silent> <Plug>(AgentChats) v:lua.require'agent.command'.keys('chats')
noremap <expr> <silent> <Plug>(AgentStop) v:lua.require'agent.command'.keys('stop')
noremap <expr> <silent> <Plug>(AgentSend) v:lua.require'agent.command'.keys('send')
noremap <expr> <silent> <Plug>(AgentQueue) v:lua.require'agent.command'.keys('queue')
noremap <expr> <silent> <Plug>(AgentPause) v:lua.require'agent.command'.keys('pause')
noremap <expr> <silent> <Plug>(AgentPaste) v:lua.require'agent.command'.keys('paste')
noremap <expr> <silent> <Plug>(AgentSessions) v:lua.require'agent.command'.keys('sessions')
noremap <expr> <silent> <Plug>(AgentResume) v:lua.require'agent.command'.keys('resume')
noremap <expr> <silent> <Plug>(AgentFork) v:lua.require'agent.command'.keys('session fork')
noremap <expr> <silent> <Plug>(AgentCompact) v:lua.require'agent.command'.keys('compact')
noremap <expr> <silent> <Plug>(AgentMode) v:lua.require'agent.command'.keys('mode')
noremap <expr> <silent> <Plug>(AgentEffort) v:lua.require'agent.command'.keys('effort')
noremap <expr> <silent> <Plug>(AgentModel) v:lua.require'agent.command'.keys('model')
noremap <expr> <silent> <Plug>(AgentOptions) v:lua.require'agent.command'.keys('options')
noremap <expr> <silent> <Plug>(AgentProvider) v:lua.require'agent.command'.keys('provider')
noremap <expr> <silent> <Plug>(AgentStart) v:lua.require'agent.command'.keys('start')
noremap <expr> <silent> <Plug>(AgentAgents) v:lua.require'agent.command'.keys('agents')
noremap <expr> <silent> <Plug>(AgentJobs) v:lua.require'agent.command'.keys('jobs')
noremap <expr> <silent> <Plug>(AgentMcp) v:lua.require'agent.command'.keys('mcp')
noremap <expr> <silent> <Plug>(AgentSkills) v:lua.require'agent.command'.keys('skills')
noremap <expr> <silent> <Plug>(AgentHooks) v:lua.require'agent.command'.keys('hooks')
noremap <expr> <silent> <Plug>(AgentIndex) v:lua.require'agent.command'.keys('index')
noremap <expr> <silent> <Plug>(AgentApproval) v:lua.require'agent.command'.keys('approval')
noremap <expr> <silent> <Plug>(AgentApprove) v:lua.require'agent.command'.keys('approve')
noremap <expr> <silent> <Plug>(AgentReject) v:lua.require'agent.command'.keys('reject')
noremap <expr> <silent> <Plug>(AgentUndo) v:lua.require'agent.command'.keys('undo')
noremap <expr> <silent> <Plug>(AgentRedo) v:lua.require'agent.command'.keys('redo')
noremap <expr> <silent> <Plug>(AgentRestore) v:lua.require'agent.command'.keys('restore')
noremap <expr> <silent> <Plug>(AgentChanges) v:lua.require'agent.command'.keys('changes')
noremap <expr> <silent> <Plug>(AgentReview) v:lua.require'agent.command'.keys('review')
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
noremap <expr> <silent> <Plug>(AgentWhy) v:lua.require'agent.command'.keys('why')
]],
  {}
)
