-- Where blocks are added to a timeline, and which text goes on.
local fences = require("agent.timeline.fences")
local tables = require("agent.timeline.tables")
local waiting = require("agent.timeline.waiting")

local M = {}

--- A text that has come to its end: its tables are aligned, a fence that was left open is closed, and empty lines around
--- it go. Of nothing but those nothing is left.
---@param block agent.Block
---@return boolean changed
function M.close_text(block)
  local missing = fences.missing(vim.split(block.text, "\n"))
  block.status = "done"
  if missing then
    block.text = block.text .. (vim.endswith(block.text, "\n") and "" or "\n") .. missing
  end
  local text = tables.align(((block.text:match("^.*%S") or ""):gsub("^%s*\n", "")))
  block.is_rewritten = text ~= block.text
  block.text = text
  if text == "" then
    block.kind = "moved"
  end
  return missing ~= nil or block.is_rewritten or text == ""
end

--- Blocks that come whenever they are ready, also in the middle of a text: they stay below it and do not end it.
local ASIDE = { notice = true, files = true }

--- The last block but the messages that wait, or did so: they stand below what goes on.
---@param timeline agent.Timeline
---@param ignored? table<string, true> kinds of blocks
---@return integer index
function M.last_block(timeline, ignored)
  for index = #timeline.blocks, 1, -1 do
    local block = timeline.blocks[index]
    local counts = not waiting.STATES[block.status] and (block.kind ~= "moved" or block.into)
    if counts and not (ignored and ignored[block.kind]) then
      return index
    end
  end
  return 0
end

--- Closes the text that is open at the end, if one is.
---@param timeline agent.Timeline
---@param changed table<integer, true>
function M.end_text(timeline, changed)
  local index = M.last_block(timeline, ASIDE)
  local last = timeline.blocks[index]
  if last and last.kind == "text" and last.status == "open" and M.close_text(last) then
    changed[index] = true
  end
end

---@param timeline agent.Timeline
---@param block agent.Block
---@param changed table<integer, true>
---@return integer index
function M.block(timeline, block, changed)
  if not ASIDE[block.kind] and not waiting.STATES[block.status] then
    M.end_text(timeline, changed)
  end
  table.insert(timeline.blocks, block)
  changed[#timeline.blocks] = true
  return #timeline.blocks
end

--- The block that a piece of text goes on with, if it is the last one of this kind and message.
---@param timeline agent.Timeline
---@param update table
---@return integer? index
function M.open_block(timeline, update)
  local index = M.last_block(timeline, ASIDE)
  local last = timeline.blocks[index]
  if last and last.kind == update.type and last.id == update.message and last.status == "open" then
    return index
  end
end

return M
