--- Pure: collects changes of a buffer's lines until they are read.
local M = {}

--- Rows from 0, ends exclusive: the old lines `first..last` are now `first..new_last`.
---@class agent.review.Change
---@field first integer
---@field last integer
---@field new_last integer

--- Extends a change by a later one, whose rows refer to the text in between.
---@param change agent.review.Change
---@param first integer
---@param last integer
---@param new_last integer
function M.add(change, first, last, new_last)
  change.first = math.min(change.first, first)
  if last > change.new_last then
    -- Below the earlier change, old rows differ from those in between by the added lines.
    change.last = last - (change.new_last - change.last)
    change.new_last = new_last
  else
    change.new_last = change.new_last + new_last - last
  end
end

--- Replaces lines in place.
---@param list string[]
---@param first integer  from 1
---@param count integer
---@param lines string[]
function M.splice(list, first, count, lines)
  local size, delta = #list, #lines - count
  if delta > 0 then
    for i = size, first + count, -1 do
      list[i + delta] = list[i]
    end
  elseif delta < 0 then
    for i = first + count, size do
      list[i + delta] = list[i]
    end
    for i = size + delta + 1, size do
      list[i] = nil
    end
  end
  for i, line in ipairs(lines) do
    list[first + i - 1] = line
  end
end

return M
