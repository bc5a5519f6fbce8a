--- Keeps the visible text in place while the lines of a buffer change.
local api = vim.api
local edits_of = require("agent.reload.edits")

local M = {}

---@class agent.reload.View
---@field win integer
---@field view vim.fn.winsaveview.ret

---@class agent.reload.Views
---@field buf integer
---@field wins agent.reload.View[]
---@field mode string
---@field anchor? { row: integer, col: integer }  where the running Visual selection began
---@field marks table<string, integer[]>  line from 1, column from 0

local VISUAL = "^[vV\22]"
local SELECT = "^[sS\19]"

--- Every edit sets '[ and ']. A mark keeps its column when earlier text in its line changes.
---@param buf integer
---@return string[]
local function marks_of(buf)
  local names = { "[", "]" }
  for _, mark in ipairs(vim.fn.getmarklist(buf)) do
    if mark.mark:find("^'%l$") then
      names[#names + 1] = mark.mark:sub(2)
    end
  end
  for _, mark in ipairs(vim.fn.getmarklist()) do
    if mark.mark:find("^'%u$") and mark.pos[1] == buf then
      names[#names + 1] = mark.mark:sub(2)
    end
  end
  return names
end

--- Call this in the user's context, before the change.
---@param buf integer
---@return agent.reload.Views
function M.save(buf)
  local views = { buf = buf, wins = {}, marks = {}, mode = api.nvim_get_mode().mode } ---@type agent.reload.Views
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = api.nvim_win_call(win, vim.fn.winsaveview) --[[@as vim.fn.winsaveview.ret]]
    views.wins[#views.wins + 1] = { win = win, view = view }
  end
  local selecting = views.mode:find(VISUAL) or views.mode:find(SELECT)
  if selecting and api.nvim_get_current_buf() == buf then
    local pos = vim.fn.getpos("v")
    views.anchor = { row = pos[2] - 1, col = pos[3] - 1 }
  end
  for _, name in ipairs(marks_of(buf)) do
    views.marks[name] = api.nvim_buf_get_mark(buf, name)
  end
  return views
end

---@param saved agent.reload.View
---@param buf integer
---@param edits agent.reload.Edit[]
---@param inserting boolean
---@return vim.fn.winsaveview.ret
local function moved_view(saved, buf, edits, inserting)
  local view = vim.deepcopy(saved.view)
  local last = api.nvim_buf_line_count(buf)
  local row, col = edits_of.map(edits, view.lnum - 1, view.col, inserting)
  local top = edits_of.map(edits, view.topline - 1, 0, false)
  if col ~= view.col then
    -- The desired column of j and k follows, unless it is the end of the line.
    view.curswant = view.curswant < vim.v.maxcol and view.curswant + col - view.col or view.curswant
  end
  view.lnum, view.col = math.min(row + 1, last), math.max(col, 0)
  view.topline = math.min(top + 1, view.lnum)
  return view
end

--- The start of Visual mode is neither a mark nor an option: only the selection's own commands change it.
---@param views agent.reload.Views
---@param edits agent.reload.Edit[]
local function move_anchor(views, edits)
  local row, col = edits_of.map(edits, views.anchor.row, views.anchor.col, false)
  row = math.min(row, api.nvim_buf_line_count(views.buf) - 1)
  if row == views.anchor.row and col == views.anchor.col then
    return
  end
  local is_select = views.mode:find(SELECT)
  vim.cmd("noautocmd keepjumps normal! " .. (is_select and "\7" or "") .. "o")
  pcall(api.nvim_win_set_cursor, 0, { row + 1, math.max(col, 0) })
  vim.cmd("noautocmd keepjumps normal! o" .. (is_select and "\7" or ""))
end

---@param views agent.reload.Views
---@param edits agent.reload.Edit[]
local function restore_marks(views, edits)
  local kept = {} ---@type table<integer, true>
  for _, edit in ipairs(edits) do
    kept[edit.row] = edit.scol and true or nil
  end
  local last = api.nvim_buf_line_count(views.buf)
  for name, pos in pairs(views.marks) do
    if name == "[" or name == "]" or kept[pos[1] - 1] then
      local row, col = edits_of.map(edits, pos[1] - 1, pos[2], false)
      pcall(api.nvim_buf_set_mark, views.buf, name, math.min(row + 1, last), col, {})
    end
  end
end

--- Call this in the same context, after the change.
---@param views agent.reload.Views
---@param edits agent.reload.Edit[]
function M.restore(views, edits)
  if views.anchor then
    move_anchor(views, edits)
  end
  local inserting = views.mode:find("^[iR]") ~= nil
  for _, saved in ipairs(views.wins) do
    if api.nvim_win_is_valid(saved.win) and api.nvim_win_get_buf(saved.win) == views.buf then
      local at_cursor = inserting and saved.win == api.nvim_get_current_win()
      local view = moved_view(saved, views.buf, edits, at_cursor)
      api.nvim_win_call(saved.win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  restore_marks(views, edits)
end

return M
