-- Pure: draws a markdown table within a width: with columns, whose cells wrap, or as a list of records.
local inline = require("agent.markdown.inline")
local wrap = require("agent.markdown.wrap")

local M = {}

---@class agent.TableView
---@field rows agent.Piece[][][]  of each row of the source: its lines
---@field starts integer[][]   of each row: where its screen lines begin in the source
---@field wraps? boolean         a row of the source continues in the window
---@field is_tall? boolean      a row has more lines than its source
---@field is_placed? boolean   their rest is placed below them

--- Columns of the narrowest column whose cells wrap, and of the narrowest window with a table.
local NARROWEST, LEAST = 9, 12

local LINE = { "AgentTable" }

--- The cells of a row. A bar behind a backslash, or in code, belongs to its cell.
---@param line string
---@return string[]
function M.cells(line)
  local inner = vim.trim(line):gsub("^|", "")
  local found, from, at = {}, 1, 1
  while true do
    at = inner:find("[|\\`]", at)
    if not at then
      break
    end
    local sign = inner:sub(at, at)
    if sign == "\\" then
      at = at + 2
    elseif sign == "`" then
      local marks = inner:match("^`+", at)
      local _, stop = inner:find(marks, at + #marks, true)
      at = (stop or at + #marks - 1) + 1
    else
      table.insert(found, vim.trim(inner:sub(from, at - 1)))
      from, at = at + 1, at + 1
    end
  end
  local last = vim.trim(inner:sub(from))
  table.insert(found, last ~= "" and last or nil)
  -- The backslash is the table's, also in code.
  return vim.tbl_map(function(cell)
    return (cell:gsub("\\|", "|"))
  end, found)
end

---@param rule string[] cells below the header
---@return ("left"|"right"|"centre")[]
local function sides(rule)
  return vim.tbl_map(function(cell)
    local right = vim.endswith(cell, ":")
    return right and (vim.startswith(cell, ":") and #cell > 1 and "centre" or "right") or "left"
  end, rule)
end

---@param pieces agent.Piece[]
---@return integer
local function width_of(pieces)
  local widest, width = 0, 0
  for _, piece in ipairs(pieces) do
    width = piece[1] == "\n" and 0 or width + vim.api.nvim_strwidth(piece[1])
    widest = math.max(widest, width)
  end
  return widest
end

--- Widths that fit: the widest columns give way.
---@param natural integer[]
---@param room integer
---@return integer[]? widths
local function fitted(natural, room)
  local sum = 0
  for _, width in ipairs(natural) do
    sum = sum + width
  end
  if sum <= room then
    return natural
  end
  local sorted = vim.list_slice(natural)
  table.sort(sorted)
  local left, count, most = room, #sorted, 0
  for at, width in ipairs(sorted) do
    most = math.floor(left / (count - at + 1))
    if width > most then
      break
    end
    left = left - width
  end
  if most < NARROWEST then
    return
  end
  local spare = room
  local widths = vim.tbl_map(function(width)
    spare = spare - math.min(width, most)
    return math.min(width, most)
  end, natural)
  for at, width in ipairs(widths) do
    local more = math.min(spare, natural[at] - width)
    widths[at], spare = width + more, spare - more
  end
  return widths
end

--- A cell's line, as wide as its column.
---@param line? agent.WrappedLine
---@param width integer
---@param side "left"|"right"|"centre"
---@return agent.Piece[]
local function padded(line, width, side)
  local room = width - (line and line.width or 0)
  local before = side == "right" and room or side == "centre" and math.floor(room / 2) or 0
  local pieces = { { (" "):rep(before), {} } }
  vim.list_extend(pieces, line and line.pieces or {})
  return vim.list_extend(pieces, { { (" "):rep(room - before), {} } })
end

---@param cells agent.Piece[][]
---@param widths integer[]
---@param aligns ("left"|"right"|"centre")[]
---@return agent.Piece[][] lines
local function columns(cells, widths, aligns)
  local wrapped, height = {}, 1
  for column, width in ipairs(widths) do
    wrapped[column] = wrap.lines(cells[column] or {}, width)
    height = math.max(height, #wrapped[column])
  end
  local lines = {}
  for at = 1, height do
    local line = { { "│ ", LINE } }
    for column, width in ipairs(widths) do
      vim.list_extend(line, padded(wrapped[column][at], width, aligns[column] or "left"))
      table.insert(line, { column < #widths and " │ " or " │", LINE })
    end
    lines[at] = line
  end
  return lines
end

---@param widths integer[]
---@return agent.Piece[]
local function rule(widths)
  local parts = vim.tbl_map(function(width)
    return ("─"):rep(width + 2)
  end, widths)
  return { { "├" .. table.concat(parts, "┼") .. "┤", LINE } }
end

--- A record: a line for each cell, after the name of its column.
---@param names agent.Piece[][]
---@param cells agent.Piece[][]
---@param width integer
---@return agent.Piece[][] lines
local function record(names, cells, width)
  local label = 0
  for _, name in ipairs(names) do
    label = math.max(label, width_of(name))
  end
  label = math.min(label, math.floor(width * 0.4))
  local lines = {}
  for column = 1, math.max(#names, #cells) do
    local left = wrap.lines(names[column] or {}, label)
    local right = wrap.lines(cells[column] or {}, width - label - 2)
    for at = 1, math.max(#left, #right) do
      local line = padded(left[at], label, "left")
      table.insert(line, { "  ", {} })
      table.insert(lines, vim.list_extend(line, right[at] and right[at].pieces or {}))
    end
  end
  return lines
end

---@param rows agent.Piece[][][]
---@param widths integer[]
---@param aligns ("left"|"right"|"centre")[]
---@param is_narrow boolean  cells wrap, and a line separates the rows
---@return agent.TableView
local function with_columns(rows, widths, aligns, is_narrow)
  local drawn, line = {}, rule(widths)
  for at, cells in ipairs(rows) do
    drawn[at] = at == 2 and { line } or columns(cells, widths, aligns)
    if is_narrow and at > 2 and at < #rows then
      table.insert(drawn[at], line)
    end
  end
  return { rows = drawn, starts = {} }
end

---@param view agent.TableView
---@return integer lines
local function height(view)
  local lines = 0
  for _, row in ipairs(view.rows) do
    lines = lines + #row
  end
  return lines
end

---@param rows agent.Piece[][][]
---@param width integer
---@return agent.TableView
local function records(rows, width)
  local line = { { ("─"):rep(width), LINE } }
  local drawn = { { {} }, { line } }
  for at = 3, #rows do
    drawn[at] = vim.list_extend(record(rows[1], rows[at], width), { line })
  end
  return { rows = drawn, starts = {} }
end

--- Lines of each row; nil if the window is too narrow.
---@param source string[] lines of the table
---@param width integer columns of the window's text
---@return agent.TableView?
function M.draw(source, width)
  if width < LEAST then
    return
  end
  local count = 0
  local rows = vim.tbl_map(function(line)
    local cells = M.cells(line)
    count = math.max(count, #cells)
    return cells
  end, source)
  local aligns = sides(rows[2])
  local natural = {}
  for at, cells in ipairs(rows) do
    rows[at] = vim.tbl_map(function(cell)
      return inline.pieces(cell, at == 1 and { "@markup.strong" } or {})
    end, at == 2 and {} or cells)
    for column = 1, count do
      natural[column] = math.max(natural[column] or 1, width_of(rows[at][column] or {}))
    end
  end
  local widths = fitted(natural, width - 3 * count - 1)
  if widths == natural then
    return with_columns(rows, widths, aligns, false)
  end
  local list = records(rows, width)
  local narrow = widths and with_columns(rows, widths, aligns, true)
  return narrow and height(narrow) <= height(list) and narrow or list
end

return M
