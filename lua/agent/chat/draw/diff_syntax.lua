-- Highlights a diff in its own language, if tree-sitter has a parser. Old and new text are parsed separately.
local deep = require("agent.deep")
local highlights = require("agent.ui.highlights")

local M = {}

--- Highlighted lines of a diff.
local MOST_LINES = 500
--- Below and above the line's highlight. Above it, the line's background stays.
local BELOW, ABOVE = 195, 205

--- Bytes before the code in a line: the indent and the sign.
local BEFORE = 3

---@param path? string
---@return string?
local function language_of(path)
  local filetype = path and vim.filetype.match({ filename = path })
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  local ok, has_parser = pcall(vim.treesitter.language.add, language or "")
  return ok and has_parser and language or nil
end

---@param mark fun(row: integer, from: integer, to: integer, group: string)
---@param language string
---@param code string[]
---@param rows table<integer, integer>  line of the code, from 0 → row; other lines are not highlighted
local function colour(mark, language, code, rows)
  local query = vim.treesitter.query.get(language, "highlights")
  local text = table.concat(code, "\n") .. "\n"
  local tree = query and not deep.has_deep(code) and vim.treesitter.get_string_parser(text, language):parse()[1]
  if not tree then
    return
  end
  for id, node in query:iter_captures(tree:root(), text) do
    local name = query.captures[id]
    local first, from, last, to = node:range()
    for line = first, last do
      local row = rows[line]
      local stop = line == last and to or #(code[line + 1] or "")
      local start = line == first and from or 0
      if row and stop > start and name:sub(1, 1) ~= "_" and name ~= "spell" and name ~= "nospell" then
        mark(row, BEFORE + start, BEFORE + stop, ("@%s.%s"):format(name, language))
      end
    end
  end
end

--- Highlights the lines of a block below its first one.
---@param buffer integer
---@param namespace integer
---@param block agent.Block
---@param lines string[] of the block
---@param row integer of the first one
function M.draw(buffer, namespace, block, lines, row)
  local language = #lines <= MOST_LINES and language_of(block.path)
  if not language then
    return
  end
  local sides = { ["+"] = { code = {}, rows = {} }, ["-"] = { code = {}, rows = {} } }
  for offset = 2, #lines do
    local sign, code = lines[offset]:sub(3, 3), lines[offset]:sub(BEFORE + 1)
    for side, of in pairs(sides) do
      if sign == side or sign == " " then
        table.insert(of.code, code)
        -- Lines on both sides are highlighted once.
        of.rows[#of.code - 1] = (sign == side or side == "+") and row + offset - 1 or nil
      end
    end
  end
  local priority = highlights.keeps_syntax() and ABOVE or BELOW
  local function mark(at, from, to, group)
    vim.api.nvim_buf_set_extmark(buffer, namespace, at, from, {
      end_col = to,
      hl_group = group,
      priority = priority,
      strict = false,
    })
  end
  for _, of in pairs(sides) do
    pcall(colour, mark, language, of.code, of.rows)
  end
end

return M
