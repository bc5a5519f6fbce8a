-- Pure: actions that wait until the chat is open, in their order. A message among them is a block that waits.
local M = {}

---@class agent.Held
---@field action string   see states.lua
---@field text? string    of the user's; it is never lost
---@field id? string      of that text
---@field run fun(verdict: agent.Verdict)

---@param timeline agent.Timeline
---@param changed table<integer, true>
---@param drop fun(block: agent.Block): boolean whether this one goes
---@param status? agent.Status of its block; nil removes that
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
  --- Something begins that the chat's actions wait for.
  function on.opening(timeline, update)
    table.insert(timeline.openings, update.opening)
  end

  --- It is over, whichever way.
  function on.opened(timeline, update)
    timeline.openings = vim.tbl_filter(function(opening)
      return opening ~= update.opening
    end, timeline.openings)
  end

  function on.closing(timeline)
    timeline.is_closing = true
  end

  --- The chat stays after all.
  function on.not_closing(timeline)
    timeline.is_closing = nil
  end

  --- An action waits: `held` is an agent.Held.
  function on.held(timeline, update, changed)
    local held = update.held
    table.insert(timeline.held, held)
    if held.text then
      add(timeline, { kind = "user", text = held.text, id = held.id, status = "queued", held = held }, changed)
    end
  end

  --- They wait no longer: they are done, or without `held` given up.
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

--- The texts of what waits, in order.
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
