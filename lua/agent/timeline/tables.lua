-- Pure: aligns the columns of markdown tables.
local fences = require("agent.timeline.fences")

local M = {}

--- Columns of the widest aligned table.
local WIDEST = 200
--- Bytes of the longest row that is parsed.
local LONGEST = 4000

--- The cells of a row. A bar behind a backslash, or in code, belongs to its cell.
---@param line string
---@return string[]
local function cells(line)
  local inner = vim.trim(line):gsub("^|", "")
  local found, cell, at, in_code = {}, "", 1, false
  while at <= #inner do
    local character = inner:sub(at, at)
    if character == "\\" then
      character = inner:sub(at, at + 1)
      at = at + 1
    elseif character == "`" then
      in_code = not in_code
    end
    if character == "|" and not in_code then
      table.insert(found, vim.trim(cell))
      cell = ""
    else
      cell = cell .. character
    end
    at = at + 1
  end
  if vim.trim(cell) ~= "" then
    table.insert(found, vim.trim(cell))
  end
  return found
end

---@param line? string
---@return boolean
local function is_rule(line)
  return line ~= nil and line:find("|", 1, true) ~= nil and line:find("-", 1, true) ~= nil and not line:find("[^%s:|-]")
end

---@param line? string
---@return boolean
local function is_row(line)
  return line ~= nil and line:find("^%s*|") ~= nil
end

---@param line string
---@return boolean
local function is_long(line)
  return #line > LONGEST
end

---@param rows string[][]
---@return string[]? lines nil if they would be too wide
local function aligned(rows)
  local widths, total = {}, 1
  for index, row in ipairs(rows) do
    for column, cell in ipairs(row) do
      -- The rule is as wide as its column.
      local width = index == 2 and 3 or vim.api.nvim_strwidth(cell)
      widths[column] = math.max(widths[column] or 3, width)
    end
  end
  for _, width in ipairs(widths) do
    total = total + width + 3
  end
  if total > WIDEST then
    return
  end
  local lines = {}
  for index, row in ipairs(rows) do
    local parts = {}
    for column, width in ipairs(widths) do
      local cell, how = row[column] or "", rows[2][column] or ""
      local left, right = vim.startswith(how, ":"), vim.endswith(how, ":") and #how > 1
      if index == 2 then
        parts[column] = (left and ":" or "-") .. ("-"):rep(width - 2) .. (right and ":" or "-")
      else
        local room = width - vim.api.nvim_strwidth(cell)
        local before = right and (left and math.floor(room / 2) or room) or 0
        parts[column] = (" "):rep(before) .. cell .. (" "):rep(room - before)
      end
    end
    table.insert(lines, "| " .. table.concat(parts, " | ") .. " |")
  end
  return lines
end

--- The same text with its tables aligned, except in code.
---@param text string
---@return string
function M.align(text)
  if not (text:find("|", 1, true) and text:find("-", 1, true)) then
    return text
  end
  local lines = vim.split(text, "\n")
  local in_code = fences.code(lines)
  local at = 1
  while at < #lines do
    local last = at + 1
    if not in_code[at] and is_row(lines[at]) and is_rule(lines[last]) then
      while is_row(lines[last + 1]) and not in_code[last + 1] do
        last = last + 1
      end
      local rows = vim.list_slice(lines, at, last)
      local better = not vim.iter(rows):any(is_long) and aligned(vim.tbl_map(cells, rows))
      for offset, line in ipairs(better or {}) do
        lines[at + offset - 1] = line
      end
    end
    at = last
  end
  return table.concat(lines, "\n")
end

return M
