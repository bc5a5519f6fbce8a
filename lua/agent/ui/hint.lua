-- Keys and their actions, fitted into lines.
local M = {}

local GAP = "  "

---@param words string[]
---@return string
local function line(words)
  return (" %s "):format(table.concat(words, GAP))
end

--- As many as one line can hold.
---@param words string[] the most important first
---@param width integer columns
---@return string
function M.one_line(words, width)
  local fitting = {}
  for _, word in ipairs(words) do
    table.insert(fitting, word)
    if vim.api.nvim_strwidth(line(fitting)) > width then
      table.remove(fitting)
      break
    end
  end
  return line(fitting)
end

--- All of them, in as many lines as they need.
---@param words string[]
---@param width integer columns
---@return string[]
function M.lines(words, width)
  local lines, fitting = {}, {}
  for _, word in ipairs(words) do
    table.insert(fitting, word)
    if #fitting > 1 and vim.api.nvim_strwidth(line(fitting)) > width then
      table.remove(fitting)
      table.insert(lines, line(fitting))
      fitting = { word }
    end
  end
  table.insert(lines, line(fitting))
  return lines
end

---@param word string
---@return string
local function short(word)
  return (word:gsub(" with ", " "):gsub(" an ", " "))
end

---@param word string
---@return string
local function key(word)
  return word:match("^%S+")
end

--- Keys for the footer of a float, of which none may be cut. A narrow window also uses the winbar, then shorter words,
--- then keys alone.
---@param words string[] each a key, a space and its action
---@param width integer columns of the window
---@return string footer
---@return string winbar empty if one line is enough
function M.footer(words, width)
  local lines = M.lines(words, width)
  for _, shorter in ipairs({ short, key }) do
    if #lines > 2 then
      lines = M.lines(vim.tbl_map(shorter, words), width)
    end
  end
  return lines[#lines], #lines > 1 and lines[1] or ""
end

return M
