-- The plan of the session, which stays visible.
local popup = require("agent.ui.popup")
local say = require("agent.ui.say")
local text = require("agent.timeline.lines")

---@class agent.Plan
---@field chat agent.Chat
local Plan = {}
Plan.__index = Plan

---@param chat agent.Chat
---@return agent.Plan
function Plan.new(chat)
  return setmetatable({ chat = chat }, Plan)
end

--- "2/5 run the tests": the current step of an unfinished plan.
---@return string?
function Plan:line()
  local steps = self.chat.timeline.steps
  if not steps or self.chat.timeline.state == "idle" then
    return
  end
  local done, at
  for index, step in ipairs(steps) do
    done = step.status == "completed" and (done or 0) + 1 or done
    at = step.status == "in_progress" and (at or index) or at
  end
  if done == #steps then
    return
  end
  at = at or math.min(#steps, (done or 0) + 1)
  return ("%d/%d %s"):format(at, #steps, steps[at].step)
end

--- Shows all steps.
function Plan:show()
  local steps = self.chat.timeline.steps
  if not steps or #steps == 0 then
    return say.info("no plan yet: the model makes one for a longer task")
  end
  popup.open(text.plan_lines(steps), "Plan", " q close ", { "gl" })
end

return Plan
