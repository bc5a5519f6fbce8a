-- Pure: the text of a block, as lines without markup.
local fences = require("agent.timeline.fences")
local runs = require("agent.timeline.runs")
local targets = require("agent.timeline.targets")

local M = {}

--- Rows of a turn's files, at its end and while it runs.
local MOST_FILES, MOST_OPEN = 30, 8

--- A longer message of the user shows its first lines until the user opens it.
local LONGEST, HEAD = 30, 10

--- The count of lines that a closed block of the user leaves out.
---@param block agent.Block
---@return integer
function M.left_out(block)
  local count = block.kind == "user" and select(2, block.text:gsub("\n", "")) + 1 or 0
  return count > LONGEST and count - HEAD or 0
end

--- The parts of the last line of a user's message: the count of lines left out, and the attachments.
---@param block agent.Block
---@return string[]
function M.labels(block)
  local count = block.expanded and 0 or M.left_out(block)
  return vim.list_extend(count > 0 and { ("%d more lines"):format(count) } or {}, block.attachments or {})
end

--- The note at the end of a message that no turn has read.
---@param block agent.Block
---@return string
function M.note(block)
  return block.backlog_item and " (waiting for the chat to open)"
    or block.status == "queued" and " (waiting for the turn to end)"
    or block.status == "steering" and " (waiting for the next step)"
    or block.status == "stopped" and " (not sent)"
    or ""
end

---@param block agent.Block
---@return string[]
local function user_lines(block)
  local lines = vim.split(block.text, "\n")
  if M.left_out(block) > 0 and not block.expanded then
    lines = vim.list_slice(lines, 1, HEAD)
  end
  lines[#lines] = lines[#lines] .. M.note(block)
  local labels = M.labels(block)
  if #labels > 0 then
    table.insert(lines, fences.missing(lines))
    table.insert(lines, "▸ " .. table.concat(labels, " · "))
  end
  return lines
end

---@class agent.Header  a line of columns: a sign, a title and a detail
---@field indent integer         bytes before the sign
---@field status? agent.Status   of a call

---@alias agent.Headers table<integer, agent.Header>  by line, from 1

---@class agent.Owner  of a line: the call or the thought that it belongs to
---@field block agent.Block
---@field row? integer     of its output, from 1
---@field indent integer   bytes before the row

---@alias agent.Owners table<integer, agent.Owner>  by line, from 1

---@class agent.Rows  drawn lines of a block
---@field lines string[]
---@field headers? agent.Headers
---@field owners? agent.Owners

--- The header and the body of a block, as lines without markup.
---@param block agent.Block
---@return agent.Rows
local function rows_of(block)
  if block.kind == "user" then
    return { lines = user_lines(block) }
  end
  if block.kind == "thought" then
    local header = block.status == "open" and "Thinking …"
      or ("Thought for %s"):format(M.duration(block.seconds or 0))
    local text = block.expanded and vim.split(vim.trim(block.text), "\n") or {}
    return { lines = vim.list_extend({ header }, text) }
  end
  if block.kind == "tool" then
    return M.tool_rows(block)
  end
  if block.kind == "run" then
    return M.run_rows(block)
  end
  if block.kind == "files" then
    return M.file_rows(block, block.status == "open" and MOST_OPEN or MOST_FILES)
  end
  if block.kind == "moved" then
    return { lines = {} }
  end
  return { lines = vim.split(block.text, "\n") }
end

--- The same, with open code blocks closed, so that no later text becomes code. Growing text is closed at its end, see
--- handlers.lua.
---@param block agent.Block
---@return string[]
---@return agent.Headers
---@return agent.Owners
function M.lines(block)
  local rows = rows_of(block)
  if block.kind ~= "text" then
    table.insert(rows.lines, fences.missing(rows.lines))
  end
  return rows.lines, rows.headers or {}, rows.owners or {}
end

--- Signs of the plan's steps by their status.
M.STEPS = { pending = "☐", in_progress = "▸", completed = "✓" }

---@param steps { step: string, status: string }[]
---@return string[]
function M.plan_lines(steps)
  return vim.tbl_map(function(step)
    return ("%s %s"):format(M.STEPS[step.status] or M.STEPS.pending, step.step)
  end, steps)
end

---@param seconds number
---@return string
function M.duration(seconds)
  if seconds < 1 then
    return "a moment"
  end
  if seconds < 10 then
    return ("%.1f s"):format(seconds)
  end
  return M.seconds(seconds)
end

--- Whole seconds.
---@param seconds number
---@return string
function M.seconds(seconds)
  return seconds < 60 and ("%d s"):format(seconds) or ("%d min %d s"):format(seconds / 60, seconds % 60)
end

--- Icons of a tool call by its status.
M.icons = {
  pending = "…",
  in_progress = "…",
  waiting = "?",
  completed = "✓",
  failed = "✗",
  stopped = "■",
}

local KINDS = { created = "A", modified = "M", deleted = "D", renamed = "R" }

---@param added integer
---@param removed integer
---@return string "+3 −1"
function M.counts(added, removed)
  local parts = { added > 0 and ("+%d"):format(added) or nil }
  table.insert(parts, removed > 0 and ("−%d"):format(removed) or nil)
  return table.concat(parts, " ")
end

---@class agent.Mark  part of a line: its first byte from 0, its last one, its highlight group
---@field [1] integer
---@field [2] integer
---@field [3] string

local COUNTS = { ["%+%d+"] = "AgentAdded", ["−%d+"] = "AgentRemoved" }

--- The positions of the counts at the end of a line.
---@param line string
---@return agent.Mark[]
function M.count_marks(line)
  -- A name may look like a count.
  local start = line:match("^.*()  ") or #line
  local marks = {}
  for pattern, group in pairs(COUNTS) do
    local from, to = line:find(pattern, start)
    table.insert(marks, from and { from - 1, to, group })
  end
  return marks
end

--- One line for a file, or for a folder with many: "M src/a.ts  +3 −1", "A dist/  312 files".
---@param file table
---@param state? string
---@return string
function M.file_line(file, state)
  local name = file.from and ("%s → %s"):format(file.from, file.shown) or file.shown
  local detail = file.opaque and "binary" or M.counts(file.added, file.removed)
  if file.count then
    detail = ("%d %s %s"):format(file.count, file.count == 1 and "file" or "files", detail)
  end
  detail = vim.trim(detail)
  if state then
    detail = detail ~= "" and ("%s, %s"):format(detail, state) or state
  end
  return vim.trim(("%s %s  %s"):format(KINDS[file.kind] or "?", name, detail))
end

local UNDONE = { all = "undone", part = "undone in part" }

--- A file's state in a list: as the user left it there, or as the undo of its turn did.
---@param file table
---@return "kept"|"undone"|"undone in part"|nil
local function file_state(file)
  return file.state or UNDONE[file.undone]
end

--- The state of a list: of its turn, or of all its files.
---@param block agent.Block
---@return string?
local function list_state(block)
  local counts = {}
  for _, file in ipairs(block.files) do
    local state = file_state(file) or "none"
    counts[state] = (counts[state] or 0) + 1
  end
  local all = #block.files
  if counts.undone == all or counts.kept == all then
    return counts.kept and "kept" or UNDONE.all
  end
  local is_part = counts[UNDONE.all] or counts[UNDONE.part]
  return UNDONE[block.undone] or is_part and UNDONE.part or nil
end

--- How much of a call's changes was undone, with those of the calls under it.
---@param block agent.Block
---@return "all"|"part"|"none"|nil  nil: it is not known to have changed a file
local function undone_of(block)
  local state = block.kind == "tool" and block.undone or nil
  for _, child in ipairs(block.children or {}) do
    local below = undone_of(child)
    state = state and below and state ~= below and "part" or state or below
  end
  return state
end

--- The summary of a turn: a header, then one line for each file.
---@param block agent.Block
---@param most integer rows
---@return agent.Rows
function M.file_rows(block, most)
  local files, count, added, removed = block.files, 0, 0, 0
  for _, file in ipairs(files) do
    count, added, removed = count + (file.count or 1), added + file.added, removed + file.removed
  end
  local what = ("%d %s"):format(count, count == 1 and "file" or "files")
  local state = list_state(block)
  what = state and ("%s, %s"):format(what, state) or what
  local lines = { vim.trim(("Changed %s  %s"):format(what, M.counts(added, removed))) }
  local headers = { { indent = 0 } }
  for index, file in ipairs(files) do
    if index > most then
      table.insert(lines, ("  and %d more: :Agent changes"):format(#files - index + 1))
      break
    end
    table.insert(lines, "  " .. M.file_line(file, file_state(file)))
    headers[#lines] = { indent = 2 }
  end
  return { lines = lines, headers = headers }
end

local RUNNING = { pending = true, in_progress = true, waiting = true }

--- Output lines of a running call in a closed block.
local LIVE_LINES, LIVE_CHARACTERS = 5, 200

---@return agent.Rows
local function no_rows()
  return { lines = {}, headers = {}, owners = {} }
end

--- Adds lines, by default under a call.
---@param rows agent.Rows with headers and owners
---@param more agent.Rows
---@param indent? string
local function add(rows, more, indent)
  indent = indent or "  "
  for at, line in ipairs(more.lines) do
    table.insert(rows.lines, indent .. line)
    local header = more.headers and more.headers[at]
    local owner = more.owners and more.owners[at]
    rows.headers[#rows.lines] = header and { indent = header.indent + #indent, status = header.status }
    rows.owners[#rows.lines] = owner
      and { block = owner.block, row = owner.row, indent = owner.indent + #indent }
  end
end

---@param rows agent.Rows
---@return agent.Rows
local function last_rows(rows)
  local last = #rows.lines - (rows.lines[#rows.lines] == "" and 1 or 0)
  local kept = no_rows()
  for index = math.max(1, last - LIVE_LINES + 1), last do
    local line = rows.lines[index]
    local is_long = #line > LIVE_CHARACTERS
    table.insert(kept.lines, is_long and vim.fn.strcharpart(line, 0, LIVE_CHARACTERS) .. "…" or line)
    kept.headers[#kept.lines] = rows.headers and rows.headers[index]
    kept.owners[#kept.lines] = rows.owners and rows.owners[index]
  end
  return kept
end

--- Each line belongs to this call or thought.
---@param rows agent.Rows
---@param block agent.Block
---@param is_output? boolean  the lines are the rows of its output
---@return agent.Rows
local function owned(rows, block, is_output)
  rows.owners = {}
  for at = 1, #rows.lines do
    rows.owners[at] = { block = block, row = is_output and at or nil, indent = 0 }
  end
  return rows
end

---@param block agent.Block
---@return agent.Rows
local function output_rows(block)
  return owned({ lines = targets.rows(block) }, block, true)
end

--- The line of a call; in an open block also how the call was approved.
---@param block agent.Block
---@param is_open? boolean
---@return agent.Rows
local function call_rows(block, is_open)
  local detail = block.summary
  if block.status == "waiting" then
    detail = "waiting for your answer"
  elseif not detail and block.lines and block.lines > 0 then
    detail = ("%d %s"):format(block.lines, block.lines == 1 and "line" or "lines")
  end
  local header = ("%s %s"):format(M.icons[block.status] or "…", block.title)
  local undone = UNDONE[undone_of(block)]
  if undone then
    detail = (detail or "") ~= "" and ("%s, %s"):format(detail, undone) or undone
  end
  local details = { detail ~= "" and detail or nil }
  vim.list_extend(details, is_open and block.approvals or {})
  if #details > 0 then
    header = header .. "  " .. table.concat(details, " · ")
  end
  return owned({ lines = { header }, headers = { { indent = 0, status = block.status } } }, block)
end

--- The blocks under a call: a line for each call and thought, open outputs and texts; or the last lines alone.
---@param block agent.Block
---@param all boolean
---@return agent.Rows
local function nested_rows(block, all)
  local rows = no_rows()
  local children = block.children or {}
  for index = all and 1 or math.max(1, #children - LIVE_LINES + 1), #children do
    local child = children[index]
    if child.kind == "tool" then
      add(rows, call_rows(child, all))
      add(rows, nested_rows(child, all))
      if all and child.expanded and child.output then
        add(rows, output_rows(child), "    ")
      end
    elseif child.kind == "thought" then
      add(rows, owned(rows_of(child), child))
    elseif all then
      add(rows, rows_of(child))
    end
  end
  return rows
end

---@param block agent.Block
---@return agent.Rows
function M.tool_rows(block)
  local rows = call_rows(block, block.expanded)
  if block.expanded then
    add(rows, nested_rows(block, true), "")
  elseif RUNNING[block.status] then
    add(rows, last_rows(nested_rows(block, false)), "")
  end
  if block.draft and block.status == "pending" then
    add(rows, { lines = vim.split(block.draft, "\n") })
  end
  if block.output and block.expanded then
    add(rows, output_rows(block))
  elseif block.output and RUNNING[block.status] and not block.is_diff then
    add(rows, last_rows({ lines = targets.rows(block) }))
  end
  return rows
end

--- A run of read-only calls: one line, or each call below it.
---@param block agent.Block
---@return agent.Rows
function M.run_rows(block)
  local rows = no_rows()
  local header = ("%s %s"):format(M.icons[block.status], runs.header(block))
  add(rows, { lines = { header }, headers = { { indent = 0, status = block.status } } }, "")
  for _, call in ipairs(block.expanded and block.calls or {}) do
    local below = rows_of(call)
    add(rows, call.kind == "tool" and below or owned(below, call))
  end
  return rows
end

return M
