-- Pure: fenced code blocks of markdown.
local M = {}

---@class agent.Fence
---@field first integer   line of the opening fence, from 1
---@field last? integer   line of the closing one; nil if it is open
---@field close string    what closes it

--- The fence that a line opens, also behind marks of lists and quotes.
---@param line string
---@return string? indent as wide as the text before the fence
---@return string? marks
---@return string? info
function M.opening(line)
  local before, marks, info = line:match("^([%s>]*)(```+)(.*)$")
  if not before then
    before, marks, info = line:match("^([%s>]*)(~~~+)(.*)$")
  end
  if not before then
    before, marks, info = line:match("^(%s*[-*+]%s+)(```+)(.*)$")
  end
  if not before then
    before, marks, info = line:match("^(%s*%d+[.)]%s+)(```+)(.*)$")
  end
  -- `code` in one line is no block.
  if before and not (marks:sub(1, 1) == "`" and info:find("`", 1, true)) then
    return before:find(">", 1, true) and before or (" "):rep(#before), marks, info
  end
end

--- Whether a line closes a block.
---@param line string
---@param marks string that opened it
---@return boolean
function M.closes(line, marks)
  local closing = line:match("^[%s>]*(" .. marks:sub(1, 1) .. "+)%s*$")
  return closing ~= nil and #closing >= #marks
end

--- The blocks of a text, in order. Only the last one may be open.
---@param lines string[]
---@return agent.Fence[]
function M.find(lines)
  local fences, open, marks = {}, nil, nil
  for at, line in ipairs(lines) do
    if open then
      if M.closes(line, marks) then
        open.last, open = at, nil
      end
    else
      local indent, found = M.opening(line)
      if found then
        open, marks = { first = at, close = indent .. found }, found
        table.insert(fences, open)
      end
    end
  end
  return fences
end

--- The lines that close the open blocks.
---@param lines string[]
---@return string? close
function M.missing(lines)
  local fences = M.find(lines)
  local last = fences[#fences]
  return last and not last.last and last.close or nil
end

--- Lines that are code or fences.
---@param lines string[]
---@return table<integer, true>
function M.code(lines)
  local found = {}
  for _, fence in ipairs(M.find(lines)) do
    for at = fence.first, fence.last or #lines do
      found[at] = true
    end
  end
  return found
end

--- The lines of the block around a line, without its fences. An open block reaches to the end.
---@param lines string[]
---@param at integer from 1
---@return string[]? code
---@return integer? fence line of the opening one
function M.around(lines, at)
  for _, fence in ipairs(M.find(lines)) do
    local last = fence.last or #lines + 1
    if fence.first <= at and at <= last then
      local indent = "^" .. (" ?"):rep(#fence.close:match("^ *"))
      return vim.tbl_map(function(line)
        return (line:gsub(indent, ""))
      end, vim.list_slice(lines, fence.first + 1, last - 1)),
        fence.first
    end
  end
end

return M
