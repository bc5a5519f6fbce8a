-- Adds blocks to a timeline, and finds the text that continues.
local fences = require("agent.timeline.fences")
local waiting = require("agent.timeline.waiting")

local M = {}

--- Completes a text: closes an open fence, and removes empty lines around it. A text of nothing else becomes empty.
---@param block agent.Block
function M.close_text(block)
  local missing = fences.missing(vim.split(block.text, "\n"))
  block.status = "done"
  if missing then
    block.text = block.text .. (vim.endswith(block.text, "\n") and "" or "\n") .. missing
  end
  local text = (block.text:match("^.*%S") or ""):gsub("^%s*\n", "")
  block.is_rewritten = text ~= block.text
  block.text = text
  if text == "" then
    block.kind = "moved"
  end
end

--- Blocks that may come in the middle of a text. They stay below it and do not end it.
local ASIDE = { notice = true, files = true }

--- The last block above the waiting messages, which stay below a running turn.
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

--- Closes an open text at the end.
---@param timeline agent.Timeline
---@param changed table<integer, true>
function M.end_text(timeline, changed)
  local index = M.last_block(timeline, ASIDE)
  local last = timeline.blocks[index]
  if last and last.kind == "text" and last.status == "open" then
    M.close_text(last)
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

--- The last block, if a piece of text continues it.
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
