-- Highlights a diff in its own language: with tree-sitter, or else with Vim's syntax files. Old and new text are read
-- separately.
local deep = require("agent.deep")
local highlights = require("agent.ui.highlights")
local languages = require("agent.ui.languages")
local readable = require("agent.ui.readable")
local vim_syntax = require("agent.ui.vim_syntax")

local M = {}

--- Highlighted lines of a diff.
local MOST_LINES = 500
--- Below and above the line's highlight. Above it, the line's background stays.
local BELOW, ABOVE = 195, 205

--- Lines of a buffer that are a diff. Other lines among them are ignored.
---@class agent.DiffLines
---@field buffer integer
---@field namespace integer  of its marks; clearing them ends the work
---@field path string        of the file
---@field lines string[]
---@field row integer        of the first line
---@field sign integer       column of "+", "-" or " " in each line, before the code

--- One of the two texts.
---@class agent.DiffSide
---@field code string[]
---@field offsets table<integer, integer>  line of the code, from 1 → offset of the diff's line; others are not highlighted

---@param diff agent.DiffLines
---@return agent.DiffSide[]
local function sides_of(diff)
  local sides = { ["+"] = { code = {}, offsets = {} }, ["-"] = { code = {}, offsets = {} } }
  for at, line in ipairs(diff.lines) do
    local sign = line:sub(diff.sign + 1, diff.sign + 1)
    for name, side in pairs(sides) do
      if sign == name or sign == " " then
        table.insert(side.code, line:sub(diff.sign + 2))
        -- Lines of both sides are highlighted once.
        side.offsets[#side.code] = (sign == name or name == "+") and at - 1 or nil
      end
    end
  end
  return { sides["-"], sides["+"] }
end

--- Group of a line by its sign.
local LINE_GROUPS = { ["+"] = "AgentDiffAdd", ["-"] = "AgentDiffDelete" }

---@alias agent.MarkCode fun(side: agent.DiffSide, line: integer, from: integer, to: integer, group: string)

--- Marks the diff where it is now. After its marks were cleared, it marks nothing.
---@param diff agent.DiffLines
---@return agent.MarkCode
local function marker(diff)
  local anchor = vim.api.nvim_buf_set_extmark(diff.buffer, diff.namespace, diff.row, 0, {})
  local priority = highlights.keeps_syntax() and ABOVE or BELOW
  local known = {} ---@type table<string, boolean>
  local function is_readable(group, sign)
    local key = sign .. group
    if known[key] == nil then
      known[key] = readable.is_readable(group, LINE_GROUPS[sign])
    end
    return known[key]
  end
  return function(side, line, from, to, group)
    local offset = side.offsets[line]
    local at = offset
      and vim.api.nvim_buf_is_valid(diff.buffer)
      and vim.api.nvim_buf_get_extmark_by_id(diff.buffer, diff.namespace, anchor, {})[1]
    if at and is_readable(group, diff.lines[offset + 1]:sub(diff.sign + 1, diff.sign + 1)) then
      vim.api.nvim_buf_set_extmark(diff.buffer, diff.namespace, at + offset, diff.sign + 1 + from, {
        end_col = diff.sign + 1 + to,
        hl_group = group,
        priority = priority,
        strict = false,
      })
    end
  end
end

---@param side agent.DiffSide
---@param language string of tree-sitter
---@param mark agent.MarkCode
local function draw_tree(side, language, mark)
  local query = vim.treesitter.query.get(language, "highlights")
  local text = table.concat(side.code, "\n") .. "\n"
  local tree = query and not deep.has_deep(side.code) and vim.treesitter.get_string_parser(text, language):parse()[1]
  if not tree then
    return
  end
  for id, node in query:iter_captures(tree:root(), text) do
    local name = query.captures[id]
    local first, from, last, to = node:range()
    for line = first, last do
      local stop = line == last and to or #(side.code[line + 1] or "")
      local start = line == first and from or 0
      if stop > start and name:sub(1, 1) ~= "_" and name ~= "spell" and name ~= "nospell" then
        mark(side, line + 1, start, stop, ("@%s.%s"):format(name, language))
      end
    end
  end
end

---@param side agent.DiffSide
---@param filetype string
---@param mark agent.MarkCode
local function draw_syntax(side, filetype, mark)
  local code ---@type agent.SyntaxBlock?
  local drawn = 0
  local function draw(last)
    for line, spans in pairs(code:spans(drawn + 1, last)) do
      for _, span in ipairs(spans) do
        mark(side, line, span[1], span[2], span[3])
      end
    end
    drawn = last
  end
  code = vim_syntax.open(filetype, function(_, last)
    draw(last)
  end)
  if code then
    code:set(side.code)
    draw(code:work(#side.code))
  end
end

---@param diff agent.DiffLines
function M.draw(diff)
  local filetype = #diff.lines <= MOST_LINES and vim.filetype.match({ filename = diff.path })
  if not filetype then
    return
  end
  local mark, language = marker(diff), languages.parser(filetype)
  for _, side in ipairs(sides_of(diff)) do
    if language then
      pcall(draw_tree, side, language, mark)
    elseif next(side.offsets) then
      draw_syntax(side, filetype, mark)
    end
  end
end

return M
