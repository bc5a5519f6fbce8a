-- Options against the schema: what is wrong with them, in words.
local schema = require("agent.config.schema")

local M = {}

---@param value any
---@param name string a type of the schema
---@return boolean
local function is_a(value, name)
  if name == "integer" then
    return type(value) == "number" and value % 1 == 0
  elseif name == "list" then
    return vim.islist(value)
  elseif name == "map" then
    return type(value) == "table" and (vim.tbl_isempty(value) or not vim.islist(value))
  end
  return type(value) == name
end

--- What an option takes, in words: "a whole number from 1 to 1000", "a string or nil".
---@param option agent.Option
---@return string
local function wanted(option)
  if option.one_of then
    return "one of " .. table.concat(option.one_of, ", ")
  end
  local range = option.max and (" from %d to %d"):format(option.min, option.max)
    or option.min and (" of at least %d"):format(option.min)
    or ""
  local words = {
    integer = "a whole number" .. range,
    number = "a number" .. range,
    string = "a string",
    boolean = "true or false",
    list = "a list",
    map = "a table with names",
  }
  return (option.type:gsub("%a+", words):gsub("|", " or "))
end

--- What is wrong with the value of an option; nil if nothing is.
---@param option agent.Option
---@param value any
---@return string?
function M.problem(option, value)
  local fits = vim.iter(vim.gsplit(option.type, "|", { plain = true })):any(function(name)
    return is_a(value, name)
  end)
  if fits and value ~= nil then
    fits = not (option.one_of and not vim.list_contains(option.one_of, value))
      and not (option.min and value < option.min)
      and not (option.max and value > option.max)
  end
  if fits then
    return nil
  end
  local given_as = vim.inspect(value, { newline = "", indent = "" })
  return ("%s must be %s, not %s"):format(option.name, wanted(option), given_as)
end

--- What is wrong with these options, a line each; empty if nothing is.
---@param options table
---@return string[]
function M.problems(options)
  local problems = vim.g.agent ~= nil and type(vim.g.agent) ~= "table" and { "vim.g.agent must be a table" } or {}
  local known = {}
  for _, option in ipairs(schema.options) do
    known[option.name] = true
    local value = options[option.name]
    if value ~= nil then
      table.insert(problems, M.problem(option, value))
    end
  end
  for name in pairs(options) do
    if not known[name] then
      table.insert(problems, ("unknown option %s"):format(tostring(name)))
    end
  end
  for _, pair in ipairs(vim.islist(options.safe_to_write) and options.safe_to_write or {}) do
    if type(pair) ~= "table" or type(pair[1]) ~= "string" or type(pair[2]) ~= "boolean" then
      table.insert(problems, ("safe_to_write must hold { glob, boolean }, not %s"):format(vim.inspect(pair)))
    end
  end
  for name, keys in pairs(type(options.review_keys) == "table" and options.review_keys or {}) do
    if not schema.review_keys[name] then
      table.insert(problems, ("review_keys has no %s"):format(tostring(name)))
    elseif type(keys) ~= "string" then
      table.insert(problems, ("review_keys.%s must be a string, not %s"):format(name, vim.inspect(keys)))
    end
  end
  table.sort(problems)
  return problems
end

return M
