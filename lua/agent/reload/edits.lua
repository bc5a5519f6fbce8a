--- Computes the smallest edits of a buffer from changed lines, and moves positions accordingly. Pure.
local merge = require("agent.reload.merge")

local M = {}

--- One edit, in positions of the text before all edits. Either `lines` replace `count` whole lines from `row`
--- on, or, if `scol` is set, `text` replaces the bytes `scol..ecol` of line `row`.
---@class agent.reload.Edit
---@field row integer    counted from 0
---@field count integer
---@field lines string[]
---@field scol? integer
---@field ecol? integer
---@field text? string

-- Similar lines are matched in hunks of at most this many lines; matching is cubic or worse.
local LINEMATCH = 60
-- Beyond this, single edits cost more than they preserve, because listeners run on each.
local MAX_EDITS = 2000

---@param line string
---@param col integer  counted from 0
---@return boolean  a character begins here
local function is_boundary(line, col)
  local byte = line:byte(col + 1)
  return not byte or byte < 0x80 or byte > 0xBF
end

---@param row integer
---@param old string
---@param new string
---@return agent.reload.Edit
local function inline_edit(row, old, new)
  local shorter = math.min(#old, #new)
  local head = 0
  while head < shorter and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  -- A position within a character would make listeners decode invalid bytes.
  while head > 0 and not (is_boundary(old, head) and is_boundary(new, head)) do
    head = head - 1
  end
  local tail = 0
  while tail < shorter - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  while tail > 0 and not (is_boundary(old, #old - tail) and is_boundary(new, #new - tail)) do
    tail = tail - 1
  end
  return {
    row = row,
    count = 1,
    lines = { new },
    scol = head,
    ecol = #old - tail,
    text = new:sub(head + 1, #new - tail),
  }
end

--- Splits a hunk so that similar lines correspond, and marks stay with their lines.
---@param hunk agent.merge.Hunk
---@param old string[]
---@param new string[]
---@return agent.merge.Hunk[]
local function match_lines(hunk, old, new)
  local lines = hunk.count + hunk.new_count
  if hunk.count == 0 or hunk.new_count == 0 or lines == 2 or lines > LINEMATCH then
    return { hunk }
  end
  local a = vim.list_slice(old, hunk.start, hunk.start + hunk.count - 1)
  local b = vim.list_slice(new, hunk.new_start, hunk.new_start + hunk.new_count - 1)
  local parts = merge.hunks(a, b, LINEMATCH)
  for _, part in ipairs(parts) do
    part.start = part.start + hunk.start - 1
    part.new_start = part.new_start + hunk.new_start - 1
  end
  return parts
end

---@param edits agent.reload.Edit[]
---@param hunk agent.merge.Hunk
---@param old string[]
---@param new string[]
local function add_hunk(edits, hunk, old, new)
  local pairs_count = math.min(hunk.count, hunk.new_count)
  for i = 0, pairs_count - 1 do
    local before, after = old[hunk.start + i], new[hunk.new_start + i]
    if before ~= after then
      edits[#edits + 1] = inline_edit(hunk.start + i - 1, before, after)
    end
  end
  if hunk.count ~= hunk.new_count then
    edits[#edits + 1] = {
      row = hunk.start + pairs_count - 1,
      count = hunk.count - pairs_count,
      lines = vim.list_slice(new, hunk.new_start + pairs_count, hunk.new_start + hunk.new_count - 1),
    }
  end
end

--- All hunks as one, for a text with too many changes.
---@param hunks agent.merge.Hunk[]
---@return agent.merge.Hunk
local function join_hunks(hunks)
  local first, last = hunks[1], hunks[#hunks]
  return {
    start = first.start,
    count = last.start + last.count - first.start,
    new_start = first.new_start,
    new_count = last.new_start + last.new_count - first.new_start,
  }
end

---@param hunk agent.merge.Hunk
---@param new string[]
---@return agent.reload.Edit
local function block_edit(hunk, new)
  return {
    row = hunk.start - 1,
    count = hunk.count,
    lines = vim.list_slice(new, hunk.new_start, hunk.new_start + hunk.new_count - 1),
  }
end

--- The edits that turn one text into the other, in order. Empty for equal texts.
---@param old string[]
---@param new string[]
---@return agent.reload.Edit[]
function M.between(old, new)
  if #old == 0 or #new == 0 then
    if #old == #new then
      return {}
    end
    -- An empty buffer has one empty line, which the new text replaces.
    return { { row = 0, count = math.max(#old, 1), lines = new } }
  end
  local hunks = merge.hunks(old, new)
  if #hunks > MAX_EDITS then
    return { block_edit(join_hunks(hunks), new) }
  end
  local edits = {} ---@type agent.reload.Edit[]
  for _, hunk in ipairs(hunks) do
    for _, part in ipairs(match_lines(hunk, old, new)) do
      add_hunk(edits, part, old, new)
    end
  end
  if #edits > MAX_EDITS then
    edits = {}
    for _, hunk in ipairs(hunks) do
      edits[#edits + 1] = block_edit(hunk, new)
    end
  end
  return edits
end

---@param edit agent.reload.Edit
---@param col integer
---@param sticks boolean
---@return integer
local function map_col(edit, col, sticks)
  if col < edit.scol or (col == edit.scol and sticks) then
    return col
  elseif col >= edit.ecol then
    return col + #edit.text - (edit.ecol - edit.scol)
  end
  return math.min(col, edit.scol + math.max(#edit.text - 1, 0))
end

--- The new place of a position. A position in deleted lines moves to their replacement.
---@param edits agent.reload.Edit[]
---@param row integer     counted from 0
---@param col integer     counted from 0
---@param sticks boolean  text inserted right at the position comes behind it (a cursor in Insert mode)
---@return integer row
---@return integer col
function M.map(edits, row, col, sticks)
  local shift = 0
  for _, edit in ipairs(edits) do
    if edit.row > row then
      break
    elseif edit.scol then
      if edit.row == row then
        return row + shift, map_col(edit, col, sticks)
      end
    elseif row < edit.row + edit.count then
      return edit.row + shift + math.min(row - edit.row, math.max(#edit.lines - 1, 0)), col
    else
      shift = shift + #edit.lines - edit.count
    end
  end
  return row + shift, col
end

return M
