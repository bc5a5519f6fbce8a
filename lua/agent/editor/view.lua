-- The user's cursor, selection and unsaved buffers, for the tools of other agents. See protocol/surroundings.ts.
local find = require("agent.reload.find")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")

local M = {}

local MOST_UNSAVED = 200

--- Lines and bytes of a selection.
local MOST_LINES, MOST_BYTES = 2000, 200 * 1024

---@param roots string[] real paths
---@return fun(buf: integer): boolean is_in whether a buffer shows a file below them
local function in_roots(roots)
  return function(buf)
    return find.is_file_buffer(buf)
      and vim.iter(roots):any(function(root)
        return vim.startswith(find.origin(buf), vim.fs.joinpath(root, ""))
      end)
  end
end

---@param buf integer
---@param first integer from 1
---@param last integer
---@return string
local function text_of(buf, first, last)
  last = math.min(last, first + MOST_LINES - 1)
  -- A line may be a whole file.
  while last > first and vim.api.nvim_buf_get_offset(buf, last) - vim.api.nvim_buf_get_offset(buf, first - 1) > MOST_BYTES do
    last = first + math.floor((last - first) / 2)
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, first - 1, last, false), "\n")
  return vim.fn.strcharpart(text, 0, MOST_BYTES)
end

--- The window with a file that the user is in, or was in last.
---@param is_in fun(buf: integer): boolean
---@return integer?
local function window(is_in)
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  local others = vim.api.nvim_tabpage_list_wins(0)
  table.sort(others, function(a, b)
    local function lastused(win)
      return vim.fn.getbufinfo(vim.api.nvim_win_get_buf(win))[1].lastused
    end
    return lastused(a) > lastused(b)
  end)
  return vim.iter(vim.list_extend(candidates, others)):find(function(win)
    return win ~= 0 and is_in(vim.api.nvim_win_get_buf(win))
  end)
end

---@param win integer
---@return { path: string, first: integer, last: integer, text: string }?
local function selection(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local first, last
  if win == vim.api.nvim_get_current_win() and vim.fn.mode():find("^[vV\22]") then
    first, last = vim.fn.line("v"), vim.fn.line(".")
  else
    first, last = vim.api.nvim_buf_get_mark(buf, "<")[1], vim.api.nvim_buf_get_mark(buf, ">")[1]
  end
  first, last = math.min(first, last), math.min(math.max(first, last), vim.api.nvim_buf_line_count(buf))
  if first < 1 or last < first then
    return nil
  end
  return { path = find.origin(buf), first = first, last = last, text = text_of(buf, first, last) }
end

---@param roots string[] real paths
---@return table view
function M.get(roots)
  local is_in = in_roots(roots)
  local unsaved = vim.tbl_filter(function(buf)
    return is_in(buf) and state.has_unsaved(buf) and not stamp.has_writer(buf)
  end, vim.api.nvim_list_bufs())
  local view = {
    unsaved = vim.tbl_map(function(buf)
      return { path = find.origin(buf), lines = vim.api.nvim_buf_line_count(buf) }
    end, vim.list_slice(unsaved, 1, MOST_UNSAVED)),
  }
  local win = window(is_in)
  if win then
    local line, column = unpack(vim.api.nvim_win_get_cursor(win))
    local buf = vim.api.nvim_win_get_buf(win)
    view.cursor = { path = find.origin(buf), line = line, column = column + 1, text = text_of(buf, line, line) }
    view.selection = selection(win)
  end
  return view
end

return M
