-- A message that does not fit into the last line: a float at the bottom that takes no focus and closes with the next
-- key or after a while. `:messages` keeps it.
local api = vim.api

local M = {}

--- Milliseconds that it stays, and in which a key does not close it: that key was meant for something else.
local STAYS, GRACE = 12000, 400

local HIGHLIGHTS = { [vim.log.levels.WARN] = "WarningMsg", [vim.log.levels.ERROR] = "ErrorMsg" }

local namespace = api.nvim_create_namespace("agent.message")

---@class agent.Message
---@field window integer
---@field buffer integer
---@field since integer  when it was drawn, in milliseconds

---@class agent.MessageLine
---@field line string
---@field level? integer     of vim.log.levels
---@field is_kept? boolean   `:messages` has it

---@type agent.Message?
local current
local clock ---@type uv.uv_timer_t?

local function close()
  local old = current
  current = nil
  vim.on_key(nil, namespace)
  if clock then
    clock:stop()
  end
  if old and api.nvim_win_is_valid(old.window) then
    api.nvim_win_close(old.window, true)
  end
end

--- Adds a text to `:messages`, without a prompt for a key now or with the next redraw.
---@param text string
---@param highlight? string
local function remember(text, highlight)
  local more, messagesopt = vim.o.more, vim.o.messagesopt
  vim.o.more = false
  vim.o.messagesopt = messagesopt:gsub("hit%-enter", "wait:0"):gsub("wait:%d+", "wait:0")
  api.nvim_echo({ { text, highlight } }, true, {})
  -- The float shows the text; the last line need not.
  api.nvim_echo({ { "" } }, false, {})
  vim.o.more, vim.o.messagesopt = more, messagesopt
end

--- Its place: above the last line and the statusline.
---@param rows integer
---@return table config
local function place(rows)
  local below = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  return {
    relative = "editor",
    anchor = "SW",
    row = vim.o.lines - below,
    col = 0,
    width = vim.o.columns,
    height = math.max(1, math.min(rows, vim.o.lines - below)),
    border = "none",
    style = "minimal",
    focusable = false,
    zindex = 150,
  }
end

---@param message agent.Message
---@param first integer line from 0
---@return integer rows from the line to the end
local function rows_from(message, first)
  return api.nvim_win_text_height(message.window, { start_row = first }).all
end

--- Removes older lines if they take more than a third of the screen.
---@param message agent.Message
---@param first integer the newest message's first line, from 0
local function make_room(message, first)
  while first > 0 and rows_from(message, first - 1) <= vim.o.lines / 3 do
    first = first - 1
  end
  api.nvim_buf_set_lines(message.buffer, 0, first, true, {})
  api.nvim_win_set_config(message.window, place(rows_from(message, 0)))
end

---@return agent.Message
local function open()
  local buffer = require("agent.ui.scratch")()
  local config = place(1)
  config.noautocmd = true
  local window = api.nvim_open_win(buffer, false, config)
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  vim.wo[window].winhighlight = "NormalFloat:MsgArea"
  return { window = window, buffer = buffer, since = 0 }
end

---@param line string
---@param level? integer
local function draw(line, level)
  local at = current and api.nvim_buf_line_count(current.buffer) or 0
  current = current or open()
  current.since = vim.uv.now()
  local lines = require("agent.ui.format").wrap(line, vim.o.columns)
  api.nvim_buf_set_lines(current.buffer, at, -1, true, lines)
  local mark = { end_row = at + #lines - 1, end_col = #lines[#lines], hl_group = HIGHLIGHTS[level] or "MsgArea" }
  api.nvim_buf_set_extmark(current.buffer, namespace, at, 0, mark)
  make_room(current, at)
end

--- A float stays in the tab page that it opened in.
---@param window integer
---@return boolean
local function is_on_screen(window)
  return api.nvim_win_is_valid(window) and api.nvim_win_get_tabpage(window) == api.nvim_get_current_tabpage()
end

--- Shows lines, below those on the screen.
---@param lines agent.MessageLine[]
---@param kept? string  further text for `:messages`
function M.show(lines, kept)
  if kept then
    remember(kept)
  end
  if current and not is_on_screen(current.window) then
    close()
  end
  for _, message in ipairs(lines) do
    if not message.is_kept then
      remember(message.line, HIGHLIGHTS[message.level])
    end
    draw(message.line, message.level)
  end
  vim.cmd.redraw()
  clock = clock or assert(vim.uv.new_timer())
  clock:start(STAYS, 0, vim.schedule_wrap(close))
  vim.on_key(function(_, typed)
    if typed ~= "" and current and vim.uv.now() - current.since > GRACE then
      vim.on_key(nil, namespace)
      vim.schedule(close)
    end
  end, namespace)
end

return M
