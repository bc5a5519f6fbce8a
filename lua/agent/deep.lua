--- Tree-sitter's markdown scanner holds 254 nested blocks and crashes Neovim at one more:
--- https://github.com/tree-sitter-grammars/tree-sitter-markdown, `serialize` in src/scanner.c.
local M = {}

--- Most nested blocks of a line.
local MOST = 200

--- Columns of a tab in markdown.
local TAB = 4

--- An empty region.
M.NOTHING = { { { 0, 0, 0, 0 } } }

--- True if a line may be in more blocks. Each block needs a ">" or a space at the beginning of the line.
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

--- Stops the highlighting of a buffer with such lines, so that no fold or plugin parses it.
---@param buffer integer
---@param lines string[] of the buffer, now or later
function M.stop(buffer, lines)
  if vim.treesitter.highlighter.active[buffer] and M.has_deep(lines) then
    vim.treesitter.stop(buffer)
    assert(vim.treesitter.get_parser(buffer)):set_included_regions(M.NOTHING)
  end
end

--- Sets the filetype of a buffer of the plugin, but not while its text is nested too deeply.
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
