-- One line about a window: its status line, or its winbar where windows share a status line or a plugin fills it.
local winbar = require("agent.ui.winbar")

local M = {}

---@class agent.StatusLine  of a window, in its variable `agent_status_line`
---@field text string       in the form of 'statusline'
---@field buffer integer
---@field written? string    the value of 'statusline' that is ours
---@field is_taken? boolean  a plugin has replaced ours

--- Newer Neovims have an expression.
local DEFAULT = vim.api.nvim_get_option_info2("statusline", {}).default

--- True if an expression makes the whole line. Plugins set such a line.
---@param line string
---@return boolean
local function is_expression(line)
  return line ~= DEFAULT and (vim.startswith(line, "%!") or line:find("%{%", 1, true) ~= nil)
end

--- The window's own value; empty if it has none.
---@param win integer
---@return string
local function own(win)
  return vim.api.nvim_get_option_value("statusline", { win = win, scope = "local" })
end

--- True if the window has a status line that no plugin fills.
---@param win integer
---@param line agent.StatusLine
---@return boolean
local function is_free(win, line)
  -- Without 'laststatus' only windows above others have one.
  local has_one = vim.o.laststatus ~= 3 and vim.fn.getwininfo(win)[1].status_height > 0
  if not has_one or is_expression(vim.go.statusline) or vim.api.nvim_win_get_config(win).relative ~= "" then
    return false
  end
  local present = own(win)
  if present == "" or present == line.written then
    line.is_taken = nil
  else
    -- A new window has a copy of its neighbour's.
    line.is_taken = line.is_taken or line.written ~= nil or is_expression(present)
  end
  return not line.is_taken
end

--- Rows that the line takes from the window's height.
---@param win integer
---@return 0|1
function M.rows(win)
  return vim.w[win].agent_winbar and 1 or 0
end

---@param win integer
---@param line agent.StatusLine
local function put(win, line)
  local is_here, before = is_free(win, line), line.written
  -- Colours for text are unreadable on some schemes' status lines.
  line.written = is_here and line.text:gsub("%%#%w+#(.-)%%%*", "%1") or nil
  -- Setting the option calls this function again.
  vim.w[win].agent_status_line = line
  if is_here then
    if own(win) ~= line.written then
      vim.wo[win][0].statusline = line.written
    end
    if M.rows(win) > 0 then
      winbar.leave(win)
    end
    return
  end
  if before and own(win) == before then
    vim.wo[win][0].statusline = nil
  end
  winbar.set(win, line.text)
end

---@param win integer
---@param text string in the form of 'statusline'
function M.set(win, text)
  local line = vim.w[win].agent_status_line or {}
  line.text, line.buffer = text, vim.api.nvim_win_get_buf(win)
  put(win, line)
end

--- Keeps the line for the window's new buffer.
---@param win integer
function M.keep(win)
  local line = vim.w[win].agent_status_line
  if line then
    M.set(win, line.text)
  end
end

--- Makes the window an ordinary one again.
---@param win integer
function M.leave(win)
  local line = vim.w[win].agent_status_line
  vim.w[win].agent_status_line = nil
  if line and line.written and own(win) == line.written then
    vim.wo[win][0].statusline = nil
  end
  winbar.leave(win)
end

winbar.watch("agent_status_line", { "laststatus", "statusline" }, put, M.leave)

return M
