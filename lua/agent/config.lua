-- The effective options: the user's over the defaults.
local check = require("agent.config.check")
local schema = require("agent.config.schema")
local values = require("agent.config.values")

local M = {}

--- The user's options.
---@type agent.OptionValues?
local user
local are_problems_reported = false
--- Once is enough for a Neovim.
local are_names_reported = false

--- Options of the current tab page, over all others.
---@type table<string, any>
local laid_over = {}

---@type table<string, any>?
local in_force

--- The options of setup().
---@type table
local from_setup = {}

---@return agent.OptionValues
local function read()
  local global = vim.g.agent
  local found = values.read(type(global) == "table" and global or {}, from_setup)
  if global ~= nil and type(global) ~= "table" then
    table.insert(found.problems, "vim.g.agent must be a table")
  end
  vim.list_extend(found.problems, check.problems(found.by_name))
  table.sort(found.problems)
  return found
end

---@return agent.OptionValues
local function current()
  user = user or read()
  return user
end

--- Reports problems in one line, once after each setup(), and old names once.
---@param say fun(text: string)
function M.tell(say)
  local problems, renamed = M.current_problems(), are_names_reported and {} or M.renamed()
  local lines = vim.list_extend(are_problems_reported and {} or vim.list_slice(problems), renamed)
  if lines[1] then
    local more = #lines > 1 and (" (and %d more, see :checkhealth agent)"):format(#lines - 1) or ""
    -- Later: Neovim waits three seconds before it begins to insert while a message is on the screen.
    vim.schedule(function()
      say(lines[1] .. more)
    end)
  end
  are_problems_reported, are_names_reported = true, are_names_reported or #renamed > 0
end

--- The user's options over vim.g.agent over the defaults. Invalid values keep their defaults.
---@param options? table
function M.set(options)
  from_setup, user, in_force, are_problems_reported = options or {}, nil, nil, false
end

--- One line for each problem of the effective options.
---@return string[]
function M.current_problems()
  return current().problems
end

--- The user's options by their names, invalid ones too. Callers must not change the result.
---@return table<string, any>
function M.by_user()
  return current().by_name
end

--- A sentence for each old name that the user has set.
---@return string[]
function M.renamed()
  return current().renamed
end

---@param by_name table<string, any>
---@return table<string, any>
local function over_defaults(by_name)
  local result = { models = {} }
  for _, option in ipairs(schema.get().options) do
    local name, value = option.name, by_name[option.name]
    local group, part = name:match("^(.+)%.(.+)$")
    if group == "models.*" then
      for model, of in pairs(value or {}) do
        if not check.problem(option, of) then
          result.models[model] = result.models[model] or {}
          result.models[model][part] = of
        end
      end
    else
      if value == nil or check.problem(option, value) then
        value = option.default
      end
      if group then
        result[group] = result[group] or {}
      end
      local place = group and result[group] or result
      place[part or name] = value
    end
  end
  result.state_dir = result.state_dir or vim.fs.joinpath(vim.fn.stdpath("state"), "agent")
  return result
end

--- These options over the defaults.
---@param options table<string, any>
---@return table<string, any>
function M.over_defaults(options)
  return over_defaults(values.read(options).by_name)
end

--- Callers must not change the result.
---@return table<string, any>
function M.get()
  in_force = in_force or vim.tbl_deep_extend("force", over_defaults(current().by_name), laid_over)
  return in_force
end

--- Overrides options until the next call.
---@param options table<string, any> valid ones
function M.lay_over(options)
  laid_over, in_force = options, nil
end

--- Without functions, which cannot be sent.
---@param value any
---@return any
local function plain(value)
  if type(value) ~= "table" then
    return value
  end
  local copy = setmetatable({}, getmetatable(value))
  for key, of in pairs(value) do
    if type(of) ~= "function" then
      copy[key] = plain(of)
    end
  end
  return copy
end

--- The options of the supervisor and the engine, in the shape of UserConfig.
---@param options? table<string, any> the effective ones by default
---@return table
function M.for_supervisor(options)
  options = options or M.get()
  local sent = {
    config_dir = vim.fn.stdpath("config"),
    socket = vim.v.servername ~= "" and vim.v.servername or nil,
  }
  for _, option in ipairs(schema.get().options) do
    local group, part = option.name:match("^(%w+)%.(.+)$")
    if option.key == option.name then
      sent[group] = options[group]
    elseif option.receiver ~= "neovim" then
      sent[option.key or part or option.name] = (group and options[group] or options)[part or option.name]
    end
  end
  sent.safe_to_write = vim.list_slice(schema.safe_to_write())
  for _, pair in ipairs(options.files.safe_to_write) do
    if type(pair) == "table" then
      table.insert(sent.safe_to_write, { glob = pair[1], safe = pair[2] })
    end
  end
  return #M.current_problems() == 0 and sent or plain(sent)
end

return M
