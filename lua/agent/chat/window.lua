-- The two windows of the chat: the transcript and the input below it. They take the cursor only when the user opens
-- them.
local border = require("agent.ui.border")
local config = require("agent.config")
local dock = require("agent.chat.dock")
local hint = require("agent.ui.hint")
local input_line = require("agent.chat.input.line")
local keymaps = require("agent.chat.keymaps")
local on_border = require("agent.ui.on_border")
local prose = require("agent.ui.prose")
local size = require("agent.chat.draw.size")
local splits = require("agent.chat.draw.splits")
local status_line = require("agent.ui.status_line")
local winbar = require("agent.ui.winbar")

local M = {}

---@class agent.Windows
---@field transcript integer
---@field input integer
---@field back integer   window that the user came from
---@field back_buffer integer   its buffer
---@field kept_free? integer   rows between the two floats, see room.lua
---@field layout string   never "auto"
---@field rows? integer   of the input's text
---@field columns? integer  of the screen that the chat has its share of
---@field waits? string        text about waiting messages, see queue.lua
---@field is_running? boolean  a turn runs
---@field attached? string[]   labels of attachments, see attachments.lua
---@field failed? agent.FailedCommand  whose output is offered

--- Screens with at most this many rows are used whole.
local LOW = 17

--- Rows of the smallest chat: a line of text below the winbar, a line of input, and both borders.
local SMALLEST = 7
--- Rows of a chat with eight lines of transcript, without the input's text.
local READABLE = 12

--- Rows, borders included, below which a float is unreadable.
M.LOWEST = 6

--- Rows at the top of the screen that floats keep free: down to the tab page's window `agent_above`.
---@return integer
local function top_rows()
  local above = vim.t.agent_above
  if not above or not vim.api.nvim_win_is_valid(above) then
    return 0
  end
  return vim.api.nvim_win_get_position(above)[1] + vim.api.nvim_win_get_height(above) + 1
end

--- Rows of the screen for floats.
---@return integer
local function free_lines()
  return vim.o.lines - top_rows() - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
end

--- Rows of the input: those of its text, at least the option's, at most a third of the chat.
---@param windows agent.Windows
---@param whole integer rows of the chat
---@return integer
local function input_rows(windows, whole)
  local least = config.get().ui.input_height
  if whole < LOW then
    -- On a small screen it grows with its text.
    least = math.max(1, math.min(least, math.floor((whole - 4) / 4)))
  end
  return math.max(least, math.min(windows.rows or 0, math.floor(whole / 3)))
end

--- Places of the two floats, transcript above input, both with a border.
---@param windows agent.Windows
---@return table transcript
---@return table input
local function float_places(windows)
  local between = windows.kept_free or 0
  local options = config.get().ui
  local top, lines = top_rows(), free_lines()
  local width = size.columns(size.FLOAT, size.NARROW)
  local wanted = top > 0 and not options.height and lines or size.fit(options.height or size.FLOAT, lines)
  local height = math.max(8, math.min(wanted, lines))
  height = options.height and height or math.max(height, math.min(LOW, lines))
  if between > 0 then
    -- The chat keeps its height if enough of the transcript remains.
    height = math.max(height, math.min(lines, between + options.input_height + READABLE))
  end
  local input_height = math.min(input_rows(windows, height), math.max(1, height - between - SMALLEST))
  local row = top + math.max(0, math.floor((lines - height) / 2))
  local column = math.max(0, math.floor((vim.o.columns - width) / 2) - 1)
  local shared = { relative = "editor", col = column, width = width, zindex = 45 }
  shared.border = border()
  local transcript = vim.tbl_extend("error", shared, {
    row = row,
    height = math.max(1, height - between - input_height - 4),
    title = on_border(" Agent ", "AgentTitle"),
  })
  local input = vim.tbl_extend("error", shared, {
    row = row + transcript.height + 2 + between,
    height = input_height,
  })
  -- Neovim lets the terminal scroll only the topmost float. Below another one, it sends every row of the window again.
  input.zindex = shared.zindex - 1
  return transcript, input
end

--- The column of folds is a margin.
local OPTIONS = vim.tbl_extend("force", prose.OPTIONS, { conceallevel = 0, concealcursor = "", foldcolumn = "1" })

--- A group without attributes: the margin looks like the text beside it, also in windows that a scheme dims.
local MARGIN = "FoldColumn:AgentMargin"
local FLOAT = "NormalFloat:AgentNormal,FloatBorder:AgentBorder," .. MARGIN

---@param window integer
local function style(window)
  local is_float = vim.api.nvim_win_get_config(window).relative ~= ""
  local colours = is_float and FLOAT or MARGIN
  vim.api.nvim_set_option_value("winhighlight", colours, { win = window, scope = "local" })
  for name, value in pairs(OPTIONS) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
  -- Only in prose, and not in the cursor's line: see markdown.lua.
  local hides = vim.bo[vim.api.nvim_win_get_buf(window)].filetype == "agent"
  vim.api.nvim_set_option_value("conceallevel", hides and 2 or 0, { win = window, scope = "local" })
end

--- Makes the window an ordinary one again.
---@param window integer
local function unstyle(window)
  vim.api.nvim_win_call(window, function()
    for name in pairs(OPTIONS) do
      vim.cmd.setlocal(name .. "<")
    end
    vim.cmd("setlocal winhighlight< winfixheight< winfixwidth<")
  end)
  status_line.leave(window)
end

--- Shows a buffer of the chat in one of its windows.
---@param window integer
---@param buffer integer
function M.set_buffer(window, buffer)
  vim.wo[window].winfixbuf = false
  winbar.set_buffer(window, buffer)
  style(window)
  status_line.keep(window)
end

--- Shows what waits, and whether a turn runs.
---@param windows? agent.Windows
---@param waits string
---@param is_running boolean
function M.say_waiting(windows, waits, is_running)
  if windows and (windows.waits ~= waits or windows.is_running ~= is_running) then
    windows.waits, windows.is_running = waits, is_running
    M.hint(windows)
  end
end

--- Changes the border of a float. Neovim draws all of the window again, even if the texts are the same.
---@param window integer
---@param texts vim.api.keyset.win_config
local function decorate(window, texts)
  local present = vim.api.nvim_win_get_config(window)
  for name, value in pairs(texts) do
    if not vim.deep_equal(present[name], value) then
      return vim.api.nvim_win_set_config(window, texts)
    end
  end
end

--- Shows what waits, the attachments, a failed command and the keys of the mode.
---@param windows? agent.Windows
---@param mode? "n"|"i"  default: the current mode
function M.hint(windows, mode)
  mode = mode or (vim.api.nvim_get_mode().mode:find("^i") and "i" or "n")
  if not windows or not vim.api.nvim_win_is_valid(windows.input) then
    return
  end
  local window = windows.input
  local width = vim.api.nvim_win_get_width(window)
  local hints = keymaps.hints(mode, windows.is_running == true)
  local is_split = vim.api.nvim_win_get_config(window).relative == ""
  local offer = input_line.failed(windows, is_split and width - #hints[1] - 2 or width)
  local waits = input_line.waits(windows.waits or "", width - vim.api.nvim_strwidth(offer), is_split and hints[1])
  -- In a split they share a line. The first key stays, and the offer hides the attachments.
  local room_for = is_split and width - #hints[1] - 2 - vim.api.nvim_strwidth(waits) or width
  local attached = is_split and offer ~= "" and offer or input_line.attached(windows, room_for)
  if is_split then
    attached = waits .. attached
    local room = width - vim.api.nvim_strwidth(attached)
    local line = attached == "" and "" or (attached:gsub("%%", "%%%%") .. "%=")
    status_line.set(window, line .. (room < #hints[1] + 2 and "" or hint.one_line(hints, room)))
  else
    local line = hint.one_line(hints, width)
    local below = { title = on_border(attached, "AgentHint"), footer = on_border(line, "AgentHint") }
    below.footer_pos = "right"
    decorate(window, below)
    if vim.api.nvim_win_is_valid(windows.transcript) then
      decorate(windows.transcript, { footer = on_border(waits .. offer, "AgentHint"), footer_pos = "left" })
    end
  end
end

---@param transcript integer buffer
---@param input integer buffer
---@return agent.Windows
function M.open(transcript, input)
  ---@type agent.Windows
  local windows = { layout = splits.layout() }
  M.come_from(windows, vim.api.nvim_get_current_win())
  if windows.layout ~= "float" then
    local is_open, why = pcall(splits.open, windows, transcript, input)
    if not is_open and not tostring(why):find("E36:") and not tostring(why):find("E1513:") then
      error(why, 0)
    elseif not is_open then
      -- With too many windows only a float has room, and a window may have to keep its buffer.
      M.close(windows, { transcript, input })
      windows.layout = "float"
    end
  end
  if windows.layout == "float" then
    local above, below = float_places(windows)
    windows.transcript = winbar.open_float(transcript, above)
    windows.input = winbar.open_float(input, below)
  end
  style(windows.transcript)
  style(windows.input)
  M.hint(windows)
  M.grow(windows)
  return windows
end

--- Fits the input's height to its text, within bounds.
---@param windows? agent.Windows
function M.grow(windows)
  if not windows or not M.is_open(windows) then
    return
  end
  local input = windows.input
  local last = math.min(vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(input)), vim.o.lines)
  windows.rows = vim.api.nvim_win_text_height(input, { end_row = last - 1 }).all
  local before = vim.api.nvim_win_get_height(input)
  if windows.layout == "float" then
    local _, below = float_places(windows)
    if below.height ~= before then
      M.fit(windows)
    end
  else
    local whole = before + vim.api.nvim_win_get_height(windows.transcript)
    local line = status_line.rows(input)
    local rows = math.min(input_rows(windows, whole) + line, math.max(1 + line, whole - 2))
    if rows ~= before then
      vim.api.nvim_win_set_height(input, rows)
    end
  end
  if vim.api.nvim_win_get_height(input) == before then
    return
  end
  M.show_end(windows.transcript)
  vim.api.nvim_win_call(input, function()
    local view = vim.fn.winsaveview()
    local height = vim.api.nvim_win_get_height(0) - status_line.rows(0)
    view.topline = math.min(view.topline, math.max(1, vim.fn.line("$") - height + 1))
    vim.fn.winrestview(view)
  end)
end

--- Windows of the chat that show another buffer.
---@param windows agent.Windows
---@param transcript integer buffer
---@param input integer buffer
---@return integer[]
function M.foreign(windows, transcript, input)
  local foreign = {}
  for win, buffer in pairs({ [windows.transcript] = transcript, [windows.input] = input }) do
    if vim.api.nvim_win_get_buf(win) ~= buffer then
      table.insert(foreign, win)
    end
  end
  return foreign
end

--- Shows a view of the transcript.
---@param win integer
---@param view? table  default: the end
function M.show_view(win, view)
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview(view or { lnum = vim.fn.line("$") })
  end)
  M.show_end(win)
end

--- Shows each buffer in its window again.
---@param windows agent.Windows
---@param transcript agent.Transcript
---@param input integer buffer
function M.put_back(windows, transcript, input)
  for _, win in ipairs(M.foreign(windows, transcript.buffer, input)) do
    M.set_buffer(win, win == windows.input and input or transcript.buffer)
    if win == windows.transcript then
      M.show_view(win, transcript.view)
    end
  end
  M.fit(windows)
end

--- Makes the window a float again. A tab page needs a split: an empty one replaces the last.
---@param win integer
---@param place table
local function float(win, place)
  if not vim.api.nvim_win_is_valid(win) then
    return
  end
  local is_last = vim.iter(vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(win))):all(function(other)
    return other == win or vim.api.nvim_win_get_config(other).relative ~= ""
  end)
  if is_last then
    vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), false, { split = "left", win = win })
  end
  vim.api.nvim_win_set_config(win, place)
end

--- Called after the screen has changed its size.
---@param windows agent.Windows
function M.fit(windows)
  if windows.layout ~= "float" then
    return splits.fit(windows)
  end
  local above, below = float_places(windows)
  float(windows.transcript, above)
  float(windows.input, below)
  M.hint(windows)
end

--- Shows the last row of the text at the window's lower edge, if the cursor is in the last line. `zb` would forget
--- which rows of the first line are above the edge, and hide as many rows at the end. Without 'smoothscroll' the window
--- begins with a whole line.
---@param win integer
function M.show_end(win)
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  if vim.api.nvim_win_get_cursor(win)[1] < last then
    return
  end
  local size_of = vim.fn.getwininfo(win)[1]
  local line, rows = last + 1, 0
  while line > 1 and rows < size_of.height do
    line = line - 1
    rows = rows + vim.api.nvim_win_text_height(win, { start_row = line - 1, end_row = line - 1 }).all
  end
  local above = math.max(0, rows - size_of.height) * (size_of.width - size_of.textoff)
  if above > 0 and not vim.wo[win].smoothscroll then
    line, above = math.min(line + 1, last), 0
  end
  vim.api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    -- Neovim would draw all of the window again, with its border.
    if view.topline ~= line or view.skipcol ~= above then
      vim.fn.winrestview({ topline = line, skipcol = above })
    end
  end)
end

--- Keeps rows free between the two floats, as many as possible. On a screen without room for both, the rows are those
--- of the transcript.
---@param windows agent.Windows
---@param rows integer
---@return integer row the first one
---@return integer rows
function M.keep_free(windows, rows)
  local free = math.min(rows, free_lines() - SMALLEST)
  local kept = free < math.min(rows, M.LOWEST) and 0 or free
  if kept ~= (windows.kept_free or 0) then
    windows.kept_free = kept
    M.fit(windows)
    M.show_end(windows.transcript)
  end
  local function row_of(win)
    return vim.api.nvim_win_get_config(win).row
  end
  if not (row_of(windows.input) and row_of(windows.transcript)) then
    -- A command such as `:wincmd H` has made it a split.
    M.fit(windows)
  end
  local below = row_of(windows.input)
  rows = kept > 0 and kept or math.min(rows, below - top_rows())
  return below - rows, rows
end

---@param windows agent.Windows
---@return boolean
function M.is_open(windows)
  return vim.api.nvim_win_is_valid(windows.transcript) and vim.api.nvim_win_is_valid(windows.input)
end

--- Notes the window to go back to: no window of the chat, and no float.
---@param windows agent.Windows
---@param window integer the current one
function M.come_from(windows, window)
  local is_ours = window == windows.transcript or window == windows.input
  local is_float = windows.back and vim.api.nvim_win_get_config(window).relative ~= ""
  if not (is_ours or is_float) then
    windows.back, windows.back_buffer = window, vim.api.nvim_win_get_buf(window)
  end
end

--- Makes another window the current one of its tab page, unless that is the current tab page. A float that is current
--- there and closes may stay current, and `:tabclose` would crash Neovim.
---@param window integer
local function leave(window)
  local tab = vim.api.nvim_win_get_tabpage(window)
  if tab ~= vim.api.nvim_get_current_tabpage() and vim.api.nvim_tabpage_get_win(tab) == window then
    local other = vim.iter(vim.api.nvim_tabpage_list_wins(tab)):find(function(other)
      return vim.api.nvim_win_get_config(other).relative == ""
    end)
    vim.api.nvim_tabpage_set_win(tab, other)
  end
end

--- Closes every window on the chat's buffers. A window that was the user's before, or is the last of all, shows its
--- previous buffer.
---@param windows agent.Windows
---@param buffers integer[]
function M.close(windows, buffers)
  if windows.transcript then
    dock.close()
  end
  local all = { windows.input, windows.transcript }
  for _, buffer in ipairs(buffers) do
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      -- A second time would take the options of the user's window.
      if not vim.list_contains(all, window) then
        table.insert(all, window)
      end
    end
  end
  for _, window in ipairs(all) do
    if vim.api.nvim_win_is_valid(window) then
      -- Autocommands of ours close it without an event.
      status_line.leave(window)
      leave(window)
      if window == windows.back or not pcall(vim.api.nvim_win_close, window, true) then
        M.empty(window, windows.back_buffer)
      end
    end
  end
end

--- Makes a window an ordinary one, with this buffer or a new one.
---@param window integer
---@param buffer? integer
function M.empty(window, buffer)
  vim.wo[window].winfixbuf = false
  unstyle(window)
  local is_there = buffer and vim.api.nvim_buf_is_loaded(buffer)
  vim.api.nvim_win_set_buf(window, is_there and buffer or vim.api.nvim_create_buf(true, false))
end

---@param windows agent.Windows
function M.go_back(windows)
  if vim.api.nvim_win_is_valid(windows.back) then
    vim.api.nvim_set_current_win(windows.back)
  end
end

return M
