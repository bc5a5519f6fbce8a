-- Colours of code blocks whose language has no tree-sitter parser, by Vim's syntax files. Only complete lines have them.
local fences = require("agent.timeline.fences")
local languages = require("agent.ui.languages")
local vim_syntax = require("agent.ui.vim_syntax")

local M = {}

---@class agent.CodeColours
---@field syntax agent.SyntaxBlock|false  false: no syntax file, or a parser
---@field last integer  line of the text that was read last

--- Bytes before the code of a line: at most the indent of its fence, or the signs of its quote.
---@param block agent.CodeBlock
---@param line string
---@return integer
local function indent_of(block, line)
  return math.min(block.indent, #line:match(block.is_quote and "^[%s>]*" or "^%s*"))
end

--- Prepares the colours of a block.
---@param text agent.MarkdownText
---@param block agent.CodeBlock
---@param on_more fun(first: integer, last: integer) called after these lines of the code got colours
---@return agent.CodeColours
local function open(text, block, on_more)
  local indent, _, info = fences.opening(text.lines[block.first])
  block.is_quote = indent ~= nil and indent:find(">", 1, true) ~= nil
  local filetype = info and not languages.is_injected(info) and languages.of_fence(info)
  block.colours = { syntax = filetype and vim_syntax.open(filetype, on_more) or false, last = block.first }
  return block.colours
end

--- Reads the complete lines that were added.
---@param text agent.MarkdownText
---@param block agent.CodeBlock
local function read(text, block)
  local colours = block.colours
  local item = text.items[colours.last + 1]
  while item and item.kind == "code" and item.block == block do
    colours.last = colours.last + 1
    local line = text.lines[colours.last]
    colours.syntax:append(line:sub(indent_of(block, line) + 1))
    item = text.items[colours.last + 1]
  end
end

--- The spans of a line of code, as far as they are known, and the column at which they begin.
---@param text agent.MarkdownText
---@param block agent.CodeBlock
---@param at integer line of the text
---@param on_more fun(): fun(first: integer, last: integer) makes what is called after further lines got colours
---@return agent.CodeSpan[] spans
---@return integer column
function M.spans(text, block, at, on_more)
  local colours = block.colours or open(text, block, on_more())
  if not colours.syntax then
    return {}, 0
  end
  read(text, block)
  local line = at - block.first
  return colours.syntax:spans(line, line)[line] or {}, indent_of(block, text.lines[at])
end

--- Colours the lines that were added to a block in view, before they are drawn.
---@param text agent.MarkdownText
---@param block? agent.CodeBlock
---@return integer? first line of the text that got colours; it may have been drawn without them
function M.update(text, block)
  local syntax = block and block.colours and block.colours.syntax
  if block and syntax then
    local done = syntax.done
    read(text, block)
    syntax:work(block.colours.last - block.first)
    return syntax.done > done and block.first + done + 1 or nil
  end
end

return M
