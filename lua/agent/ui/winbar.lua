-- Sets winbars. Plugins that set one in every window leave these alone.
local M = {}

--- Options that an autocommand sets have no event.
local EVENTS = { "WinEnter", "TabEnter", "BufEnter", "BufWinEnter", "WinScrolled", "WinResized", "InsertEnter" }
vim.list_extend(EVENTS, { "InsertLeave", "CursorMoved", "CursorMovedI", "CursorHold", "CursorHoldI" })

--- A window of one row has no room for a winbar: Neovim reports an error.
---@param win integer
---@param text string
local function put(win, text)
  local has_room = vim.api.nvim_win_get_height(win) > 1
  if vim.wo[win].winbar ~= text and (has_room or vim.fn.getwininfo(win)[1].winbar == 1) then
    vim.wo[win][0].winbar = text
  end
end

---@param win integer
---@param text string in the form of 'statusline'
function M.set(win, text)
  vim.w[win].agent_winbar = { text = text, buffer = vim.api.nvim_win_get_buf(win) }
  put(win, text)
end

--- Keeps the winbar for the window's new buffer.
---@param win integer
function M.keep(win)
  local bar = vim.w[win].agent_winbar
  if bar then
    M.set(win, bar.text)
  end
end

--- Restores the winbar of an ordinary window.
---@param win integer
function M.leave(win)
  vim.w[win].agent_winbar = nil
  vim.wo[win][0].winbar = nil
end

--- Shows a buffer in a window. The buffer may bring its last winbar along: in a window of one row Neovim then reports
--- an error, but shows the buffer.
---@param win integer
---@param buffer integer
function M.set_buffer(win, buffer)
  local is_set, why = pcall(vim.api.nvim_win_set_buf, win, buffer)
  if not is_set and vim.api.nvim_win_get_buf(win) ~= buffer then
    error(why, 0)
  end
end

--- Opens a float. If it may have one row, it opens with another buffer first: Neovim opens none whose buffer brings a
--- winbar along.
---@param buffer integer
---@param place table
---@return integer window
function M.open_float(buffer, place)
  local is_low = place.height < 2 or place.height + 2 > vim.o.lines - vim.o.cmdheight
  local win = vim.api.nvim_open_win(is_low and require("agent.ui.scratch")() or buffer, false, place)
  if is_low then
    M.set_buffer(win, buffer)
    M.leave(win)
  end
  return win
end

--- Writes the lines of the current tab page again whenever one may have been replaced.
---@param variable string  of a window: a table with the `buffer` for which the line was written
---@param options string[]  whose change replaces lines
---@param put_line fun(win: integer, line: table)
---@param leave fun(win: integer) called when the window closes
function M.watch(variable, options, put_line, leave)
  local function restore()
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local line = vim.w[win][variable]
      -- Another buffer would take the line along.
      if line and line.buffer == vim.api.nvim_win_get_buf(win) then
        put_line(win, line)
      end
    end
  end
  local group = vim.api.nvim_create_augroup(variable, {})
  -- The event does not name the window.
  vim.api.nvim_create_autocmd("OptionSet", { group = group, pattern = options, callback = restore })
  vim.api.nvim_create_autocmd(EVENTS, { group = group, callback = restore })
  -- The buffer would bring its line to the next window, which may have no room for it.
  vim.api.nvim_create_autocmd("WinClosed", {
    group = group,
    callback = function(event)
      local win = tonumber(event.match)
      local tab = win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_tabpage(win)
      -- To set an option of a window of another tab page makes it current there, which Neovim does not expect here.
      if tab == vim.api.nvim_get_current_tabpage() and vim.w[win][variable] then
        leave(win)
      end
    end,
  })
end

M.watch("agent_winbar", { "winbar" }, function(win, bar)
  put(win, bar.text)
end, M.leave)

return M
