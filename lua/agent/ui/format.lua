-- Pure: numbers and names for people.
local M = {}

--- 980, 12.3k, 128k, 1.2M
---@param count number
---@return string
function M.count(count)
  if count < 1000 then
    return ("%d"):format(count)
  end
  local text = count < 99950 and ("%.1fk"):format(count / 1000)
    or count < 999500 and ("%.0fk"):format(count / 1000)
    or ("%.1fM"):format(count / 1e6)
  return (text:gsub("%.0(%a)$", "%1"))
end

--- "1 file", "3 files"
---@param count integer
---@param one string
---@param many? string
---@return string
function M.plural(count, one, many)
  return ("%d %s"):format(count, count == 1 and one or many or one .. "s")
end

--- $0.0042, $0.012, $0.31, $12.50, $140
---@param dollars number
---@return string
function M.money(dollars)
  local digits = (dollars == 0 or dollars >= 100) and 0 or dollars < 0.01 and 4 or dollars < 0.1 and 3 or 2
  return ("$%." .. digits .. "f"):format(dollars)
end

--- 480 ms, 1.2 s, 95 s
---@param milliseconds number
---@return string
function M.milliseconds(milliseconds)
  if milliseconds < 1000 then
    return ("%d ms"):format(milliseconds)
  end
  return (milliseconds < 9950 and "%.1f s" or "%.0f s"):format(milliseconds / 1000)
end

--- Also long ones: 480 ms, 1.2 s, 42 s, 12m 5s, 3h 20m
---@param milliseconds number
---@return string
function M.time(milliseconds)
  local seconds = math.floor(milliseconds / 1000 + 0.5)
  if seconds < 60 then
    return M.milliseconds(milliseconds)
  elseif seconds < 3600 then
    return ("%dm %ds"):format(seconds / 60, seconds % 60)
  end
  return ("%dh %dm"):format(seconds / 3600, seconds % 3600 / 60)
end

--- The beginning of a text, at most this many columns.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local count = math.min(vim.fn.strchars(text, 1), width)
  local part
  repeat
    count = count - 1
    part = vim.fn.strcharpart(text, 0, count, 1) .. "…"
  until count <= 0 or vim.api.nvim_strwidth(part) <= width
  return part
end

--- The end of a text, at most this many columns.
---@param text string
---@param width integer
---@return string
function M.cut_start(text, width)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local all = vim.fn.strchars(text, 1)
  local count = math.min(all, width)
  local part
  repeat
    count = count - 1
    part = "…" .. vim.fn.strcharpart(text, all - count, count, 1)
  until count <= 0 or vim.api.nvim_strwidth(part) <= width
  return part
end

--- Makes sure of one line. The supervisor does it too, but an approval that cannot be drawn could not be answered.
---@param text string
---@return string
function M.one_line(text)
  return (text:gsub("%c", " "))
end

--- Lines of whole words. `:Agent` stays with its sub-command.
---@param text string
---@param width integer columns
---@return string[]
function M.wrap(text, width)
  local lines = {}
  for word in text:gsub(":Agent ", ":Agent\1"):gmatch("%S+") do
    word = word:gsub("\1", " ")
    local last = lines[#lines]
    if last and vim.api.nvim_strwidth(last .. " " .. word) <= width then
      lines[#lines] = last .. " " .. word
    else
      table.insert(lines, word)
    end
  end
  return lines
end

return M
