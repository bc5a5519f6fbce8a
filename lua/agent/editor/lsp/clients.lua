--- Neovim's language clients: finds those of a buffer, and sends them requests with a time limit.
local find = require("agent.reload.find")
local task = require("agent.editor.lsp.task")

local M = {}

--- Milliseconds to wait for a starting server, and for an answer.
M.start_ms = 5000
M.answer_ms = 5000

--- Error codes of a passing reason: the server was busy with another version of the text.
local CANCELLED, CONTENT_MODIFIED, SERVER_CANCELLED = -32800, -32801, -32802
local PASSING = { [CANCELLED] = true, [CONTENT_MODIFIED] = true, [SERVER_CANCELLED] = true }
local RETRY_MS = 50

--- Callbacks for requests that end without an answer, by client and request. Neovim cancels requests of others before
--- it requests diagnostics itself, and only this event tells.
---@type table<string, fun()>
local on_cancel = {}

vim.api.nvim_create_autocmd("LspRequest", {
  group = vim.api.nvim_create_augroup("agent.editor.lsp.clients", {}),
  desc = "agent: notice that a request was cancelled",
  callback = function(event)
    local cancelled = on_cancel[("%d:%d"):format(event.data.client_id, event.data.request_id)]
    if cancelled and event.data.request.type == "cancel" then
      cancelled()
    elseif cancelled and event.data.request.type == "complete" then
      -- The answer, if there is one, comes right after this.
      vim.schedule(cancelled)
    end
  end,
})

--- The feature that a server lacks when it lacks a method.
local NOUNS = {
  ["textDocument/definition"] = "definitions",
  ["textDocument/references"] = "references",
  ["textDocument/implementation"] = "implementations",
  ["textDocument/hover"] = "hover information",
  ["textDocument/documentSymbol"] = "document symbols",
  ["textDocument/prepareTypeHierarchy"] = "type hierarchy",
  ["textDocument/prepareCallHierarchy"] = "call hierarchy",
  ["textDocument/rename"] = "renaming",
  ["textDocument/codeAction"] = "code actions",
  ["workspace/symbol"] = "workspace symbols",
}

--- Includes starting clients, which Neovim marks with this field.
---@param buf integer
---@return vim.lsp.Client[]
local function all(buf)
  return require("agent.server").others({ bufnr = buf, _uninitialized = true })
end

--- Clients that did not become ready in time. Nobody waits for them again.
---@type table<integer, true>
local abandoned = {}

---@param buf integer
---@return vim.lsp.Client[]
local function starting(buf)
  return vim.tbl_filter(function(client)
    return not client.initialized and not abandoned[client.id]
  end, all(buf))
end

--- The ready clients of the buffer. Waits, in a task, for starting ones.
---@param buf integer
---@return vim.lsp.Client[]
function M.ready(buf)
  task.until_true(function()
    return #starting(buf) == 0
  end, M.start_ms)
  for _, client in ipairs(starting(buf)) do
    abandoned[client.id] = true
  end
  return require("agent.server").others({ bufnr = buf })
end

---@param clients vim.lsp.Client[]
---@return string "The language server ts_ls", "The language servers a and b"
function M.names(clients)
  local names = {} ---@type string[]
  for _, client in ipairs(clients) do
    names[#names + 1] = client.name
  end
  return ("The language server%s %s"):format(#names > 1 and "s" or "", table.concat(names, " and "))
end

--- The reason why no client of the buffer is ready.
---@param buf integer
---@param left? string[] names of servers that were not started
---@return string one sentence
function M.none(buf, left)
  if left and #left > 0 then
    local name = table.concat(left, " and ")
    return ("The language server %s is not running; it starts when the user opens a file of its language."):format(name)
  end
  local late = all(buf)
  if #late > 0 then
    return ("%s %s not started in time."):format(M.names(late), #late > 1 and "have" or "has")
  end
  local filetype = vim.bo[buf].filetype
  local name = filetype == "" and "unknown" or filetype
  return ("No language server is attached to this file in Neovim (file type: %s)."):format(name)
end

---@param clients vim.lsp.Client[]
---@param method string
---@return string one sentence
function M.lacks(clients, method)
  return ("%s %s no %s."):format(M.names(clients), #clients > 1 and "offer" or "offers", NOUNS[method] or method)
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param buf integer
---@param limit integer
---@return boolean in_time
---@return lsp.ResponseError? err
---@return any result
local function request_once(client, method, params, buf, limit)
  local id, key ---@type integer?, string?
  local in_time, err, result = task.await(function(finish)
    local sent
    sent, id = client:request(method, params, function(err, result)
      finish(err, result)
    end, buf)
    if not sent then
      return finish({ code = 0, message = "it has stopped" })
    end
    key = ("%d:%d"):format(client.id, id)
    on_cancel[key] = function()
      finish({ code = CANCELLED, message = "it was cancelled" })
    end
  end, limit)
  if key then
    on_cancel[key] = nil
  end
  if not in_time and id then
    client:cancel_request(id)
  end
  return in_time, err, result
end

--- In a task: one request; returns its answer or an error.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param buf integer
---@param limit? integer milliseconds
---@return any result nothing if there is none
---@return string? problem one sentence
function M.request(client, method, params, buf, limit)
  local stop = vim.uv.now() + (limit or M.answer_ms)
  while true do
    local in_time, err, result = request_once(client, method, params, buf, stop - vim.uv.now())
    if not in_time then
      return nil, ("The language server %s did not answer in time (%s)."):format(client.name, method)
    elseif not err then
      return result ~= vim.NIL and result or nil, nil
    elseif not PASSING[err.code] or vim.uv.now() + RETRY_MS >= stop then
      local message = tostring(err.message or err.code):gsub("%s+", " "):sub(1, 300)
      return nil, ("The language server %s answered with an error: %s"):format(client.name, message)
    end
    task.await(function() end, RETRY_MS)
  end
end

---@class agent.lsp.Answer
---@field client vim.lsp.Client
---@field result any

--- In a task: sends the same request to all clients that support the method, at the same time.
---@param clients vim.lsp.Client[]
---@param method string
---@param buf integer
---@param params fun(client: vim.lsp.Client): table
---@return agent.lsp.Answer[] answers those with a result
---@return string? problem one sentence, if there is no result because of it
function M.ask(clients, method, buf, params)
  local able = vim.tbl_filter(function(client)
    return client:supports_method(method, buf)
  end, clients)
  if #able == 0 then
    return {}, #clients == 0 and M.none(buf) or M.lacks(clients, method)
  end
  local problem ---@type string?
  local results = task.all(vim.tbl_map(function(client)
    return function()
      local result, message = M.request(client, method, params(client), buf)
      problem = problem or message
      return result
    end
  end, able))
  local answers = {} ---@type agent.lsp.Answer[]
  for index, client in ipairs(able) do
    local result = results[index]
    if result ~= nil and not (type(result) == "table" and vim.tbl_isempty(result)) then
      answers[#answers + 1] = { client = client, result = result }
    end
  end
  return answers, #answers == 0 and problem or nil
end

---@param roots string[]
---@return vim.lsp.Client[]
function M.of_project(roots)
  return vim.tbl_filter(function(client)
    local folder = client.root_dir
    return not folder
      or find.is_inside(folder, roots)
      or vim.iter(roots):any(function(root)
        return find.real(folder) == find.real(root) or find.is_inside(root, { find.real(folder) })
      end)
  end, require("agent.server").others())
end

--- True if a language server of the project runs or may be started.
---@param roots string[]
---@return boolean
function M.may_serve(roots)
  return require("agent.ui.lsp").is_loaded()
    and (M.of_project(roots)[1] ~= nil or vim.lsp.get_configs({ enabled = true })[1] ~= nil)
end

return M
