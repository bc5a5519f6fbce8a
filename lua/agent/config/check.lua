-- Checks values of options against the schema.
local schema = require("agent.config.schema")
local written = require("agent.config.values").written

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

--- The expected value in words: "a whole number from 1 to 1000", "a string or nil".
---@param option agent.Option
---@return string
local function wanted(option)
  local range = option.max and (" from %g to %g"):format(option.min, option.max)
    or option.min and (" of at least %g"):format(option.min)
    or ""
  if option.one_of then
    local choices = "one of " .. table.concat(vim.tbl_map(tostring, option.one_of), ", ")
    return range == "" and choices or choices .. ", or a number" .. range
  end
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

---@param value any
---@param name string of the value
---@param test fun(value: any): boolean
---@return string? name of the first value in it, or itself, that the test accepts
local function place_of(value, name, test)
  if test(value) then
    return name
  end
  for key, of in pairs(type(value) == "table" and value or {}) do
    local place = place_of(of, ("%s.%s"):format(name, key), test)
    if place then
      return place
    end
  end
  return nil
end

---@param value any
---@return boolean
local function is_function(value)
  return type(value) == "function"
end

---@param value any
---@return boolean
local function is_mixed(value)
  return type(value) == "table" and value[1] ~= nil and not vim.islist(value)
end

--- The problem with an option's value; nil if it is valid.
---@param option agent.Option
---@param value any
---@param model? string  whose option it is
---@return string?
function M.problem(option, value, model)
  local fits = vim.iter(vim.gsplit(option.type, "|", { plain = true })):any(function(name)
    return is_a(value, name)
  end)
  if fits and type(value) == "number" and (option.min or option.max) then
    fits = value >= (option.min or value) and value <= (option.max or value)
  elseif fits and value ~= nil and option.one_of then
    fits = vim.list_contains(option.one_of, value)
  end
  if fits then
    local place = place_of(value, written(option.name, model), is_mixed)
    return place and place .. " must be a list or a table with names, not both"
  end
  local text = vim.inspect(value, { newline = "", indent = "" })
  return ("%s must be %s, not %s"):format(written(option.name, model), wanted(option), text)
end

--- One line for each invalid value.
---@param values table<string, any>  by the full name of the option
---@return string[]
function M.problems(values)
  local problems = {}
  local of_providers = require("agent.config.providers").problems(values.providers)
  for name, value in pairs(values) do
    local option = schema.get().by_name[name]
    if name:find("*", 1, true) then
      for model, of in pairs(value) do
        table.insert(problems, M.problem(option, of, model))
      end
    else
      local problem = M.problem(option, value)
      local is_known = problem or name == "providers" and #of_providers > 0
      local place = not is_known and place_of(value, name, is_function)
      table.insert(problems, place and place .. " must not be a function, and is left out" or problem)
    end
  end
  vim.list_extend(problems, of_providers)
  local safe_to_write, keys = values["files.safe_to_write"], values["review.keys"]
  for _, pair in ipairs(vim.islist(safe_to_write) and safe_to_write or {}) do
    if type(pair) ~= "table" or type(pair[1]) ~= "string" or type(pair[2]) ~= "boolean" then
      table.insert(problems, ("files.safe_to_write must hold { glob, boolean }, not %s"):format(vim.inspect(pair)))
    end
  end
  for name, lhs in pairs(type(keys) == "table" and keys or {}) do
    if not schema.default("review.keys")[name] then
      table.insert(problems, ("review.keys has no %s"):format(tostring(name)))
    elseif type(lhs) ~= "string" then
      table.insert(problems, ("review.keys.%s must be a string, not %s"):format(name, vim.inspect(lhs)))
    end
  end
  return problems
end

return M
