-- Reads the user's tables of options into values by full option names.
local schema = require("agent.config.schema")

local M = {}

---@class agent.OptionValues
---@field by_name table<string, any>  of "models.*.vision" a value for each model
---@field problems string[]           unknown names, and groups that are not tables
---@field renamed string[]            a sentence for each old name

--- An option as the user knows it: `models["*"].vision` for "models.*.vision".
---@param name string
---@param model? string
---@return string
function M.written(name, model)
  return model and (name:gsub("%.%*", function()
    return ('["%s"]'):format(model)
  end)) or name
end

---@param values agent.OptionValues
---@param name string
---@param value any
---@param model? string
local function put(values, name, value, model)
  if model then
    values.by_name[name] = vim.tbl_extend("force", values.by_name[name] or {}, { [model] = value })
  else
    values.by_name[name] = value
  end
end

---@param values agent.OptionValues
---@param name string
---@param meant? string
local function report_unknown(values, name, meant)
  table.insert(values.problems, ("unknown option %s"):format(name) .. (meant and (", did you mean %s?"):format(meant) or ""))
end

---@param values agent.OptionValues
---@param name string
---@param value any
---@return boolean
local function is_table(values, name, value)
  if type(value) ~= "table" then
    table.insert(values.problems, ("%s must be a table with names, not %s"):format(name, vim.inspect(value)))
  end
  return type(value) == "table"
end

---@param values agent.OptionValues
---@param old string
---@param value any
local function read_renamed(values, old, value)
  local now = schema.get().renamed[old]
  table.insert(values.renamed, ("option %s is now %s"):format(old, M.written(now.name, now.model or "name")))
  if now.values then
    value = now.values[tostring(value)]
  end
  if now.model or not now.name:find("*", 1, true) then
    put(values, now.name, value, now.model)
  elseif is_table(values, old, value) then
    for model, of in pairs(value) do
      put(values, now.name, of, model)
    end
  end
end

---@param values agent.OptionValues
---@param group string  such as "ui", or "models.*"
---@param options any
---@param model? string
local function read_group(values, group, options, model)
  if not is_table(values, M.written(group, model), options) then
    return
  end
  for part, value in pairs(options) do
    local name = ("%s.%s"):format(group, part)
    if schema.get().by_name[name] then
      put(values, name, value, model)
    elseif schema.get().groups[group .. ".*"] then
      read_group(values, group .. ".*", value, tostring(part))
    else
      local meant = require("agent.config.near")(name)
      report_unknown(values, M.written(name, model), meant and M.written(meant, model or "name"))
    end
  end
end

--- An option as the user writes it in setup(): `ui = { width = … }`.
---@param name string
---@return string
local function as_table(name)
  local group, part = name:match("^(%w+)%.(.+)$")
  return group and ("%s = { %s = … }"):format(group, part:gsub("^%*%.(.+)$", '["name"] = { %1 = … }')) or name
end

---@param values agent.OptionValues
---@param options table
local function read(values, options)
  local known = schema.get()
  for name, value in pairs(options) do
    if known.renamed[name] then
      read_renamed(values, name, value)
    end
  end
  for name, value in pairs(options) do
    local is_plain = known.by_name[name] and not name:find(".", 1, true)
    if is_plain then
      put(values, name, value)
    elseif known.groups[name] then
      read_group(values, name, value)
    elseif not known.renamed[name] then
      local meant = require("agent.config.near")(tostring(name))
      report_unknown(values, tostring(name), meant and as_table(meant))
    end
  end
end

--- Later tables override earlier ones, and new names override old ones.
---@param ... table
---@return agent.OptionValues
function M.read(...)
  local values = { by_name = {}, problems = {}, renamed = {} }
  for _, options in ipairs({ ... }) do
    read(values, options)
  end
  table.sort(values.renamed)
  return values
end

return M
