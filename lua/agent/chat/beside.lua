-- Files open beside the chat, never in its windows. Commands and pickers use the window with the cursor or remember it,
-- so they may open a file there. It moves before Neovim draws, once the command is done.
local say = require("agent.ui.say")
local splits = require("agent.chat.draw.splits")
local status_line = require("agent.ui.status_line")
local window = require("agent.chat.window")

local M = {}

---@param win integer
---@return boolean
local function is_float(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end

---@param chat agent.Chat
---@param win integer
---@return boolean
local function takes_files(chat, win)
  local buffer = vim.api.nvim_win_get_buf(win)
  local is_ours = buffer == chat.transcript.buffer or buffer == chat.input.buffer
  return not (is_ours or is_float(win) or vim.wo[win].winfixbuf or vim.bo[buffer].buftype == "quickfix")
end

--- The window that the user came from, else the first one with a file.
---@param chat agent.Chat
---@param back? integer
---@return integer?
local function find(chat, back)
  if back and vim.api.nvim_win_is_valid(back) and takes_files(chat, back) then
    return back
  end
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    return takes_files(chat, win) and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ""
  end)
end

--- Goes to a window for files; opens one if necessary. Hides a chat that would cover it.
---@param chat agent.Chat at the cursor
function M.go(chat)
  local windows = chat.windows or {}
  vim.cmd.stopinsert()
  chat:step_aside()
  local target = find(chat, windows.back)
  if not target then
    local is_open, new = pcall(splits.open_opposite, windows)
    if is_open then
      target = new
    else
      -- No room: the file takes the chat's.
      chat:hide()
      target = find(chat, windows.back)
    end
  end
  if target then
    vim.api.nvim_set_current_win(target)
  end
end

--- Shows a buffer in the current window. Like `:edit`, it replaces an empty buffer without a name.
---@param buffer integer
---@param cursor [integer, integer]
local function show(buffer, cursor)
  local before = vim.api.nvim_get_current_buf()
  local is_unused = vim.api.nvim_buf_get_name(before) == ""
    and vim.bo[before].buftype == ""
    and not vim.bo[before].modified
    and vim.api.nvim_buf_line_count(before) == 1
    and vim.api.nvim_buf_get_lines(before, 0, 1, false)[1] == ""
  vim.api.nvim_win_set_buf(0, buffer)
  pcall(vim.api.nvim_win_set_cursor, 0, cursor)
  vim.cmd("normal! zv")
  if is_unused and before ~= buffer and #vim.fn.win_findbuf(before) == 0 then
    pcall(vim.api.nvim_buf_delete, before, {})
  end
end

--- Moves the file of one window, while the chat's buffers return.
---@param chat agent.Chat
---@param win integer
local function move(chat, win)
  local buffer, cursor = vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_cursor(win)
  local bufhidden = vim.bo[buffer].bufhidden
  -- No window shows it for a moment.
  vim.bo[buffer].bufhidden = "hide"
  -- Its next window copies the options of this one.
  status_line.leave(win)
  local is_current = win == vim.api.nvim_get_current_win()
  local is_moved, why = pcall(function()
    window.put_back(chat.windows, chat.transcript, chat.input.buffer)
    if is_current then
      M.go(chat)
      return show(buffer, cursor)
    end
    local target = #vim.fn.win_findbuf(buffer) == 0 and find(chat, chat.windows.back)
    if target then
      vim.api.nvim_win_call(target, function()
        show(buffer, cursor)
      end)
    end
  end)
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.bo[buffer].bufhidden = bufhidden
  end
  if not is_moved then
    local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":~:.")
    local reason = tostring(why):match("E%d+:.*") or why
    say.error(("cannot show %s beside the chat: %s. Open it in another window"):format(name, reason))
  end
end

--- Moves files out of the chat's windows. Waits while a float of another plugin has the cursor: a file manager may
--- open several files before it closes.
---@param chat agent.Chat
function M.restore(chat)
  local windows = chat.windows
  if not windows or not window.is_open(windows) then
    return
  end
  local foreign = window.foreign(windows, chat.transcript.buffer, chat.input.buffer)
  local current = vim.api.nvim_get_current_win()
  local is_ours = current == windows.transcript or current == windows.input
  if #foreign == 0 or vim.fn.getcmdwintype() ~= "" or (is_float(current) and not is_ours) then
    return
  end
  chat:revive()
  if foreign[1] == current then
    -- The file at the cursor comes last: the chat may be hidden with it.
    foreign[1], foreign[2] = foreign[2] or current, foreign[2] and current
  end
  for _, win in ipairs(foreign) do
    move(chat, win)
  end
  if chat:is_open() then
    chat.status:show()
    chat.attachments:show()
  end
end

return M
