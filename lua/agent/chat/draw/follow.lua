-- Keeps windows at the end of the transcript. Neovim redraws the whole window if it scrolls by part of a line; if it
-- scrolls by whole lines, the terminal moves them. So short lines scroll as a whole while text grows.
local window = require("agent.chat.window")

local M = {}

--- The most rows of a line that scrolls as a whole, and at most this share of the window: one row less may stay empty
--- below the text.
local SHORT, SHARE = 3, 1 / 8
--- Lines after the first one that an update may scroll away.
local NEXT = 2

--- Windows that scroll by lines: 'smoothscroll' is off there.
---@type table<integer, true>
local by_lines = {}
--- Windows that have scrolled by lines: rows below the text may be empty.
---@type table<integer, true>
local uneven = {}

---@param win integer
---@param is_smooth boolean
local function set(win, is_smooth)
  by_lines[win] = not is_smooth or nil
  uneven[win] = uneven[win] or by_lines[win]
  vim.api.nvim_set_option_value("smoothscroll", is_smooth, { win = win, scope = "local" })
end

--- True if the lines at the top are short, and the first one begins there.
---@param win integer
---@param last integer line
---@return boolean
local function has_short_lines(win, last)
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local most = math.min(SHORT, math.floor(vim.api.nvim_win_get_height(win) * SHARE))
  for line = view.topline, math.min(view.topline + NEXT, last) do
    local range = { start_row = line - 1, end_row = line - 1, max_height = most + 1 }
    if vim.api.nvim_win_text_height(win, range).all > most then
      return false
    end
  end
  return view.skipcol == 0
end

--- Moves windows to the end of the text. Other windows scroll by rows.
---@param buffer integer
---@param following table<integer, true>
---@param grows boolean  more text follows
function M.follow(buffer, following, grows)
  local last = vim.api.nvim_buf_line_count(buffer)
  -- To the last character: a paragraph may be longer than the window.
  local column = #vim.api.nvim_buf_get_lines(buffer, last - 1, last, false)[1]
  for _, win in ipairs(vim.fn.win_findbuf(buffer)) do
    local is_smooth = not (grows and following[win] and has_short_lines(win, last))
    if is_smooth and by_lines[win] or not is_smooth and vim.wo[win].smoothscroll then
      set(win, is_smooth)
    end
    if following[win] then
      vim.api.nvim_win_set_cursor(win, { last, column })
    end
    if uneven[win] and not grows then
      uneven[win] = nil
      window.show_end(win)
    end
  end
end

return M
