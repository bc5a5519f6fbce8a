--- Tools and unsaved text: what the user sees is what tools read, and what tools write goes into it.
local apply = require("agent.reload.apply")
local codec = require("agent.reload.codec")
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
---@field written boolean   the text is in the buffer; false: there is no unsaved text, or `conflict` says why not
---@field saved? boolean    the buffer was written, if that was asked for
---@field conflict? string  for the model: why nothing was changed
---@field text? string      what `:write` would give now, in UTF-8

local MAX_SHOWN_LINES = 40
local LOCKED = "The file has unsaved changes in the editor, which allows no change of text at the moment. Try again."

--- The loaded buffer of the file that has unsaved text, if any.
---@param path string
---@return integer?
local function unsaved_buffer(path)
  for _, buf in ipairs(find.buffers(path)) do
    if state.has_unsaved(buf) and not stamp.has_writer(buf) then
      return buf
    end
  end
end

--- The text of the buffer if it has unsaved changes: in UTF-8, with the line endings, the final newline
--- and the byte order mark that `:write` would give it.
---@param path string  absolute
---@return string?
function M.text(path)
  local buf = unsaved_buffer(path)
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
    "The file has unsaved changes in the editor that overlap with this edit. Nothing was changed. "
      .. "Read the file again: reading gives the unsaved text.",
  }
  local limit = math.max(math.floor(MAX_SHOWN_LINES / (2 * #conflicts)), 3)
  for i, conflict in ipairs(conflicts) do
    if i > 5 then
      out[#out + 1] = ("… %d more places"):format(#conflicts - 5)
      break
    end
    out[#out + 1] = ("<<<<<<< unsaved in the editor, line %d"):format(conflict.ours_start)
    append_capped(out, conflict.ours_lines, limit)
    out[#out + 1] = "======="
    append_capped(out, conflict.theirs_lines, limit)
    out[#out + 1] = ">>>>>>> this edit"
  end
  return table.concat(out, "\n")
end

--- Merges what a tool wants to write into a buffer that has unsaved changes.
---@param args agent.reload.WriteUnsaved
---@return agent.reload.WriteUnsavedResult
function M.write(args)
  local buf = unsaved_buffer(args.path)
  if not buf then
    return { written = false }
  end
  if apply.is_operator_pending(buf) then
    return { written = false, conflict = LOCKED }
  end
  local mine = codec.of_buffer(buf)
  local base, theirs = codec.parse_for_merge(args.base, mine), codec.parse_for_merge(args.text, mine)
  local merged, conflicts = texts.merge(base, mine, theirs)
  if #conflicts > 0 then
    return { written = false, conflict = describe(conflicts) }
  end
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
  return { written = true, saved = saved, text = codec.join(codec.of_buffer(buf)) }
end

return M
