--- Callers and callees, super- and subtypes.
local clients = require("agent.editor.lsp.clients")
local locations = require("agent.editor.lsp.locations")
local task = require("agent.editor.lsp.task")

local M = {}

--- Overloads and merged declarations give several items; the first few are enough.
local MOST_ITEMS = 3
local MOST_RELATED = 200

---@class agent.lsp.Related
---@field relation "incoming"|"outgoing"|"super"|"sub"
---@field symbol agent.lsp.Symbol
---@field calls integer[]

---@class agent.lsp.Direction
---@field relation "incoming"|"outgoing"|"super"|"sub"
---@field method string
---@field field? string  field of an answer's element with the related item

---@type table<string, agent.lsp.Direction>
local DIRECTIONS = {
  incoming = { relation = "incoming", method = "callHierarchy/incomingCalls", field = "from" },
  outgoing = { relation = "outgoing", method = "callHierarchy/outgoingCalls", field = "to" },
  super = { relation = "super", method = "typeHierarchy/supertypes" },
  sub = { relation = "sub", method = "typeHierarchy/subtypes" },
}

---@param ranges lsp.Range[]
---@return integer[] lines from 1, each once
local function lines_of(ranges)
  local lines, seen = {}, {}
  for _, range in ipairs(ranges or {}) do
    local line = range.start.line + 1
    if not seen[line] then
      seen[line] = true
      lines[#lines + 1] = line
    end
  end
  table.sort(lines)
  return lines
end

---@param client vim.lsp.Client
---@param item table
---@param direction agent.lsp.Direction
---@param place agent.lsp.Place
---@return agent.lsp.Related[]
---@return string? problem
local function follow(client, item, direction, place)
  local result, problem = clients.request(client, direction.method, { item = item }, place.buf)
  local related = {} ---@type agent.lsp.Related[]
  for _, element in ipairs(result or {}) do
    related[#related + 1] = {
      relation = direction.relation,
      symbol = locations.symbol(direction.field and element[direction.field] or element, 0),
      calls = lines_of(element.fromRanges),
    }
  end
  return related, problem
end

--- In a task.
---@param place agent.lsp.Place
---@param prepare "textDocument/prepareCallHierarchy"|"textDocument/prepareTypeHierarchy"
---@param directions string[]
---@return table? answer
---@return string? problem
function M.of(place, prepare, directions)
  local answers, problem = clients.ask(place.clients, prepare, place.buf, place.params)
  local answer = answers[1]
  if not answer then
    return nil, problem
  end
  local client = answer.client
  local of, requests = {}, {} ---@type agent.lsp.Symbol[], (fun(): agent.lsp.Related[])[]
  local failed ---@type string?
  for index = 1, math.min(#answer.result, MOST_ITEMS) do
    local item = answer.result[index]
    of[index] = locations.symbol(item, 0)
    for _, name in ipairs(directions) do
      requests[#requests + 1] = function()
        local related, message = follow(client, item, DIRECTIONS[name], place)
        failed = failed or message
        return related
      end
    end
  end
  local related = {} ---@type agent.lsp.Related[]
  for _, some in ipairs(task.all(requests)) do
    vim.list_extend(related, some)
  end
  if #related == 0 and failed then
    return nil, failed
  end
  return { kind = "hierarchy", at = place.at, of = of, related = vim.list_slice(related, 1, MOST_RELATED) }
end

return M
