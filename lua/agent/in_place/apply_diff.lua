-- Pure: applies a unified diff of the model to the lines of a file.
local M = {}

---@class agent.ShownHunk
---@field near? integer  line in its header
---@field old string[]
---@field new string[]

--- True if a code block is a diff.
---@param info string behind the fence
---@param code string[]
---@return boolean
function M.is_diff(info, code)
  local says = info:match("^%s*(%l+)")
  return says == "diff" or says == "patch" or vim.iter(code):any(function(line)
    return line:find("^@@ %-%d+") ~= nil
  end)
end

--- The files in its headers: their new names, or their old ones.
---@param code string[]
---@return string[]
function M.files(code)
  local names = {}
  for index, line in ipairs(code) do
    local new = line:match("^%+%+%+ ([^\t]+)")
    local old = new and (code[index - 1] or ""):match("^%-%-%- ([^\t]+)")
    if new and old then
      local name = vim.trim(new ~= "/dev/null" and new or old)
      table.insert(names, (name:gsub("^[ab]/", "")))
    end
  end
  return names
end

---@param code string[]
---@return agent.ShownHunk[]
local function hunks_of(code)
  local hunks = {} ---@type agent.ShownHunk[]
  local hunk
  for index, line in ipairs(code) do
    local mark, rest = line:sub(1, 1), line:sub(2)
    local is_header = line:find("^%-%-%- ") and (code[index + 1] or ""):find("^%+%+%+ ")
    local is_names = is_header or line:find("^%+%+%+ ") and (code[index - 1] or ""):find("^%-%-%- ")
    if is_names or line:find("^diff ") or line:find("^index ") then
      hunk = nil
    elseif mark == "@" and line:find("^@@") then
      hunk = { near = tonumber(line:match("^@@ %-(%d+)")), old = {}, new = {} }
      table.insert(hunks, hunk)
    elseif mark ~= "\\" then
      -- Some models omit the header.
      if not hunk then
        hunk = { old = {}, new = {} }
        table.insert(hunks, hunk)
      end
      if mark ~= "+" then
        table.insert(hunk.old, mark == "-" and rest or mark == " " and rest or line)
      end
      if mark ~= "-" then
        table.insert(hunk.new, mark == "+" and rest or mark == " " and rest or line)
      end
    end
  end
  return vim.tbl_filter(function(one)
    return #one.old > 0 or #one.new > 0
  end, hunks)
end

---@param lines string[]
---@param old string[]
---@param near integer
---@param same fun(one: string, other: string): boolean
---@return integer?
local function find(lines, old, near, same)
  local best
  for first = 1, #lines - #old + 1 do
    local is_here = true
    for index, line in ipairs(old) do
      if not same(lines[first + index - 1], line) then
        is_here = false
        break
      end
    end
    if is_here and (not best or math.abs(first - near) < math.abs(best - near)) then
      best = first
    end
  end
  return best
end

---@param one string
---@param other string
local function is_equal(one, other)
  return one == other
end

---@param one string
---@param other string
local function is_like(one, other)
  return vim.trim(one) == vim.trim(other)
end

--- The lines with every hunk applied; nil if the lines of a hunk are missing.
---@param lines string[]
---@param code string[]
---@param cursor integer  where to look first for hunks without a line
---@return string[]?
---@return string? problem half a sentence
function M.patched(lines, code, cursor)
  local result = vim.list_slice(lines)
  local hunks = hunks_of(code)
  local moved = 0
  for number, hunk in ipairs(hunks) do
    local near = (hunk.near or cursor) + moved
    local at
    if #hunk.old == 0 then
      at = math.min(near + (hunk.near and 1 or 0), #result + 1)
    else
      at = find(result, hunk.old, near, is_equal) or find(result, hunk.old, near, is_like)
    end
    if not at then
      return nil, #hunks == 1 and "its lines are not there" or ("the lines of hunk %d are not there"):format(number)
    end
    local after = vim.list_slice(result, at + #hunk.old)
    result = vim.list_extend(vim.list_extend(vim.list_slice(result, 1, at - 1), hunk.new), after)
    moved = moved + #hunk.new - #hunk.old
  end
  return result
end

return M
