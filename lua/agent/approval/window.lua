-- The float with the first pending approval. It takes the cursor only if the user is just watching the chat.
local border = require("agent.ui.border")
local chats = require("agent.approval.chats")
local config = require("agent.config")
local content = require("agent.approval.content")
local diff_syntax = require("agent.ui.diff_syntax")
local format = require("agent.ui.format")
local keys_hint = require("agent.ui.hint")
local no_insert = require("agent.ui.no_insert")
local on_border = require("agent.ui.on_border")
local queue = require("agent.approval.queue")
local say = require("agent.ui.say")
local scratch = require("agent.ui.scratch")
local typed = require("agent.approval.typed")

local M = {}

---@class agent.Room of the screen, borders included
---@field row integer      from 0
---@field col integer
---@field rows integer
---@field columns integer
---@field window? integer  below it; for no other use

---@type integer?
local window
---@type integer?
local buffer
--- Window to go back to.
---@type integer?
local back
--- The window below it.
---@type integer?
local dock
--- True if it has a winbar, which needs a row.
local has_winbar = false
--- True if it opened at the top, because the cursor was in the lower half of the screen.
local at_top = false
--- Keys count from this time (milliseconds of uv.now). Earlier ones were meant for another window.
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
---@param width integer columns
---@return string footer
---@return string winbar
local function hint(width)
  if not is_focused() then
    local text_hint = typed.hint()
    if text_hint then
      return keys_hint.footer({ ":Agent approval to answer", text_hint }, width)
    end
    local line = keys_hint.one_line({ ":Agent approval to answer", "or <Tab> in the chat" }, width)
    return vim.trim(line) ~= "" and line or keys_hint.one_line({ ":Agent approval" }, width), ""
  end
  local approval = queue.first()
  -- With the same number of lines before and after they count.
  local footer, winbar = keys_hint.footer(approval and content.kind(approval).keys(approval) or {}, width)
  if M.is_armed() then
    return footer, winbar
  end
  return " … ", winbar == "" and "" or " … "
end

--- Screen rows of the text with wrapped lines, counted as far as they can fit.
---@return integer
local function rows()
  local last = math.min(vim.api.nvim_buf_line_count(buffer), vim.o.lines)
  return is_open() and vim.api.nvim_win_text_height(window, { end_row = last - 1 }).all or last
end

--- True if lines are out of sight below: they may matter.
---@return boolean
local function has_more_below()
  local view = vim.api.nvim_win_call(window, vim.fn.winsaveview)
  local last = math.min(vim.api.nvim_buf_line_count(buffer), view.topline + vim.o.lines)
  local below = vim.api.nvim_win_text_height(window, { start_row = view.topline - 1, end_row = last - 1 }).all
  local width = vim.api.nvim_win_get_width(window)
  local height = vim.api.nvim_win_get_height(window) - (vim.wo[window].winbar == "" and 0 or 1)
  return below - math.floor(view.skipcol / width) > height
end

--- Rows below which it is unreadable.
local LOWEST = 6

--- Characters of a sub-agent's title.
local LONGEST_AGENT = 30

--- The kind, the number of pending approvals, the sub-agent that asks, and the chat if another one is visible.
---@return string
local function title()
  local approval = queue.first()
  local text = approval and content.kind(approval).title or "Approval"
  if queue.count() > 1 then
    text = ("%s 1 of %d"):format(text, queue.count())
  end
  if approval and approval.agent then
    local agent = format.one_line(approval.agent)
    local long = vim.fn.strchars(agent) > LONGEST_AGENT
    text = ("%s · sub-agent %s"):format(text, long and vim.fn.strcharpart(agent, 0, LONGEST_AGENT - 1) .. "…" or agent)
  end
  local chat = chats.current()
  if approval and chat and chat.id ~= approval.chat then
    -- A chat may close before its approval.
    local asks = chats.get(approval.chat)
    local project = asks and asks.status:project()
    text = ("%s · %schat %d"):format(text, project and project .. ", " or "", approval.chat)
  end
  if is_open() and has_more_below() then
    -- A long command pushes its severity out of sight.
    local severity = approval and approval.severity == "high" and " · high" or ""
    text = text .. severity .. " · more below: <C-d>"
  end
  return (" %s "):format(text)
end

--- Rows of the float, borders included: a third of the screen, but enough to read.
---@return integer
local function most_rows()
  return math.max(LOWEST, math.floor(vim.o.lines / 3))
end

--- The place without borders, and the winbar.
---@return table config
---@return string winbar
local function place()
  local free = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  local wanted = math.min(rows() + 2, most_rows())
  local function room_for(lines)
    local has_tabs = vim.o.showtabline > (#vim.api.nvim_list_tabpages() > 1 and 0 or 1)
    local row = at_top and (has_tabs and 1 or 0) or free - lines
    return chats.make_room(lines) or { row = row, col = 0, rows = lines, columns = math.min(102, vim.o.columns) }
  end
  -- A second request would close the dock, whose end places the float again, without end.
  local function room_now()
    return room_for(math.min(wanted + (has_winbar and 1 or 0), most_rows()))
  end
  local room = room_now()
  local width = math.max(1, room.columns - 2)
  local footer, winbar = hint(width)
  if (winbar ~= "") ~= has_winbar then
    has_winbar = winbar ~= ""
    room = room_now()
  end
  dock = room.window
  if room.rows <= 3 and winbar ~= "" then
    -- Neovim draws no winbar in a window of one row.
    footer, winbar = winbar, ""
  end
  return {
    relative = "editor",
    row = room.row,
    col = room.col,
    width = width,
    height = math.max(1, room.rows - 2),
    border = border(),
    style = "minimal",
    zindex = 60,
    title = on_border(title(), "AgentTitle"),
    footer = on_border(footer, "AgentHint"),
    footer_pos = "right",
  }, winbar
end

---@return boolean
local function is_here()
  return is_open() and vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage()
end

--- True once a key is an answer.
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
  chats.make_room(0)
  if was_focused and back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
end

function M.refit()
  if is_here() and buffer then
    local at, winbar = place()
    vim.wo[window].winbar = winbar == "" and "" or vim.wo[window].winbar
    vim.api.nvim_win_set_config(window, at)
    if vim.wo[window].winbar ~= winbar then
      vim.wo[window].winbar = winbar
    end
    -- The title names what the new size hides.
    vim.api.nvim_win_set_config(window, { title = on_border(title(), "AgentTitle") })
  end
end

--- Shows the keys once they count.
local function arm()
  armed_at = vim.uv.now() + ARM_MS
  M.refit()
  vim.defer_fn(M.refit, ARM_MS + 10)
end

--- Ignores keys until the user comes back.
function M.disarm()
  armed_at = math.huge
  M.refit()
end

--- True if the user is just watching the chat.
---@return boolean
local function may_take_focus()
  local wanted = config.get().ui.approval_focus
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
  local lines, groups, marks, diffs = content.kind(approval).lines(approval)
  vim.api.nvim_buf_clear_namespace(target, namespace, 0, -1)
  vim.bo[target].modifiable = true
  vim.api.nvim_buf_set_lines(target, 0, -1, false, lines)
  for row, name in pairs(groups) do
    -- A `line_hl_group` would override the colours of code.
    vim.api.nvim_buf_set_extmark(target, namespace, row - 1, 0, {
      end_row = row,
      end_col = 0,
      hl_group = name,
      hl_eol = true,
      priority = 200,
    })
  end
  for row, of_line in pairs(marks or {}) do
    for _, mark in ipairs(of_line) do
      vim.api.nvim_buf_set_extmark(target, namespace, row - 1, mark[1], { end_col = mark[2], hl_group = mark[3] })
    end
  end
  for _, diff in ipairs(diffs or {}) do
    diff_syntax.draw({
      buffer = target,
      namespace = namespace,
      path = diff.path,
      lines = vim.list_slice(lines, diff.first, diff.last),
      row = diff.first - 1,
      sign = 0,
    })
  end
  vim.bo[target].modifiable = false
end

--- Shows the first pending approval, if there is one.
---@param map_keys fun(buffer: integer) called with a new buffer
---@param may_focus boolean whether it may take the cursor
---@return boolean? is_for_user it has opened, and the user is just watching
function M.show(map_keys, may_focus)
  local approval = queue.first()
  if not approval then
    -- An approval that was answered on another tab page has left its room here.
    chats.make_room(0)
    return
  end
  if is_here() then
    return M.refit()
  elseif is_open() then
    -- It moves to the current tab page.
    M.close()
  end
  buffer = scratch("approval")
  fill(buffer, approval)
  vim.bo[buffer].filetype = "agent-approval"
  map_keys(buffer)
  no_insert(buffer)
  local takes_focus = may_take_focus()
  at_top = vim.fn.win_screenpos(0)[1] + vim.fn.winline() - 1 > vim.o.lines / 2
  local from = vim.api.nvim_get_current_win()
  window = vim.api.nvim_open_win(buffer, false, (place()))
  vim.wo[window].wrap = true
  vim.wo[window].smoothscroll = true
  vim.wo[window].linebreak = true
  vim.wo[window].fillchars = "eob: ,lastline:…"
  vim.wo[window].cursorline = content.kind(approval).toggle ~= nil
  -- Marks continued lines: a long line could imitate the next one.
  vim.wo[window].showbreak = "↪ "
  vim.wo[window].winhighlight =
    "NormalFloat:AgentNormal,FloatBorder:AgentWaitingBorder,WinBar:AgentHint,WinBarNC:AgentHint"
  if takes_focus and may_focus then
    back = from
    vim.api.nvim_set_current_win(window)
    arm()
  end
  M.refit()
  return takes_focus
end

--- Draws new content. An answer to the previous content does not count for it.
function M.redraw()
  local approval = queue.first()
  if not approval or not is_open() or not buffer then
    return
  end
  fill(buffer, approval)
  vim.api.nvim_win_set_cursor(window, { 1, 0 })
  arm()
end

--- Selects or deselects the row at the cursor.
function M.choose()
  local approval = queue.first()
  local toggle = approval and is_focused() and content.kind(approval).toggle
  if not toggle then
    return
  end
  local problem = toggle(approval, vim.fn.line("."))
  if problem then
    return say.warn(say.fitting(problem))
  end
  local view = vim.fn.winsaveview()
  fill(buffer, approval)
  vim.fn.winrestview(view)
  M.refit()
end

--- Goes to the open float. The user has asked for it, so the next key counts.
function M.focus()
  if not is_focused() then
    local here = vim.api.nvim_get_current_win()
    back = here == dock and vim.fn.win_getid(vim.fn.winnr("#")) or here
    vim.cmd.stopinsert()
    vim.api.nvim_set_current_win(window)
  end
  armed_at = 0
  M.refit()
end

--- Comes back from a float above it.
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

--- Moves to the other end of the screen before it would hide the cursor's line.
local function step_aside()
  local here = vim.api.nvim_get_current_win()
  if not is_here() or here == window or vim.api.nvim_win_get_config(here).relative ~= "" then
    return
  end
  local row, at = vim.fn.win_screenpos(0)[1] + vim.fn.winline() - 2, vim.api.nvim_win_get_config(window)
  if row >= at.row and row <= at.row + at.height + 1 then
    at_top = not at_top
    M.refit()
  end
end

local group = vim.api.nvim_create_augroup("agent.approval", {})
vim.api.nvim_create_autocmd({ "VimResized", "WinEnter", "WinScrolled", "WinClosed" }, {
  group = group,
  callback = vim.schedule_wrap(function()
    if window and not is_open() then
      M.close()
    elseif is_here() and vim.api.nvim_get_current_win() == dock then
      M.focus()
    else
      M.refit()
    end
  end),
})
vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI" }, { group = group, callback = step_aside })

return M
