--- Shares unsaved text between tools and buffers: tools read what the user sees, and their writes go into the
--- buffer. Neovim itself writes a file that has a buffer, between two keys of the user, so neither side can
--- overwrite the other.
local apply = require("agent.reload.apply")
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local find = require("agent.reload.find")
local save = require("agent.reload.save")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")
local texts = require("agent.reload.texts")

local M = {}

---@class agent.reload.WriteUnsaved
---@field path string  absolute
---@field base string  the text that `text` was made from
---@field text string  what the tool wants the file to be
---@field save boolean write the buffer afterwards

---@class agent.reload.WriteUnsavedResult
---@field written boolean   the text is in the buffer; false: no buffer takes it, or `conflict` says why not
---@field saved? boolean    the buffer was written: that was asked for, or it had no unsaved text
---@field conflict? string  for the model: why nothing was changed
---@field before? string    what `:write` would have given just before, in UTF-8
---@field text? string      what `:write` would give now, in UTF-8

local MAX_SHOWN_LINES = 40
local LOCKED = "The file has unsaved changes in the editor, which does not allow changes of text at the moment. Try again."

--- The first of these buffers with unsaved text.
---@param bufs integer[]
---@return integer?
local function unsaved_buffer(bufs)
  for _, buf in ipairs(bufs) do
    if state.has_unsaved(buf) and not stamp.has_writer(buf) then
      return buf
    end
  end
end

--- The unsaved text of a buffer: in UTF-8, with the line endings, final newline and byte order mark that
--- `:write` would write.
---@param path string  absolute
---@return string?
function M.text(path)
  local buf = unsaved_buffer(find.buffers(path))
  return buf and codec.join(codec.of_buffer(buf))
end

---@param out string[]
---@param lines string[]
---@param limit integer
local function append_capped(out, lines, limit)
  for i = 1, math.min(#lines, limit) do
    out[#out + 1] = lines[i]
  end
  if #lines > limit then
    out[#out + 1] = ("… %d more lines"):format(#lines - limit)
  end
end

---@param conflicts agent.merge.Conflict[]
---@return string
local function describe(conflicts)
  local out = {
    "Read the file again: reading returns the editor's text.",
  }
  local limit = math.max(math.floor(MAX_SHOWN_LINES / (2 * #conflicts)), 3)
  for i, conflict in ipairs(conflicts) do
    if i > 5 then
      out[#out + 1] = ("… %d more places"):format(#conflicts - 5)
      break
    end
    out[#out + 1] = ("<<<<<<< in the editor, line %d"):format(conflict.ours_start)
    append_capped(out, conflict.ours_lines, limit)
    out[#out + 1] = "======="
    append_capped(out, conflict.theirs_lines, limit)
    out[#out + 1] = ">>>>>>> this edit"
  end
  return table.concat(out, "\n")
end

--- Merges a tool's write into a buffer with unsaved changes.
---@param buf integer
---@param args agent.reload.WriteUnsaved
---@return agent.reload.WriteUnsavedResult
local function write_into(buf, args)
  if apply.is_operator_pending(buf) then
    return { written = false, conflict = LOCKED }
  end
  local mine = codec.of_buffer(buf)
  local base, theirs = codec.parse_for_merge(args.base, mine), codec.parse_for_merge(args.text, mine)
  local merged, conflicts = texts.merge(base, mine, theirs)
  if #conflicts > 0 then
    return { written = false, conflict = describe(conflicts) }
  end
  local before = codec.join(mine)
  local applied, reason = apply.by_agent(buf, mine, merged, nil, true)
  if applied == "locked" then
    return { written = false, conflict = LOCKED }
  elseif applied == "failed" then
    local text = "The file has unsaved changes in the editor, which failed to take the edit: "
    return { written = false, conflict = text .. reason }
  end
  local saved = nil ---@type boolean?
  if args.save then
    saved = save.save(buf)
  end
  return { written = true, saved = saved, before = before, text = codec.join(codec.of_buffer(buf)) }
end

--- The same for a buffer without unsaved changes: it is written at once and stays unmodified. If Neovim
--- cannot write it, the tool writes the file and the buffer follows.
---@param buf integer
---@param args agent.reload.WriteUnsaved
---@return agent.reload.WriteUnsavedResult
local function write_through(buf, args)
  local mine = codec.of_buffer(buf)
  if stamp.has_writer(buf) or apply.is_busy(buf) or not disk.shows(args.path, mine) then
    return { written = false }
  end
  local base, theirs = codec.parse_for_merge(args.base, mine), codec.parse_for_merge(args.text, mine)
  local merged, conflicts = texts.merge(base, mine, theirs)
  if #conflicts > 0 then
    return { written = false, conflict = describe(conflicts) }
  end
  local before = codec.join(mine)
  local applied = apply.by_agent(buf, mine, merged, mine.lines, false)
  if applied == "locked" or applied == "failed" then
    return { written = false }
  end
  if applied == "changed" and not save.save_over(buf) then
    -- The tool's own write reports the problem.
    apply.apply(buf, merged, mine)
    stamp.set_unmodified(buf)
    return { written = false }
  end
  state.clear(buf)
  return { written = true, saved = true, before = before, text = codec.join(codec.of_buffer(buf)) }
end

--- Merges a tool's write into the buffer of the file.
---@param args agent.reload.WriteUnsaved
---@return agent.reload.WriteUnsavedResult
function M.write(args)
  local bufs = find.buffers(args.path)
  local buf = unsaved_buffer(bufs)
  if buf then
    return write_into(buf, args)
  end
  buf = bufs[1]
  if not buf or #bufs > 1 then
    return { written = false }
  end
  -- Keep the file's last line as it is, with or without a newline.
  local fixendofline = vim.bo[buf].fixendofline
  vim.bo[buf].fixendofline = false
  local ok, result = xpcall(write_through, debug.traceback, buf, args)
  vim.bo[buf].fixendofline = fixendofline
  return ok and result or error(result, 0)
end

return M
