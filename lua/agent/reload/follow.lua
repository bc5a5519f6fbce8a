--- Brings one loaded buffer to what its file holds now.
local api = vim.api
local apply = require("agent.reload.apply")
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local notice_of = require("agent.reload.notice")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")
local texts = require("agent.reload.texts")

local M = {}

--- What is known of the file's text and when it was seen.
---@class agent.reload.Source
---@field stat uv.fs_stat.result
---@field text? string   UTF-8, as the event brought it
---@field bytes? string  as the disk has it

---@class agent.reload.Follow
---@field buf integer
---@field event agent.FileModified
---@field before? string                base of a merge
---@field source? agent.reload.Source
---@field text? string                  the file's text as last seen, without byte order mark
---@field action? agent.reload.Action   what was done in earlier attempts
---@field notice? string                what was said of earlier rounds
---@field tries integer
---@field rounds integer
---@field done fun(result: agent.reload.Result)

-- Text may be locked for as long as a completion menu or an expression mapping lasts. Ten seconds, then
-- the user is told.
local RETRY_MS = 20
local MAX_TRIES = 500
-- A file that is written over and over is left to the event of its last write.
local MAX_ROUNDS = 5

---@param follow agent.reload.Follow
---@param action agent.reload.Action
---@param notice? string
local function finish(follow, action, notice)
  if action == "none" or follow.action == "conflict" then
    action = follow.action or action
  end
  follow.done({ buffer = follow.buf, action = action, notice = notice or follow.notice })
end

--- The text of the source as the buffer would hold it. Nothing if the event's text is not (any more)
--- what stands on the disk, or if the bytes do not fit the buffer's encoding.
---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@return agent.reload.Text?
local function theirs_of(follow, mine)
  local source = follow.source --[[@as agent.reload.Source]]
  local encoding, bomb ---@type string?, boolean?
  if source.bytes then
    follow.text, encoding, bomb = codec.decode(source.bytes, mine, follow.event.after)
  else
    local had_bom = false
    follow.text = source.text
    if not mine.format.binary then
      follow.text, had_bom = codec.strip_bom(source.text)
    end
    encoding, bomb = codec.identify(follow.text, source.stat.size, mine.format)
    if had_bom and not bomb then
      encoding = nil
    end
  end
  if follow.text and encoding then
    return codec.parse(follow.text, mine, encoding, bomb == true)
  end
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

--- The file's lines before the agent's write, where the event tells.
---@param follow agent.reload.Follow
---@param mine agent.reload.Text
---@return string[]?
local function lines_before(follow, mine)
  local before = follow.event.before or follow.event.kind == "created" and "" or nil
  if before and follow.rounds == 0 then
    return codec.parse_for_merge(before, mine).lines
  end
end

---@alias agent.reload.Step "done"|"again"

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
  end
  if not stamp.renew(buf, false) then
    return "again"
  end
  state.clear(buf)
  stamp.write_undo(buf)
  if #mine.lines == 0 then
    detect_filetype(buf)
  end
  finish(follow, "none")
  return "done"
end

--- The buffer keeps text that the file does not account for: Neovim must still warn at `:write`.
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
    -- A file that only got another name is still the one the buffer was read from.
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
    if not stamp.renew(buf, not equal) then
      return "again"
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

--- The agent and Neovim have both written the file, made from the same text: what the first one wrote is merged into
--- what the other did, whichever the disk has now.
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
---@return agent.reload.Step|"disk"
local function step(follow)
  local buf = follow.buf
  local mine = codec.of_buffer(buf)
  local written = follow.rounds == 0 and follow.before ~= nil and state.was_written(buf, follow.event.since)
  if written and follow.source and not follow.source.bytes then
    -- The event's text need not be what the disk has, even if it is as long.
    return "disk"
  end
  local theirs = follow.source and theirs_of(follow, mine)
  if not theirs then
    if follow.source and follow.source.bytes then
      finish(follow, "none", notice_of.not_encoded(follow.event.path, mine.format.fileencoding))
      return "done"
    end
    return "disk"
  end
  if state.has_unsaved(buf) then
    return follow_modified(follow, mine, theirs, theirs)
  elseif written then
    return follow_written(follow, mine, theirs)
  end
  return follow_unmodified(follow, mine, theirs)
end

local attempt ---@type fun(follow: agent.reload.Follow)

---@param follow agent.reload.Follow
local function read_disk(follow)
  disk.read(follow.event.path, function(snapshot)
    if not snapshot then
      -- Gone again, or a folder by now: that has an event of its own.
      return finish(follow, "none")
    end
    follow.source = { stat = snapshot.stat, bytes = snapshot.bytes }
    attempt(follow)
  end)
end

--- A write that came between reading and taking the new time stamp would go unnoticed for good.
---@param follow agent.reload.Follow
local function watch_races(follow)
  local done = follow.done
  follow.done = function(result)
    local now = vim.uv.fs_stat(follow.event.path)
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

function attempt(follow)
  local buf = follow.buf
  if not api.nvim_buf_is_loaded(buf) then
    return follow.done({ action = "none" })
  end
  follow.tries = follow.tries + 1
  local ok, outcome = true, "again" ---@type boolean, agent.reload.Step|"disk"
  if follow.tries >= MAX_TRIES or not apply.is_busy(buf) then
    ok, outcome = xpcall(step, debug.traceback, follow)
  end
  if not ok then
    -- Later events of the file wait for this one, so it has to end.
    finish(follow, "none", notice_of.failed(follow.event.path, outcome))
  elseif outcome == "disk" then
    read_disk(follow)
  elseif outcome == "again" then
    if follow.tries < MAX_TRIES then
      vim.defer_fn(function()
        attempt(follow)
      end, follow.tries == 1 and 0 or RETRY_MS)
    else
      finish(follow, "none", notice_of.locked(follow.event.path))
    end
  end
end

--- Follows the file, at once if the event brings the text and nothing forbids it.
---@param buf integer
---@param event agent.FileModified
---@param done fun(result: agent.reload.Result)
function M.follow(buf, event, done)
  if stamp.has_writer(buf) then
    return done({ buffer = buf, action = "none", notice = notice_of.foreign_writer(event.path) })
  end
  ---@type agent.reload.Follow
  local follow = { buf = buf, event = event, before = event.before, tries = 0, rounds = 0, done = done }
  local stat = event.after and vim.uv.fs_stat(event.path)
  if stat then
    follow.source = { stat = stat, text = event.after }
  end
  watch_races(follow)
  attempt(follow)
end

return M
