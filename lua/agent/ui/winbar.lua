-- Sets winbars. Plugins that set one in every window leave these alone.
local M = {}

--- A window of one row has no room for a winbar: Neovim reports an error.
---@param win integer
---@param text string
local function put(win, text)
  local bar = vim.wo[win].winbar
  if bar ~= text and (bar ~= "" or vim.api.nvim_win_get_height(win) > 1) then
    vim.wo[win].winbar = text
  end
end

---@param win integer
---@param text string in the form of 'statusline'
function M.set(win, text)
  vim.w[win].agent_winbar = text
  put(win, text)
end

--- Restores the winbar of an ordinary window.
---@param win integer
function M.leave(win)
  vim.w[win].agent_winbar = nil
  vim.wo[win].winbar = nil
end

local function restore()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local text = vim.w[win].agent_winbar
    if text then
      put(win, text)
    end
  end
end

local group = vim.api.nvim_create_augroup("agent.winbar", {})
-- The event does not name the window.
vim.api.nvim_create_autocmd("OptionSet", { group = group, pattern = "winbar", callback = restore })
-- Options that an autocommand sets have no event.
local EVENTS = { "WinEnter", "BufEnter", "BufWinEnter", "WinScrolled", "WinResized", "InsertEnter", "InsertLeave" }
vim.list_extend(EVENTS, { "CursorMoved", "CursorMovedI", "CursorHold", "CursorHoldI" })
vim.api.nvim_create_autocmd(EVENTS, { group = group, callback = restore })

return M
