--- Pure: finds a symbol in a text by its name. Models name things better than they count columns.
local M = {}

---@class agent.lsp.Position
---@field row integer  from 0
---@field col integer  in bytes, from 0

--- True if an identifier continues over this character. CJK characters form words of their own classes.
---@param char string
---@return boolean
local function is_word(char)
  if char == "" then
    return false
  end
  local class = vim.fn.charclass(char)
  return class == 2 or class > 3
end

---@param line string
---@param col integer byte, from 0
---@return string character that begins there
local function char_at(line, col)
  if col >= #line then
    return ""
  end
  return line:sub(col + 1, col + 1 + vim.str_utf_end(line, col + 1))
end

---@param line string
---@param col integer byte, from 0
---@return string character that ends before it
local function char_before(line, col)
  if col <= 0 then
    return ""
  end
  return line:sub(col + vim.str_utf_start(line, col), col)
end

---@param line string
---@param first integer byte, from 0
---@param last integer byte after the end
---@return boolean
local function is_whole(line, first, last)
  local begins = not is_word(char_at(line, first)) or not is_word(char_before(line, first))
  local ends = not is_word(char_before(line, last)) or not is_word(char_at(line, last))
  return begins and ends
end

--- Byte positions of the text in the line, whole words only.
---@param line string
---@param regex vim.regex
---@return integer[] columns from 0
local function occurrences(line, regex)
  local found, from = {}, 0 ---@type integer[], integer
  while from <= #line do
    local first, last = regex:match_str(line:sub(from + 1))
    if not first or last == first then
      break
    end
    if is_whole(line, from + first, from + last) then
      found[#found + 1] = from + first
    end
    from = from + first + #char_at(line, from + first)
  end
  return found
end

---@param lines string[]
---@param text string
---@param ignore_case boolean
---@return agent.lsp.Position[]
local function search(lines, text, ignore_case)
  local regex = vim.regex((ignore_case and "\\c" or "\\C") .. "\\V" .. vim.fn.escape(text, "\\"))
  local found = {} ---@type agent.lsp.Position[]
  for index, line in ipairs(lines) do
    for _, col in ipairs(occurrences(line, regex)) do
      found[#found + 1] = { row = index - 1, col = col }
    end
  end
  return found
end

--- Nearest line first, then the order of the text.
---@param positions agent.lsp.Position[]
---@param row? integer
---@return agent.lsp.Position[]
local function nearest_first(positions, row)
  if row then
    table.sort(positions, function(a, b)
      local x, y = math.abs(a.row - row), math.abs(b.row - row)
      if x ~= y then
        return x < y
      end
      return a.row < b.row or (a.row == b.row and a.col < b.col)
    end)
  end
  return positions
end

--- The last name of "Circle.area", "std::vec", "obj->field", "Mod#fn", and where it begins.
---@param symbol string
---@return string owner
---@return string name
---@return integer offset bytes before the name
local function split(symbol)
  local owner, mark, name = symbol:match("^(.*[^%.:#%->])([%.:#%->]+)([%w_$\128-\255]+)$")
  if not owner then
    return "", symbol, 0
  end
  return owner, name, #owner + #mark
end

---@param lines string[]
---@param owner string
---@param name string
---@param row? integer
---@return agent.lsp.Position[]
local function below_owner(lines, owner, name, row)
  local _, last_owner = split(owner)
  local container = search(lines, last_owner, false)[1]
  local found = search(lines, name, false)
  if row or not container then
    return nearest_first(found, row)
  end
  return vim.tbl_filter(function(position)
    return position.row >= container.row
  end, found)
end

--- True if the position is in a comment, judged by its line alone.
---@param line string
---@param col integer
---@param leaders string[]
---@return boolean
local function in_comment(line, col, leaders)
  local before = line:sub(1, col)
  if before:find("^%s*%*") or before:find("/*", 1, true) and not before:find("*/", 1, true) then
    return true
  end
  for _, leader in ipairs(leaders) do
    if before:find(leader, 1, true) then
      return true
    end
  end
  return false
end

--- Sorts positions in comments behind all others.
---@param lines string[]
---@param positions agent.lsp.Position[]
---@param leaders string[]
---@return agent.lsp.Position[]
local function comments_last(lines, positions, leaders)
  local code, comments = {}, {} ---@type agent.lsp.Position[], agent.lsp.Position[]
  for _, position in ipairs(positions) do
    local list = in_comment(lines[position.row + 1], position.col, leaders) and comments or code
    list[#list + 1] = position
  end
  return vim.list_extend(code, comments)
end

---@param lines string[]
---@param symbol string
---@param row? integer
---@return agent.lsp.Position[]
local function places(lines, symbol, row)
  symbol = vim.trim(symbol):gsub("%(%)$", "")
  if symbol == "" or symbol:find("\n") then
    return {}
  end
  local owner, name, offset = split(symbol)
  for _, ignore_case in ipairs({ false, true }) do
    local whole = nearest_first(search(lines, symbol, ignore_case), row)
    if #whole > 0 then
      for _, position in ipairs(whole) do
        position.col = position.col + offset
      end
      return whole
    end
    if owner ~= "" and not ignore_case then
      local found = below_owner(lines, owner, name, row)
      if #found > 0 then
        return found
      end
    end
  end
  return {}
end

--- Positions of the symbol, the best first. Ignores case only if there is no other match.
---@param lines string[]
---@param symbol string
---@param row? integer from 0; nearest to it first
---@param leaders? string[] beginnings of comments, such as "//"
---@return agent.lsp.Position[]
function M.find(lines, symbol, row, leaders)
  return comments_last(lines, places(lines, symbol, row), leaders or {})
end

--- The word around this byte of the line.
---@param line string
---@param col integer
---@return string
function M.word_at(line, col)
  local last = col
  while is_word(char_at(line, last)) and is_word(char_before(line, col)) do
    col = col - #char_before(line, col)
  end
  while last < #line and is_word(char_at(line, last)) do
    last = last + #char_at(line, last)
  end
  return line:sub(col + 1, last)
end

--- The beginnings of the words of a line.
---@param line string
---@return integer[] columns in bytes, from 0
function M.words(line)
  local found, col = {}, 0 ---@type integer[], integer
  local before = false
  while col < #line do
    local char = char_at(line, col)
    local word = is_word(char) and not (not before and char:find("^%d"))
    if word and not before then
      found[#found + 1] = col
    end
    before = is_word(char)
    col = col + #char
  end
  return found
end

return M
