--- Tree-sitter's scanner of markdown has room for 254 blocks within each other, and ends Neovim at one more:
--- https://github.com/tree-sitter-grammars/tree-sitter-markdown, `serialize` in src/scanner.c.
local M = {}

--- Blocks within each other that a line may have.
local MOST = 200

--- Columns of a tab in markdown.
local TAB = 4

--- The region of nothing.
M.NOTHING = { { { 0, 0, 0, 0 } } }

--- Is there a line that may stand in more blocks? Each one takes a ">" or a blank of the line's beginning.
---@param lines string[]
---@return boolean
function M.has_deep(lines)
  for _, line in ipairs(lines) do
    if #line * TAB > MOST and line:find("%S") then
      local prefix = line:match("^[%s>*+%-%d.)]*")
      local _, single = prefix:gsub("[> ]", "")
      local _, tabs = prefix:gsub("\t", "")
      if single + TAB * tabs > MOST then
        return true
      end
    end
  end
  return false
end

--- Takes the colours from a buffer with such lines, and leaves nothing that a fold or a plugin could parse.
---@param buffer integer
---@param lines string[] that are in it, or will be
function M.stop(buffer, lines)
  if vim.treesitter.highlighter.active[buffer] and M.has_deep(lines) then
    vim.treesitter.stop(buffer)
    assert(vim.treesitter.get_parser(buffer)):set_included_regions(M.NOTHING)
  end
end

--- Sets the filetype of a buffer of ours; it stays without one, and without colours, while its text is deep.
---@param buffer integer
---@param filetype string
function M.set_filetype(buffer, filetype)
  if M.has_deep(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) then
    return
  end
  vim.bo[buffer].filetype = filetype
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, _, first, _, last)
      M.stop(buffer, vim.api.nvim_buf_get_lines(buffer, first, last, false))
    end,
  })
end

return M
