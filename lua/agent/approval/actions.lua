-- Sub-commands that answer an approval.
local say = require("agent.ui.say")

local function nothing_waits()
  say.info("nothing is waiting for an answer")
end

---@type agent.Action[]
return {
  {
    name = "approval",
    plug = "AgentApproval",
    doc = "Go to the pending approval.",
    run = function()
      if not require("agent.approval").focus() then
        nothing_waits()
      end
    end,
  },
  {
    name = "approve",
    plug = "AgentApprove",
    args = "[session|always]",
    words = { "session", "always" },
    is_strict = true,
    doc = "Approve the pending request: once, for this session, or with a rule.",
    run = function(_, scope)
      if scope and scope ~= "session" and scope ~= "always" then
        return say.error('approve takes nothing, "session" or "always"')
      end
      if not require("agent.approval").approve(scope) then
        nothing_waits()
      end
    end,
  },
  {
    name = "reject",
    plug = "AgentReject",
    args = "[reason]",
    takes = "text",
    answers = true,
    doc = "Reject the pending request; the agent gets the reason.",
    run = function(_, reason)
      local approval = require("agent.approval")
      if approval.count() == 0 then
        return nothing_waits()
      end
      approval.reject(reason)
    end,
  },
}
