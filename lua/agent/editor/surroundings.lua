-- The user's screen, as the model sees it.
local find = require("agent.reload.find")

local M = {}

local MOST_BUFFERS = 20

--- Lines and characters of a terminal.
local MOST_LINES, MOST_TEXT = 20, 1500

---@class agent.ActiveFile
---@field path string
---@field line integer
---@field modified boolean
---@field text? true              its text is sent
---@field lines? agent.LineRange  only these lines of it

---@class agent.TerminalEnd
---@field buffer? integer
---@field command string
---@field text string

---@class agent.LineRange
---@field first integer
---@field last integer

---@class agent.Surroundings see protocol/surroundings.ts; paths are absolute
---@field current? agent.ActiveFile
---@field buffers { path: string, modified: boolean }[]
---@field errors integer
---@field warnings integer
---@field terminal? agent.TerminalEnd
---@field servers? boolean whether a language server runs for the project, or any is enabled

--- The last lines of the terminal on this window's tab page that was used last.
---@param window integer
---@return agent.TerminalEnd?
local function terminal(window)
  local found ---@type table?
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(window))) do
    local buffer = vim.api.nvim_win_get_buf(win)
    if vim.bo[buffer].buftype == "terminal" then
      local info = vim.fn.getbufinfo(buffer)[1]
      found = (not found or info.lastused > found.lastused) and info or found
    end
  end
  if not found then
    return nil
  end
  -- A terminal has empty lines below its output. While Neovim exits, it may have no lines at all.
  local last = found.linecount
  local lines ---@type string[]
  repeat
    lines = vim.api.nvim_buf_get_lines(found.bufnr, math.max(0, last - MOST_LINES), last, false)
    local is_gone = #lines == 0
    while lines[1] and not lines[#lines]:find("%S") do
      table.remove(lines)
      last = last - 1
    end
  until lines[1] or is_gone
  lines = vim.api.nvim_buf_get_lines(found.bufnr, math.max(0, last - MOST_LINES), math.max(0, last), false)
  local text = table.concat(lines, "\n")
  while #text > MOST_TEXT and #lines > 1 do
    table.remove(lines, 1)
    text = table.concat(lines, "\n")
  end
  if text == "" then
    return nil
  end
  local from = math.max(0, vim.fn.strchars(text) - MOST_TEXT)
  local command = found.name:match("//%d+:(.*)$") or found.name
  return { buffer = found.bufnr, command = command, text = vim.fn.strcharpart(text, from) }
end

--- Bytes of a file that are sent, in whole lines.
local MOST_SENT = 8000

--- The lines of a long buffer to send: the first ones, or those around a line beyond them.
---@param buffer integer
---@param line integer
---@return agent.LineRange? range  nil: all of it
function M.excerpt(buffer, line)
  local count = vim.api.nvim_buf_line_count(buffer)
  --- Bytes of these lines.
  local function size(first, last)
    return vim.api.nvim_buf_get_offset(buffer, last) - vim.api.nvim_buf_get_offset(buffer, first - 1)
  end
  if size(1, count) <= MOST_SENT then
    return nil
  end
  local first, last = 1, 1
  local function grow()
    while last < count and size(first, last + 1) <= MOST_SENT do
      last = last + 1
    end
  end
  grow()
  if line > last then
    first, last = line, line
    while first > 1 and size(first - 1, line) <= MOST_SENT / 2 do
      first = first - 1
    end
    grow()
    while first > 1 and size(first - 1, last) <= MOST_SENT do
      first = first - 1
    end
  end
  return { first = first, last = last }
end

---@param may_name fun(path: string): boolean
---@return integer errors
---@return integer warnings
local function diagnostics(may_name)
  local errors, warnings = 0, 0
  -- Neovim loads the module at its first use: before that, nothing has reported a diagnostic.
  local diagnostic = package.loaded["vim.diagnostic"]
  for _, buf in ipairs(diagnostic and vim.api.nvim_list_bufs() or {}) do
    local found = diagnostic.count(buf)
    if next(found) and may_name(find.origin(buf)) then
      errors = errors + (found[diagnostic.severity.ERROR] or 0)
      warnings = warnings + (found[diagnostic.severity.WARN] or 0)
    end
  end
  return errors, warnings
end

---@param window integer the window that the user came from
---@param may_name fun(path: string): boolean whether the model may know of a file
---@return agent.Surroundings
function M.get(window, may_name)
  local infos = vim.tbl_filter(function(info)
    return find.is_file_buffer(info.bufnr) and may_name(find.origin(info.bufnr))
  end, vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 }))
  table.sort(infos, function(a, b)
    return a.lastused ~= b.lastused and a.lastused > b.lastused or a.lastused == b.lastused and a.bufnr < b.bufnr
  end)
  local buffers = {}
  for _, info in ipairs(vim.list_slice(infos, 1, MOST_BUFFERS)) do
    table.insert(buffers, { path = find.origin(info.bufnr), modified = info.changed == 1 })
  end
  local current
  local buffer = vim.api.nvim_win_get_buf(window)
  if find.is_file_buffer(buffer) and may_name(find.origin(buffer)) then
    current = {
      path = find.origin(buffer),
      line = vim.api.nvim_win_get_cursor(window)[1],
      modified = vim.bo[buffer].modified,
    }
  end
  local errors, warnings = diagnostics(may_name)
  return {
    current = current,
    buffers = buffers,
    errors = errors,
    warnings = warnings,
    terminal = terminal(window),
  }
end

return M
