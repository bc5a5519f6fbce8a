-- Pure: keys and what they do, in lines that are as wide as there is room.
local M = {}

local GAP = "  "

---@param words string[]
---@return string
local function line(words)
  return (" %s "):format(table.concat(words, GAP))
end

--- As many as one line has room for.
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

return M
