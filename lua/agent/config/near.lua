-- Finds the option that a misspelt name probably means.
local schema = require("agent.config.schema")

--- The number of letters to change, add, remove or swap with their neighbour.
---@param a string
---@param b string
---@return integer
local function distance(a, b)
  local rows = { [0] = {} }
  for j = 0, #b do
    rows[0][j] = j
  end
  for i = 1, #a do
    rows[i] = { [0] = i }
    for j = 1, #b do
      local is_same = a:byte(i) == b:byte(j)
      local least = math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (is_same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        least = math.min(least, rows[i - 2][j - 2] + 1)
      end
      rows[i][j] = least
    end
  end
  return rows[#a][#b]
end

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
