-- Options of windows for reading: whole words, indented continuation lines, and no columns beside the text.
local M = {}

--- Bullets, numbers, and the marks of the chat's lines, for 'formatlistpat'.
M.LIST = [[^\s*\%(\d\+[.)]\|[-*+>✓✗■…?▸☐]\|[AMDR?]\)\s\+]]

--- Window options.
M.OPTIONS = {
  wrap = true,
  linebreak = true,
  smoothscroll = true,
  breakindent = true,
  breakindentopt = "list:-1",
  -- The indent marks continued lines, and their columns must be known: see markdown/wrap.lua.
  showbreak = "NONE",
  -- Where the first line continues from above, or the last one below, Neovim would show "<<<" and "@@@".
  list = true,
  listchars = "tab:  ,precedes:…",
  fillchars = "eob: ,lastline:…",
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  foldenable = false,
  -- The user's value may evaluate the whole text.
  foldmethod = "manual",
  spell = false,
  cursorline = false,
  cursorcolumn = false,
  statuscolumn = "",
  colorcolumn = "",
}

---@param window integer with a buffer of the plugin
---@param list? string  a pattern instead of LIST
function M.style(window, list)
  for name, value in pairs(M.OPTIONS) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
  vim.bo[vim.api.nvim_win_get_buf(window)].formatlistpat = list or M.LIST
end

return M
