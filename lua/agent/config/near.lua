-- Finds the option that a misspelt name probably means.
local distance = require("agent.config.distance")
local schema = require("agent.config.schema")

---@param name string
---@return string
local function last_part(name)
  return name:match("[^.]*$")
end

--- Compares the last parts of names, so that options in a wrong group are found. The same group breaks ties.
---@param name string  "spiner" or "ui.spiner"
---@return string?
return function(name)
  local part, group = last_part(name), name:match("^(.*)%.")
  local best, least = nil, math.min(2, math.floor(#part / 3)) + 0.5
  local function try(known, means)
    local cost = distance(part, last_part(known)) + (group == known:match("^(.*)%.") and 0 or 0.25)
    if cost < least then
      best, least = means, cost
    end
  end
  for _, option in ipairs(schema.get().options) do
    try(option.name, option.name)
  end
  for group_name in pairs(schema.get().groups) do
    try(group_name, group_name)
  end
  for old, now in pairs(schema.get().renamed) do
    try(old, now.name)
  end
  return best
end
