--- Review of the agent's changes: hunks in the buffers, which the user keeps or undoes one by one.
local api = vim.api
local apply = require("agent.reload.apply")
local client = require("agent.client")
local comments = require("agent.review.comments")
local config = require("agent.config")
local files = require("agent.review.files")
local hunks_of = require("agent.review.hunks")
local keys = require("agent.review.keys")
local list = require("agent.review.list")
local marks = require("agent.review.marks")
local offers = require("agent.review.offers")
local save = require("agent.reload.save")
local say = require("agent.ui.say")
local track = require("agent.review.track")
local whole = require("agent.review.whole")

local M = {}

--- Chats with a running turn. Their files are requested once, at its end.
local running = {} ---@type table<integer, true>

--- Shows the hint of the hunk that the cursor is in.
---@param buf integer
local function show_hint(buf)
  local it = track.get(buf)
  if not it or buf ~= api.nvim_get_current_buf() then
    return marks.hint(buf)
  end
  local hunk, index = hunks_of.at(it.hunks, api.nvim_win_get_cursor(0)[1], #it.lines)
  if not hunk then
    return marks.hint(buf)
  end
  local words, short = { ("%d of %d"):format(index, #it.hunks) }, { ("%d/%d"):format(index, #it.hunks) }
  local wanted = keys.wanted()
  for _, name in ipairs({ "keep", "undo", "next" }) do
    table.insert(words, wanted[name] and wanted[name] .. " " .. name)
    table.insert(short, wanted[name])
  end
  marks.hint(buf, hunk, { table.concat(words, " · "), table.concat(short, " "), short[1] })
end

---@param it agent.review.Tracked
---@param hunk agent.review.Hunk
local function go_to(it, hunk)
  local row = math.max(math.min(hunk.row, #it.lines), 1)
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { row, 0 })
  vim.cmd("normal! ^zv")
  marks.show_removed(it, hunk, api.nvim_get_current_win())
end

--- Lists everything to review in this project in the quickfix list.
function M.list()
  files.refresh({ texts = true, done = list.show, failed = say.error })
end

---@param step 1|-1
local function move(step)
  local it = track.get(api.nvim_get_current_buf())
  if not it or #it.hunks == 0 then
    return M.list()
  end
  local hunk
  for _ = 1, vim.v.count1 do
    local row = hunk and hunk.row or api.nvim_win_get_cursor(0)[1]
    hunk = hunks_of.beside(it.hunks, row, step)
  end
  if hunk then
    go_to(it, hunk)
  end
end

--- Goes to the hunk after the last one, in the same window.
---@param it agent.review.Tracked
---@param row integer
local function go_on(it, row)
  local next_one = it.buf == api.nvim_get_current_buf() and #it.hunks > 0 and hunks_of.beside(it.hunks, row - 1, 1)
  if next_one then
    go_to(it, next_one)
  end
end

--- Undoes hunks of a buffer. A buffer without unsaved text is saved, byte for byte.
---@param it agent.review.Tracked
---@param hunks agent.review.Hunk[]
---@return boolean done
local function undo_hunks(it, hunks)
  local had_unsaved = vim.bo[it.buf].modified
  local done, problem = track.undo(it, hunks)
  if not done then
    say.error("cannot undo: " .. problem)
  elseif not had_unsaved then
    if save.save_exactly(it.buf) then
      files.tell(it)
    else
      say.warn("hunk undone, but the file could not be saved; :write saves it")
    end
  end
  return done
end

--- True if undoing its hunks deletes the file.
---@param it agent.review.Tracked
---@param file? agent.review.File
---@return boolean
local function is_new(it, file)
  return file ~= nil and file.kind == "created" and #track.baseline(it) == 0
end

--- True if its undo is a step of its buffer. The engine does the others.
---@param it? agent.review.Tracked
---@param file? agent.review.File
---@return boolean
local function is_in_buffer(it, file)
  return it ~= nil and #it.hunks > 0 and not (file and (file.kind == "renamed" or is_new(it, file)))
end

---@param paths string[]
---@param buffers table<string, agent.review.Tracked>
---@param done fun(undone: table<string, string>)  path → the session that has undone it, or list.IN_BUFFER
local function undo_files(paths, buffers, done)
  local undone, others = {}, {} ---@type table<string, string>, agent.review.File[]
  for _, path in ipairs(paths) do
    local it, file = buffers[path], files.get(path)
    if it and is_in_buffer(it, file) then
      undone[path] = undo_hunks(it, it.hunks) and list.IN_BUFFER or nil
    else
      table.insert(others, file)
    end
  end
  whole.undo(others, function(by_engine)
    for _, file in ipairs(others) do
      undone[file.path] = by_engine[file.path] and (file.sessionId or "?")
    end
    done(undone)
  end)
end

---@param paths string[]
---@param buffers table<string, agent.review.Tracked>
---@param done fun(kept: table<string, string>) by path
local function keep_files(paths, buffers, done)
  local kept = {} ---@type table<string, string>
  for _, path in ipairs(paths) do
    local it, file = buffers[path], files.get(path)
    if it and #it.hunks > 0 then
      track.keep(it, it.hunks)
      files.tell(it)
    elseif file then
      whole.keep(file)
    end
    kept[path] = list.IN_BUFFER
  end
  done(kept)
end

---@param it agent.review.Tracked
---@return boolean
local function has_hunks(it)
  return #it.hunks > 0
end

--- Paths with something to review, and the buffers with their hunks.
---@param is_wanted fun(path: string): boolean
---@return string[]
---@return table<string, agent.review.Tracked>
local function waiting(is_wanted)
  local paths, buffers = {}, {} ---@type string[], table<string, agent.review.Tracked>
  for _, it in ipairs(vim.tbl_filter(has_hunks, track.all())) do
    local path = files.path_of(it.buf)
    if is_wanted(path) then
      table.insert(paths, path)
      buffers[path] = it
    end
  end
  for _, file in ipairs(files.list()) do
    if not buffers[file.path] and is_wanted(file.path) then
      table.insert(paths, file.path)
    end
  end
  return paths, buffers
end

---@class agent.review.Selection  files to settle; default: all
---@field is_wanted fun(path: string): boolean
---@field none string        the message if nothing of them waits
---@field way_back fun(undone: table<string, string>): string  ends the message of an undo, see list.lua
---@field show fun(verb: "keep"|"undo", settled: table<string, string>)  marks the files

---@type agent.review.Selection
local ALL = {
  none = "nothing to review",
  is_wanted = function()
    return true
  end,
  way_back = function()
    return ""
  end,
  show = function() end,
}

--- Settles buffers and files to review, each file once.
---@param verb "keep"|"undo"
---@param chosen agent.review.Selection
local function settle_all(verb, chosen)
  local function run()
    local paths, buffers = waiting(chosen.is_wanted)
    if #paths == 0 then
      return say.info(chosen.none)
    end
    local settle_files = verb == "keep" and keep_files or undo_files
    settle_files(paths, buffers, function(settled)
      list.remove(settled)
      chosen.show(verb, settled)
      local way_back = verb == "undo" and chosen.way_back(settled) or ""
      say.info(list.outcome(verb, vim.tbl_count(settled), #paths) .. way_back)
    end)
  end
  files.refresh({ texts = true, done = run, failed = say.error })
end

--- Loads the file of a list entry if no buffer has it.
---@param place { buf: integer, path: string }
---@param each fun(it?: agent.review.Tracked, file?: agent.review.File)
local function with_tracked(place, each)
  local file = files.get(place.path)
  if api.nvim_buf_is_loaded(place.buf) or not file or file.opaque or file.kind == "deleted" then
    return each(track.get(place.buf), file)
  end
  vim.cmd(("silent! call bufload(%d)"):format(place.buf))
  local function run()
    each(track.get(place.buf), files.get(place.path))
  end
  files.refresh({ chat = file.chat, texts = true, done = run, failed = say.error })
end

---@param verb "keep"|"undo"
---@param scope "hunk"|"file"|"all"
local function settle(verb, scope)
  if scope == "all" then
    return settle_all(verb, ALL)
  end
  local place = list.place()
  if scope == "file" then
    local it, file = track.get(place.buf), files.get(place.path)
    if not file and not (it and #it.hunks > 0) then
      return say.info("nothing to review in this file")
    end
    local settle_files = verb == "keep" and keep_files or undo_files
    return settle_files({ place.path }, { [place.path] = it }, function() end)
  end
  with_tracked(place, function(it, file)
    local hunk = it and hunks_of.at(it.hunks, place.row, #it.lines)
    if not it or not hunk then
      return say.info(it and #it.hunks > 0 and "no hunk under the cursor" or "no hunks left")
    elseif verb == "keep" then
      track.keep(it, { hunk })
      files.tell(it)
    elseif #it.hunks == 1 and is_new(it, file) then
      whole.undo({ file }, function() end)
    else
      undo_hunks(it, { hunk })
    end
    if hunk and config.get().review.advance then
      go_on(it, hunk.row)
    end
  end)
end

local function diff()
  with_tracked(list.place(), function(it)
    if not it or #it.hunks == 0 then
      return say.info("nothing to review in this file")
    end
    require("agent.review.diff").open(it)
  end)
end

---@type table<string, fun(range?: { first: integer, last: integer })>
local actions = {
  comment = comments.write,
  comments = comments.list,
  next = function()
    move(1)
  end,
  previous = function()
    move(-1)
  end,
  diff = diff,
}
for _, verb in ipairs({ "keep", "undo" }) do
  for _, scope in ipairs({ "hunk", "file", "all" }) do
    actions[scope == "hunk" and verb or verb .. "_" .. scope] = function()
      settle(verb, scope)
    end
  end
end

--- Runs the action of a key, or opens the diff.
---@param name string
---@param range? { first: integer, last: integer } of lines
---@return boolean known
function M.run(name, range)
  if actions[name] then
    actions[name](range)
  end
  return actions[name] ~= nil
end

--- Keeps or undoes the files of a turn's list, without opening them.
---@param verb "keep"|"undo"
---@param listed agent.ListedFiles
function M.settle_listed(verb, listed)
  settle_all(verb, list.selection(listed))
end

keys.start(M.run)

--- Called once, by the starter.
---@param chats agent.Chats
function M.connect(chats)
  files.chat_of = function(id)
    local chat = id and chats.get(id) or chats.get()
    local place = chat:place()
    return {
      id = chat.id,
      place = function()
        return place
      end,
    }
  end
  offers.start(M.run, function()
    require("agent.review.why").show(chats)
  end)
end

--- Larger buffers follow the agent without review; in lines, in bytes.
local MAX_LINES, MAX_BYTES = 200000, 10 * 1024 * 1024

apply.on_agent = function(buf, before, has_unsaved)
  local count = api.nvim_buf_line_count(buf)
  if count > MAX_LINES or api.nvim_buf_get_offset(buf, count) > MAX_BYTES then
    track.drop(buf)
    return function() end
  end
  return track.agent_changes(buf, before, has_unsaved)
end

track.listen(function(it)
  if api.nvim_buf_is_loaded(it.buf) then
    show_hint(it.buf)
  end
end)

client.listen(function(batch)
  for _, update in ipairs(batch) do
    if update.type == "file_modified" then
      files.file_modified(update)
      if not running[update.chat] then
        files.refresh_soon(update.chat, false)
      end
    elseif update.type == "turn_started" then
      running[update.chat] = true
    elseif update.type == "turn_done" then
      running[update.chat] = nil
      files.refresh_soon(update.chat, false)
    elseif update.type == "ready" then
      files.refresh_soon(update.chat, true)
    end
  end
end)

local group = api.nvim_create_augroup("agent.review", { clear = true })

---@param event string|string[]
---@param desc string
---@param callback fun(event: table)
local function on(event, desc, callback)
  api.nvim_create_autocmd(event, { group = group, desc = "agent: " .. desc, callback = callback })
end

on("BufReadPost", "show hunks", function(event)
  files.buffer_read(event.buf)
end)

on("BufWritePost", "note what there is to review", function(event)
  local it = track.get(event.buf)
  local waits = it and (#it.hunks > 0 or files.get(files.path_of(event.buf)))
  -- Not for a copy under another name.
  if it and waits and not vim.bo[event.buf].modified then
    files.tell(it)
  end
end)

on("BufWinEnter", "draw hunks", function(event)
  local it = track.get(event.buf)
  if it then
    marks.draw(it)
  end
end)

local function fit()
  for _, it in ipairs(track.all()) do
    marks.fit(it)
  end
  show_hint(api.nvim_get_current_buf())
end

on({ "WinResized", "VimResized" }, "fit removed lines", fit)

local FITTED = { "diff", "wrap", "termguicolors" }

on({ "WinClosed", "OptionSet" }, "fit removed lines", function(event)
  if event.event == "WinClosed" or vim.list_contains(FITTED, event.match) then
    vim.schedule(fit)
  end
end)

on("WinScrolled", "show what was removed above the first line", function()
  for id, change in pairs(vim.v.event) do
    local win = tonumber(id)
    local it = win and change.topline ~= 0 and api.nvim_win_is_valid(win) and track.get(api.nvim_win_get_buf(win))
    if it and it.hunks[1] and it.hunks[1].row == 1 then
      marks.show_removed(it, it.hunks[1], win)
    end
  end
end)

on({ "CursorMoved", "BufLeave", "BufEnter" }, "say what can be done with a hunk", function(event)
  if track.is_tracked(event.buf) then
    show_hint(event.buf)
  end
end)

on("VimLeavePre", "finish what was said to the engine", files.settle)

return M
