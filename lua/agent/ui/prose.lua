-- How text to read looks in a window of the plugin's own: whole words, each line below its own beginning, and nothing
-- beside it.
local M = {}

--- Bullets, numbers, and the marks of the chat's own lines, for 'formatlistpat'.
M.LIST = [[^\s*\%(\d\+[.)]\|[-*+>✓✗■…?▸☐]\|[AMDR?]\)\s\+]]

--- Of windows.
M.OPTIONS = {
  wrap = true,
  linebreak = true,
  smoothscroll = true,
  breakindent = true,
  breakindentopt = "list:-1",
  -- Where the first line goes on from above, and the last one below, three letters would be "<<<" and "@@@".
  list = true,
  listchars = "tab:  ,precedes:…",
  fillchars = "eob: ,lastline:…",
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  foldenable = false,
  -- The user's may look at all of the text.
  foldmethod = "manual",
  spell = false,
  cursorline = false,
  cursorcolumn = false,
  statuscolumn = "",
  colorcolumn = "",
}

---@param window integer whose buffer is the plugin's own
---@param list? string  another pattern than LIST
function M.style(window, list)
  for name, value in pairs(M.OPTIONS) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
  vim.bo[vim.api.nvim_win_get_buf(window)].formatlistpat = list or M.LIST
end

return M
