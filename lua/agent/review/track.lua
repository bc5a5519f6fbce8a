--- Tracks buffers with hunks through changes by the agent, the user and undo.
---
--- A baseline is never stored: it is the text with all hunks undone. Text that the user types outside of hunks is
--- therefore kept as it is typed.
local api = vim.api
local changes = require("agent.review.changes")
local codec = require("agent.reload.codec")
local hunks_of = require("agent.review.hunks")
local merge = require("agent.reload.merge")

local M = {}

---@class agent.review.Tracked
---@field buf integer
---@field lines string[]  the text of `hunks`
---@field hunks agent.review.Hunk[]
---@field pending? agent.review.Change  changes since then
---@field seq integer     undo state of `lines`
---@field top integer     newest undo state
---@field steps table<integer, integer>  undo states made by the agent or by undoing hunks, and the states before them
---@field known table<integer, agent.review.Hunk[]>  the hunks in these states and in those before them
---@field on_disk? string[]  baseline of the text on disk
---@field marks table<integer, true>  extmarks of hunks
---@field space? string   space of the last drawing

local tracked = {} ---@type table<integer, agent.review.Tracked>
--- Called when the hunks of a buffer may have changed.
local listeners = {} ---@type fun(it: agent.review.Tracked)[]

---@param listener fun(it: agent.review.Tracked)
function M.listen(listener)
  table.insert(listeners, listener)
end

---@param it agent.review.Tracked
function M.changed(it)
  for _, listener in ipairs(listeners) do
    listener(it)
  end
end

---@param buf integer
---@return integer
local function undo_state(buf)
  if buf == api.nvim_get_current_buf() then
    return vim.fn.changenr()
  end
  return api.nvim_buf_call(buf, vim.fn.changenr)
end

---@param buf integer
---@return string[]
function M.lines_of(buf)
  return codec.of_buffer(buf).lines
end

--- The hunks after an undo or redo of one of our steps; nil for other changes, or for several at once.
---@param it agent.review.Tracked
---@return boolean is_own
---@return boolean is_undo
local function own_step(it)
  local now = undo_state(it.buf)
  local before, top = it.seq, it.top
  it.seq, it.top = now, math.max(top, now)
  local is_undo = now <= top and now ~= before
  -- In a branched undo tree the previous state may have any number.
  return it.steps[before] == now or is_undo and it.steps[now] == before, is_undo
end

---@param it agent.review.Tracked
---@return agent.merge.Hunk[] edits  of the user's, in terms of the whole text
---@return table<integer, string> old  the replaced lines
local function take_changes(it)
  local pending = it.pending --[[@as table]]
  it.pending = nil
  local old = it.lines
  local region = api.nvim_buf_get_lines(it.buf, pending.first, pending.new_last, false)
  local is_empty = api.nvim_buf_line_count(it.buf) == 1 and (region[1] or "") == ""
  if #old == 0 or is_empty then
    -- A buffer without lines looks like one with an empty line.
    it.lines = M.lines_of(it.buf)
    return merge.hunks(old, it.lines), old
  end
  local edits = merge.hunks(vim.list_slice(old, pending.first + 1, pending.last), region)
  for _, edit in ipairs(edits) do
    edit.start, edit.new_start = edit.start + pending.first, edit.new_start + pending.first
  end
  local replaced = {}
  for i = pending.first + 1, pending.last do
    replaced[i] = old[i]
  end
  changes.splice(it.lines, pending.first + 1, pending.last - pending.first, region)
  return edits, replaced
end

---@param hunks agent.review.Hunk[]
---@return agent.review.Hunk[]  not drawn yet
local function copies_of(hunks)
  return vim.tbl_map(function(hunk)
    return { row = hunk.row, count = hunk.count, removed = hunk.removed, stale = true }
  end, hunks)
end

--- Updates the hunks to the present text.
---@param it agent.review.Tracked
function M.flush(it)
  if not it.pending or not api.nvim_buf_is_loaded(it.buf) then
    return
  end
  local is_own, is_undo = own_step(it)
  if is_own then
    -- The kept text stays: the agent's lines and their hunks disappear, or come back.
    local baseline = hunks_of.take_back(it.lines, it.hunks)
    it.pending = nil
    it.lines = M.lines_of(it.buf)
    it.hunks = hunks_of.between(baseline, it.lines)
    return M.changed(it)
  end
  local known = is_undo and it.known[it.seq]
  if known then
    -- Several steps at once, such as `:undo 0` and `:earlier 1f`.
    it.pending = nil
    it.lines = M.lines_of(it.buf)
    it.hunks = copies_of(known)
    return M.changed(it)
  end
  local changed = it.pending --[[@as agent.review.Change]]
  local edits, old = take_changes(it)
  if #it.hunks == 0 then
    return
  end
  if #edits > 0 then
    it.hunks = hunks_of.follow(it.hunks, edits, old, it.lines, is_undo)
  end
  for _, hunk in ipairs(it.hunks) do
    -- Extmarks within rewritten lines move to wrong places, and those at the end to the last line.
    local near = hunk.row <= changed.new_last + 1 and hunk.row + hunk.count >= changed.first
    hunk.stale = hunk.stale or near or hunk.row > #it.lines or nil
  end
  M.changed(it)
end

---@param it agent.review.Tracked
---@param first integer
---@param last integer
---@param new_last integer
local function note(it, first, last, new_last)
  local pending = it.pending
  if pending then
    changes.add(pending, first, last, new_last)
  else
    pending = { first = first, last = last, new_last = new_last }
    it.pending = pending
    vim.schedule(function()
      if tracked[it.buf] == it then
        M.flush(it)
      end
    end)
  end
  local count = math.max(#it.lines, 1) + pending.new_last - pending.last
  if count ~= api.nvim_buf_line_count(it.buf) then
    -- A buffer that loses all lines gets an empty one, without an event.
    pending.first, pending.last, pending.new_last = 0, math.max(#it.lines, 1), api.nvim_buf_line_count(it.buf)
  end
end

---@param it agent.review.Tracked
local function attach(it)
  api.nvim_buf_attach(it.buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if tracked[it.buf] ~= it then
        return true
      end
      note(it, first, last, new_last)
    end,
    on_reload = function()
      -- Read again from disk: its review is requested again.
      M.drop(it.buf)
    end,
    on_detach = function()
      M.drop(it.buf)
    end,
  })
end

--- The buffer with its present hunks.
---@param buf integer
---@return agent.review.Tracked?
function M.get(buf)
  local it = tracked[buf]
  if it then
    M.flush(it)
  end
  return it
end

---@param buf integer
---@return boolean
function M.is_tracked(buf)
  return tracked[buf] ~= nil
end

--- The number of hunks in a buffer.
---@param buf integer
---@return integer
function M.count(buf)
  local it = M.get(buf)
  return it and #it.hunks or 0
end

---@return agent.review.Tracked[]
function M.all()
  local list = vim.tbl_values(tracked)
  for _, it in ipairs(list) do
    M.flush(it)
  end
  table.sort(list, function(a, b)
    return a.buf < b.buf
  end)
  return list
end

---@param buf integer
---@return agent.review.Tracked
local function ensure(buf)
  local it = M.get(buf)
  if not it then
    local seq = undo_state(buf)
    it = { buf = buf, lines = M.lines_of(buf), hunks = {}, seq = seq, top = seq, steps = {}, known = {}, marks = {} }
    tracked[buf] = it
    attach(it)
  end
  return it
end

--- Ends the review of this buffer.
---@param buf integer
function M.drop(buf)
  local it = tracked[buf]
  if it then
    tracked[buf] = nil
    it.hunks = {}
    M.changed(it)
  end
end

--- The kept and typed text.
---@param it agent.review.Tracked
---@return string[]
function M.baseline(it)
  return hunks_of.take_back(it.lines, it.hunks)
end

--- Begins to track a buffer whose text was compared with this one.
---@param buf integer
---@param baseline string[]
---@return agent.review.Tracked
function M.start(buf, baseline)
  local it = ensure(buf)
  it.hunks = hunks_of.between(baseline, it.lines)
  it.on_disk = baseline
  M.changed(it)
  return it
end

--- Records that one of our changes has become an undo step.
---@param it agent.review.Tracked
---@param before agent.review.Hunk[]
local function note_step(it, before)
  local now = undo_state(it.buf)
  if now ~= it.seq then
    it.steps[now] = it.seq
    it.known[it.seq], it.known[now] = before, copies_of(it.hunks)
    it.seq, it.top = now, math.max(it.top, now)
  end
end

--- Called before the agent changes the text of a buffer. Call the returned function afterwards.
---@param buf integer
---@param before? string[]  the file's text before, if the agent has written the file
---@param has_unsaved boolean
---@return fun(applied: agent.reload.Applied)
function M.agent_changes(buf, before, has_unsaved)
  local known, was_behind = tracked[buf] ~= nil, false
  local it = ensure(buf)
  local baseline, hunks_before = M.baseline(it), copies_of(it.hunks)
  if before and not has_unsaved and not vim.deep_equal(before, it.lines) then
    -- Others have changed the file since the buffer was read, which the buffer shows only now.
    baseline, was_behind = merge.merge3(it.lines, baseline, before).lines, true
  end
  return function(applied)
    -- The buffer may have had the agent's text before the file.
    if applied ~= "changed" and not (applied == "none" and was_behind) then
      if not known then
        M.drop(buf)
      end
      return
    end
    it.pending = nil
    it.lines = M.lines_of(buf)
    it.hunks = hunks_of.between(baseline, it.lines)
    if not has_unsaved then
      it.on_disk = baseline
    elseif before and not it.on_disk then
      it.on_disk = before
    end
    note_step(it, hunks_before)
    M.changed(it)
  end
end

--- Keeps these hunks.
---@param it agent.review.Tracked
---@param chosen agent.review.Hunk[]
function M.keep(it, chosen)
  local before = M.baseline(it)
  local keep = {}
  for _, hunk in ipairs(chosen) do
    keep[hunk] = true
  end
  it.hunks = vim.tbl_filter(function(hunk)
    return not keep[hunk]
  end, it.hunks)
  -- Undoing a step with a kept part is an edit of the user.
  it.steps, it.known = {}, {}
  if it.on_disk then
    it.on_disk = merge.merge3(before, M.baseline(it), it.on_disk).lines
  end
  M.changed(it)
end

--- Undoes these hunks as one undo step.
---@param it agent.review.Tracked
---@param chosen agent.review.Hunk[]
---@return boolean done
---@return string? problem
function M.undo(it, chosen)
  local apply = require("agent.reload.apply")
  local mine = codec.of_buffer(it.buf)
  local taken, hunks_before = {}, copies_of(it.hunks)
  for _, hunk in ipairs(chosen) do
    taken[hunk] = true
  end
  local theirs = { lines = hunks_of.take_back(it.lines, chosen), format = mine.format }
  local applied, reason = apply.apply(it.buf, mine, theirs)
  if applied == "locked" or applied == "failed" then
    return false, reason or "Neovim does not allow changes of text at the moment"
  end
  it.pending = nil
  it.lines = theirs.lines
  it.hunks = hunks_of.without(it.hunks, taken)
  for _, hunk in ipairs(it.hunks) do
    hunk.stale = true
  end
  note_step(it, hunks_before)
  M.changed(it)
  return true
end

return M
