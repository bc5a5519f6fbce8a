--- Neovim's diagnostics, after an update.
local clients = require("agent.editor.lsp.clients")
local find = require("agent.reload.find")
local locations = require("agent.editor.lsp.locations")
local published = require("agent.editor.lsp.published")
local task = require("agent.editor.lsp.task")

local M = {}

local PULL = "textDocument/diagnostic"

--- Most diagnostics of a file; further ones are counted.
local MOST = 200

---@class agent.lsp.Diagnostic
---@field severity "error"|"warning"|"info"|"hint"
---@field line integer
---@field character integer
---@field message string
---@field source? string
---@field code? string

local SEVERITIES = { "error", "warning", "info", "hint" }

--- Names of a server's diagnostic providers; one without a name is "".
---@param client vim.lsp.Client
---@return string[]
local function providers(client)
  local names = {} ---@type table<string, true>
  local function add(options)
    if type(options) == "table" then
      names[type(options.identifier) == "string" and options.identifier or ""] = true
    end
  end
  add(client.server_capabilities.diagnosticProvider)
  for _, registration in ipairs(client.registrations.diagnosticProvider or {}) do
    add(registration.registerOptions or {})
  end
  return vim.tbl_keys(names)
end

--- Requests the diagnostics. Neovim's own handler keeps them, as for visible windows.
---@param client vim.lsp.Client
---@param buf integer
---@param limit integer milliseconds
---@return agent.lsp.Freshness
local function pull(client, buf, limit)
  local freshness = "current" ---@type agent.lsp.Freshness
  for _, name in ipairs(providers(client)) do
    local params = {
      identifier = name ~= "" and name or nil,
      textDocument = { uri = vim.uri_from_bufnr(buf) },
    }
    local result = clients.request(client, PULL, params, buf, limit)
    if result then
      local handler = client.handlers[PULL] or vim.lsp.handlers[PULL]
      local context = { method = PULL, client_id = client.id, bufnr = buf, params = params }
      pcall(handler, nil, result, context)
    else
      freshness = "unknown"
    end
  end
  return freshness
end

---@param diagnostic vim.Diagnostic
---@param line? string the text of its line
---@return agent.lsp.Diagnostic
local function entry_of(diagnostic, line)
  local code = diagnostic.code
  return {
    severity = SEVERITIES[diagnostic.severity] or "error",
    line = diagnostic.lnum + 1,
    character = line and locations.to_character(line, diagnostic.col) or diagnostic.col + 1,
    message = vim.trim(diagnostic.message),
    source = diagnostic.source ~= "" and diagnostic.source or nil,
    code = code ~= nil and code ~= vim.NIL and code ~= "" and tostring(code) or nil,
  }
end

---@param path string
---@param buf integer
---@param diagnostics vim.Diagnostic[]
---@return table file
local function file(path, buf, diagnostics)
  table.sort(diagnostics, function(a, b)
    if a.severity ~= b.severity then
      return a.severity < b.severity
    elseif a.lnum ~= b.lnum then
      return a.lnum < b.lnum
    end
    return a.col < b.col
  end)
  local lines = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_lines(buf, 0, -1, false) or {}
  local list = {} ---@type agent.lsp.Diagnostic[]
  for index = 1, math.min(#diagnostics, MOST) do
    list[index] = entry_of(diagnostics[index], lines[diagnostics[index].lnum + 1])
  end
  return { path = path, diagnostics = list, total = #diagnostics }
end

--- In a task: the diagnostics of a buffer, after its servers have seen its present text.
---@param path string
---@param buf integer
---@param attached vim.lsp.Client[]
---@param patient boolean see published.wait
---@return table answer
function M.of_file(path, buf, attached, patient)
  local freshness = task.all(vim.tbl_map(function(client)
    return function()
      if client:supports_method(PULL, buf) then
        return pull(client, buf, patient and published.first_ms or published.limit_ms)
      end
      return published.wait(client, buf, patient)
    end
  end, attached))
  local function some(value)
    return vim.list_contains(freshness, value) and value
  end
  return {
    kind = "diagnostics",
    files = { file(path, buf, vim.diagnostic.get(buf)) },
    said = some("unknown") or some("late") or "current",
  }
end

--- In a task, after a write: notifies servers that check on saving.
---@param buf integer
---@param attached vim.lsp.Client[]
function M.written(buf, attached)
  for _, client in ipairs(attached) do
    published.flush(client, buf)
    local sync = client.server_capabilities.textDocumentSync
    local save = type(sync) == "table" and sync.save
    if save and not vim.bo[buf].modified then
      local text = type(save) == "table" and save.includeText and table.concat(
        vim.api.nvim_buf_get_lines(buf, 0, -1, false),
        "\n"
      ) .. "\n" or nil
      client:notify("textDocument/didSave", { textDocument = { uri = vim.uri_from_bufnr(buf) }, text = text })
    end
  end
  -- Then Neovim requests diagnostics itself, which cancels earlier requests.
  task.await(function(finish)
    vim.schedule(function()
      vim.schedule(finish)
    end)
  end)
end

--- The present diagnostics of the files below a folder.
---@param roots string[]
---@return table answer
function M.of_all(roots)
  local by_buffer = {} ---@type table<integer, vim.Diagnostic[]>
  for _, diagnostic in ipairs(vim.diagnostic.get(nil)) do
    by_buffer[diagnostic.bufnr] = by_buffer[diagnostic.bufnr] or {}
    table.insert(by_buffer[diagnostic.bufnr], diagnostic)
  end
  local files = {} ---@type table[]
  for buf, diagnostics in pairs(by_buffer) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.bo[buf].buftype == "" and find.is_inside(name, roots) then
      files[#files + 1] = file(find.real(name), buf, diagnostics)
    end
  end
  table.sort(files, function(a, b)
    return a.path < b.path
  end)
  return { kind = "diagnostics", files = files, said = "current" }
end

return M
