--- Updates one loaded buffer to the current content of its file.
local api = vim.api
local apply = require("agent.reload.apply")
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local notice_of = require("agent.reload.notice")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")
local texts = require("agent.reload.texts")
local version = require("agent.reload.version")
local uv = vim.uv

local M = {}

---@class agent.reload.Source: agent.reload.Snapshot
---@field writes integer  how often Neovim had written the file before

---@class agent.reload.Follow
---@field buf integer
---@field event agent.FileModified
---@field before? string                base of a merge
---@field source? agent.reload.Source
---@field text? string                  the file's text as last seen, without byte order mark
---@field cut? uv.fs_stat.result        the version whose text may be cut
---@field action? agent.reload.Action   what was done in earlier attempts
---@field notice? string                what was said of earlier rounds
---@field tries integer
---@field rounds integer
---@field done fun(result: agent.reload.Result)

-- A completion menu or an expression mapping may lock the text. After ten seconds the user is notified.
local RETRY_MS = 20
local MAX_TRIES = 500
-- If a file is written repeatedly, the event of its last write updates the buffer.
local MAX_ROUNDS = 5
-- A text that may be truncated is accepted if the file has not changed for this long.
local CUT_MS = 100

---@param follow agent.reload.Follow
---@param action agent.reload.Action
---@param notice? string
local function finish(follow, action, notice)
  if action == "none" or follow.action == "conflict" then
    action = follow.action or action
  end
  follow.done({ buffer = follow.buf, action = action, notice = notice or follow.notice })
end

--- The text of the source in the buffer's format. nil if the bytes do not fit the buffer's encoding.
---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@return agent.reload.Text?
local function theirs_of(follow, mine)
  local encoding, bomb ---@type string?, boolean?
  follow.text, encoding, bomb = codec.decode(follow.source.bytes, mine, follow.event.after, not vim.bo[follow.buf].modified)
  if follow.text and encoding then
    return codec.parse(follow.text, mine, encoding, bomb == true)
  end
end

--- True if the file still has the content that was read. Other programs or Neovim may have written it since.
---@param follow agent.reload.Follow
---@param now uv.fs_stat.result?
---@return boolean
local function is_current(follow, now)
  local source = follow.source
  return source ~= nil
    and #source.bytes == source.stat.size
    and source.writes == version.writes(follow.buf)
    and disk.same(source.stat, now)
end

--- True if the text may be from an unfinished write. Programs empty a file before they write it, so the text
--- is then the beginning of the known one.
---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@return boolean
local function may_be_cut(follow, mine)
  local text, after = follow.text, follow.event.after
  if not text or (after and codec.strip_bom(after) == text) then
    return false
  end
  local function begins(whole)
    return #text < #whole and vim.startswith(whole, text)
  end
  return begins((codec.strip_bom(codec.join(mine)))) or begins(follow.before or "")
end

--- A new file that was empty until now could not be recognised by its text before.
---@param buf integer
local function detect_filetype(buf)
  if vim.bo[buf].filetype == "" then
    local filetype = vim.filetype.match({ buf = buf })
    if filetype then
      require("agent.deep").set_filetype(buf, filetype)
    end
  end
end

--- The file's lines before the agent's write, if the event has them.
---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@return string[]?
local function lines_before(follow, mine)
  local before = follow.event.before or follow.event.kind == "created" and "" or nil
  if before and follow.rounds == 0 then
    return codec.parse_for_merge(before, mine).lines
  end
end

--- "again": Neovim allows no changes now. "disk": read the file. "later": read it in a moment, its text may be cut.
---@alias agent.reload.Step "done"|"again"|"disk"|"later"

--- Marks the buffer as written to the version of the file that was read.
---@param follow agent.reload.Follow
---@param keep_modified boolean
---@return agent.reload.Step? instead  the next step if that failed
local function renew(follow, keep_modified)
  local renewed = stamp.renew(follow.buf, keep_modified, follow.source.stat)
  if renewed ~= "renewed" then
    return renewed == "locked" and "again" or "disk"
  end
end

---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@param theirs agent.reload.Text
---@return agent.reload.Step
local function follow_unmodified(follow, mine, theirs)
  local buf = follow.buf
  local applied, reason = apply.by_agent(buf, mine, theirs, lines_before(follow, mine), false)
  if applied == "failed" then
    finish(follow, "none", notice_of.failed(follow.event.path, reason))
    return "done"
  elseif applied == "locked" then
    return "again"
  elseif applied == "changed" then
    follow.action = follow.action or "reloaded"
    follow.before = follow.text -- should another attempt be needed, this is what the buffer is based on
    -- Even if the stamp fails, for example because the file is gone again.
    stamp.set_unmodified(buf)
  end
  local instead = renew(follow, false)
  if instead then
    return instead
  end
  state.clear(buf)
  stamp.write_undo(buf)
  if #mine.lines == 0 then
    detect_filetype(buf)
  end
  finish(follow, "none")
  return "done"
end

--- The buffer has text that is not from the file, so Neovim must still warn at `:write`.
---@param follow agent.reload.Follow
local function keep_warning(follow)
  local buf = follow.buf
  state.set_diverged(buf)
  if follow.event.kind == "created" then
    stamp.guard(buf)
  elseif stamp.hush(buf) == "unknown" then
    vim.schedule(function()
      if api.nvim_buf_is_loaded(buf) and state.is_diverged(buf) then
        stamp.hush(buf)
      end
    end)
  end
end

---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@param theirs agent.reload.Text
---@param on_disk agent.reload.Text
---@return agent.reload.Step
local function follow_modified(follow, mine, theirs, on_disk)
  local buf, event = follow.buf, follow.event
  local before = follow.before
  if not before and event.kind == "created" then
    before = ""
  elseif not before and (event.from or texts.same(mine, theirs)) then
    -- A renamed file is still the one that the buffer was read from.
    before = follow.text
  end
  if not before then
    keep_warning(follow)
    finish(follow, "none", notice_of.unknown_base(event.path))
    return "done"
  end
  local base = codec.parse_for_merge(before, mine)
  local merged, conflicts = texts.merge(base, mine, codec.parse_for_merge(follow.text, mine))
  local applied, reason = apply.by_agent(buf, mine, merged, lines_before(follow, mine), true)
  if applied == "failed" then
    finish(follow, "none", notice_of.failed(event.path, reason))
    return "done"
  elseif applied == "locked" then
    return "again"
  end
  if #conflicts > 0 then
    vim.bo[buf].modified = true
    keep_warning(follow)
    finish(follow, "conflict", notice_of.conflict(event.path, #conflicts))
    return "done"
  end
  local equal = texts.same(merged, on_disk)
  if applied == "changed" then
    follow.action = follow.action or "merged"
    follow.before = follow.text
  end
  if equal or not state.is_diverged(buf) then
    local instead = renew(follow, not equal)
    if instead then
      return instead
    end
    if equal then
      state.clear(buf)
      stamp.write_undo(buf)
    end
  else
    keep_warning(follow)
  end
  finish(follow, "none")
  return "done"
end

--- The agent and Neovim have both written the file from the same text: merges both writes, regardless of
--- which one is on disk.
---@param follow agent.reload.Follow
---@param mine agent.reload.Text  what Neovim has written
---@param on_disk agent.reload.Text
---@return agent.reload.Step
local function follow_written(follow, mine, on_disk)
  local after = follow.event.after
  if not after or not texts.same(mine, on_disk) then
    return follow_modified(follow, mine, on_disk, on_disk)
  end
  follow.text = codec.strip_bom(after)
  local theirs = codec.parse_for_merge(follow.text, mine)
  if texts.same(mine, theirs) then
    return follow_unmodified(follow, mine, on_disk)
  end
  return follow_modified(follow, mine, theirs, on_disk)
end

---@param follow agent.reload.Follow
---@return agent.reload.Step
local function step(follow)
  local buf, event = follow.buf, follow.event
  local now = uv.fs_stat(event.path)
  if event.kind == "modified" and not (event.before or event.after) and version.is(buf, now) then
    finish(follow, "none")
    return "done"
  elseif not is_current(follow, now) then
    return "disk"
  end
  local mine = codec.of_buffer(buf)
  local theirs = theirs_of(follow, mine)
  if may_be_cut(follow, mine) and not (follow.cut and disk.same(follow.cut, now)) then
    follow.cut = now
    return "later"
  elseif not theirs then
    finish(follow, "none", notice_of.not_encoded(event.path, mine.format.fileencoding))
    return "done"
  elseif state.has_unsaved(buf) then
    return follow_modified(follow, mine, theirs, theirs)
  elseif follow.rounds == 0 and follow.before ~= nil and state.was_written(buf, event.since) then
    return follow_written(follow, mine, theirs)
  end
  return follow_unmodified(follow, mine, theirs)
end

local attempt ---@type fun(follow: agent.reload.Follow)

---@param follow agent.reload.Follow
local function read_disk(follow)
  local writes = version.writes(follow.buf)
  disk.read(follow.event.path, function(snapshot)
    if not snapshot then
      -- The file is gone, or is a folder now. Another event handles that.
      return finish(follow, "none")
    end
    follow.source = { stat = snapshot.stat, bytes = snapshot.bytes, writes = writes }
    attempt(follow)
  end)
end

--- The file changes faster than it can be read. `:write` must warn if the buffer contains some of its text.
---@param follow agent.reload.Follow
local function give_up(follow)
  if follow.action and vim.bo[follow.buf].modified then
    keep_warning(follow)
  end
  finish(follow, "none")
end

--- Checks again, because a write between reading the text and the stamp would never be noticed.
---@param follow agent.reload.Follow
local function watch_races(follow)
  local done = follow.done
  follow.done = function(result)
    local now = uv.fs_stat(follow.event.path)
    local seen = follow.source and follow.source.stat
    if follow.rounds >= MAX_ROUNDS or not now or not seen or disk.same(now, seen) then
      return done(result)
    end
    follow.rounds = follow.rounds + 1
    follow.action = result.action ~= "none" and result.action or nil
    follow.before, follow.notice = follow.text, result.notice
    read_disk(follow)
  end
end

---@param follow agent.reload.Follow
---@param outcome agent.reload.Step
local function schedule_next(follow, outcome)
  local is_last = follow.tries >= MAX_TRIES
  if outcome == "again" then
    if is_last then
      return finish(follow, "none", notice_of.locked(follow.event.path))
    end
    vim.defer_fn(function()
      attempt(follow)
    end, follow.tries == 1 and 0 or RETRY_MS)
  elseif outcome ~= "done" then
    if is_last then
      return give_up(follow)
    end
    local wait = outcome == "later" and CUT_MS or follow.tries > 2 and RETRY_MS or 0
    vim.defer_fn(function()
      read_disk(follow)
    end, wait)
  end
end

function attempt(follow)
  local buf = follow.buf
  if not api.nvim_buf_is_loaded(buf) then
    return follow.done({ action = "none" })
  end
  follow.tries = follow.tries + 1
  local ok, outcome = true, "again" ---@type boolean, agent.reload.Step
  -- An autocommand may wait in the middle of a write, for example for a formatter.
  if follow.tries >= MAX_TRIES or not (apply.is_busy(buf) or vim.fn.state("x") ~= "") then
    ok, outcome = xpcall(step, debug.traceback, follow)
  end
  if not ok then
    -- Later events of the file wait for this one, so it must finish.
    return finish(follow, "none", notice_of.failed(follow.event.path, outcome))
  end
  schedule_next(follow, outcome)
end

--- Updates the buffer, at once if the event contains the text and nothing prevents it.
---@param buf integer
---@param event agent.FileModified
---@param done fun(result: agent.reload.Result)
function M.follow(buf, event, done)
  if stamp.has_writer(buf) then
    return done({ buffer = buf, action = "none", notice = notice_of.foreign_writer(event.path) })
  end
  ---@type agent.reload.Follow
  local follow = { buf = buf, event = event, before = event.before, tries = 0, rounds = 0, done = done }
  -- The text on disk may differ from the event's by now.
  local snapshot = event.after and disk.snapshot(event.path)
  if snapshot then
    follow.source = { stat = snapshot.stat, bytes = snapshot.bytes, writes = version.writes(buf) }
  end
  watch_races(follow)
  attempt(follow)
end

return M
