-- Checks the entries of the option providers. Values are not repeated in messages: one may be a key.
local distance = require("agent.config.distance")

local M = {}

---@class agent.ProviderField
---@field patterns? string[]  one of them matches the string; without any it is a table
---@field one_of? string[]
---@field wanted? string      the expected value in words

local URL = { patterns = { "^https?://." }, wanted = "an http or https URL" }

--- The same as ProviderOptions in protocol/options/shapes.ts.
---@type table<string, agent.ProviderField>
M.fields = {
  wire = { one_of = { "openai_chat", "openai_responses", "anthropic_messages", "ollama" } },
  base_url = URL,
  api_key = { patterns = { "^env:.", "^cmd:." }, wanted = '"env:NAME" or "cmd:COMMAND"' },
  headers = { wanted = "a table with names" },
  github_url = URL,
  github_api_url = URL,
}

---@param name string
---@return string?
local function nearest(name)
  local best, least = nil, math.min(2, math.floor(#name / 3)) + 0.5
  for known in pairs(M.fields) do
    local cost = distance(name, known)
    if cost < least then
      best, least = known, cost
    end
  end
  return best
end

---@param field agent.ProviderField
---@param value any
---@return boolean
local function fits(field, value)
  if field.one_of then
    return vim.list_contains(field.one_of, value)
  elseif not field.patterns then
    return type(value) == "table"
  end
  return type(value) == "string" and vim.iter(field.patterns):any(function(pattern)
    return value:find(pattern) ~= nil
  end)
end

---@param path string
---@param name string
---@param value any
---@return string?
local function problem(path, name, value)
  local field = M.fields[name]
  if not field then
    local meant = nearest(name)
    return ("unknown option %s"):format(path) .. (meant and (", did you mean %s?"):format(meant) or "")
  elseif not fits(field, value) then
    return ("%s must be %s"):format(path, field.wanted or "one of " .. table.concat(field.one_of, ", "))
  end
  return nil
end

--- One line for each invalid field.
---@param providers any  the option's value
---@return string[]
function M.problems(providers)
  local problems = {}
  for provider, fields in pairs(type(providers) == "table" and providers or {}) do
    local path = ("providers.%s"):format(provider)
    if type(fields) ~= "table" then
      table.insert(problems, ("%s must be a table with names"):format(path))
    end
    for name, value in pairs(type(fields) == "table" and fields or {}) do
      table.insert(problems, problem(("%s.%s"):format(path, name), tostring(name), value))
    end
  end
  return problems
end

return M
