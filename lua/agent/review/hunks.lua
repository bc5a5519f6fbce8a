--- Pure: the hunks of a text, its differences to the kept text.
local merge = require("agent.reload.merge")

local M = {}

--- Lines of the text that replace others. Hunks are sorted and never overlap.
---@class agent.review.Hunk
---@field row integer        first line in the text, from 1; without lines, the line below it
---@field count integer      lines in the text
---@field removed string[]   the replaced lines
---@field mark? integer      its extmark, see marks.lua
---@field stale? boolean     it has to be drawn again

--- Lines `start` to `start + count - 1` became `new_count` others.
---@class agent.review.Edit
---@field start integer
---@field count integer
---@field new_count integer

---@param into string[]
---@param from string[]
---@param first integer
---@param last integer
local function append(into, from, first, last)
  for i = first, last do
    into[#into + 1] = from[i]
  end
end

---@param baseline string[]
---@param text string[]
---@return agent.review.Hunk[]
function M.between(baseline, text)
  return vim.tbl_map(function(hunk)
    return {
      row = hunk.new_start,
      count = hunk.new_count,
      removed = vim.list_slice(baseline, hunk.start, hunk.start + hunk.count - 1),
      stale = true,
    }
  end, merge.hunks(baseline, text))
end

--- The text with these hunks undone. With all of them it is the kept and typed text.
---@param text string[]
---@param hunks agent.review.Hunk[]
---@return string[]
function M.take_back(text, hunks)
  local result, next_row = {}, 1
  for _, hunk in ipairs(hunks) do
    append(result, text, next_row, hunk.row - 1)
    append(result, hunk.removed, 1, #hunk.removed)
    next_row = hunk.row + hunk.count
  end
  append(result, text, next_row, #text)
  return result
end

--- The remaining hunks after others are undone.
---@param hunks agent.review.Hunk[]
---@param taken table<agent.review.Hunk, true>
---@return agent.review.Hunk[]
function M.without(hunks, taken)
  local rest, shift = {}, 0
  for _, hunk in ipairs(hunks) do
    if taken[hunk] then
      shift = shift + #hunk.removed - hunk.count
    else
      hunk.row = hunk.row + shift
      rest[#rest + 1] = hunk
    end
  end
  return rest
end

--- Lines added and removed.
---@param hunks agent.review.Hunk[]
---@return integer added
---@return integer removed
function M.counts(hunks)
  local added, removed = 0, 0
  for _, hunk in ipairs(hunks) do
    added, removed = added + hunk.count, removed + #hunk.removed
  end
  return added, removed
end

---@param hunk agent.review.Hunk
---@param edit agent.review.Edit
---@return "before"|"after"|"inside"|"across"  position of the hunk, seen from the edit
local function side(hunk, edit)
  local first, last = hunk.row, hunk.row + hunk.count
  local edit_last = edit.start + edit.count
  if edit_last <= first then
    return "after"
  elseif last <= edit.start then
    return "before"
  end
  return edit.start >= first and edit_last <= last and "inside" or "across"
end

--- Joins hunks and the lines around them that one edit has rewritten, because the new lines cannot be matched
--- to the old ones. If the edit only deleted lines, the hunks lose theirs.
---@param across agent.review.Hunk[]
---@param edit agent.review.Edit
---@param old table<integer, string>
---@return agent.review.Hunk
local function join(across, edit, old)
  local first, last = across[1], across[#across]
  local edit_last = edit.start + edit.count
  local row, ending = math.min(first.row, edit.start), math.max(last.row + last.count, edit_last)
  local removed, next_row = {}, row
  for _, hunk in ipairs(across) do
    if edit.new_count > 0 then
      append(removed, old, next_row, hunk.row - 1)
    end
    append(removed, hunk.removed, 1, #hunk.removed)
    next_row = hunk.row + hunk.count
  end
  if edit.new_count > 0 then
    append(removed, old, next_row, ending - 1)
  end
  local count = ending - row - edit.count + edit.new_count
  return { row = row, count = count, removed = removed, mark = first.mark, stale = true }
end

--- Applies one edit of the user. Lines outside of hunks are kept, lines inside belong to the hunk.
---@param hunks agent.review.Hunk[]
---@param edit agent.review.Edit
---@param old table<integer, string>
---@return agent.review.Hunk[]
local function follow_one(hunks, edit, old)
  local result, across = {}, {} ---@type agent.review.Hunk[], agent.review.Hunk[]
  local delta = edit.new_count - edit.count
  local function close()
    if #across > 0 then
      result[#result + 1] = join(across, edit, old)
      across = {}
    end
  end
  for _, hunk in ipairs(hunks) do
    local where = side(hunk, edit)
    if where == "across" then
      across[#across + 1] = hunk
    else
      if where == "inside" then
        hunk.count = hunk.count + delta
        hunk.stale = true
      elseif where == "after" then
        close()
        hunk.row = hunk.row + delta
      end
      result[#result + 1] = hunk
    end
  end
  close()
  return result
end

---@param text string[]
---@param row integer
---@param lines string[]
---@return boolean
local function has_lines(text, row, lines)
  for i, line in ipairs(lines) do
    if text[row + i - 1] ~= line then
      return false
    end
  end
  return true
end

--- True if the edit has restored the old lines. Lines of a pure deletion may come back next to its place.
---@param hunk agent.review.Hunk
---@param text string[]
---@return boolean
local function is_settled(hunk, text)
  return hunk.count == #hunk.removed and has_lines(text, hunk.row, hunk.removed)
end

--- True if the removed lines of this hunk are back. Undo may report an insertion at any of several equal lines, so the
--- resulting text decides.
---@param hunk agent.review.Hunk
---@param edit agent.merge.Hunk
---@param text string[]
---@param is_undo boolean
---@return boolean
local function is_back(hunk, edit, text, is_undo)
  local size, start = #hunk.removed, edit.new_start
  if hunk.count > 0 or edit.count > 0 or edit.new_count ~= size then
    return false
  end
  local row = hunk.row - (hunk.row >= start + size and size or 0)
  local slides = is_undo and math.abs(row - start) <= size
  if row ~= start and not slides or not has_lines(text, row, hunk.removed) then
    return false
  end
  -- Both insertions give the same text if the lines between repeat.
  for i = math.min(row, start), math.max(row, start) - 1 do
    if text[i] ~= text[i + size] then
      return false
    end
  end
  return true
end

--- The hunks after edits of the user.
---@param hunks agent.review.Hunk[]
---@param edits agent.merge.Hunk[]  from the old text to the new one
---@param old table<integer, string>  the replaced lines of the old text
---@param new string[]
---@param is_undo? boolean  the edits are an undo or redo
---@return agent.review.Hunk[]
function M.follow(hunks, edits, old, new, is_undo)
  for i = #edits, 1, -1 do
    local edit = edits[i]
    hunks = follow_one(hunks, { start = edit.start, count = edit.count, new_count = edit.new_count }, old)
  end
  local result = {} ---@type agent.review.Hunk[]
  for _, hunk in ipairs(hunks) do
    local back = hunk.stale and is_settled(hunk, new)
    for _, edit in ipairs(hunk.count == 0 and edits or {}) do
      back = back or is_back(hunk, edit, new, is_undo == true)
    end
    if not back then
      result[#result + 1] = hunk
    end
  end
  return result
end

--- The hunk at a line: around it, or with its removed lines drawn next to it.
---@param hunks agent.review.Hunk[]
---@param row integer
---@param last integer  lines of the text
---@return agent.review.Hunk?
---@return integer? index
function M.at(hunks, row, last)
  for index, hunk in ipairs(hunks) do
    local first = math.min(hunk.row, math.max(last, 1))
    if row >= first and row < first + math.max(hunk.count, 1) then
      return hunk, index
    elseif hunk.row > row then
      return nil
    end
  end
end

--- The nearest hunk in a direction; after the last comes the first.
---@param hunks agent.review.Hunk[]
---@param row integer
---@param step 1|-1
---@return agent.review.Hunk?
---@return integer? index
function M.beside(hunks, row, step)
  local first, last = step == 1 and 1 or #hunks, step == 1 and #hunks or 1
  for index = first, last, step do
    if (hunks[index].row - row) * step > 0 then
      return hunks[index], index
    end
  end
  return hunks[first], hunks[first] and first
end

return M
