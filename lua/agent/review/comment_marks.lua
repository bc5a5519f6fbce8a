--- A comment in its buffer: its lines, its drawing and its text.
local api = vim.api

local M = {}

local namespace = api.nvim_create_namespace("agent.review.comments")

--- Columns of a comment below its lines; most lines of a quotation.
local WIDEST, MOST_QUOTED = 80, 40

---@class agent.review.Comment
---@field id string
---@field path? string    nil in a buffer without a name
---@field folder string   where Neovim was
---@field side "file"|"before"|"deleted"  lines of the file, of the text before the agent, or deleted by a hunk
---@field text string
---@field first integer  first of its lines, from 1, when its buffer was last read
---@field last integer
---@field quoted string[]
---@field is_own? boolean  written in this Neovim
---@field is_kept? boolean it is in a file
---@field buf? integer   that has it drawn
---@field mark? integer  the extmark of its lines there
---@field below? integer the extmark of its text, below the last line

--- Wraps words at this width; a wider word is cut.
---@param text string
---@param width integer
---@return string[]
local function wrapped(text, width)
  local lines = {}
  for _, paragraph in ipairs(vim.split(text, "\n")) do
    local line = ""
    for word in paragraph:gmatch("%S+") do
      local longer = line == "" and word or line .. " " .. word
      if line ~= "" and api.nvim_strwidth(longer) > width then
        table.insert(lines, line)
        longer = word
      end
      while api.nvim_strwidth(longer) > width do
        local count = math.min(width, vim.fn.strchars(longer))
        while count > 1 and api.nvim_strwidth(vim.fn.strcharpart(longer, 0, count)) > width do
          count = count - 1
        end
        table.insert(lines, vim.fn.strcharpart(longer, 0, count))
        longer = vim.fn.strcharpart(longer, count)
      end
      line = longer
    end
    table.insert(lines, line)
  end
  return lines
end

--- The present place of its lines.
---@param comment agent.review.Comment
function M.look(comment)
  if not comment.mark or not api.nvim_buf_is_loaded(comment.buf) then
    return
  end
  local mark = api.nvim_buf_get_extmark_by_id(comment.buf, namespace, comment.mark, { details = true })
  if mark[1] then
    local count = api.nvim_buf_line_count(comment.buf)
    comment.first = math.min(mark[1] + 1, count)
    comment.last = math.max(comment.first, math.min((mark[3].end_row or mark[1]) + 1, count))
    if comment.side ~= "deleted" then
      comment.quoted = api.nvim_buf_get_lines(comment.buf, comment.first - 1, comment.last, false)
    end
  end
end

--- Its lines may have moved unseen: finds the nearest equal ones.
---@param comment agent.review.Comment
---@param buf integer
function M.relocate(comment, buf)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local size = #comment.quoted
  local function stands_at(row)
    for at = 1, size do
      if lines[row + at - 1] ~= comment.quoted[at] then
        return false
      end
    end
    return true
  end
  for away = 0, size > 0 and comment.side ~= "deleted" and #lines or 0 do
    for _, row in ipairs({ comment.first - away, comment.first + away }) do
      if row > 0 and row <= #lines and stands_at(row) then
        comment.first, comment.last = row, row + size - 1
        return
      end
    end
  end
end

---@param comment agent.review.Comment
---@param buf integer loaded
function M.draw(comment, buf)
  local count = api.nvim_buf_line_count(buf)
  local first = math.min(comment.first, count)
  local last = math.min(math.max(comment.last, first), count)
  local width = WIDEST
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    -- Two columns for the bar, two for the sign column, which may appear with it.
    width = math.max(10, math.min(width, info.width - info.textoff - 4))
  end
  local virtual = vim.tbl_map(function(line)
    return { { "▎ " .. line, "AgentComment" } }
  end, wrapped(comment.text, width))
  comment.buf = buf
  comment.mark = api.nvim_buf_set_extmark(buf, namespace, first - 1, 0, {
    id = comment.mark,
    end_row = last - 1,
    sign_text = "▎",
    sign_hl_group = "AgentComment",
  })
  comment.below = api.nvim_buf_set_extmark(buf, namespace, last - 1, 0, { id = comment.below, virt_lines = virtual })
  M.look(comment)
end

---@param comment agent.review.Comment
function M.erase(comment)
  if comment.mark and api.nvim_buf_is_loaded(comment.buf) then
    api.nvim_buf_del_extmark(comment.buf, namespace, comment.mark)
    api.nvim_buf_del_extmark(comment.buf, namespace, comment.below)
  end
  comment.mark, comment.below = nil, nil
end

local SIDES = { file = "", before = " (before your changes)", deleted = " (you have deleted there)" }

--- The text for the model.
---@param comment agent.review.Comment
---@param root string of the project
---@return string
function M.message(comment, root)
  local path = comment.path or "an unnamed buffer"
  if vim.startswith(path, root .. "/") then
    path = path:sub(#root + 2)
  end
  local range = comment.first == comment.last and comment.first or ("%d-%d"):format(comment.first, comment.last)
  local lines = { ("%s:%s%s"):format(path, range, SIDES[comment.side]) }
  for at = 1, math.min(#comment.quoted, MOST_QUOTED) do
    table.insert(lines, ("> " .. comment.quoted[at]):match("^(.-)%s*$"))
  end
  if #comment.quoted > MOST_QUOTED then
    table.insert(lines, ("> [%d more lines]"):format(#comment.quoted - MOST_QUOTED))
  end
  table.insert(lines, "")
  table.insert(lines, comment.text)
  return table.concat(lines, "\n")
end

return M
