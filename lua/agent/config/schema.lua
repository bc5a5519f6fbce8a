-- Reads the options from denops/agent/protocol/options.json, at the first use and not at startup.
local M = {}

---@class agent.Option
---@field name string         "ui.width" is `width` in `ui`; "models.*.vision" is `vision` of each model
---@field type string         Lua types joined by "|", "integer", "list" and "map" among them
---@field default any
---@field one_of? (string|boolean)[]
---@field min? number
---@field max? number
---@field doc string
---@field receiver "neovim"|"supervisor"|"engine"  the supervisor passes on what the engine uses
---@field key? string         its name in UserConfig, if that is not the last part of `name`; `name` itself: its group is
---                            sent as it is
---@field since string        the first version that has it

---@class agent.RenamedOption
---@field name string         the option of today
---@field model? string       replaces "*"; without it the old value has a key for each model
---@field values? table<string, any>  the old value as text → the value of today

---@class agent.Schema
---@field options agent.Option[]
---@field renamed table<string, agent.RenamedOption>
---@field root_markers string[][]  names in a project's folder; the nearest of the first list counts first
---@field by_name table<string, agent.Option>
---@field groups table<string, true>  all prefixes of names: "ui", "models", "models.*"

M.oldest_neovim = "0.12"

--- The same as in protocol/version.ts.
M.oldest_deno = "2.8"

---@param path string  in denops/agent
---@return table
local function read_json(path)
  local file = assert(io.open(vim.fs.joinpath(require("agent.config.scripts")(), path)))
  local text = file:read("*a")
  file:close()
  return vim.json.decode(text)
end

---@type agent.Schema?
local schema
---@type table[]?
local safe_to_write

---@return agent.Schema
function M.get()
  if not schema then
    schema = read_json("protocol/options.json")
    schema.by_name, schema.groups = {}, {}
    for _, option in ipairs(schema.options) do
      schema.by_name[option.name] = option
      for dot in option.name:gmatch("()%.") do
        schema.groups[option.name:sub(1, dot - 1)] = true
      end
    end
  end
  return schema
end

--- The built-in rows of files.safe_to_write, with glob, safe and reason. The engine reads the same file.
---@return table[]
function M.safe_to_write()
  safe_to_write = safe_to_write or read_json("policy/defaults.json").safe_to_write
  return safe_to_write
end

---@param name string
---@return any
function M.default(name)
  return M.get().by_name[name].default
end

return M
