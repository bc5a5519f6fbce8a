-- A message that has no room in the last line: whole, in a float at the bottom that takes no focus. It goes with the
-- next key or after a while, and stands in `:messages`.
local api = vim.api

local M = {}

--- Milliseconds that it stays, and in which a key does not take it away: it was meant for something else.
local STAYS, GRACE = 12000, 400

local HIGHLIGHTS = { [vim.log.levels.WARN] = "WarningMsg", [vim.log.levels.ERROR] = "ErrorMsg" }

local namespace = api.nvim_create_namespace("agent.message")

---@class agent.Message
---@field window integer
---@field buffer integer
---@field since integer  when it was shown, in milliseconds

---@class agent.Said
---@field line string
---@field level? integer     of vim.log.levels
---@field is_kept? boolean   it stands in `:messages`

---@type agent.Message?
local shown
local clock ---@type uv.uv_timer_t?

local function close()
  local old = shown
  shown = nil
  vim.on_key(nil, namespace)
  if clock then
    clock:stop()
  end
  if old and api.nvim_win_is_valid(old.window) then
    api.nvim_win_close(old.window, true)
  end
end

--- Puts a text into `:messages`. Neovim does not ask for a key meanwhile, and with the next redraw wants none.
---@param text string
---@param highlight? string
local function remember(text, highlight)
  local more, messagesopt = vim.o.more, vim.o.messagesopt
  vim.o.more = false
  vim.o.messagesopt = messagesopt:gsub("hit%-enter", "wait:0"):gsub("wait:%d+", "wait:0")
  api.nvim_echo({ { text, highlight } }, true, {})
  vim.o.more, vim.o.messagesopt = more, messagesopt
end

---@param line string
---@return integer
local function rows_of(line)
  local width = api.nvim_strwidth(line)
  -- A wide letter that has no room goes to the next row.
  local room = vim.o.columns - (width > vim.fn.strchars(line) and 1 or 0)
  return math.max(1, math.ceil(width / room))
end

--- Where it stands: above the last line and the statusline.
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

--- Older lines go where they would take more than a third of the screen.
---@param buffer integer
---@return integer rows
local function make_room(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, true)
  local rows, first = rows_of(lines[#lines]), #lines
  while first > 1 and rows + rows_of(lines[first - 1]) <= vim.o.lines / 3 do
    first = first - 1
    rows = rows + rows_of(lines[first])
  end
  api.nvim_buf_set_lines(buffer, 0, first - 1, true, {})
  return rows
end

---@param line string
---@param level? integer
local function draw(line, level)
  local buffer = shown and shown.buffer or api.nvim_create_buf(false, true)
  local at = shown and api.nvim_buf_line_count(buffer) or 0
  api.nvim_buf_set_lines(buffer, at, -1, true, { line })
  api.nvim_buf_set_extmark(buffer, namespace, at, 0, { end_col = #line, hl_group = HIGHLIGHTS[level] or "MsgArea" })
  local config = place(make_room(buffer))
  if shown then
    shown.since = vim.uv.now()
    return api.nvim_win_set_config(shown.window, config)
  end
  vim.bo[buffer].bufhidden = "wipe"
  config.noautocmd = true
  local window = api.nvim_open_win(buffer, false, config)
  vim.wo[window].wrap = true
  vim.wo[window].winhighlight = "NormalFloat:MsgArea"
  shown = { window = window, buffer = buffer, since = vim.uv.now() }
end

--- Shows lines, below those that are shown already.
---@param lines agent.Said[]
---@param kept? string  what stands in `:messages` beside them
function M.show(lines, kept)
  if kept then
    remember(kept)
  end
  if shown and not api.nvim_win_is_valid(shown.window) then
    close()
  end
  for _, said in ipairs(lines) do
    if not said.is_kept then
      remember(said.line, HIGHLIGHTS[said.level])
    end
    draw(said.line, said.level)
  end
  vim.cmd.redraw()
  clock = clock or assert(vim.uv.new_timer())
  clock:start(STAYS, 0, vim.schedule_wrap(close))
  vim.on_key(function(_, typed)
    if typed ~= "" and shown and vim.uv.now() - shown.since > GRACE then
      vim.on_key(nil, namespace)
      vim.schedule(close)
    end
  end, namespace)
end

return M
