--- The user's comments on lines, sent together as one message. They move with their lines, and the message quotes the
--- buffer's text, saved or not. Unsent comments survive Neovim.
local api = vim.api
local client = require("agent.client")
local files = require("agent.review.files")
local find = require("agent.reload.find")
local hunks_of = require("agent.review.hunks")
local marks = require("agent.review.comment_marks")
local say = require("agent.ui.say")
local store = require("agent.review.comment_store")
local track = require("agent.review.track")

local M = {}

--- Larger files get no comments of agents.
local MAX_BYTES = 10 * 1024 * 1024

---@type agent.review.Comment[]
local comments = {}
--- Buffers with a file's text before the agent's changes, see diff.lua.
---@type table<integer, string>
local before = {}
--- Comments in a message that is not stored yet.
---@type { chat: agent.Chat, text: string, ids: string[] }[]
local sending = {}

--- The side of a file that a buffer shows.
---@param buf integer
---@return { path?: string, side: "file"|"before" }?
local function subject(buf)
  if before[buf] then
    return { path = before[buf], side = "before" }
  elseif vim.bo[buf].buftype == "" then
    return { path = api.nvim_buf_get_name(buf) ~= "" and files.path_of(buf) or nil, side = "file" }
  end
end

---@param comment agent.review.Comment
---@param buf integer
---@return boolean
local function is_in(comment, buf)
  local its = subject(buf)
  if not its or (its.side == "before") ~= (comment.side == "before") then
    return false
  end
  return comment.buf == buf or its.path ~= nil and comment.path == its.path
end

---@param comment agent.review.Comment
local function keep(comment)
  local problem = store.write(comment)
  if problem then
    say.warn("the comment is lost when Neovim ends: " .. problem)
  end
end

---@param gone table<agent.review.Comment, true>
local function forget(gone)
  vim.tbl_map(marks.erase, vim.tbl_keys(gone))
  comments = vim.tbl_filter(function(comment)
    return not gone[comment]
  end, comments)
end

--- Draws the comments of a buffer that was just read.
---@param buf integer
local function show(buf)
  for _, comment in ipairs(comments) do
    if not comment.mark and is_in(comment, buf) then
      marks.relocate(comment, buf)
      marks.draw(comment, buf)
    end
  end
end

--- Reads what other Neovims have written or sent.
local function refresh()
  local known, gone = {}, {}
  for _, comment in ipairs(comments) do
    known[comment.id] = true
  end
  for _, message in ipairs(sending) do
    for _, id in ipairs(message.ids) do
      known[id] = true
    end
  end
  local found = store.list(known)
  for _, comment in ipairs(comments) do
    gone[comment] = comment.is_kept and not found[comment.id] or nil
  end
  forget(gone)
  for id, comment in pairs(found) do
    if comment ~= true then
      comment.id, comment.is_kept = id, true
      table.insert(comments, comment)
    end
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if #comments > 0 and api.nvim_buf_is_loaded(buf) then
      show(buf)
    end
  end
end

--- The comment on a line.
---@param buf integer
---@param row integer
---@param is_deleted boolean
---@return agent.review.Comment?
local function comment_at(buf, row, is_deleted)
  return vim.iter(comments):find(function(comment)
    marks.look(comment)
    local is_there = comment.first <= row and row <= comment.last
    return is_there and (comment.side == "deleted") == is_deleted and is_in(comment, buf)
  end)
end

--- The lines to comment on: a range, else the hunk at the cursor, else the cursor's line.
---@param buf integer
---@param range? { first: integer, last: integer }
---@return integer first
---@return integer last
---@return string[]? deleted lines that a purely deleting hunk has removed
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
  return row, row, hunk and hunk.removed
end

--- Ends Visual mode and returns its lines.
---@return { first: integer, last: integer }?
local function selected()
  if not api.nvim_get_mode().mode:find("^[vV\22]") then
    return nil
  end
  local from, to = vim.fn.line("v"), vim.fn.line(".")
  vim.cmd.normal({ vim.keycode("<Esc>"), bang = true })
  return { first = math.min(from, to), last = math.max(from, to) }
end

--- Asks for a comment on a range, or on the hunk or line at the cursor. An existing comment is changed; an empty text
--- deletes it.
---@param range? { first: integer, last: integer }
function M.write(range)
  local buf = api.nvim_get_current_buf()
  local its = subject(buf)
  if not its then
    return say.info("comments are for files: this window shows none")
  end
  range = range or selected()
  local first, last, deleted = lines_at(buf, range)
  local comment = comment_at(buf, first, deleted ~= nil)
  vim.ui.input({ prompt = "Comment: ", default = comment and comment.text or "" }, function(text)
    if not text or not api.nvim_buf_is_loaded(buf) then
      return
    end
    text = vim.trim(text)
    if text == "" and comment then
      store.remove(comment.id)
      return forget({ [comment] = true })
    elseif text == "" then
      return
    elseif not comment then
      comment = {
        id = store.new_id(),
        path = its.path,
        folder = vim.fn.getcwd(),
        side = deleted and "deleted" or its.side,
        text = text,
        first = first,
        last = last,
        quoted = deleted or {},
      }
      table.insert(comments, comment)
    end
    comment.text, comment.is_own = text, true
    marks.draw(comment, buf)
    keep(comment)
  end)
end

--- Adds a comment of an agent to a line of a file.
---@param path string real
---@param row integer
---@param text string
---@return boolean added false: the file cannot be read
function M.add(path, row, text)
  local buf = find.buffers(path)[1]
  local is_loaded = buf ~= nil and api.nvim_buf_is_loaded(buf)
  local stat = vim.uv.fs_stat(path)
  local is_text = stat ~= nil and stat.type == "file" and stat.size <= MAX_BYTES
  local lines = is_loaded and api.nvim_buf_get_lines(buf, 0, -1, false) or is_text and vim.fn.readfile(path) or {}
  if #lines == 0 then
    return false
  end
  row = math.max(1, math.min(row, #lines))
  local comment = {
    id = store.new_id(),
    path = path,
    folder = vim.fn.getcwd(),
    side = "file",
    text = text,
    first = row,
    last = row,
    quoted = { lines[row] },
  }
  table.insert(comments, comment)
  keep(comment)
  if is_loaded then
    marks.draw(comment, buf)
  end
  return true
end

--- Comments of this chat's project, sorted by file and line.
---@param chat agent.review.Chat
---@return agent.review.Comment[]
---@return string root of the project
local function in_order(chat)
  refresh()
  vim.tbl_map(marks.look, comments)
  local root = chat:place().root
  local order = vim.tbl_filter(function(comment)
    return comment.is_own or vim.startswith((comment.path or comment.folder) .. "/", root .. "/")
  end, comments)
  table.sort(order, function(a, b)
    if a.path ~= b.path then
      return (a.path or "") < (b.path or "")
    end
    return a.first < b.first or a.first == b.first and a.id < b.id
  end)
  return order, root
end

--- Lists them in the quickfix list.
function M.list()
  local order = in_order(files.chat_of())
  if #order == 0 then
    return say.info("no comments: grm writes one")
  end
  local items = vim.tbl_map(function(comment)
    local is_there = not comment.path and comment.buf and api.nvim_buf_is_valid(comment.buf)
    return {
      filename = comment.path,
      bufnr = is_there and comment.buf or nil,
      lnum = comment.first,
      end_lnum = comment.last,
      text = comment.text,
    }
  end, order)
  vim.fn.setqflist({}, " ", { title = "Agent comments", items = items })
  require("agent.ui.quickfix")()
end

--- Sends all of them as one message, which may steer the running turn. They are kept until it is stored.
---@param chat agent.Chat
---@param steer? boolean
function M.send(chat, steer)
  local order, root = in_order(chat)
  if #order == 0 then
    return say.info("no comments to send: grm writes one")
  end
  local parts, gone, ids = {}, {}, {}
  for _, comment in ipairs(order) do
    table.insert(parts, marks.message(comment, root))
    table.insert(ids, comment.id)
    gone[comment] = true
  end
  forget(gone)
  local text = table.concat(parts, "\n\n")
  table.insert(sending, { chat = chat, text = text, ids = ids })
  chat.drafts:keep_elsewhere(text)
  if steer then
    chat.queue:steer(text)
  else
    chat:send(text)
  end
  say.info(("%d %s sent"):format(#parts, #parts == 1 and "comment" or "comments"))
end

--- Notes a buffer with a file's text before the agent's changes.
---@param buf integer
---@param path string
function M.show_before(buf, path)
  before[buf] = path
  show(buf)
end

--- The engine has stored the message.
---@param message { chat: agent.Chat, text: string }
---@return boolean
local function is_stored(message)
  return vim.iter(message.chat.timeline.blocks):rev():any(function(block)
    return block.text == message.text and (block.turn ~= nil or block.status == "steered")
  end)
end

client.listen(function(batch)
  local has_begun = #sending > 0
    and vim.iter(batch):any(function(update)
      return update.type == "turn" or update.type == "user"
    end)
  sending = not has_begun and sending
    or vim.tbl_filter(function(message)
      local done = is_stored(message)
      if done then
        vim.tbl_map(store.remove, message.ids)
      end
      return not done
    end, sending)
end)

local group = api.nvim_create_augroup("agent.review.comments", { clear = true })

---@param event string|string[]
---@param desc string
---@param callback fun(buf: integer)
local function on(event, desc, callback)
  api.nvim_create_autocmd(event, {
    group = group,
    desc = "agent: " .. desc,
    callback = function(args)
      if #comments > 0 then
        callback(args.buf)
      end
    end,
  })
end

on({ "BufUnload", "VimLeavePre" }, "keep the places of comments", function(buf)
  for _, comment in ipairs(comments) do
    if comment.mark and (comment.buf == buf or vim.v.exiting ~= vim.NIL) then
      marks.look(comment)
      keep(comment)
      comment.mark, comment.below, comment.buf = nil, nil, nil
    end
  end
  before[buf] = nil
end)

on("BufReadPost", "show comments", show)

on("BufFilePost", "comments of a buffer that gets a name", function(buf)
  for _, comment in ipairs(comments) do
    if comment.buf == buf and comment.side ~= "before" then
      comment.path = subject(buf).path
      keep(comment)
    end
  end
end)

on({ "WinResized", "VimResized" }, "fit comments", function()
  for _, comment in ipairs(comments) do
    if comment.mark and api.nvim_buf_is_loaded(comment.buf) then
      marks.look(comment)
      marks.draw(comment, comment.buf)
    end
  end
end)

refresh()

return M
