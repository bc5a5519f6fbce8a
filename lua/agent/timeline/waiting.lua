-- Messages that wait while a turn runs.
local M = {}

--- States of their blocks: they wait for the end of the turn, or for its next step.
M.STATES = { queued = true, steering = true }

--- Removes the first block with these fields.
---@param timeline agent.Timeline
---@param changed table<integer, true>
---@param fields table<string, string>
---@return agent.Block? block as it was
function M.remove(timeline, changed, fields)
  for index, block in ipairs(timeline.blocks) do
    local is_it = vim.iter(fields):all(function(field, value)
      return block[field] == value
    end)
    if is_it then
      timeline.blocks[index], changed[index] = { kind = "moved", text = "" }, true
      return block
    end
  end
end

---@param on table<string, fun(timeline: agent.Timeline, update: table, changed: table<integer, true>)>
---@param add fun(timeline: agent.Timeline, block: agent.Block, changed: table<integer, true>): integer
function M.handle(on, add)
  --- A message for the running turn.
  function on.steering(timeline, update, changed)
    add(timeline, { kind = "user", text = update.text, status = "steering", id = update.id }, changed)
  end

  --- It has not reached the turn.
  function on.unsteered(timeline, update, changed)
    M.remove(timeline, changed, { status = "steering", id = update.id })
  end

  --- A message was taken back before the end of the turn.
  function on.taken_back(timeline, update, changed)
    M.remove(timeline, changed, { status = "queued", text = update.text })
  end

  return on
end

return M
