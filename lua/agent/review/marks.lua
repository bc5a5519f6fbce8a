--- Draws hunks: added lines highlighted, removed ones as virtual lines above.
local api = vim.api
local highlights = require("agent.ui.highlights")
local track = require("agent.review.track")

local M = {}

M.namespace = api.nvim_create_namespace("agent.review")
local hints = api.nvim_create_namespace("agent.review.hint")

-- Below and above the highlights of tree-sitter and language servers.
local BELOW, ABOVE = 90, 140
-- Most virtual lines: more above one line do not scroll well, and the diff shows all.
local MAX_SHOWN = 200
-- Columns of a removed line; the rest is cut.
local MAX_COLUMNS = 1000

--- Space for removed lines, and the priority of added ones.
---@class agent.review.Space
---@field priority integer
---@field width integer  columns of text in the narrowest window with the buffer
---@field wrap boolean   long lines wrap
---@field diff boolean   no space: a diff shows removed lines in its other window

---@param buf integer
---@return agent.review.Space
local function space_of(buf)
  local priority = highlights.keeps_syntax() and BELOW or ABOVE
  local space = { width = vim.o.columns, wrap = false, diff = false, priority = priority }
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    space.width = math.max(math.min(space.width, info.width - info.textoff), 1)
    space.wrap = space.wrap or vim.wo[win].wrap
    space.diff = space.diff or vim.wo[win].diff
  end
  return space
end

---@param space agent.review.Space
---@return string
local function key_of(space)
  return ("%d %s %s %d"):format(space.width, space.wrap, space.diff, space.priority)
end

--- The line with spaces for tabs: virtual lines have no tab stops.
---@param line string
---@param tabstop integer
---@return string
local function expand_tabs(line, tabstop)
  if not line:find("\t", 1, true) then
    return line
  end
  local parts, column = {}, 0
  for text, tab in line:gmatch("([^\t]*)(\t?)") do
    parts[#parts + 1] = text
    column = column + api.nvim_strwidth(text)
    if tab ~= "" then
      local blanks = tabstop - column % tabstop
      parts[#parts + 1] = (" "):rep(blanks)
      column = column + blanks
    end
  end
  return table.concat(parts)
end

--- Fills a line with spaces to the edge of the widest window, where Neovim cuts it. Without 'wrap' it may be scrolled.
---@param text string
---@param wrap boolean
---@return string
local function fill_line(text, wrap)
  return text .. (" "):rep((wrap and vim.o.columns or MAX_COLUMNS) - api.nvim_strwidth(text))
end

--- Cuts a text into pieces of this width.
---@param text string
---@param width integer
---@return string[]
local function pieces_of(text, width)
  local columns = api.nvim_strwidth(text)
  local pieces, rest = {}, text
  while columns > width do
    -- This many characters fit unless some are wide.
    local count = width
    local piece = vim.fn.strcharpart(rest, 0, count)
    while count > 1 and api.nvim_strwidth(piece) > width do
      count = count - math.max(math.floor((api.nvim_strwidth(piece) - width) / 2), 1)
      piece = vim.fn.strcharpart(rest, 0, count)
    end
    pieces[#pieces + 1] = piece
    rest = rest:sub(#piece + 1)
    columns = api.nvim_strwidth(rest)
  end
  if rest ~= "" or #pieces == 0 then
    pieces[#pieces + 1] = rest
  end
  return pieces
end

---@param buf integer
---@param removed string[]
---@param width integer
---@param wrap boolean
---@return [string, string][][]
local function virtual_lines(buf, removed, width, wrap)
  local lines = {} ---@type [string, string][][]
  local tabstop = vim.bo[buf].tabstop
  for i, line in ipairs(removed) do
    if #lines >= MAX_SHOWN then
      local more = ("… %d more removed lines: `:Agent review diff` shows them"):format(#removed - i + 1)
      lines[#lines + 1] = { { more, "AgentHint" } }
      break
    end
    if #line > 4 * MAX_COLUMNS then
      line = vim.fn.strcharpart(line, 0, MAX_COLUMNS) .. "…"
    end
    local text = expand_tabs(line, tabstop)
    for _, piece in ipairs(wrap and pieces_of(text, width) or { text }) do
      lines[#lines + 1] = { { fill_line(piece, wrap), "AgentDiffDelete" } }
    end
  end
  return lines
end

---@param it agent.review.Tracked
---@param hunk agent.review.Hunk
---@param space agent.review.Space
local function draw_hunk(it, hunk, space)
  local last = api.nvim_buf_line_count(it.buf)
  local below = hunk.row > last or #it.lines == 0
  local row = below and last - 1 or hunk.row - 1
  local is_visible = #hunk.removed > 0 and not space.diff
  local virt_lines = is_visible and virtual_lines(it.buf, hunk.removed, space.width, space.wrap) or nil
  hunk.mark = api.nvim_buf_set_extmark(it.buf, M.namespace, row, 0, {
    id = hunk.mark,
    end_row = row + hunk.count,
    end_col = 0,
    end_right_gravity = false,
    hl_group = hunk.count > 0 and "AgentDiffAdd" or nil,
    hl_eol = hunk.count > 0 or nil,
    priority = space.priority,
    virt_lines = virt_lines,
    virt_lines_above = virt_lines and not below or nil,
    virt_lines_overflow = virt_lines and (space.wrap and "trunc" or "scroll") or nil,
    undo_restore = false,
    strict = false,
  })
  it.marks[hunk.mark] = true
  hunk.stale = nil
end

--- Scrolls removed lines above a window's first line into view: Neovim skips them there, and always above line 1.
---@param it agent.review.Tracked
---@param hunk agent.review.Hunk
---@param win integer
function M.show_removed(it, hunk, win)
  if #hunk.removed == 0 or hunk.row > math.max(#it.lines, 1) then
    return
  end
  api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    if view.topline == hunk.row then
      local fill = api.nvim_win_text_height(win, { start_row = hunk.row - 1, end_row = hunk.row - 1 }).fill
      local room = api.nvim_win_get_height(win) - 1 - (view.lnum - view.topline)
      if view.topfill < math.min(fill, room) then
        vim.fn.winrestview({ topfill = math.min(fill, room) })
      end
    end
  end)
end

--- Draws new hunks and removes old ones. Hidden buffers wait until they are shown.
---@param it agent.review.Tracked
---@param anew? boolean  the width has changed
function M.draw(it)
  if not api.nvim_buf_is_loaded(it.buf) then
    return
  end
  local wanted = {}
  for _, hunk in ipairs(it.hunks) do
    if hunk.mark then
      wanted[hunk.mark] = true
    end
  end
  for mark in pairs(it.marks) do
    if not wanted[mark] then
      api.nvim_buf_del_extmark(it.buf, M.namespace, mark)
      it.marks[mark] = nil
    end
  end
  if #vim.fn.win_findbuf(it.buf) == 0 then
    return
  end
  local space = space_of(it.buf)
  local drawn = false
  for _, hunk in ipairs(it.hunks) do
    if hunk.stale or not hunk.mark then
      draw_hunk(it, hunk, space)
      drawn = true
    end
  end
  it.space = key_of(space)
  if drawn and it.hunks[1].row == 1 then
    for _, win in ipairs(vim.fn.win_findbuf(it.buf)) do
      M.show_removed(it, it.hunks[1], win)
    end
  end
end

--- Draws all hunks again if the space has changed.
---@param it agent.review.Tracked
function M.fit(it)
  if it.space ~= key_of(space_of(it.buf)) then
    for _, hunk in ipairs(it.hunks) do
      hunk.stale = true
    end
    M.draw(it)
  end
end

--- Columns of the current window after the end of a line.
---@param row integer from 1
---@return integer
local function room_after(row)
  local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
  local width = math.max(info.width - info.textoff, 1)
  local column = vim.fn.virtcol({ row, "$" }) - 1
  return vim.wo.wrap and width - column % width or width - column + vim.fn.winsaveview().leftcol
end

--- Shows the keys at the hunk in the current window, or nothing.
---@param buf integer
---@param hunk? agent.review.Hunk
---@param texts? string[] from the longest to the shortest: Neovim would cut what does not fit
function M.hint(buf, hunk, texts)
  api.nvim_buf_clear_namespace(buf, hints, 0, -1)
  if hunk and texts then
    local row = math.min(hunk.row, api.nvim_buf_line_count(buf)) - 1
    local room = room_after(row + 1)
    local text = vim.iter(texts):find(function(one)
      return api.nvim_strwidth(one) < room
    end)
    if text then
      api.nvim_buf_set_extmark(buf, hints, row, 0, {
        virt_text = { { text, "AgentHint" } },
        virt_text_pos = "eol_right_align",
        -- On a terminal's few backgrounds for added lines, dim text is unreadable.
        hl_mode = highlights.keeps_syntax() and "combine" or "replace",
      })
    end
  end
end

track.listen(M.draw)

return M
