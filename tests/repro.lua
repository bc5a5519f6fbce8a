-- A Neovim with nothing in it but this plugin, for bug reports. In a checkout of the plugin:
--
--   nvim --clean -u tests/repro.lua some/file
--
-- Put the options here with which it goes wrong, as few as will do. Then say what you did, what you saw and
-- what you expected, and add the output of :checkhealth agent and :messages.

vim.g.agent = {
  -- provider = "ollama",
  -- model = "qwen3-coder",
  -- host = "standalone",
  -- sandbox = "off",

  -- Nothing of your own state takes part.
  state_dir = vim.fn.tempname(),
}

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))

-- Only if it takes part:
-- vim.opt.runtimepath:prepend("/path/to/denops.vim")
