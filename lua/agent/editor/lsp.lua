--- Answers questions about code with Neovim's language clients, so that the user's servers serve the agent. Nothing
--- blocks: each question is a task.
local actions = require("agent.editor.lsp.actions")
local buffers = require("agent.editor.lsp.buffers")
local clients = require("agent.editor.lsp.clients")
local diagnostics = require("agent.editor.lsp.diagnostics")
local find = require("agent.reload.find")
local hierarchy = require("agent.editor.lsp.hierarchy")
local locations = require("agent.editor.lsp.locations")
local place = require("agent.editor.lsp.place")
local queue = require("agent.reload.queue")
local task = require("agent.editor.lsp.task")

local M = {}

local MOST_SYMBOLS = 500

---@param method string
---@return fun(at: agent.lsp.Place): table?, string?
local function locate(method)
  return function(at)
    local answers, problem = clients.ask(at.clients, method, at.buf, function(client)
      local params = at.params(client) --[[@as table]]
      if method == "textDocument/references" then
        params.context = { includeDeclaration = true }
      end
      return params
    end)
    if #answers == 0 then
      return nil, problem
    end
    local list, total = locations.list(vim.tbl_map(function(answer)
      return answer.result
    end, answers))
    return { kind = "locations", at = at.at, locations = list, total = total }
  end
end

---@param at agent.lsp.Place
---@return table? answer
---@return string? problem
local function hover(at)
  local answers, problem = clients.ask(at.clients, "textDocument/hover", at.buf, at.params)
  local parts = {} ---@type string[]
  for _, answer in ipairs(answers) do
    local lines = vim.lsp.util.convert_input_to_markdown_lines(answer.result.contents or "")
    local text = vim.trim(table.concat(lines, "\n"))
    if text ~= "" then
      parts[#parts + 1] = text
    end
  end
  if #parts == 0 then
    return nil, problem
  end
  return { kind = "text", at = at.at, text = table.concat(parts, "\n\n") }
end

---@param found agent.lsp.Symbol[]
---@return table answer
local function symbols(found)
  return { kind = "symbols", symbols = vim.list_slice(found, 1, MOST_SYMBOLS), total = #found }
end

---@param request table
---@param roots string[]
---@param policy agent.lsp.Policy
---@return table answer
local function workspace_symbols(request, roots, policy)
  local buf, running = 0, clients.of_project(roots)
  if request.path then
    local file, reason = place.open(request.path, roots, policy)
    if not file then
      return place.nothing(reason --[[@as string]])
    end
    buf, running = file.buf, file.clients
  end
  if #running == 0 then
    return place.nothing("No language server runs for this project in Neovim. Name a file of the language in path.")
  end
  local answers, problem = clients.ask(running, "workspace/symbol", buf, function()
    return { query = request.query }
  end)
  local found = {} ---@type agent.lsp.Symbol[]
  for _, answer in ipairs(answers) do
    locations.flatten(answer.result, "", found)
  end
  if #found == 0 then
    return place.nothing(problem or ("The language server knows no symbol like “%s”."):format(request.query))
  end
  return symbols(found)
end

---@param path string
---@param roots string[]
---@param policy agent.lsp.Policy
---@return table answer
local function document_symbols(path, roots, policy)
  local file, reason = place.open(path, roots, policy)
  if not file then
    return place.nothing(reason --[[@as string]])
  end
  local uri = vim.uri_from_bufnr(file.buf)
  local answers, problem = clients.ask(file.clients, "textDocument/documentSymbol", file.buf, function()
    return { textDocument = { uri = uri } }
  end)
  local first = answers[1]
  if not first then
    return place.nothing(problem or "The language server finds no symbols in the file.")
  end
  return symbols(locations.flatten(first.result, uri))
end

---@param path string
---@param roots string[]
---@param policy agent.lsp.Policy
---@param written boolean
---@return table answer
local function diagnose(path, roots, policy, written)
  if written then
    -- The buffer follows the file first.
    task.await(function(finish)
      queue.push({ path }, function(done)
        done()
        finish()
      end)
    end)
  end
  local file, reason = place.open(path, roots, policy)
  if not file then
    return place.nothing(reason --[[@as string]])
  end
  if written then
    diagnostics.written(file.buf, file.clients)
  end
  return diagnostics.of_file(find.real(path), file.buf, file.clients, not written)
end

local TYPES = { both = { "super", "sub" }, super = { "super" }, sub = { "sub" } }
local CALLS = { both = { "incoming", "outgoing" }, incoming = { "incoming" }, outgoing = { "outgoing" } }

---@type table<string, fun(request: table, roots: string[], policy: agent.lsp.Policy): table>
local answers = {
  diagnostics = function(request, roots, policy)
    return request.path and diagnose(request.path, roots, policy, false) or diagnostics.of_all(roots)
  end,
  diagnostics_after = function(request, roots, policy)
    return diagnose(request.path, roots, policy, true)
  end,
  document_symbols = function(request, roots, policy)
    return document_symbols(request.path, roots, policy)
  end,
  definition = function(request, roots, policy)
    return place.each(request, roots, policy, "definition", locate("textDocument/definition"))
  end,
  references = function(request, roots, policy)
    return place.each(request, roots, policy, "references", locate("textDocument/references"))
  end,
  implementations = function(request, roots, policy)
    return place.each(request, roots, policy, "implementations", locate("textDocument/implementation"))
  end,
  hover = function(request, roots, policy)
    return place.each(request, roots, policy, "hover information", hover)
  end,
  type_hierarchy = function(request, roots, policy)
    return place.each(request, roots, policy, "type hierarchy", function(at)
      return hierarchy.of(at, "textDocument/prepareTypeHierarchy", TYPES[request.direction])
    end)
  end,
  call_hierarchy = function(request, roots, policy)
    return place.each(request, roots, policy, "call hierarchy", function(at)
      return hierarchy.of(at, "textDocument/prepareCallHierarchy", CALLS[request.direction])
    end)
  end,
  workspace_symbols = workspace_symbols,
  rename = function(request, roots, policy)
    return place.each(request, roots, policy, "edits", function(at)
      return actions.rename(at, request.new_name)
    end)
  end,
  code_action = function(request, roots, policy)
    return place.each(request, roots, policy, "code actions", function(at)
      return actions.code_action(at, { kind = request.kind, title = request.title })
    end)
  end,
}

--- Answers a question, see protocol/lsp.ts for its shape and that of the answer.
---@param params { roots: string[], request: table, servers: agent.lsp.Policy }
---@param done fun(ok: boolean, result: table|string) called once
function M.answer(params, done)
  task.run(function()
    local ok, result = xpcall(answers[params.request.op], function(problem)
      return type(problem) == "table" and problem or debug.traceback(problem)
    end, params.request, params.roots, params.servers)
    -- The user must be asked first: that is an answer.
    return (ok or type(result) == "table") and result or error(result, 0)
  end, done)
end

--- Called before a file is deleted or renamed on disk.
---@param path string
function M.drop(path)
  buffers.drop(path)
end

return M
