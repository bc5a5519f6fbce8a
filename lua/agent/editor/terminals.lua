-- Notices commands that fail in the user's visible terminals: by the marks of shell integration (OSC 133, see
-- |shell-prompt|), or by the end of a terminal's job. Nothing is sent.
local format = require("agent.ui.format")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.terminals")
local GROUP = "agent.terminals"

--- Limits: rows and bytes of output, rows of a command, columns of its name.
local MOST_ROWS, MOST_BYTES, MOST_COMMAND, LONGEST_NAME = 200, 16000, 20, 60
--- Milliseconds until Neovim has drawn everything that came before an event.
local DRAWN = 50

--- Exit codes of commands that were ended or suspended on purpose: 128 plus SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGTSTP.
local ON_PURPOSE = { [129] = true, [130] = true, [141] = true, [143] = true, [146] = true, [148] = true }

--- Their exit code is that of their last command.
local SHELLS = { "bash", "cmd.exe", "dash", "elvish", "fish", "ksh", "nu", "powershell", "pwsh", "sh", "xonsh", "zsh" }

---@class agent.TerminalPlace
---@field row integer     from 0
---@field column integer  in cells
---@field mark? integer   extmark, which follows its row when old rows go; nil if the row was not drawn yet

---@class agent.ShellMarks  of the present command
---@field input? agent.TerminalPlace    the command begins here
---@field output? agent.TerminalPlace   its output begins here
---@field stop? agent.TerminalPlace     its output ends here
---@field command? string               as the shell reports it
---@field has_output? boolean           the shell reports where output begins

---@class agent.FailedCommand
---@field buffer integer    of the terminal
---@field command? string
---@field status integer    its exit code
---@field text string       its last lines

--- Marks by terminal buffer.
---@type table<integer, agent.ShellMarks>
local shells = {}
--- The last end of a command in each terminal.
---@type table<integer, table>
local ends = {}
---@type agent.FailedCommand?
local failed
---@type fun()?
local listener

---@param buffer integer
---@param cursor [integer, integer] from 1 and 0
---@return agent.TerminalPlace
local function place_at(buffer, cursor)
  local row = math.max(0, cursor[1] - 1)
  local is_drawn, mark = pcall(vim.api.nvim_buf_set_extmark, buffer, namespace, row, 0, {})
  return { row = row, column = cursor[2], mark = is_drawn and mark or nil }
end

---@param buffer integer
---@param place agent.TerminalPlace
---@return integer
local function row_of(buffer, place)
  local found = place.mark and vim.api.nvim_buf_get_extmark_by_id(buffer, namespace, place.mark, {}) or {}
  return found[1] or place.row
end

---@param buffer integer
---@param marks agent.ShellMarks
local function forget(buffer, marks)
  for _, name in ipairs({ "input", "output", "stop" }) do
    if marks[name] and marks[name].mark then
      vim.api.nvim_buf_del_extmark(buffer, namespace, marks[name].mark)
    end
  end
end

---@param buffer integer
---@return integer? columns
local function width_of(buffer)
  local width
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.max(width or 0, info.width - info.textoff)
  end
  return width
end

--- True for a row that ends in the same sign three times, as the rules that programs draw over the whole width.
---@param row string
---@return boolean
local function is_rule(row)
  local sign = row:match("[%z\1-\127\194-\244][\128-\191]*$")
  return sign ~= nil and not sign:find("%w") and vim.endswith(row, sign:rep(3))
end

--- The lines of some rows; rows that the terminal has wrapped are one line.
---@param buffer integer
---@param first integer from 0
---@param last integer exclusive
---@return string[]
local function lines_of(buffer, first, last)
  local width, lines, continues = width_of(buffer), {}, false
  for _, row in ipairs(vim.api.nvim_buf_get_lines(buffer, math.max(0, first), math.max(0, last), false)) do
    if continues then
      lines[#lines] = lines[#lines] .. row
    else
      table.insert(lines, row)
    end
    continues = vim.api.nvim_strwidth(row) == width and not is_rule(row)
  end
  return lines
end

--- The last lines, within the limits.
---@param buffer integer
---@param first integer
---@param last integer exclusive
---@return string[]
---@return boolean is_cut  there are earlier ones
local function output_of(buffer, first, last)
  while last > first and not vim.api.nvim_buf_get_lines(buffer, last - 1, last, false)[1]:find("%S") do
    last = last - 1
  end
  local lines = lines_of(buffer, math.max(first, last - MOST_ROWS), last)
  local has_more = last - MOST_ROWS > first
  local from, size = #lines + 1, 0
  while from > 1 and size + #lines[from - 1] < MOST_BYTES do
    from = from - 1
    size = size + #lines[from] + 1
  end
  if from > #lines and lines[1] then
    -- Keeps characters whole.
    return { (lines[#lines]:sub(-MOST_BYTES):gsub("^[\128-\191]+", "")) }, true
  end
  return vim.list_slice(lines, from), has_more or from > 1
end

--- A line without its first cells.
---@param line string
---@param cells integer
---@return string
local function after(line, cells)
  local count = 0
  while vim.api.nvim_strwidth(vim.fn.strcharpart(line, 0, count)) < cells and count < #line do
    count = count + 1
  end
  return vim.fn.strcharpart(line, count)
end

--- The command as it was typed, without the prompt before it and on its right.
---@param buffer integer
---@param marks agent.ShellMarks
---@return string?
local function typed(buffer, marks)
  if not (marks.input and marks.output) then
    return nil
  end
  local first, last = row_of(buffer, marks.input), row_of(buffer, marks.output)
  last = marks.output.column > 0 and last or last - 1
  if last < first then
    -- Its row has left the terminal.
    return nil
  end
  local lines = lines_of(buffer, first, math.min(last, first + MOST_COMMAND - 1) + 1)
  lines[1] = lines[1] and after(lines[1], marks.input.column):gsub("    +%S.*$", "")
  local command = vim.trim(table.concat(lines, "\n"))
  return command ~= "" and command or nil
end

---@param buffer integer
---@param marks agent.ShellMarks
local function read_command(buffer, marks)
  if not marks.command and vim.api.nvim_buf_is_loaded(buffer) then
    marks.command = typed(buffer, marks)
  end
end

---@param new? agent.FailedCommand
local function offer(new)
  if new ~= failed then
    failed = new
    listener()
  end
end

---@param buffer integer
---@return boolean
local function is_visible(buffer)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(window)
    return vim.api.nvim_win_get_buf(window) == buffer
  end)
end

--- The last lines of a command, with the command itself.
---@param buffer integer
---@param marks agent.ShellMarks  without `stop` they end with the terminal
---@return string
local function text_of(buffer, marks)
  local first = marks.output and row_of(buffer, marks.output) or 0
  local last = marks.stop and row_of(buffer, marks.stop) + (marks.stop.column > 0 and 1 or 0)
  local lines, is_cut = output_of(buffer, first, last or vim.api.nvim_buf_line_count(buffer))
  if is_cut then
    table.insert(lines, 1, "[earlier lines are left out]")
  end
  if marks.command then
    table.insert(lines, 1, "$ " .. marks.command)
  end
  return lines[1] and table.concat(lines, "\n") or "(no output)"
end

--- A command has ended: offers the output of one that failed, once it is drawn.
---@param buffer integer
---@param status integer
---@param marks agent.ShellMarks
local function ended(buffer, status, marks)
  local this = {}
  ends[buffer] = this
  if status == 0 and failed and failed.buffer == buffer then
    offer(nil)
  end
  if status <= 0 or ON_PURPOSE[status] or not is_visible(buffer) then
    return forget(buffer, marks)
  end
  vim.defer_fn(function()
    if ends[buffer] == this and vim.api.nvim_buf_is_loaded(buffer) then
      offer({ buffer = buffer, command = marks.command, status = status, text = text_of(buffer, marks) })
      forget(buffer, marks)
    end
  end, DRAWN)
end

---@param event { buf: integer, data: { sequence: string, cursor: [integer, integer] } }
local function on_request(event)
  local kind, rest = event.data.sequence:match("^\27%]133;([ABCD])(.*)$")
  if not kind then
    return
  end
  local marks = shells[event.buf] or {}
  shells[event.buf] = marks
  if kind == "A" then
    forget(event.buf, marks)
    shells[event.buf] = { has_output = marks.has_output }
  elseif kind == "B" then
    marks.input = place_at(event.buf, event.data.cursor)
  elseif kind == "C" then
    local command = rest:match("cmdline_url=([^;]*)")
    marks.output, marks.has_output = place_at(event.buf, event.data.cursor), true
    marks.command = command and vim.uri_decode(command) or nil
    -- Its row may leave the terminal before it ends.
    vim.defer_fn(function()
      read_command(event.buf, marks)
    end, DRAWN)
  else
    local status = tonumber(rest:match("^;(%d+)"))
    shells[event.buf] = { has_output = marks.has_output }
    -- An empty line repeats the exit code of the command before.
    if status and (marks.output or not marks.has_output) then
      marks.stop = place_at(event.buf, event.data.cursor)
      ended(event.buf, status, marks)
    else
      forget(event.buf, marks)
    end
  end
end

--- The command of a terminal's job; nil if it is a shell, which reports the end of its last command.
---@param buffer integer
---@return string?
local function job_of(buffer)
  local is_known, channel = pcall(vim.api.nvim_get_chan_info, vim.bo[buffer].channel)
  local argv = is_known and channel.argv or {}
  local command = #argv == 3 and argv[2] == vim.o.shellcmdflag and argv[3] or table.concat(argv, " ")
  -- A plugin may mark its terminals with a comment.
  local program = command:gsub(";#.*$", ""):gsub("%s+%-%a+$", "")
  local is_shell = vim.list_contains(SHELLS, vim.fs.basename(vim.trim(program)))
  return not is_shell and command ~= "" and command or nil
end

---@param event { buf: integer }
local function on_close(event)
  local command = not shells[event.buf] and job_of(event.buf)
  if command then
    ended(event.buf, vim.v.event.status, { command = command })
  end
end

---@param event { buf: integer }
local function on_unload(event)
  shells[event.buf], ends[event.buf] = nil, nil
  if failed and failed.buffer == event.buf then
    offer(nil)
  end
end

--- Begins to notice failed commands.
---@param on_change fun() called when another command is offered, or none
function M.watch(on_change)
  if listener then
    return
  end
  listener = on_change
  local group = vim.api.nvim_create_augroup(GROUP, {})
  vim.api.nvim_create_autocmd("TermRequest", { group = group, callback = on_request })
  vim.api.nvim_create_autocmd("TermClose", { group = group, callback = on_close })
  vim.api.nvim_create_autocmd("BufUnload", { group = group, callback = on_unload })
end

function M.unwatch()
  vim.api.nvim_create_augroup(GROUP, {})
  shells, ends, failed, listener = {}, {}, nil, nil
end

--- The newest failed command, unless its output was taken or dismissed.
---@return agent.FailedCommand?
function M.failed()
  return failed
end

function M.dismiss()
  offer(nil)
end

--- The name of a failed command, on one line.
---@param command agent.FailedCommand
---@return string
function M.name(command)
  return format.cut(format.one_line(command.command or "a command"), LONGEST_NAME)
end

--- The last lines of the failed command, to be attached. It is offered no longer.
---@return agent.Attachment?
---@return integer? buffer of its terminal
function M.take()
  local command = failed
  if not command then
    return nil
  end
  offer(nil)
  local label = ("output of %s (exit %d)"):format(M.name(command), command.status)
  return { type = "text", label = label, text = command.text, selected = true, output = true }, command.buffer
end

return M
