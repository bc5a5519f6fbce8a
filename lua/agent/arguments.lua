-- Pure: the form of each sub-command's arguments. Other words are a message that begins with the name.
local M = {}

---@class agent.Shape
---@field doc string                              for the help
---@field matches fun(words: string): boolean
---@field wanted? string                           the possible arguments, for an error
---@field values? fun(words: string): string[]     all of them, if there is a list
---@field has_name? boolean                        a word may follow
---@field complete? fun(lead: string, rest: string): string[]  `rest`: text after the sub-command

---@param words string
---@return string? text without the quotes
local function quoted(words)
  return words:match('^"(.*)"$')
end

---@param names string[]
---@param lead string
---@return string[]
local function beginning(names, lead)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

local WORKTREE = "--worktree"

---@return string[]
local function by_agents()
  return vim.tbl_map(function(name)
    return "by " .. name
  end, require("agent.menus.models").agent_names())
end

---@type table<string, agent.Shape>
M.shapes = {
  number = {
    doc = "a number",
    wanted = "the number of a turn",
    matches = function(words)
      return words:find("^%d+$") ~= nil
    end,
  },
  quoted = {
    doc = "in quotes",
    matches = function(words)
      return quoted(words) ~= nil
    end,
  },
  phrase = {
    doc = "one word, or more in quotes",
    matches = function(words)
      return quoted(words) ~= nil or words:find("^%S+$") ~= nil
    end,
  },
  file = {
    doc = "a name with a dot or a slash, or in quotes",
    matches = function(words)
      return quoted(words) ~= nil or words:find("^%S*[./\\]%S*$") ~= nil
    end,
    complete = function(lead)
      return vim.fn.getcompletion(lead, "file")
    end,
  },
  mode = {
    doc = "one word",
    matches = function(words)
      return words:find("^%S+$") ~= nil
    end,
    complete = function(lead)
      return beginning(require("agent.menus.modes").names(), lead)
    end,
  },
  effort = {
    doc = "the name of a level",
    values = function()
      return require("agent.menus.effort").names()
    end,
    matches = function(words)
      local effort = require("agent.menus.effort")
      return vim.list_contains(effort.names(), words) or effort.is_open() and words:find("^[%w_-]+$") ~= nil
    end,
    complete = function(lead)
      return beginning(require("agent.menus.effort").names(), lead)
    end,
  },
  model = {
    doc = "one word",
    matches = function(words)
      return words:find("^%S+$") ~= nil
    end,
    complete = function(lead)
      return require("agent.menus.models").complete(lead)
    end,
  },
  provider = {
    doc = "one word, or provider and model",
    matches = function(words)
      local name = words:match("^(%S+)%s+%S+$")
      return words:find("^%S+$") ~= nil or name ~= nil and require("agent.menus.models").is_provider(name)
    end,
    complete = function(lead, rest)
      return require("agent.menus.models").complete_provider(lead, rest)
    end,
  },
  new_chat = {
    doc = "the name of an agent, or --worktree and optionally a name",
    has_name = true,
    ---@param words string
    values = function(words)
      -- Two words that begin with nearly the name of an agent are a message: "new code please".
      return words:find("%s") and { WORKTREE } or vim.list_extend({ WORKTREE }, require("agent.menus.models").agent_names())
    end,
    matches = function(words)
      return words:find("^%-%-worktree%f[%s%z]") ~= nil
        or vim.list_contains(require("agent.menus.models").agent_names(), words)
    end,
    complete = function(lead, rest)
      local names = vim.list_extend({ WORKTREE }, require("agent.menus.models").agent_names())
      return lead == rest and beginning(names, lead) or {}
    end,
  },
  handoff = {
    doc = "the name of an agent, and any text",
    matches = function(words)
      return vim.list_contains(require("agent.menus.models").agent_names(), words:match("^%S+"))
    end,
    complete = function(lead, rest)
      return lead == rest and beginning(require("agent.menus.models").agent_names(), lead) or {}
    end,
  },
  review = {
    doc = "an action and a scope, or by and the name of an agent",
    values = by_agents,
    matches = function(words)
      return vim.list_contains(by_agents(), words)
    end,
  },
  worktree_task = {
    doc = "merge or remove, optionally a name",
    has_name = true,
    values = function()
      return { "merge", "remove" }
    end,
    matches = function(words)
      local verb = words:match("^(%S+)%s*%S*$")
      return verb == "merge" or verb == "remove"
    end,
    complete = function(lead, rest)
      return lead == rest and beginning({ "merge", "remove" }, lead) or {}
    end,
  },
  focus = {
    doc = "any text",
    matches = function()
      return true
    end,
  },
  text = {
    doc = "any text",
    matches = function()
      return true
    end,
  },
}

--- The argument in these words; nil if there is none.
---@param action agent.Action
---@param words string
---@return string?
function M.read(action, words)
  if action.words and vim.list_contains(action.words, words) then
    return words
  end
  local shape = M.shapes[action.takes]
  if shape and shape.matches(words) then
    return action.takes ~= "text" and quoted(words) or words
  end
end

--- Words that make a sentence with the name of a sub-command: "undo that".
local OBJECTS = { "it", "this", "that", "these", "those", "them", "everything" }

--- True for a word that is hardly the rest of a sentence, such as "keep going" or "restore src/a.ts".
---@param words string
---@return boolean
local function is_argument(words)
  return words:find("^[%w_-]+$") ~= nil and not words:find("ing$") and not vim.list_contains(OBJECTS, words:lower())
end

--- "merge or remove", "low, medium or high"
---@param values string[]
---@return string
local function either(values)
  return table.concat(values, ", "):gsub(", ([^,]+)$", " or %1")
end

--- The reason why words are neither an argument nor a message that begins with the name; nil if they are.
---@param action agent.Action
---@param words string
---@return string?
function M.problem(action, words)
  local shape = M.shapes[action.takes] or {}
  local values = vim.list_extend(shape.values and shape.values(words) or {}, action.words or {})
  local first, name = words, nil
  if shape.has_name then
    first, name = words:match("^(%S+)%s*(%S*)$")
  end
  for _, value in ipairs(first and values or {}) do
    if require("agent.config.distance")(first:lower(), value) <= 1 then
      local meant = vim.trim(("%s %s %s"):format(action.name, value, name or ""))
      return ("did you mean :Agent %s?"):format(meant)
    end
  end
  if action.is_strict and is_argument(words) then
    return ("%s takes %s."):format(action.name, shape.wanted or either(values))
  end
end

return M
