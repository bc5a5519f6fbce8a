-- Draws numbers as bars of characters. Pure. All characters have the same width, whatever 'ambiwidth' is.
local M = {}

local FULL = "█"
--- A cell without a value.
M.EMPTY = "·"
local EIGHTHS = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" }
local LEVELS = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", FULL }

--- The number of characters that fit.
---@param columns integer
---@return integer
function M.cells(columns)
  return math.max(0, math.floor(columns / vim.api.nvim_strwidth(FULL)))
end

--- Splits cells in proportion to values. Their sum is `cells`, unless all values are 0 or more values than cells need
--- one.
---@param values number[]
---@param cells integer
---@param least? integer cells of the smallest value above 0; default: 1
---@return integer[]
function M.split(values, cells, least)
  least = least or 1
  local sum = vim.iter(values):fold(0, function(all, value)
    return all + value
  end)
  local counts, left = {}, sum > 0 and cells or 0
  for index, value in ipairs(values) do
    local share = sum > 0 and cells * value / sum or 0
    counts[index] = value > 0 and math.max(least, math.floor(share)) or 0
    left = left - counts[index]
  end
  -- The next cell comes from or goes to the value whose share differs most.
  while left ~= 0 do
    local step = left > 0 and 1 or -1
    local best, most
    for index, value in ipairs(values) do
      local differs = step * (cells * value / sum - counts[index])
      if value > 0 and counts[index] + step >= least and (not most or differs > most) then
        best, most = index, differs
      end
    end
    if not best then
      break
    end
    counts[best], left = counts[best] + step, left - step
  end
  return counts
end

--- A value above 0 has more than 0%.
---@param percent integer
---@param value number
---@return string
local function percentage(percent, value)
  return percent == 0 and value > 0 and "<1%" or percent .. "%"
end

---@param value number
---@param whole number
---@return string
function M.percentage(value, whole)
  return percentage(math.floor(100 * value / math.max(1, whole) + 0.5), value)
end

--- Whole percentages whose sum is 100.
---@param values number[]
---@return string[]
function M.percentages(values)
  return vim.iter(ipairs(M.split(values, 100, 0))):map(function(index, percent)
    return percentage(percent, values[index])
  end):totable()
end

--- A bar in eighths of cells; a value above 0 has at least one.
---@param share number from 0 to 1
---@param cells integer
---@return string bar
---@return string rest the empty cells after it
function M.bar(share, cells)
  local eighths = share > 0 and math.max(1, math.floor(8 * share * cells + 0.5)) or 0
  local bar = FULL:rep(math.floor(eighths / 8)) .. (EIGHTHS[eighths % 8] or "")
  return bar, M.EMPTY:rep(cells - math.ceil(eighths / 8))
end

--- A character for each value.
---@param values number[]
---@return string[]
function M.sparkline(values)
  local most = math.max(0, unpack(values))
  return vim.tbl_map(function(value)
    return value > 0 and LEVELS[math.ceil(#LEVELS * value / most)] or M.EMPTY
  end, values)
end

return M
