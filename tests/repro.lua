-- A minimal set-up for bug reports: nvim --clean -u tests/repro.lua
-- It uses nothing of your configuration, and keeps its state in a folder of its own, which it names.
local root = vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2))))
vim.opt.runtimepath:prepend(vim.fn.fnamemodify(root, ":p"))

local state = vim.fn.tempname() .. "-agent"

require("agent").setup({
  state_dir = state,
  -- Add the options that the mistake needs, as few as possible:
})

vim.api.nvim_create_autocmd("VimEnter", {
  once = true,
  callback = function()
    vim.notify("State in " .. state)
  end,
})
