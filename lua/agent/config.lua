-- The options in force: those of the user over the defaults.
local check = require("agent.config.check")
local schema = require("agent.config.schema")

local M = {}

---@type table<string, any>?
local given
--- The mistakes were shown.
local told = false

--- Options of the tab page that is shown, over all others.
---@type table<string, any>
local laid_over = {}

--- What was said of options that are called otherwise now.
---@type string[]
local renamed = {}

--- Takes options of earlier versions for what they are called now.
---@param options table
---@return table
local function with_new_names(options)
  renamed = {}
  for old, now in pairs(schema.renamed) do
    local value = options[old]
    if value ~= nil then
      options[old] = nil
      if options[now.name] == nil then
        options[now.name] = now.value(value)
      end
      table.insert(renamed, ('%s is now %s = "%s"'):format(old, now.name, options[now.name]))
    end
  end
  return options
end

--- Says in one line what is wrong with the options in force, once for each that were set.
---@param say fun(text: string)
function M.tell(say)
  local problems = M.current_problems()
  if problems[1] and not told then
    local more = #problems > 1 and (" (and %d more, see :checkhealth agent)"):format(#problems - 1) or ""
    -- Later: Neovim waits three seconds before it begins to insert while a message is on the screen.
    vim.schedule(function()
      say(problems[1] .. more)
    end)
  end
  told = true
end

--- Options of the user, over vim.g.agent, over the defaults. Wrong ones are left at their defaults.
---@param options? table
function M.set(options)
  given = with_new_names(vim.tbl_extend("force", type(vim.g.agent) == "table" and vim.g.agent or {}, options or {}))
  told = false
end

--- What is wrong with the options in force.
---@return string[]
function M.current_problems()
  if not given then
    M.set()
  end
  return vim.list_extend(check.problems(given), renamed)
end

--- What these options make of the defaults.
---@param set table<string, any>
---@return table<string, any>
function M.over_defaults(set)
  local result = {}
  for _, option in ipairs(schema.options) do
    local value = set[option.name]
    if value == nil or check.problem(option, value) then
      value = option.default
    end
    result[option.name] = value
  end
  result.state_dir = result.state_dir or vim.fs.joinpath(vim.fn.stdpath("state"), "agent")
  return result
end

---@return table<string, any>
function M.get()
  if not given then
    M.set()
  end
  return vim.tbl_extend("force", M.over_defaults(given), laid_over)
end

--- Puts options over those in force, until the next call.
---@param options table<string, any> valid ones
function M.lay_over(options)
  laid_over = options
end

--- The part that the supervisor and the engine use, in their shape.
---@param options? table<string, any> those in force unless told
---@return table
function M.for_supervisor(options)
  options = options or M.get()
  local sent = {}
  for _, option in ipairs(schema.options) do
    if option.sent then
      sent[option.name] = options[option.name]
    end
  end
  sent.rules = { allow = options.allow, ask = options.ask, deny = options.deny }
  sent.config_dir = vim.fn.stdpath("config")
  sent.socket = vim.v.servername ~= "" and vim.v.servername or nil
  sent.safe_to_write = vim.deepcopy(schema.lists().safe_to_write)
  for _, pair in ipairs(options.safe_to_write) do
    if type(pair) == "table" then
      table.insert(sent.safe_to_write, { glob = pair[1], safe = pair[2] })
    end
  end
  return sent
end

return M
