-- Pure: actions that wait until the chat is open, in order. A message among them is a waiting block.
local M = {}

---@class agent.BacklogItem
---@field action string   see states.lua
---@field text? string    typed by the user, never lost
---@field id? string      of that text
---@field run fun(verdict: agent.Verdict)

---@param timeline agent.Timeline
---@param changed table<integer, true>
---@param drop fun(block: agent.Block): boolean whether to remove this one
---@param status? agent.Status of its block; nil removes the block
local function take(timeline, changed, drop, status)
  for index, block in ipairs(timeline.blocks) do
    if block.backlog_item and drop(block) then
      if status then
        block.status, block.backlog_item = status, nil
      else
        timeline.blocks[index] = { kind = "moved", text = "" }
      end
      changed[index] = true
    end
  end
end

---@param on table<string, fun(timeline: agent.Timeline, update: table, changed: table<integer, true>)>
---@param add fun(timeline: agent.Timeline, block: agent.Block, changed: table<integer, true>): integer
function M.handle(on, add)
  --- Begins an opening, for which the chat's actions wait.
  function on.opening(timeline, update)
    table.insert(timeline.openings, update.opening)
  end

  --- Ends it.
  function on.opened(timeline, update)
    timeline.openings = vim.tbl_filter(function(opening)
      return opening ~= update.opening
    end, timeline.openings)
  end

  function on.closing(timeline)
    timeline.is_closing = true
  end

  --- The chat stays open.
  function on.not_closing(timeline)
    timeline.is_closing = nil
  end

  --- `item` is an agent.BacklogItem.
  function on.backlog_add(timeline, update, changed)
    local item = update.item
    table.insert(timeline.backlog, item)
    if item.text then
      add(timeline, { kind = "user", text = item.text, id = item.id, status = "queued", backlog_item = item }, changed)
    end
  end

  --- Removes an action, or all without `item`.
  function on.backlog_remove(timeline, update, changed)
    local item = update.item
    timeline.backlog = vim.tbl_filter(function(one)
      return item ~= nil and one ~= item
    end, timeline.backlog)
    take(timeline, changed, function(block)
      return item == nil or block.backlog_item == item
    end, not item and "stopped" or nil)
  end

  return on
end

--- The texts of its messages, in order.
---@param timeline agent.Timeline
---@return string[]
function M.texts(timeline)
  local texts = {}
  for _, item in ipairs(timeline.backlog) do
    table.insert(texts, item.text)
  end
  return texts
end

return M
