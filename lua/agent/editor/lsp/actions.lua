--- Renames and code actions: their changes as whole texts.
local buffers = require("agent.editor.lsp.buffers")
local clients = require("agent.editor.lsp.clients")
local edit = require("agent.editor.lsp.edit")
local find = require("agent.reload.find")
local locations = require("agent.editor.lsp.locations")
local symbol = require("agent.editor.lsp.symbol")

local M = {}

--- Listed titles when the caller has to choose.
local MOST = 40

---@param what string
---@param problem string
---@return table answer
local function refuse(what, problem)
  return { kind = "nothing", reason = ("%s is not possible, because %s."):format(what, problem) }
end

---@param title string
---@param workspace_edit lsp.WorkspaceEdit
---@param client vim.lsp.Client
---@param roots string[]
---@return table answer
local function edits(title, workspace_edit, client, roots)
  local files, problem = edit.texts(workspace_edit, client.offset_encoding, roots)
  if not files then
    return refuse(title, problem --[[@as string]])
  end
  return { kind = "edits", title = title, files = files }
end

---@param buf integer
---@param row integer
---@param col integer
---@return string
local function word_at(buf, row, col)
  return symbol.word_at(vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or "", col)
end

--- The definition of the symbol, if it has the same name there: at a place of use some servers rename only in that
--- file, and give the import an alias.
---@param client vim.lsp.Client
---@param place agent.lsp.Place
---@return lsp.TextDocumentPositionParams? params
---@return integer? buf
---@return string? problem
local function definition(client, place)
  if not client:supports_method("textDocument/definition", place.buf) then
    return nil
  end
  local result, problem = clients.request(client, "textDocument/definition", place.params(client), place.buf)
  if problem then
    return nil, nil, problem
  end
  local first = result and (vim.islist(result) and result[1] or result.uri and result)
  if not first then
    return nil
  end
  local uri, range = first.targetUri or first.uri, first.targetSelectionRange or first.range
  local path = locations.path(uri)
  if not vim.startswith(uri, "file:") or not find.is_inside(path, place.roots) then
    return nil
  end
  local buf, _, loaded_now = buffers.open(path)
  if not buf or not vim.list_contains(clients.ready(buf, loaded_now), client) then
    return nil
  end
  local row = range.start.line
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  local col = locations.to_byte(line, range.start.character, client.offset_encoding)
  if word_at(buf, row, col) ~= word_at(place.buf, place.row, place.col) then
    return nil
  end
  return { textDocument = { uri = vim.uri_from_bufnr(buf) }, position = range.start }, buf
end

--- In a task. Nil where the server cannot rename.
---@param place agent.lsp.Place
---@param new_name string
---@return table? answer
---@return string? problem
function M.rename(place, new_name)
  local method = "textDocument/rename"
  local able = vim.tbl_filter(function(client)
    return client:supports_method(method, place.buf)
  end, place.clients)
  if #able == 0 then
    return nil, clients.lacks(place.clients, method)
  end
  local problem ---@type string?
  for _, client in ipairs(able) do
    local params, buf, message = definition(client, place)
    if not message then
      params = vim.tbl_extend("error", params or place.params(client), { newName = new_name })
      local result
      result, message = clients.request(client, method, params, buf or place.buf)
      if result and (result.changes or result.documentChanges) then
        return edits(("Renaming to %s"):format(new_name), result, client, place.roots)
      end
    end
    problem = problem or message
  end
  return nil, problem
end

---@class agent.lsp.Offer
---@field client vim.lsp.Client
---@field action table  a CodeAction or a Command

--- A kind covers those below it: "refactor" covers "refactor.extract".
---@param offer agent.lsp.Offer
---@param wanted { kind?: string, title?: string }
---@return boolean
local function matches(offer, wanted)
  local kind = type(offer.action.kind) == "string" and offer.action.kind or ""
  if wanted.kind and kind ~= wanted.kind and not vim.startswith(kind, wanted.kind .. ".") then
    return false
  end
  local title = wanted.title and vim.trim(wanted.title):lower()
  return not title or offer.action.title:lower() == title
end

--- A bare command of the server cannot be previewed.
---@param offer agent.lsp.Offer
---@return boolean
local function is_possible(offer)
  local action = offer.action
  return type(action.command) ~= "string" and (action.edit ~= nil or action.command == nil)
end

--- The user's diagnostics on these lines, in the server's words.
---@param buf integer
---@param client vim.lsp.Client
---@param row integer
---@return lsp.Diagnostic[]
local function diagnostics_at(buf, client, row)
  local name = "^n?vim%.lsp%." .. vim.pesc(client.name) .. "%." .. client.id .. "%f[%D]"
  local found = {} ---@type lsp.Diagnostic[]
  for _, diagnostic in ipairs(vim.diagnostic.get(buf)) do
    local namespace = vim.diagnostic.get_namespace(diagnostic.namespace)
    local lsp = diagnostic.user_data and diagnostic.user_data.lsp
    local covers = diagnostic.lnum <= row and row <= (diagnostic.end_lnum or diagnostic.lnum)
    if lsp and covers and namespace.name:find(name) then
      found[#found + 1] = lsp
    end
  end
  return found
end

---@param place agent.lsp.Place
---@param kind? string
---@return agent.lsp.Offer[]
---@return string? problem
local function offers(place, kind)
  local row = place.row
  local line = vim.api.nvim_buf_get_lines(place.buf, row, row + 1, false)[1] or ""
  local answers, problem = clients.ask(place.clients, "textDocument/codeAction", place.buf, function(client)
    local encoding = client.offset_encoding
    local from = place.whole_line and 0 or place.col
    local to = place.whole_line and #line or place.col
    return {
      textDocument = { uri = vim.uri_from_bufnr(place.buf) },
      range = {
        start = locations.to_server(place.buf, row, from, encoding),
        ["end"] = locations.to_server(place.buf, row, to, encoding),
      },
      context = {
        diagnostics = diagnostics_at(place.buf, client, row),
        only = kind and { kind } or nil,
        triggerKind = 1,
      },
    }
  end)
  local found = {} ---@type agent.lsp.Offer[]
  for _, answer in ipairs(answers) do
    for _, action in ipairs(answer.result) do
      if not action.disabled then
        found[#found + 1] = { client = answer.client, action = action }
      end
    end
  end
  return found, problem
end

--- The edit of the action; some servers make it only now.
---@param offer agent.lsp.Offer
---@param place agent.lsp.Place
---@return table answer
local function resolve(offer, place)
  local client, action = offer.client, offer.action
  local title = ("“%s”"):format(action.title)
  if not action.edit and is_possible(offer) and client:supports_method("codeAction/resolve", place.buf) then
    local resolved, problem = clients.request(client, "codeAction/resolve", action, place.buf)
    if not resolved then
      return { kind = "nothing", reason = problem or (title .. " has no edit.") }
    end
    action = resolved
  end
  if action.edit then
    return edits(title, action.edit, client, place.roots)
  elseif action.command then
    return refuse(title, "it runs a command of the server, whose changes cannot be shown before they are made")
  end
  return refuse(title, "the server gives no edit for it")
end

--- In a task: the edits of the chosen action, or the titles of all offers.
---@param place agent.lsp.Place
---@param wanted { kind?: string, title?: string }
---@return table? answer
---@return string? problem
function M.code_action(place, wanted)
  local found, problem = offers(place, wanted.kind)
  local fitting = vim.tbl_filter(function(offer)
    return matches(offer, wanted)
  end, found)
  if wanted.title and fitting[1] or wanted.kind and #fitting == 1 then
    return resolve(fitting[1], place)
  end
  local possible = vim.tbl_filter(is_possible, #fitting > 0 and fitting or found)
  if #possible == 0 then
    return nil, problem
  end
  local listed = {} ---@type { title: string, kind: string }[]
  for _, offer in ipairs(vim.list_slice(possible, 1, MOST)) do
    local kind = type(offer.action.kind) == "string" and offer.action.kind or ""
    listed[#listed + 1] = { title = offer.action.title, kind = kind }
  end
  return { kind = "actions", actions = listed }
end

return M
