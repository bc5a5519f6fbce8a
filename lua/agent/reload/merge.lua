--- Line diff and three-way merge. Pure: takes and returns arrays of lines.
---
--- Lines have no line ending, so a file without a final newline needs no special case: that is a property of
--- the file, not of its lines. An empty file is `{}`.
---
--- The merge follows git's `xdl_do_merge` (xdiff/xmerge.c): changes of the two sides that overlap **or only
--- touch** conflict, because their order or meaning is unknown.
local M = {}

--- One change. Lines are counted from 1. A pure insertion has `count = 0` and precedes line `start`; a pure
--- deletion has `new_count = 0`.
---@class agent.merge.Hunk
---@field start integer      first line in the old text
---@field count integer      lines of the old text
---@field new_start integer  first line in the new text
---@field new_count integer  lines of the new text

---@class agent.merge.Conflict
---@field base_start integer    first line of the place in the base
---@field base_count integer    lines of the place in the base
---@field ours_lines string[]   what "ours" has there, without the lines both sides share
---@field theirs_lines string[] what "theirs" has there, without the lines both sides share
---@field ours_start integer    line of `ours` where `ours_lines` begins
---@field start integer         line of the merged `lines` where `ours_lines` begins

---@class agent.merge.Result
---@field lines string[]
---@field conflicts agent.merge.Conflict[]

-- Beyond these limits the diff of very different texts is noticeably slow; one hunk from the common beginning
-- to the common end is then good enough.
local MAX_BYTES = 5 * 1024 * 1024
local MAX_LINES = 100000

--- Adds an ending to every line, so that the last one is compared like the others.
---@param lines string[]
---@param first integer
---@param last integer
---@return string
local function text_of(lines, first, last)
  if last < first then
    return ""
  end
  return table.concat(lines, "\n", first, last) .. "\n"
end

---@param a string
---@param b string
---@param linematch integer|false
---@return integer[][]
local function diff_indices(a, b, linematch)
  return vim.text.diff(a, b, {
    result_type = "indices",
    linematch = linematch or nil,
  }) --[[@as integer[][] ]]
end

--- Number of equal lines at the beginning and at the end.
---@param old string[]
---@param new string[]
---@return integer head
---@return integer tail
local function common_ends(old, new)
  local shorter = math.min(#old, #new)
  local head = 0
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  return head, tail
end

--- The changes between two texts, in order.
---@param old string[]
---@param new string[]
---@param linematch? integer  hunks up to so many lines are split by matching similar lines
---@return agent.merge.Hunk[]
function M.hunks(old, new, linematch)
  local head, tail = common_ends(old, new)
  local old_last, new_last = #old - tail, #new - tail
  local count, new_count = old_last - head, new_last - head
  if count == 0 and new_count == 0 then
    return {}
  end
  local whole = { start = head + 1, count = count, new_start = head + 1, new_count = new_count }
  if count == 0 or new_count == 0 or count + new_count > MAX_LINES then
    return { whole }
  end
  local a, b = text_of(old, head + 1, old_last), text_of(new, head + 1, new_last)
  if #a + #b > MAX_BYTES then
    return { whole }
  end
  local hunks = {} ---@type agent.merge.Hunk[]
  for _, h in ipairs(diff_indices(a, b, linematch or false)) do
    hunks[#hunks + 1] = {
      -- The diff has the line *after which* lines were inserted; this has the line before which.
      start = head + h[1] + (h[2] == 0 and 1 or 0),
      count = h[2],
      new_start = head + h[3] + (h[4] == 0 and 1 or 0),
      new_count = h[4],
    }
  end
  return hunks
end

---@param into string[]
---@param from string[]
---@param first integer
---@param last integer
local function append(into, from, first, last)
  for i = first, last do
    into[#into + 1] = from[i]
  end
end

--- Adjacent hunks of one side or both that overlap or touch.
---@class agent.merge.Group
---@field first integer  first base line
---@field last integer   one past the last base line
---@field ours? { first: agent.merge.Hunk, last: agent.merge.Hunk }
---@field theirs? { first: agent.merge.Hunk, last: agent.merge.Hunk }

---@param ours agent.merge.Hunk[]
---@param theirs agent.merge.Hunk[]
---@return agent.merge.Group[]
local function group_hunks(ours, theirs)
  local groups = {} ---@type agent.merge.Group[]
  local group ---@type agent.merge.Group?
  local i, j = 1, 1
  while ours[i] or theirs[j] do
    local mine = ours[i] and (not theirs[j] or ours[i].start <= theirs[j].start)
    local hunk, side = mine and ours[i] or theirs[j], mine and "ours" or "theirs"
    if not group or hunk.start > group.last then
      group = { first = hunk.start, last = hunk.start }
      groups[#groups + 1] = group
    end
    group.last = math.max(group.last, hunk.start + hunk.count)
    group[side] = { first = group[side] and group[side].first or hunk, last = hunk }
    if mine then
      i = i + 1
    else
      j = j + 1
    end
  end
  return groups
end

--- The lines of one side that correspond to the base lines of a group: `first..last` of that side's text.
---@param group agent.merge.Group
---@param side { first: agent.merge.Hunk, last: agent.merge.Hunk }
---@return integer first
---@return integer last
local function side_range(group, side)
  local a, b = side.first, side.last
  local first = a.new_start - (a.start - group.first)
  local last = b.new_start + b.new_count + (group.last - (b.start + b.count)) - 1
  return first, last
end

---@param group agent.merge.Group
---@param ours string[]
---@param theirs string[]
---@param merged string[]
---@return agent.merge.Conflict?  nothing if both sides made the same of it
local function merge_group(group, ours, theirs, merged)
  local ours_first, ours_last = side_range(group, group.ours)
  local theirs_first, theirs_last = side_range(group, group.theirs)
  local mine = vim.list_slice(ours, ours_first, ours_last)
  local other = vim.list_slice(theirs, theirs_first, theirs_last)
  local head, tail = common_ends(mine, other)
  local start = #merged + 1
  append(merged, mine, 1, #mine)
  if head == #mine and head == #other then
    return nil
  end
  return {
    base_start = group.first,
    base_count = group.last - group.first,
    ours_lines = vim.list_slice(mine, head + 1, #mine - tail),
    theirs_lines = vim.list_slice(other, head + 1, #other - tail),
    ours_start = ours_first + head,
    start = start + head,
  }
end

--- Three-way merge. If both sides changed overlapping or touching lines differently, "ours" wins and the
--- place is listed in `conflicts`. An equal change on both sides is applied once.
---@param base string[]
---@param ours string[]
---@param theirs string[]
---@return agent.merge.Result
function M.merge3(base, ours, theirs)
  local merged, conflicts = {}, {} ---@type string[], agent.merge.Conflict[]
  local next_base = 1
  for _, group in ipairs(group_hunks(M.hunks(base, ours), M.hunks(base, theirs))) do
    append(merged, base, next_base, group.first - 1)
    if group.ours and group.theirs then
      conflicts[#conflicts + 1] = merge_group(group, ours, theirs, merged)
    elseif group.ours then
      append(merged, ours, side_range(group, group.ours))
    else
      append(merged, theirs, side_range(group, group.theirs))
    end
    next_base = group.last
  end
  append(merged, base, next_base, #base)
  return { lines = merged, conflicts = conflicts }
end

return M
