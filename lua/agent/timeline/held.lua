-- Pure: actions that wait until the chat is open, in order. A message among them is a waiting block.
local M = {}

---@class agent.Held
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
    if block.held and drop(block) then
      if status then
        block.status, block.held = status, nil
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

  --- Holds an action: `held` is an agent.Held.
  function on.held(timeline, update, changed)
    local held = update.held
    table.insert(timeline.held, held)
    if held.text then
      add(timeline, { kind = "user", text = held.text, id = held.id, status = "queued", held = held }, changed)
    end
  end

  --- Removes a held action, or all without `held`.
  function on.unheld(timeline, update, changed)
    local held = update.held
    timeline.held = vim.tbl_filter(function(one)
      return held ~= nil and one ~= held
    end, timeline.held)
    take(timeline, changed, function(block)
      return held == nil or block.held == held
    end, not held and "stopped" or nil)
  end

  return on
end

--- The texts of held messages, in order.
---@param timeline agent.Timeline
---@return string[]
function M.texts(timeline)
  local texts = {}
  for _, held in ipairs(timeline.held) do
    table.insert(texts, held.text)
  end
  return texts
end

return M
