-- The float that shows what waits first. It takes the cursor only from somebody who does nothing but watch.
local config = require("agent.config")
local content = require("agent.approval.content")
local queue = require("agent.approval.queue")

local M = {}

---@type integer?
local window
---@type integer?
local buffer
--- Window to go back to.
---@type integer?
local back
--- Keys count from this time on (milliseconds of uv.now): one that was meant for another window is no answer.
local armed_at = 0
local ARM_MS = 400

local namespace = vim.api.nvim_create_namespace("agent.approval")

---@return boolean
local function is_open()
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

---@return boolean
local function is_focused()
  return is_open() and vim.api.nvim_get_current_win() == window
end

--- The keys, once they count; before that, how to get there.
---@return string
local function hint()
  if not is_focused() then
    return " <Tab> in the chat, or :Agent approval, to answer "
  end
  local approval = queue.first()
  return M.is_armed() and approval and content.keys(approval) or " … "
end

--- Rows of the screen that the text takes, wrapped lines in full; those that cannot fit are not counted.
---@return integer
local function rows()
  local last = math.min(vim.api.nvim_buf_line_count(buffer), vim.o.lines)
  return is_open() and vim.api.nvim_win_text_height(window, { end_row = last - 1 }).all or last
end

--- Whether something is out of sight below: it may be what matters.
---@return boolean
local function has_more_below()
  local view = vim.api.nvim_win_call(window, vim.fn.winsaveview)
  local last = math.min(vim.api.nvim_buf_line_count(buffer), view.topline + vim.o.lines)
  local below = vim.api.nvim_win_text_height(window, { start_row = view.topline - 1, end_row = last - 1 }).all
  local width = vim.api.nvim_win_get_width(window)
  return below - math.floor(view.skipcol / width) > vim.api.nvim_win_get_height(window)
end

--- What kind it is, how many wait, and the chat that it is from if that is not the one in view.
---@return string
local function title()
  local approval = queue.first()
  local text = approval and approval.question and "Question" or "Approval"
  if queue.count() > 1 then
    text = ("%s 1 of %d"):format(text, queue.count())
  end
  local chats = package.loaded["agent.chat"]
  local chat = chats and chats.current()
  if approval and chat and chat.id ~= approval.chat then
    text = ("%s · chat %d"):format(text, approval.chat)
  end
  if is_open() and has_more_below() then
    text = text .. " · more below: <C-d>"
  end
  return (" %s "):format(text)
end

---@return table
local function place()
  local free = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  return {
    relative = "editor",
    anchor = "SW",
    row = free,
    col = 0,
    width = math.max(20, math.min(100, vim.o.columns - 2)),
    height = math.max(1, math.min(rows(), math.floor(free * 0.5))),
    border = "rounded",
    style = "minimal",
    zindex = 60,
    title = { { title(), "AgentTitle" } },
    footer = { { hint(), "AgentHint" } },
    footer_pos = "right",
  }
end

--- Whether a key is an answer now.
---@return boolean
function M.is_armed()
  return vim.uv.now() >= armed_at
end

---@return integer?
function M.window()
  return is_open() and window or nil
end

function M.close()
  local was_focused = is_focused()
  if is_open() then
    vim.api.nvim_win_close(window, true)
  end
  window, buffer = nil, nil
  if was_focused and back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
end

function M.refit()
  if is_open() and buffer then
    vim.api.nvim_win_set_config(window, place())
    -- The title says what the new size leaves out of sight.
    vim.api.nvim_win_set_config(window, { title = { { title(), "AgentTitle" } } })
  end
end

--- Shows the keys once they count.
local function arm()
  armed_at = vim.uv.now() + ARM_MS
  M.refit()
  vim.defer_fn(M.refit, ARM_MS + 10)
end

--- No key is an answer until the user has come back.
function M.disarm()
  armed_at = math.huge
  M.refit()
end

--- True if the user does nothing in the chat at this moment but watch it.
---@return boolean
local function may_take_focus()
  local wanted = config.get().approval_focus
  if wanted ~= "auto" then
    return wanted == "always"
  end
  local filetype = vim.bo.filetype
  if vim.api.nvim_get_mode().mode ~= "n" or not (filetype == "agent" or filetype == "agent-input") then
    return false
  end
  return filetype == "agent" or vim.trim(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false))) == ""
end

---@param target integer buffer
---@param approval agent.Approval
local function fill(target, approval)
  local lines, groups = content.lines(approval)
  vim.bo[target].modifiable = true
  vim.api.nvim_buf_set_lines(target, 0, -1, false, lines)
  for row, name in pairs(groups) do
    vim.api.nvim_buf_set_extmark(target, namespace, row - 1, 0, { line_hl_group = name })
  end
  vim.bo[target].modifiable = false
end

--- Shows what waits first, if anything does.
---@param map_keys fun(buffer: integer) called for a new buffer
function M.show(map_keys)
  local approval = queue.first()
  if not approval then
    return
  end
  if is_open() then
    return M.refit()
  end
  buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modeline = false
  fill(buffer, approval)
  vim.bo[buffer].filetype = "agent-approval"
  map_keys(buffer)
  local takes_focus = may_take_focus()
  local from = vim.api.nvim_get_current_win()
  window = vim.api.nvim_open_win(buffer, false, place())
  vim.wo[window].wrap = true
  vim.wo[window].smoothscroll = true
  vim.wo[window].linebreak = true
  -- Where a long line goes on is to be seen: it may be made to look like the next one.
  vim.wo[window].showbreak = "↪ "
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentToolWaiting"
  if takes_focus then
    back = from
    vim.api.nvim_set_current_win(window)
    arm()
  end
  M.refit()
end

--- What is shown has changed: an answer to what was there before does not count for it.
function M.redraw()
  local approval = queue.first()
  if not approval or not is_open() or not buffer then
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  fill(buffer, approval)
  vim.api.nvim_win_set_cursor(window, { 1, 0 })
  arm()
end

--- Goes to the float, which is open. Asked for by the user: the next key is meant.
function M.focus()
  if not is_focused() then
    back = vim.api.nvim_get_current_win()
    vim.cmd.stopinsert()
    vim.api.nvim_set_current_win(window)
  end
  armed_at = 0
  M.refit()
end

--- Comes back to the float from one that stands above it.
function M.come_back()
  if is_open() then
    vim.cmd.stopinsert()
    vim.api.nvim_set_current_win(window)
    arm()
  end
end

--- Goes back to where the cursor was.
function M.leave()
  if back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
  M.refit()
end

local group = vim.api.nvim_create_augroup("agent.approval", {})
vim.api.nvim_create_autocmd({ "VimResized", "WinEnter", "WinScrolled" }, { group = group, callback = M.refit })

return M
