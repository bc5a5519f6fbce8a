--- Comments of the user's on lines, sent together as one message. They go with their lines as these move, and what is
--- sent is the text as it stands in the buffer, saved or not.
local api = vim.api
local files = require("agent.review.files")
local hunks_of = require("agent.review.hunks")
local say = require("agent.say")
local track = require("agent.review.track")

local M = {}

local namespace = api.nvim_create_namespace("agent.review.comments")

--- Columns of a comment below its lines; lines that one quotes.
local WIDEST, MOST_QUOTED = 80, 40

---@class agent.review.Comment
---@field path string
---@field text string
---@field first integer  of its lines, from 1, when its buffer was last looked at
---@field last integer
---@field quoted string[]
---@field buf? integer   that has it drawn
---@field mark? integer  the extmark of its lines there
---@field below? integer that of its text, below the last of them

---@type agent.review.Comment[]
local comments = {}

--- Words in lines of at most so many columns; a word that is wider stands alone.
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
      line = longer
    end
    table.insert(lines, line)
  end
  return lines
end

--- Where its lines are by now.
---@param comment agent.review.Comment
local function look(comment)
  if not comment.mark or not api.nvim_buf_is_loaded(comment.buf) then
    return
  end
  local mark = api.nvim_buf_get_extmark_by_id(comment.buf, namespace, comment.mark, { details = true })
  if mark[1] then
    local count = api.nvim_buf_line_count(comment.buf)
    comment.first = math.min(mark[1] + 1, count)
    comment.last = math.max(comment.first, math.min((mark[3].end_row or mark[1]) + 1, count))
    comment.quoted = api.nvim_buf_get_lines(comment.buf, comment.first - 1, comment.last, false)
  end
end

---@param comment agent.review.Comment
---@param buf integer loaded
local function draw(comment, buf)
  local count = api.nvim_buf_line_count(buf)
  local first = math.min(comment.first, count)
  local last = math.min(math.max(comment.last, first), count)
  local width = WIDEST
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    width = math.max(10, math.min(width, info.width - info.textoff - 2))
  end
  local virtual = vim.tbl_map(function(line)
    return { { "▎ " .. line, "AgentComment" } }
  end, wrapped(comment.text, width))
  comment.buf = buf
  comment.mark = api.nvim_buf_set_extmark(buf, namespace, first - 1, 0, { end_row = last - 1 })
  comment.below = api.nvim_buf_set_extmark(buf, namespace, last - 1, 0, { virt_lines = virtual })
  look(comment)
end

---@param comment agent.review.Comment
local function erase(comment)
  if comment.mark and api.nvim_buf_is_loaded(comment.buf) then
    api.nvim_buf_del_extmark(comment.buf, namespace, comment.mark)
    api.nvim_buf_del_extmark(comment.buf, namespace, comment.below)
  end
end

--- The comment on a line.
---@param path string
---@param row integer
---@return integer? index
local function find(path, row)
  for index, comment in ipairs(comments) do
    look(comment)
    if comment.path == path and comment.first <= row and row <= comment.last then
      return index
    end
  end
end

--- The lines that are meant: a range, else those of the hunk at the cursor, else its line.
---@param buf integer
---@param range? { first: integer, last: integer }
---@return integer first
---@return integer last
local function lines_at(buf, range)
  if range then
    return range.first, range.last
  end
  local row = api.nvim_win_get_cursor(0)[1]
  local it = track.get(buf)
  local hunk = it and hunks_of.at(it.hunks, row, #it.lines)
  if hunk and hunk.count > 0 then
    return hunk.row, hunk.row + hunk.count - 1
  end
  return row, row
end

--- The lines that Visual mode has selected, which ends.
---@return { first: integer, last: integer }?
local function selected()
  if not api.nvim_get_mode().mode:find("^[vV\22]") then
    return nil
  end
  local from, to = vim.fn.line("v"), vim.fn.line(".")
  vim.cmd.normal({ vim.keycode("<Esc>"), bang = true })
  return { first = math.min(from, to), last = math.max(from, to) }
end

--- Asks for a comment on the hunk or the line at the cursor, or on a range; one that stands there is changed, and an
--- empty one goes.
---@param range? { first: integer, last: integer }
function M.write(range)
  local buf = api.nvim_get_current_buf()
  if vim.bo[buf].buftype ~= "" or api.nvim_buf_get_name(buf) == "" then
    return say.info("comments are for files")
  end
  range = range or selected()
  local path = files.path_of(buf)
  local first, last = lines_at(buf, range)
  local index = find(path, first)
  local comment = index and comments[index]
  if comment then
    first, last = comment.first, comment.last
  end
  vim.ui.input({ prompt = "Comment: ", default = comment and comment.text or "" }, function(text)
    if not text or not api.nvim_buf_is_loaded(buf) then
      return
    end
    text = vim.trim(text)
    if comment then
      erase(comment)
      comments = vim.tbl_filter(function(other)
        return other ~= comment
      end, comments)
    end
    if text ~= "" then
      comment = { path = path, text = text, first = first, last = last, quoted = {} }
      table.insert(comments, comment)
      draw(comment, buf)
    end
  end)
end

--- By file, and by line in each.
---@return agent.review.Comment[]
local function in_order()
  vim.tbl_map(look, comments)
  local order = vim.list_slice(comments)
  table.sort(order, function(a, b)
    if a.path ~= b.path then
      return a.path < b.path
    end
    return a.first < b.first
  end)
  return order
end

--- Shows them in the quickfix list.
function M.list()
  if #comments == 0 then
    return say.info("no comments: grm writes one")
  end
  local items = vim.tbl_map(function(comment)
    return { filename = comment.path, lnum = comment.first, end_lnum = comment.last, text = comment.text }
  end, in_order())
  vim.fn.setqflist({}, " ", { title = "Agent comments", items = items })
  require("agent.quickfix")()
end

---@param comment agent.review.Comment
---@param root? string
---@return string
local function message_of(comment, root)
  local path = comment.path
  if root and vim.startswith(path, root .. "/") then
    path = path:sub(#root + 2)
  end
  local range = comment.first == comment.last and comment.first or ("%d-%d"):format(comment.first, comment.last)
  local lines = { ("%s:%s"):format(path, range) }
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

--- Sends all of them as one message; then they are gone.
---@param chat agent.Chat
function M.send(chat)
  if #comments == 0 then
    return say.info("no comments to send: grm writes one")
  end
  local parts = vim.tbl_map(function(comment)
    return message_of(comment, chat.timeline.root)
  end, in_order())
  vim.tbl_map(erase, comments)
  local count = #comments
  comments = {}
  chat:send(table.concat(parts, "\n\n"))
  say.info(("%d %s sent"):format(count, count == 1 and "comment" or "comments"))
end

local group = api.nvim_create_augroup("agent.review.comments", { clear = true })

api.nvim_create_autocmd("BufUnload", {
  group = group,
  desc = "agent: keep the places of comments",
  callback = function(event)
    for _, comment in ipairs(comments) do
      if comment.buf == event.buf then
        look(comment)
        comment.mark, comment.below, comment.buf = nil, nil, nil
      end
    end
  end,
})

api.nvim_create_autocmd("BufReadPost", {
  group = group,
  desc = "agent: show comments",
  callback = function(event)
    local path = #comments > 0 and files.path_of(event.buf)
    for _, comment in ipairs(comments) do
      if comment.path == path then
        draw(comment, event.buf)
      end
    end
  end,
})

return M
