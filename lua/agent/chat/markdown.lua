-- The markdown of a transcript, for Neovim's own highlighter. It is parsed only where it is shown: Neovim would parse
-- all of it, and look for other languages in all of it, with each piece of an answer.
local M = {}

--- Neovim's queries, but that no line is hidden: the chat shows all of them, and while a window has a line that could be
--- hidden, each change draws all of the window.
---@return string
local function highlights()
  local texts = vim.tbl_map(function(path)
    return table.concat(vim.fn.readfile(path), "\n")
  end, vim.treesitter.query.get_files("markdown", "highlights"))
  return (table.concat(texts, "\n"):gsub("%(#set!%s[^()]*conceal_lines[^()]*%)", ""))
end

--- What to parse for these rows, or for all.
---@param range any as LanguageTree:parse() takes it
---@param renderer agent.Renderer
---@return table regions as LanguageTree:set_included_regions() takes them
local function regions_of(range, renderer)
  local regions = {}
  for _, rows in ipairs(type(range) ~= "table" and {} or type(range[1]) == "table" and range or { range }) do
    if #rows ~= 2 then
      return { {} }
    end
    local first, last = renderer:around(rows[1], rows[2])
    local before = regions[#regions] and regions[#regions][1]
    if before and first <= before[3] then
      before[3] = math.max(before[3], last)
    else
      table.insert(regions, { { first, 0, last, 0 } })
    end
  end
  return #regions > 0 and regions or { {} }
end

--- What stands beside each other in a document means the same without what is before it.
---@param node TSNode
---@param renderer agent.Renderer
local function note_cuts(node, renderer)
  for child in node:iter_children() do
    local row, column = child:start()
    if child:type() == "section" then
      note_cuts(child, renderer)
    -- Blanks before it could be taken for a part of it.
    elseif column == 0 then
      renderer:cut(row)
    end
  end
end

--- Highlights a buffer.
---@param buffer integer
---@param renderer agent.Renderer of the buffer
function M.start(buffer, renderer)
  local parser = assert(vim.treesitter.get_parser(buffer, "markdown"))
  local parse, is_parsing = parser.parse, false
  -- The methods and what they take: runtime/lua/vim/treesitter/languagetree.lua of Neovim 0.11 and 0.12.
  function parser:parse(range, on_parse)
    if not is_parsing then
      self:set_included_regions(regions_of(range, renderer))
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
  vim.treesitter.highlighter.new(parser, { queries = { markdown = highlights() } })
end

return M
