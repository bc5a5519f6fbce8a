-- Aligns the lines of calls and files in columns with virtual spaces. The buffer's text stays as it is, to be searched
-- and yanked.
local M = {}

local namespace = vim.api.nvim_create_namespace("agent.chat.columns")

--- Columns of a verb, and the least and the last column of a detail.
local VERB, NEAREST, FARTHEST = 6, 24, 48

local RUNNING = { pending = true, in_progress = true }

--- The column where details begin, in text of this width; nil in a narrow window.
---@param width integer
---@return integer?
local function detail_column(width)
  local column = math.floor(width * 0.15) * 4
  return column >= NEAREST and math.min(column, FARTHEST) or nil
end

---@param buffer integer
---@param row integer
---@param column integer in bytes
---@param count integer
local function pad(buffer, row, column, count)
  if count > 0 then
    vim.api.nvim_buf_set_extmark(buffer, namespace, row, column, {
      virt_text = { { (" "):rep(count) } },
      virt_text_pos = "inline",
      hl_mode = "combine",
    })
  end
end

---@param buffer integer
---@param row integer
---@param line string
---@param header agent.Header
---@param width integer
local function align(buffer, row, line, header, width)
  local shift = 0
  local verb, verb_end = line:match("^%S+ (%a+)() ", header.indent + 1)
  if header.status and verb and #verb < VERB then
    shift = VERB - #verb
    pad(buffer, row, verb_end - 1, shift)
  end
  local target = detail_column(width)
  if not target then
    return
  end
  local gap = line:find("  ", header.indent + 1, true)
  local before = vim.api.nvim_strwidth(gap and line:sub(1, gap + 1) or line) + shift
  if gap then
    -- A line that fits stays one row.
    local room = width - vim.api.nvim_strwidth(line) - shift
    pad(buffer, row, gap - 1, math.min(target - before, room))
  elseif RUNNING[header.status] then
    -- Its seconds follow a space of their own.
    pad(buffer, row, #line, target - before - 1)
  end
end

---@param buffer integer
---@param first integer
---@param last integer exclusive
function M.clear(buffer, first, last)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, first, last)
end

--- Aligns the lines of a block.
---@param buffer integer
---@param lines string[] of the block
---@param headers agent.Headers
---@param row integer of the first line
---@param width integer columns of text
function M.draw(buffer, lines, headers, row, width)
  M.clear(buffer, row, row + #lines)
  for at, header in pairs(headers) do
    align(buffer, row + at - 1, lines[at], header, width)
  end
end

--- Columns of text in the narrowest window with the buffer; nil if no window shows it.
---@param buffer integer
---@return integer?
function M.width(buffer)
  local width
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    local columns = info.width - info.textoff
    width = width and math.min(width, columns) or columns
  end
  return width
end

return M
