--- The place of a question: the buffer with its clients, and possible positions in it.
local buffers = require("agent.editor.lsp.buffers")
local clients = require("agent.editor.lsp.clients")
local find = require("agent.reload.find")
local locations = require("agent.editor.lsp.locations")
local start = require("agent.editor.lsp.start")
local symbol = require("agent.editor.lsp.symbol")

local M = {}

--- Positions of a name to try until a server knows one: the first may be in a comment.
local TRIES = 4
local TRIES_OF_LINE = 6

---@class agent.lsp.File
---@field path string
---@field buf integer
---@field clients vim.lsp.Client[]
---@field roots string[]

--- A position in a file, for the answer and in each client's units.
---@class agent.lsp.Place: agent.lsp.File
---@field row integer
---@field col integer
---@field whole_line boolean
---@field at { line: integer, text: string }
---@field params fun(client: vim.lsp.Client): lsp.TextDocumentPositionParams

---@param reason string
---@return table answer
function M.nothing(reason)
  return { kind = "nothing", reason = reason }
end

--- A reason not to answer: a server that the user must be asked about first.
---@param missing agent.lsp.Missing[]
local function ask_first(missing)
  error({ kind = "not_running", servers = missing }, 0)
end

--- In a task: loads the file's buffer and starts its clients, if allowed. Raises an answer if the user must be asked
--- first.
---@param path string
---@param roots string[]
---@param policy agent.lsp.Policy
---@return agent.lsp.File? file
---@return string? reason
function M.open(path, roots, policy)
  if not find.is_inside(path, roots) then
    return nil, "The file is outside of the project."
  end
  local buf, reason = buffers.open(path)
  if not buf then
    return nil, reason
  end
  local left ---@type string[]?
  if buffers.is_hidden(buf) then
    local missing
    missing, left = start.attach(buf, policy)
    if #missing > 0 then
      ask_first(missing)
    end
  end
  local attached = clients.ready(buf)
  if #attached == 0 then
    return nil, clients.none(buf, left)
  end
  return { path = path, buf = buf, clients = attached, roots = roots }
end

---@param file agent.lsp.File
---@param position agent.lsp.Position
---@param line string
---@param request table
---@return agent.lsp.Place
local function place_at(file, position, line, request)
  return vim.tbl_extend("error", file, {
    row = position.row,
    col = position.col,
    whole_line = not request.symbol and not request.character,
    at = { line = position.row + 1, text = request.symbol or symbol.word_at(line, position.col) },
    params = function(client)
      return {
        textDocument = { uri = vim.uri_from_bufnr(file.buf) },
        position = locations.to_server(file.buf, position.row, position.col, client.offset_encoding),
      }
    end,
  })
end

---@param buf integer
---@return string[]
local function comment_leaders(buf)
  local leader = vim.trim(vim.bo[buf].commentstring:match("^(.-)%%s") or "")
  return leader ~= "" and { leader } or {}
end

---@param request table
---@param lines string[]
---@param leaders string[]
---@return agent.lsp.Position[] positions best first
---@return string? reason
local function positions(request, lines, leaders)
  local row = request.line and request.line - 1
  if request.symbol then
    local found = symbol.find(lines, request.symbol, row, leaders)
    if #found == 0 then
      return {}, ("“%s” is not in the file."):format(request.symbol)
    end
    if row then
      -- The question names this line, so another one would be wrong.
      found = vim.tbl_filter(function(position)
        return position.row == found[1].row
      end, found)
    end
    return vim.list_slice(found, 1, TRIES)
  elseif not row then
    return {}, "Either symbol or line is needed."
  elseif row >= #lines then
    return {}, ("The file has no line %d, only %d."):format(request.line, #lines)
  elseif request.character then
    return { { row = row, col = locations.from_character(lines[row + 1], request.character) } }
  end
  local words = symbol.words(lines[row + 1])
  if request.op == "code_action" then
    -- The question is about the whole line.
    words = { words[1] }
  end
  local found = {} ---@type agent.lsp.Position[]
  for index = 1, math.max(1, math.min(#words, TRIES_OF_LINE)) do
    found[index] = { row = row, col = words[index] or 0 }
  end
  return found
end

--- In a task: asks at each possible position until there is an answer.
---@param request table
---@param roots string[]
---@param policy agent.lsp.Policy
---@param what string what is looked for
---@param ask fun(place: agent.lsp.Place): table?, string?
---@return table answer
function M.each(request, roots, policy, what, ask)
  local file, reason = M.open(request.path, roots, policy)
  if not file then
    return M.nothing(reason --[[@as string]])
  end
  local lines = vim.api.nvim_buf_get_lines(file.buf, 0, -1, false)
  local found, why = positions(request, lines, comment_leaders(file.buf))
  if #found == 0 then
    return M.nothing(why --[[@as string]])
  end
  local stop = vim.uv.now() + clients.answer_ms
  local problem ---@type string?
  for _, position in ipairs(found) do
    local answer, message = ask(place_at(file, position, lines[position.row + 1], request))
    if answer then
      return answer
    end
    problem = problem or message
    if vim.uv.now() >= stop then
      break
    end
  end
  local where = request.symbol and ("“%s”"):format(request.symbol) or ("line %d"):format(request.line)
  return M.nothing(problem or ("The language server gives no %s for %s."):format(what, where))
end

return M
