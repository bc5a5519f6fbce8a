--- Attaches language servers to a file without a window. Running servers are attached. Starting another one runs the
--- project's code outside of any sandbox, so only allowed servers start.
local task = require("agent.editor.lsp.task")

local M = {}

--- A configuration may search for its root in a process, which takes time.
local ROOT_MS = 1000

---@class agent.lsp.Policy
---@field policy "start"|"running"|"ask"  starts all configured servers, none, or the allowed ones
---@field start? string[]  names of allowed servers
---@field leave? string[]  names that the user has declined

---@class agent.lsp.Missing
---@field name string
---@field command string
---@field root string

--- Includes starting clients, which Neovim marks with this field.
---@return vim.lsp.Client[]
local function running()
  return require("agent.server").others({ _uninitialized = true })
end

--- In a task: the enabled configurations for this file, each with its root.
---@param buf integer
---@return vim.lsp.ClientConfig[]
local function configurations(buf)
  local found = {} ---@type vim.lsp.ClientConfig[]
  local enabled = require("agent.ui.lsp").is_loaded() and vim.lsp.get_configs({ enabled = true }) or {}
  table.sort(enabled, function(a, b)
    return a.name < b.name
  end)
  for _, shared in ipairs(enabled) do
    local config = vim.deepcopy(shared)
    if not config.filetypes or vim.list_contains(config.filetypes, vim.bo[buf].filetype) then
      local wanted = true
      if type(config.root_dir) == "function" then
        local look = config.root_dir
        wanted, config.root_dir = task.await(function(finish)
          look(buf, finish)
        end, ROOT_MS)
      elseif not config.root_dir and config.root_markers then
        config.root_dir = vim.fs.root(buf, config.root_markers)
      end
      if wanted and not (config.workspace_required and not config.root_dir) then
        found[#found + 1] = config
      end
    end
  end
  return found
end

--- As in vim.lsp.start: true if this client would be used instead of a new one.
---@param client vim.lsp.Client
---@param config vim.lsp.Config
---@return boolean
local function serves(client, config)
  if config.reuse_client then
    return config.reuse_client(client, config --[[@as vim.lsp.ClientConfig]])
  elseif client.name ~= config.name or client:is_stopped() then
    return false
  end
  local folder = config.root_dir
  return folder == nil and client.root_dir == nil
    or vim.iter(client.workspace_folders or {}):any(function(one)
      return folder ~= nil and one.uri == vim.uri_from_fname(folder)
    end)
end

--- Servers that were not started by vim.lsp.enable serve files of their type below their root.
---@param client vim.lsp.Client
---@param buf integer
---@return boolean
local function is_of_others(client, buf)
  local root = client.root_dir
  if vim.lsp.config[client.name] or not root or not vim.startswith(vim.api.nvim_buf_get_name(buf), root .. "/") then
    return false
  end
  return vim.iter(pairs(client.attached_buffers)):any(function(other)
    return vim.api.nvim_buf_is_loaded(other) and vim.bo[other].filetype == vim.bo[buf].filetype
  end)
end

--- The command of the user's configuration, for the screen.
---@param config vim.lsp.Config
---@return string
local function command(config)
  return type(config.cmd) == "table" and table.concat(config.cmd, " ") or "a function of your configuration"
end

--- In a task: attaches servers to a hidden buffer.
---@param buf integer
---@param policy agent.lsp.Policy
---@return agent.lsp.Missing[] missing that somebody has to be asked about
---@return string[] left names of those that must not start
function M.attach(buf, policy)
  local missing, left = {}, {} ---@type agent.lsp.Missing[], string[]
  for _, config in ipairs(configurations(buf)) do
    local client = vim.iter(running()):find(function(one)
      return serves(one, config)
    end)
    if client then
      vim.lsp.buf_attach_client(buf, client.id)
    elseif policy.policy == "start" or vim.list_contains(policy.start or {}, config.name) then
      vim.lsp.start(config, { bufnr = buf, reuse_client = config.reuse_client })
    elseif policy.policy == "running" or vim.list_contains(policy.leave or {}, config.name) then
      left[#left + 1] = config.name
    else
      missing[#missing + 1] = { name = config.name, command = command(config), root = config.root_dir or "" }
    end
  end
  for _, client in ipairs(running()) do
    if is_of_others(client, buf) then
      vim.lsp.buf_attach_client(buf, client.id)
    end
  end
  return missing, left
end

return M
