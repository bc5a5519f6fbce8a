-- Where lines continue: in a window as Neovim wraps them, and in the cells of a table.
local M = {}

---@param text string
---@return string[] characters
local function characters(text)
  local starts, found = vim.str_utf_pos(text), {}
  for at, start in ipairs(starts) do
    found[at] = text:sub(start, (starts[at + 1] or #text + 1) - 1)
  end
  return found
end

---@param character string
---@return integer
local function width_of(character)
  return #character == 1 and 1 or vim.api.nvim_strwidth(character)
end

--- Columns up to the end of the next word, and the signs after it at which the line may break.
---@param all string[]
---@param at integer of the sign before the word
---@param breaks table<string, true>
---@return integer
local function word_width(all, at, breaks)
  local width, next_one = 0, at + 1
  while all[next_one] and (breaks[all[next_one]] or next_one == at + 1 or not breaks[all[next_one - 1]]) do
    width = width + width_of(all[next_one])
    next_one = next_one + 1
  end
  return width
end

--- Columns of text that 'breakindent' leaves at least, see 'breakindentopt'.
local LEAST_TEXT = 20

--- The column at which Neovim continues a line, with the options of ui/prose.lua.
---@param line string
---@param width integer columns of the window's text
---@return integer
function M.indent(line, width)
  local marks = line:match("^%s*[-*+>]%s+()") or line:match("^%s*%d+[.)]%s+()") or line:match("^%s*()")
  return math.max(0, math.min(vim.api.nvim_strwidth(line:sub(1, marks - 1)), width - LEAST_TEXT))
end

--- The first byte of each screen line of a line without tabs, with the options of ui/prose.lua. Source:
--- charsize_regular() in Neovim's src/nvim/plines.c.
---@param line string
---@param width integer columns of the window's text
---@return integer[] bytes from 0
function M.starts(line, width)
  local breaks = {}
  for _, sign in ipairs(characters(vim.o.breakat)) do
    breaks[sign] = true
  end
  local all, starts = characters(line), { 0 }
  local column, byte, has_word, indent = 0, 0, false, M.indent(line, width)
  for at, character in ipairs(all) do
    local size = width_of(character)
    -- A wide character does not fit into the last column.
    if column + size > width then
      table.insert(starts, byte)
      column = indent
    end
    has_word = has_word or not breaks[character]
    column, byte = column + size, byte + #character
    local may_break = has_word and breaks[character] and all[at + 1] and not breaks[all[at + 1]]
    if may_break and column - 1 + word_width(all, at, breaks) >= width then
      table.insert(starts, byte)
      column = indent
    elseif column >= width and all[at + 1] then
      table.insert(starts, byte)
      column = indent
    end
  end
  return starts
end

--- The longest beginning of a text within a width; at least one character.
---@param text string
---@param width integer
---@return string begin
---@return string rest
local function split_word(text, width)
  local at, used = 0, 0
  for _, character in ipairs(characters(text)) do
    local size = width_of(character)
    if used + size > width and at > 0 then
      break
    end
    at, used = at + #character, used + size
  end
  return text:sub(1, at), text:sub(at + 1)
end

---@class agent.WrappedLine
---@field pieces agent.Piece[]
---@field width integer

--- Pieces of text as lines of a width, at words.
---@param pieces agent.Piece[]
---@param width integer at least 2
---@return agent.WrappedLine[] lines at least one
function M.lines(pieces, width)
  local lines = { { pieces = {}, width = 0 } }
  local function put(text, groups)
    local line, size = lines[#lines], vim.api.nvim_strwidth(text)
    table.insert(line.pieces, { text, groups })
    line.width = line.width + size
  end
  local function next_line()
    table.insert(lines, { pieces = {}, width = 0 })
  end
  for _, piece in ipairs(pieces) do
    local text, groups = piece[1], piece[2]
    if text == "\n" then
      next_line()
      text = ""
    end
    for spaces, word in text:gmatch("(%s*)(%S*)") do
      local line = lines[#lines]
      local gap, size = #spaces, vim.api.nvim_strwidth(word)
      if line.width > 0 and line.width + gap + size > width then
        next_line()
        spaces = ""
      elseif line.width == 0 then
        spaces = ""
      end
      while vim.api.nvim_strwidth(word) > width do
        local begin, rest = split_word(word, width - lines[#lines].width - #spaces)
        put(spaces .. begin, groups)
        next_line()
        spaces, word = "", rest
      end
      if word ~= "" or spaces ~= "" then
        put(spaces .. word, groups)
      end
    end
  end
  return lines
end

--- Columns of the longest word.
---@param pieces agent.Piece[]
---@return integer
function M.longest_word(pieces)
  local longest = 0
  for _, piece in ipairs(pieces) do
    for word in piece[1]:gmatch("%S+") do
      longest = math.max(longest, vim.api.nvim_strwidth(word))
    end
  end
  return longest
end

return M
