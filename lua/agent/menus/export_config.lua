-- Writes the user's options for programs that work without Neovim. headless/configuration.ts reads them.
local check = require("agent.config.check")
local config = require("agent.config")
local say = require("agent.ui.say")
local schema = require("agent.config.schema")

--- Names of headers whose values are secrets.
local SECRET_HEADERS = { "auth", "cookie", "key", "secret", "token" }

---@return string
local function path()
  local folder = vim.env.XDG_CONFIG_HOME
  folder = folder and vim.startswith(folder, "/") and folder or vim.fs.normalize("~/.config")
  return vim.fs.joinpath(folder, "agent.nvim", "config.json")
end

--- A copy without what JSON cannot hold, and without keys.
---@param value any
---@param name string  as in setup()
---@param left_out string[]
---@return any
local function plain(value, name, left_out)
  local kind = type(value)
  if kind == "function" or kind == "userdata" and value ~= vim.NIL or kind == "thread" then
    table.insert(left_out, ("%s (a %s)"):format(name, kind))
    return nil
  elseif kind ~= "table" then
    return value
  end
  local copy = vim.empty_dict()
  for key, inner in vim.spairs(value) do
    copy[key] = plain(inner, ("%s.%s"):format(name, key), left_out)
  end
  return vim.islist(value) and vim.list_slice(copy) or copy
end

---@param providers table
---@param left_out string[]
local function without_keys(providers, left_out)
  local function leave_out(of, key, name)
    of[key] = nil
    table.insert(left_out, name .. " (a literal key)")
  end
  for provider, options in vim.spairs(providers) do
    local name = "providers." .. provider
    local key, url = options.api_key, options.base_url
    if type(key) == "string" and not (vim.startswith(key, "env:") or vim.startswith(key, "cmd:")) then
      leave_out(options, "api_key", name .. ".api_key")
    end
    if type(url) == "string" and url:find("^%a+://[^/]*@") then
      leave_out(options, "base_url", name .. ".base_url")
    end
    for header in vim.spairs(options.headers or {}) do
      local is_secret = vim.iter(SECRET_HEADERS):any(function(word)
        return header:lower():find(word, 1, true) ~= nil
      end)
      if is_secret then
        leave_out(options.headers, header, ("%s.headers.%s"):format(name, header))
      end
    end
  end
end

---@param option agent.Option
---@param value any
---@return boolean
local function is_written(option, value)
  return type(value) == "function" or not check.problem(option, value)
end

--- The valid options that the user has set, in the groups of setup(). Options of the editor are not needed.
---@return table options
---@return string[] left_out
local function options_to_write()
  local options, left_out = vim.empty_dict(), {}
  local function put(groups, name, value)
    local of = options
    for _, group in ipairs(groups) do
      of[group] = of[group] or vim.empty_dict()
      of = of[group]
    end
    of[name] = plain(value, table.concat(groups, ".") .. (groups[1] and "." or "") .. name, left_out)
  end
  for name, value in vim.spairs(config.by_user()) do
    local option = schema.get().by_name[name]
    local group, part = name:match("^(%w+)%.([%w_]+)$")
    local of_model = name:match("^models%.%*%.(.+)$")
    if of_model then
      for model, own in vim.spairs(value) do
        if is_written(option, own) then
          put({ "models", model }, of_model, own)
        end
      end
    elseif option.receiver ~= "neovim" and is_written(option, value) then
      put({ group }, part or name, value)
    end
  end
  without_keys(options.providers or {}, left_out)
  options.state_dir = config.get().state_dir
  return options, left_out
end

--- Writes the file, unless it exists. Names the options that it leaves out.
---@param overwrite boolean
return function(overwrite)
  local file = path()
  local options, left_out = options_to_write()
  if not overwrite and vim.uv.fs_lstat(file) then
    return say.error(("%s exists. `:Agent! config export` overwrites it."):format(vim.fn.fnamemodify(file, ":~")))
  end
  local ok, problem = pcall(vim.fn.mkdir, vim.fs.dirname(file), "p", 448)
  if not ok then
    return say.error(("cannot write %s: %s"):format(file, problem))
  end
  -- Only the user reads it, as rules may name hosts and folders.
  local out = require("agent.sessions.export").file(file, overwrite, 384)
  local text = vim.json.encode(options, { indent = "  ", sort_keys = true })
  if out and out.add(text .. "\n") and out.done() and left_out[1] then
    say.warn("left out: " .. table.concat(left_out, ", "))
  end
end
