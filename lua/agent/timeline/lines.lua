-- Pure: the text of a block, as lines without markup.
local fences = require("agent.timeline.fences")
local runs = require("agent.timeline.runs")

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

--- The header and the body of a block, as lines without markup.
---@param block agent.Block
---@return string[]
---@return agent.Headers?
local function lines_of(block)
  if block.kind == "user" then
    return user_lines(block)
  end
  if block.kind == "thought" then
    local header = block.status == "open" and "Thinking …"
      or ("Thought for %s"):format(M.duration(block.seconds or 0))
    return block.expanded and vim.list_extend({ header }, vim.split(vim.trim(block.text), "\n")) or { header }
  end
  if block.kind == "tool" then
    return M.tool_lines(block)
  end
  if block.kind == "run" then
    local lines, _, headers = M.run_lines(block)
    return lines, headers
  end
  if block.kind == "files" then
    return M.file_lines(block, block.status == "open" and MOST_OPEN or MOST_FILES)
  end
  if block.kind == "moved" then
    return {}
  end
  return vim.split(block.text, "\n")
end

--- The same, with open code blocks closed, so that no later text becomes code. Growing text is closed at its end, see
--- handlers.lua.
---@param block agent.Block
---@return string[]
---@return agent.Headers
function M.lines(block)
  local lines, headers = lines_of(block)
  if block.kind ~= "text" then
    table.insert(lines, fences.missing(lines))
  end
  return lines, headers or {}
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
---@return string
function M.file_line(file)
  local name = file.from and ("%s → %s"):format(file.from, file.shown) or file.shown
  local detail = file.opaque and "binary" or M.counts(file.added, file.removed)
  if file.count then
    detail = ("%d %s %s"):format(file.count, file.count == 1 and "file" or "files", detail)
  end
  return vim.trim(("%s %s  %s"):format(KINDS[file.kind] or "?", name, detail))
end

local UNDONE = { all = "undone", part = "undone in part" }

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
---@return string[]
---@return agent.Headers
function M.file_lines(block, most)
  local files, count, added, removed = block.files, 0, 0, 0
  for _, file in ipairs(files) do
    count, added, removed = count + (file.count or 1), added + file.added, removed + file.removed
  end
  local what = ("%d %s"):format(count, count == 1 and "file" or "files")
  what = UNDONE[block.undone] and ("%s, %s"):format(what, UNDONE[block.undone]) or what
  local lines = { vim.trim(("Changed %s  %s"):format(what, M.counts(added, removed))) }
  local headers = { { indent = 0 } }
  for index, file in ipairs(files) do
    if index > most then
      table.insert(lines, ("  and %d more: :Agent changes"):format(#files - index + 1))
      break
    end
    table.insert(lines, "  " .. M.file_line(file))
    headers[#lines] = { indent = 2 }
  end
  return lines, headers
end

local RUNNING = { pending = true, in_progress = true, waiting = true }

--- Output lines of a running call in a closed block.
local LIVE_LINES, LIVE_CHARACTERS = 5, 200

---@param output string[]
---@param headers? agent.Headers
---@return string[]
---@return agent.Headers
local function last_lines(output, headers)
  local last = #output - (output[#output] == "" and 1 or 0)
  local lines, kept = {}, {}
  for index = math.max(1, last - LIVE_LINES + 1), last do
    local line = output[index]
    table.insert(lines, #line > LIVE_CHARACTERS and vim.fn.strcharpart(line, 0, LIVE_CHARACTERS) .. "…" or line)
    kept[#lines] = headers and headers[index]
  end
  return lines, kept
end

--- Adds lines with their headers, by default under a call.
---@param lines string[]
---@param headers agent.Headers
---@param more string[]
---@param more_headers? agent.Headers
---@param indent? string
local function add(lines, headers, more, more_headers, indent)
  indent = indent or "  "
  for at, line in ipairs(more) do
    table.insert(lines, indent .. line)
    local header = more_headers and more_headers[at]
    headers[#lines] = header and { indent = header.indent + #indent, status = header.status }
  end
end

---@param block agent.Block
---@return string
local function call_line(block)
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
  if detail and detail ~= "" then
    header = header .. "  " .. detail
  end
  return header
end

--- The blocks under a call: a line for each call and thought, and texts; or the last ones, without texts.
---@param block agent.Block
---@param all boolean
---@return string[]
---@return agent.Headers
---@return table<integer, agent.Block> calls of these lines, from 1
local function nested_lines(block, all)
  local lines, headers, calls = {}, {}, {}
  local children = block.children or {}
  for index = all and 1 or math.max(1, #children - LIVE_LINES + 1), #children do
    local child = children[index]
    if child.kind == "tool" then
      add(lines, headers, { call_line(child) }, { { indent = 0, status = child.status } })
      calls[#lines] = child
      local above = #lines
      local below, headers_below, calls_below = nested_lines(child, all)
      add(lines, headers, below, headers_below)
      for at, call in pairs(calls_below) do
        calls[above + at] = call
      end
    elseif child.kind ~= "text" or all then
      add(lines, headers, lines_of(child))
    end
  end
  return lines, headers, calls
end

--- The call of each line under an open call, from the line below it.
---@param block agent.Block
---@return table<integer, agent.Block>
function M.calls_under(block)
  return block.expanded and select(3, nested_lines(block, true)) or {}
end

---@param block agent.Block
---@return string[]
---@return agent.Headers
function M.tool_lines(block)
  local lines, headers = { call_line(block) }, { { indent = 0, status = block.status } }
  local below, headers_below = {}, {}
  if block.expanded then
    below, headers_below = nested_lines(block, true)
  elseif RUNNING[block.status] then
    below, headers_below = last_lines(nested_lines(block, false))
  end
  add(lines, headers, below, headers_below, "")
  if block.draft and block.status == "pending" then
    add(lines, headers, vim.split(block.draft, "\n"))
  end
  if block.output and (block.expanded or (RUNNING[block.status] and not block.is_diff)) then
    local output = block.what == "search" and runs.found(block.output) or vim.split(block.output, "\n")
    add(lines, headers, block.expanded and output or (last_lines(output)))
  end
  return lines, headers
end

--- A run of read-only calls: one line, or each call below it.
---@param block agent.Block
---@return string[]
---@return table<integer, agent.Block> calls and thoughts of these lines, from 1
---@return agent.Headers
function M.run_lines(block)
  local lines, calls = { ("%s %s"):format(M.icons[block.status], runs.header(block)) }, {}
  local headers = { { indent = 0, status = block.status } }
  for _, call in ipairs(block.expanded and block.calls or {}) do
    local first = #lines + 1
    add(lines, headers, lines_of(call))
    for at = first, #lines do
      calls[at] = call
    end
  end
  return lines, calls, headers
end

return M
