-- Highlights a transcript's markdown with Neovim's highlighter, but parses only visible rows. Neovim would parse the
-- whole text, and search it for other languages, with each piece of an answer.
local config = require("agent.config")
local deep = require("agent.deep")
local fences = require("agent.timeline.fences")
local highlight = require("agent.markdown.highlight")
local steps = require("agent.steps")

local M = {}

--- Limits of one paragraph: the time to parse it grows with the square of its marks, and Neovim waits.
local MOST_MARKS, MOST_BYTES = 1500, 10000

---@param line string
---@return integer
local function marks_in(line)
  return select(2, line:gsub("[*_~`]", ""))
end

--- An empty line, a heading, a list item or a table row begins a new paragraph.
---@param line string
---@return boolean
local function begins_anew(line)
  return not line:find("%S") or line:find("^%s*[-*+#|]+%s") ~= nil or line:find("^%s*%d+[.)]%s") ~= nil
end

--- The rows of a piece without paragraphs that would take too long, which stay plain. A piece that would crash Neovim
--- stays plain as a whole.
---@param buffer integer
---@param piece { [1]: integer, [2]: integer } rows, the last one exclusive
---@return { [1]: integer, [2]: integer }[]
local function without_long_paragraphs(buffer, piece)
  local lines = vim.api.nvim_buf_get_lines(buffer, piece[1], piece[2], false)
  if deep.has_deep(lines) then
    return {}
  end
  local all = 0
  for _, line in ipairs(lines) do
    all = all + #line
  end
  if all <= MOST_MARKS then
    return { piece }
  end
  local code = fences.code(lines)
  local pieces, begins, paragraph, marks, bytes = {}, 1, 1, 0, 0
  for at = 1, #lines + 1 do
    local line = lines[at] or ""
    if code[at] or begins_anew(line) then
      if marks > MOST_MARKS or bytes > MOST_BYTES then
        table.insert(pieces, begins < paragraph and { piece[1] + begins - 1, piece[1] + paragraph - 1 } or nil)
        begins = at
      end
      paragraph, marks, bytes = at, 0, 0
    end
    if not code[at] then
      marks, bytes = marks + marks_in(line), bytes + #line
    end
  end
  table.insert(pieces, begins <= #lines and { piece[1] + begins - 1, piece[2] } or nil)
  return pieces
end

--- The regions to parse for these rows, or for all.
---@param range any as LanguageTree:parse() takes it
---@param renderer agent.Renderer
---@param buffer integer of the renderer
---@return table regions as LanguageTree:set_included_regions() takes them
local function regions_of(range, renderer, buffer)
  local regions = {}
  local ranges = type(range) ~= "table" and {} or type(range[1]) == "table" and range or { range }
  local has_other = vim.iter(ranges):any(function(rows)
    return #rows ~= 2
  end)
  if #ranges == 0 or has_other then
    ranges = { { 0, vim.api.nvim_buf_line_count(buffer) } }
  end
  for _, rows in ipairs(ranges) do
    local pieces = vim.tbl_map(function(piece)
      return without_long_paragraphs(buffer, piece)
    end, renderer:prose(rows[1], rows[2]))
    for _, piece in vim.iter(pieces):flatten(1):enumerate() do
      local before = regions[#regions] and regions[#regions][1]
      if before and piece[1] < before[3] then
        before[3] = math.max(before[3], piece[2])
      else
        table.insert(regions, { { piece[1], 0, piece[2], 0 } })
      end
    end
  end
  return #regions > 0 and regions or deep.NOTHING
end

--- The top nodes of a document mean the same without the nodes before them.
---@param node TSNode
---@param renderer agent.Renderer
local function note_cuts(node, renderer)
  for child in node:iter_children() do
    local row, column = child:start()
    if child:type() == "section" then
      note_cuts(child, renderer)
    -- Leading spaces could make it part of a node before it.
    elseif column == 0 then
      renderer:cut(row)
    end
  end
end

--- The rows to parse for these: more of them while the user scrolls, because new regions are parsed from scratch.
---@param rows { [1]: integer, [2]: integer }
---@param buffer integer
---@param scrolls boolean
---@return { [1]: integer, [2]: integer }
local function wider(rows, buffer, scrolls)
  local more = scrolls and 2 * (rows[2] - rows[1]) or 0
  return { math.max(0, rows[1] - more), math.min(vim.api.nvim_buf_line_count(buffer), rows[2] + more) }
end

--- Highlights a buffer.
---@param buffer integer
---@param renderer agent.Renderer of the buffer
function M.start(buffer, renderer)
  local parser = assert(vim.treesitter.get_parser(buffer, "markdown"))
  local parse, is_parsing = parser.parse, false
  ---@type { tick: integer, rows: { [1]: integer, [2]: integer } }?
  local now
  -- Source of the methods: runtime/lua/vim/treesitter/languagetree.lua of Neovim 0.12.
  function parser:parse(range, on_parse)
    local tick = vim.api.nvim_buf_get_changedtick(buffer)
    local rows = type(range) == "table" and #range == 2 and type(range[1]) == "number" and range or nil
    local is_same = rows and now and now.tick == tick
    if not is_parsing and not (is_same and now.rows[1] <= rows[1] and rows[2] <= now.rows[2]) then
      range = rows and wider(rows, buffer, is_same) or range
      now = rows and { tick = tick, rows = range }
      self:set_included_regions(regions_of(range, renderer, buffer))
      range = rows or range
    end
    local trees = parse(self, range, on_parse and function(...)
      is_parsing = false
      on_parse(...)
    end)
    is_parsing = is_parsing or on_parse ~= nil and trees == nil
    for _, tree in pairs(trees or {}) do
      note_cuts(tree:root(), renderer)
    end
    return trees
  end
  highlight.start(buffer, parser, config.get().ui.markdown ~= false)
end

local is_prepared = false

--- Loads what the first answer needs, in steps, while the user waits for it.
function M.prepare()
  if not is_prepared then
    is_prepared = true
    local all = { "agent.markdown.structure", "agent.markdown.table", "agent.markdown.painter" }
    steps.run(vim.list_extend(all, highlight.steps(config.get().ui.markdown ~= false)))
  end
end

return M
