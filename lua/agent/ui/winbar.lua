-- The line above a window's text. Plugins that give one to every window leave the agent's windows theirs.
local M = {}

--- A window of one row has no room for it, and Neovim would complain.
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

--- It is as any window's again.
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
-- Which window an option was set for the event does not say.
vim.api.nvim_create_autocmd("OptionSet", { group = group, pattern = "winbar", callback = restore })
-- What is set within another autocommand has no event of its own.
local EVENTS = { "WinEnter", "BufEnter", "BufWinEnter", "WinScrolled", "WinResized", "InsertEnter", "InsertLeave" }
vim.list_extend(EVENTS, { "CursorMoved", "CursorMovedI", "CursorHold", "CursorHoldI" })
vim.api.nvim_create_autocmd(EVENTS, { group = group, callback = restore })

return M
