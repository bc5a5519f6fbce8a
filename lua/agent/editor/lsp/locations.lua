--- Converts between the servers' positions (UTF-8, UTF-16 or UTF-32 units from 0) and the engine's.
local M = {}

--- Most locations; further ones are counted.
local MOST = 500

---@class agent.lsp.Location
---@field path string
---@field line integer      from 1
---@field end_line integer

---@class agent.lsp.Symbol
---@field name string
---@field kind string
---@field detail? string
---@field container? string
---@field depth integer
---@field location agent.lsp.Location

--- The value of a field that may be JSON's null.
---@generic T
---@param value T
---@return T?
local function without_null(value)
  if value == vim.NIL or value == "" then
    return nil
  end
  return value
end

--- The path of a file, or the address of anything else.
---@param uri string
---@return string
function M.path(uri)
  if vim.startswith(uri, "file:") then
    return vim.uri_to_fname(uri)
  end
  return uri
end

---@param uri string
---@param range? lsp.Range
---@return agent.lsp.Location
function M.location(uri, range)
  if not range or range == vim.NIL then
    return { path = M.path(uri), line = 1, end_line = 1 }
  end
  local first, last = range.start.line, range["end"].line
  -- A range that ends at the beginning of a line excludes that line.
  if last > first and range["end"].character == 0 then
    last = last - 1
  end
  return { path = M.path(uri), line = first + 1, end_line = math.max(first, last) + 1 }
end

--- Reads a Location, several of them, or several LocationLinks; each line once.
---@param results any[]
---@return agent.lsp.Location[] locations
---@return integer total
function M.list(results)
  local found, seen, total = {}, {}, 0
  for _, result in ipairs(results) do
    for _, item in ipairs(vim.islist(result) and result or { result }) do
      local location = item.targetUri and M.location(item.targetUri, item.targetSelectionRange)
        or M.location(item.uri, item.range)
      local key = ("%s:%d"):format(location.path, location.line)
      if not seen[key] then
        seen[key] = true
        total = total + 1
        if #found < MOST then
          found[#found + 1] = location
        end
      end
    end
  end
  return found, total
end

---@param kind integer
---@return string
local function kind_name(kind)
  return tostring(vim.lsp.protocol.SymbolKind[kind] or "Symbol"):lower()
end

--- Reads a DocumentSymbol, SymbolInformation, WorkspaceSymbol or item of a hierarchy.
---@param item table
---@param depth integer
---@param uri? string of the document, for items without one
---@return agent.lsp.Symbol
function M.symbol(item, depth, uri)
  local location = item.location and M.location(item.location.uri, item.location.range)
    or M.location(item.uri or uri --[[@as string]], item.range)
  local begin = without_null(item.selectionRange)
  if begin then
    location.line = begin.start.line + 1
    location.end_line = math.max(location.line, location.end_line)
  end
  return {
    name = item.name,
    kind = kind_name(item.kind),
    detail = without_null(item.detail),
    container = without_null(item.containerName),
    depth = depth,
    location = location,
  }
end

--- All symbols of an answer, nested ones after their parents.
---@param items table[]
---@param uri string
---@param into? agent.lsp.Symbol[]
---@param depth? integer
---@return agent.lsp.Symbol[]
function M.flatten(items, uri, into, depth)
  into, depth = into or {}, depth or 0
  for _, item in ipairs(items) do
    into[#into + 1] = M.symbol(item, depth, uri)
    local children = without_null(item.children)
    if children then
      M.flatten(children, uri, into, depth + 1)
    end
  end
  return into
end

--- Byte in the line → position for a server.
---@param buf integer
---@param row integer from 0
---@param col integer bytes from 0
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return lsp.Position
function M.to_server(buf, row, col, encoding)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  return { line = row, character = vim.str_utfindex(line, encoding, math.min(col, #line), false) }
end

--- A server's position in a line → byte in the line, from 0. Positions after the end are the end.
---@param line string
---@param character integer
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return integer
function M.to_byte(line, character, encoding)
  return vim.str_byteindex(line, encoding, math.min(character, #line), false)
end

--- Byte in the line, from 0 → character, from 1.
---@param line string
---@param col integer
---@return integer
function M.to_character(line, col)
  return vim.str_utfindex(line, "utf-32", math.min(col, #line), false) + 1
end

--- Character, from 1 → byte in the line, from 0.
---@param line string
---@param character integer
---@return integer
function M.from_character(line, character)
  return M.to_byte(line, character - 1, "utf-32")
end

return M
