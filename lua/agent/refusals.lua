-- Functions of the public API that the phase of the current chat refuses, see timeline/states.lua.
local say = require("agent.ui.say")
local states = require("agent.timeline.states")

---@param name string
---@return string?
local function refusal(name)
  local chats = package.loaded["agent.chat"]
  local chat = chats and chats.current()
  return chat and states.refusal(name, chat.timeline)
end

---@param api table<string, function>
return function(api)
  for name in pairs(states.KINDS) do
    local run = api[name]
    api[name] = run and function(...)
      local why = refusal(name)
      if why then
        return say.error(why)
      end
      return run(...)
    end
  end
end
