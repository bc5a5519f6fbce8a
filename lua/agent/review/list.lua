--- Lists everything to review in the quickfix list.
local api = vim.api
local files = require("agent.review.files")
local format = require("agent.ui.format")
local find = require("agent.reload.find")
local hunks_of = require("agent.review.hunks")
local merge = require("agent.reload.merge")
local say = require("agent.ui.say")
local track = require("agent.review.track")

local M = {}

---@param added integer
---@param removed integer
---@return string
local function counts(added, removed)
  return ("+%d −%d"):format(added, removed)
end

---@param hunk agent.review.Hunk
---@param lines string[]
---@return string
local function hunk_text(hunk, lines)
  local line = hunk.count > 0 and lines[hunk.row] or hunk.removed[1] or ""
  return ("%s  %s"):format(counts(hunk.count, #hunk.removed), vim.trim(line))
end

---@param path string
---@param hunks agent.review.Hunk[]
---@param lines string[]
---@return table[]
local function hunk_items(path, hunks, lines)
  return vim.tbl_map(function(hunk)
    local row = math.max(math.min(hunk.row, #lines), 1)
    return {
      filename = path,
      lnum = row,
      end_lnum = row + math.max(hunk.count - 1, 0),
      col = 1,
      text = hunk_text(hunk, lines),
    }
  end, hunks)
end

--- Describes a file that is reviewed as a whole.
---@param file agent.review.File
---@return string
local function whole_text(file)
  local what = file.kind == "renamed" and "renamed from " .. vim.fn.fnamemodify(file.from or "?", ":~:.") or file.kind
  local size = file.opaque and "binary or large" or counts(file.added, file.removed)
  return ("%s  %s"):format(what, size)
end

--- The hunks of a file: those of its buffer, else computed from its texts.
---@param file agent.review.File  with its texts
---@return table[]
local function items_of(file)
  for _, buf in ipairs(find.buffers(file.path)) do
    local it = track.get(buf)
    if it and #it.hunks > 0 then
      return hunk_items(file.path, it.hunks, it.lines)
    end
  end
  if not file.opaque and file.kind ~= "deleted" then
    local lines = files.lines(file.after)
    local hunks = hunks_of.between(merge.merge3(lines, files.lines(file.baseline), lines).lines, lines)
    if #hunks > 0 then
      return hunk_items(file.path, hunks, lines)
    end
  end
  return { { filename = file.path, lnum = 1, col = 1, text = whole_text(file) } }
end

--- A window for files: the current one, unless that is a float or a special window.
---@return integer
local function file_window()
  local current = api.nvim_get_current_win()
  for _, win in ipairs({ current, unpack(api.nvim_tabpage_list_wins(0)) }) do
    local buf = api.nvim_win_get_buf(win)
    if api.nvim_win_get_config(win).relative == "" and vim.bo[buf].buftype == "" then
      return win
    end
  end
  return current
end

local TITLE = "Agent review"

--- Fills the quickfix list, opens it and goes to its first entry.
---@param waiting agent.review.File[]  with their texts
function M.show(waiting)
  table.sort(waiting, function(a, b)
    return a.path < b.path
  end)
  local items = {}
  local listed = {} ---@type table<string, true>
  for _, file in ipairs(waiting) do
    vim.list_extend(items, items_of(file))
    listed[file.path] = true
  end
  -- The agent's changes of unsaved text are in no file yet.
  for _, it in ipairs(track.all()) do
    local path = files.path_of(it.buf)
    if not listed[path] then
      vim.list_extend(items, hunk_items(path, it.hunks, it.lines))
    end
  end
  if #items == 0 then
    return say.info("nothing to review")
  end
  vim.fn.setqflist({}, " ", { title = TITLE, items = items })
  api.nvim_set_current_win(file_window())
  require("agent.ui.quickfix")()
  vim.cmd("wincmd p")
  vim.cmd("cfirst")
end

--- Removes the entries of settled files from every list of the review. A window with an empty list is closed.
---@param settled table<string, string> by path
function M.remove(settled)
  for number = 1, vim.fn.getqflist({ nr = "$" }).nr do
    local one = vim.fn.getqflist({ nr = number, id = 0, title = true, items = true })
    if one.title == TITLE then
      local items = vim.tbl_filter(function(item)
        return not settled[files.path_of(item.bufnr)]
      end, one.items)
      vim.fn.setqflist({}, "r", { id = one.id, items = items, title = TITLE })
    end
  end
  local current = vim.fn.getqflist({ title = true, size = true })
  if current.title == TITLE and current.size == 0 then
    -- It may be the last window.
    pcall(vim.cmd.cclose)
  end
end

--- "kept the changes of 3 files", "undid the changes of 2 of 3 files"
---@param verb "keep"|"undo"
---@param count integer settled files
---@param all integer
---@return string
function M.outcome(verb, count, all)
  local done = verb == "keep" and "kept" or "undid"
  return ("%s the changes of %s%s"):format(done, count < all and count .. " of " or "", format.plural(all, "file"))
end

---@class agent.ListedFiles
---@field chat agent.Chat  with the list
---@field files { path: string, kind: string, count?: integer }[]  see ShownFile in protocol/ui.ts
---@field session? string  of the chat
---@field show fun(paths: table<string, any>, state?: "kept"|"undone")  marks them in the list

--- Stands for the session of a file that was undone in its buffer.
M.IN_BUFFER = ""

--- Lists with a file that was undone in this buffer, and the undo state of the buffer then.
local lists_of = {} ---@type table<integer, { seq: integer, listed: agent.ListedFiles }>

track.listen(function(it)
  local one = lists_of[it.buf]
  if one and it.seq < one.seq then
    -- The user brought the changes back with `u`.
    lists_of[it.buf] = nil
    one.listed.show({ [files.path_of(it.buf)] = true })
  end
end)

---@param listed agent.ListedFiles
---@param verb "keep"|"undo"
---@param settled table<string, string>
local function show_settled(listed, verb, settled)
  listed.show(settled, verb == "keep" and "kept" or "undone")
  for _, it in ipairs(verb == "undo" and track.all() or {}) do
    if settled[files.path_of(it.buf)] == M.IN_BUFFER then
      lists_of[it.buf] = { seq = it.seq, listed = listed }
    end
  end
end

--- "; u in its buffer brings them back", "; :Agent redo brings them back"
---@param session? string  the chat's
---@param undone table<string, string>  path → the session that has undone it
---@return string
local function way_back(session, undone)
  local in_buffers, by_session = 0, 0
  for _, by in pairs(undone) do
    in_buffers = in_buffers + (by == M.IN_BUFFER and 1 or 0)
    by_session = by_session + (by == session and 1 or 0)
  end
  if in_buffers + by_session < vim.tbl_count(undone) or in_buffers + by_session == 0 then
    -- Another session has undone some of them.
    return ""
  end
  local ways = { in_buffers > 0 and (in_buffers == 1 and "u in its buffer" or "u in each buffer") or nil }
  table.insert(ways, by_session > 0 and ":Agent redo" or nil)
  return ("; %s %s them back"):format(table.concat(ways, " and "), #ways == 1 and "brings" or "bring")
end

--- The files of a turn's list as a selection.
---@param listed agent.ListedFiles
---@return agent.review.Selection
function M.selection(listed)
  local paths, folders = {}, {} ---@type table<string, true>, { path: string, kind: string }[]
  for _, file in ipairs(listed.files) do
    if file.count then
      table.insert(folders, file)
    else
      paths[file.path] = true
    end
  end
  return {
    none = #listed.files == 1 and "nothing to review in this file" or "nothing to review in these files",
    is_wanted = function(path)
      local file = files.get(path)
      return paths[path] or vim.iter(folders):any(function(folder)
        return file ~= nil and file.kind == folder.kind and vim.startswith(path, folder.path .. "/")
      end)
    end,
    way_back = function(undone)
      return way_back(listed.session, undone)
    end,
    show = function(verb, settled)
      show_settled(listed, verb, settled)
    end,
  }
end

--- The place at the cursor, or of the entry under it in a quickfix window.
---@return { buf: integer, path: string, row: integer }
function M.place()
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  if vim.bo[buf].buftype == "quickfix" then
    local info = vim.fn.getwininfo(api.nvim_get_current_win())[1]
    local items = info.loclist == 1 and vim.fn.getloclist(0) or vim.fn.getqflist()
    local item = items[row]
    if item and item.bufnr > 0 then
      buf, row = item.bufnr, item.lnum
    end
  end
  return { buf = buf, path = files.path_of(buf), row = row }
end

return M
