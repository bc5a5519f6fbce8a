-- Pure: the kind of each line of a markdown text. The text may grow at its end.
local fences = require("agent.timeline.fences")

local M = {}

---@class agent.MarkdownLine
---@field kind "text"|"heading"|"rule"|"fence"|"code"|"close"|"row"
---@field level? integer     of a heading, 1 to 6
---@field from? integer      of a heading: its first byte, from 0
---@field quotes? integer[]  columns of ">" signs, from 0
---@field bullet? integer    column of the sign of a list item, from 0
---@field depth? integer     of that item, from 1
---@field task? "open"|"done"
---@field block? agent.CodeBlock  of code and its fences
---@field table? agent.MarkdownTable
---@field index? integer     of a row: its number in the table, from 1

---@class agent.CodeBlock
---@field first integer   line of the opening fence, from 1
---@field marks string
---@field indent integer  columns before the fence
---@field language string  as the model names it; may be empty
---@field is_quote? boolean     the fence is in a quote
---@field colours? agent.CodeColours  once it was drawn

---@class agent.MarkdownTable
---@field first integer   line of the header, from 1
---@field rows string[]   header, rule, and the rest
---@field bytes integer
---@field is_whole boolean  false: more rows may follow, or it is too large to draw
---@field is_seen? boolean   it was drawn
---@field views table<integer, agent.TableView|false>  by columns of the window; false: it cannot be drawn

---@class agent.MarkdownText
---@field lines string[]
---@field items agent.MarkdownLine[]  of the complete lines
---@field block? agent.CodeBlock   not closed yet
---@field table? agent.MarkdownTable  not whole yet

--- Bytes of the longest row and of the largest table that is drawn: its layout takes 20 ms. Signs of nested quotes.
local LONGEST, MOST_BYTES, MOST_QUOTES = 4000, 40000, 20

---@param lines string[]
---@return agent.MarkdownText
function M.new(lines)
  return { lines = lines, items = {} }
end

---@param line? string
---@return boolean
local function is_row(line)
  return line ~= nil and line:find("^%s*|") ~= nil and #line <= LONGEST and not line:find("\t", 1, true)
end

--- The rule below a table's header.
---@param line string
---@return boolean
local function is_table_rule(line)
  return is_row(line) and line:find("-", 1, true) ~= nil and not line:find("[^%s:|-]")
end

--- A break between paragraphs. Below a line of text it makes a heading.
---@param line string
---@param before? string
---@return boolean
local function is_rule(line, before)
  if not line:find("^%s*[-*_]") then
    return false
  end
  local marks = line:gsub("%s", "")
  local is_line = #marks >= 3 and marks == marks:sub(1, 1):rep(#marks)
  return is_line and (not (before or ""):find("%S") or (before or ""):find("^%s*[`~#]") ~= nil)
end

--- Reads the ">" signs from a byte on.
---@param line string
---@param at integer
---@param quotes integer[] their columns
---@return integer next_one
local function read_quotes(line, at, quotes)
  local column = line:match("^%s*()>", at)
  while column and (at == 1 or column - at <= 3) and #quotes < MOST_QUOTES do
    table.insert(quotes, column - 1)
    at = column + 1
    column = line:match("^%s*()>", at)
  end
  return at
end

--- Signs at the beginning of a line: quotes, a list item with its box, and quotes in it.
---@param line string
---@return agent.MarkdownLine
local function text_line(line)
  local item, quotes = { kind = "text" }, {}
  local at = read_quotes(line, 1, quotes)
  local indent, column = line:match("^(%s*)()[-*+]%s", at)
  if indent then
    item.bullet, item.depth = column - 1, math.floor(#indent / 2) + 1
    local box = line:match("^%[([ xX])%]%s", column + 2)
    item.task = box and (box == " " and "open" or "done") or nil
    read_quotes(line, column + 2, quotes)
  end
  item.quotes = #quotes > 0 and quotes or nil
  return item
end

---@param text agent.MarkdownText
---@param at integer
---@return agent.MarkdownLine
local function in_table(text, at)
  local found, line = text.table, text.lines[at]
  table.insert(found.rows, line)
  found.bytes = found.bytes + #line
  return { kind = "row", table = found, index = #found.rows }
end

---@param text agent.MarkdownText
---@param at integer  a rule below its header
---@return agent.MarkdownLine
local function new_table(text, at)
  text.table = { first = at - 1, rows = {}, bytes = 0, is_whole = false, views = {} }
  text.items[at - 1] = in_table(text, at - 1)
  return in_table(text, at)
end

--- A table that is too large stays source.
---@param text agent.MarkdownText
local function end_table(text)
  if text.table then
    text.table.is_whole, text.table = text.table.bytes <= MOST_BYTES, nil
  end
end

--- The kind of a line after the known ones.
---@param text agent.MarkdownText
---@param at integer
---@return agent.MarkdownLine
local function line_at(text, at)
  local line, before = text.lines[at], text.lines[at - 1]
  local block = text.block
  if block then
    local closes = fences.closes(line, block.marks)
    text.block = not closes and block or nil
    return { kind = closes and "close" or "code", block = block }
  end
  if text.table and is_row(line) then
    return in_table(text, at)
  end
  end_table(text)
  local indent, marks, info = fences.opening(line)
  if marks then
    local language = info:match("^%s*{?%.?([^%s{},:]*)")
    text.block = { first = at, marks = marks, indent = #indent, language = language }
    return { kind = "fence", block = text.block }
  end
  if is_table_rule(line) and is_row(before) and text.items[at - 1].kind == "text" then
    return new_table(text, at)
  end
  if is_rule(line, before) then
    return { kind = "rule" }
  end
  local signs, from = line:match("^ ? ? ?(#+)%s+()%S")
  if signs and #signs <= 6 then
    return { kind = "heading", level = #signs, from = from - 1 }
  end
  return text_line(line)
end

--- Reads the lines that were added.
---@param text agent.MarkdownText
---@param is_open boolean  more may follow: the last line may be incomplete
function M.read(text, is_open)
  for at = #text.items + 1, #text.lines - (is_open and 1 or 0) do
    text.items[at] = line_at(text, at)
  end
  if not is_open then
    end_table(text)
  end
end

--- The kind of a line; of an incomplete one, as far as its beginning tells.
---@param text agent.MarkdownText
---@param at integer from 1
---@return agent.MarkdownLine
function M.at(text, at)
  local item = text.items[at]
  if item then
    return item
  elseif text.block then
    return { kind = "code", block = text.block }
  end
  local line = text.lines[at] or ""
  local is_fence = fences.opening(line) ~= nil
  return is_fence and { kind = "text" } or text_line(line)
end

return M
