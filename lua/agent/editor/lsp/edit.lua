--- A server's edits as whole texts. Nothing is applied here: the engine writes the texts like any others, after asking
--- where needed.
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local find = require("agent.reload.find")
local locations = require("agent.editor.lsp.locations")

local M = {}

---@class agent.lsp.FileEdit
---@field path string
---@field before? string  nil for a new file
---@field after string

--- Begin and end of each line without its ending, in bytes; the end is exclusive.
---@param text string
---@return integer[] starts
---@return integer[] ends
local function lines_of(text)
  local starts, ends, at = { 1 }, {}, 1
  while true do
    local mark = text:find("[\r\n]", at)
    if not mark then
      ends[#ends + 1] = #text + 1
      return starts, ends
    end
    ends[#ends + 1] = mark
    at = text:sub(mark, mark + 1) == "\r\n" and mark + 2 or mark + 1
    starts[#starts + 1] = at
  end
end

---@param text string
---@param starts integer[]
---@param ends integer[]
---@param position lsp.Position
---@param encoding string
---@return integer byte in the text, from 1
local function offset(text, starts, ends, position, encoding)
  local first = starts[position.line + 1]
  if not first then
    return #text + 1
  end
  local line = text:sub(first, ends[position.line + 1] - 1)
  return first + locations.to_byte(line, position.character, encoding)
end

--- The most frequent line ending of a text.
---@param text string
---@return string
local function ending_of(text)
  local _, crlf = text:gsub("\r\n", "")
  local _, lf = text:gsub("\n", "")
  return crlf > 0 and crlf * 2 >= lf and "\r\n" or "\n"
end

--- Pure: applies a server's edits, whose ranges all refer to the original text. Edits of the same place apply in the
--- order of the list.
---@param text string
---@param edits lsp.TextEdit[]
---@param encoding "utf-8"|"utf-16"|"utf-32"
---@return string? after
---@return string? problem
function M.apply(text, edits, encoding)
  local starts, ends = lines_of(text)
  local ending = ending_of(text)
  local places = {} ---@type { first: integer, last: integer, new: string, index: integer }[]
  for index, edit in ipairs(edits) do
    local first = offset(text, starts, ends, edit.range.start, encoding)
    local last = offset(text, starts, ends, edit.range["end"], encoding)
    local new = edit.newText:gsub("\r\n?", "\n")
    if ending ~= "\n" then
      new = new:gsub("\n", ending)
    end
    places[index] = { first = math.min(first, last), last = math.max(first, last), new = new, index = index }
  end
  table.sort(places, function(a, b)
    if a.first ~= b.first then
      return a.first < b.first
    elseif a.last ~= b.last then
      return a.last < b.last
    end
    return a.index < b.index
  end)
  local parts, at = {}, 1 ---@type string[], integer
  for _, place in ipairs(places) do
    if place.first < at then
      return nil, "its edits overlap"
    end
    parts[#parts + 1] = text:sub(at, place.first - 1)
    parts[#parts + 1] = place.new
    at = place.last
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

--- The present text of the file: the buffer's, else the disk's.
---@param path string
---@return string? text without byte order mark
---@return string? problem
local function read(path)
  local buf = find.buffers(path)[1]
  if buf then
    return (codec.strip_bom(codec.join(codec.of_buffer(buf))))
  end
  local bytes, problem = disk.bytes(path)
  if not bytes then
    return nil, ("%s cannot be read: %s"):format(path, problem or "it is not a file")
  elseif codec.kind_of(bytes) == "other" then
    return nil, ("%s is not UTF-8"):format(path)
  end
  return (codec.strip_bom(bytes))
end

--- The files of an edit, by path, in order.
---@class agent.lsp.Plan
---@field roots string[]
---@field encoding string
---@field files agent.lsp.FileEdit[]
---@field by_path table<string, agent.lsp.FileEdit>

---@param plan agent.lsp.Plan
---@param uri string
---@return string? path
---@return string? problem
local function path_of(plan, uri)
  local path = locations.path(uri)
  if not vim.startswith(uri, "file:") or not find.is_inside(path, plan.roots) then
    return nil, ("it would change a file outside of the project: %s"):format(path)
  end
  return find.real(path)
end

---@param plan agent.lsp.Plan
---@param file agent.lsp.FileEdit
local function add(plan, file)
  plan.files[#plan.files + 1] = file
  plan.by_path[file.path] = file
end

---@param plan agent.lsp.Plan
---@param uri string
---@param edits lsp.TextEdit[]
---@return string? problem
local function change(plan, uri, edits)
  local path, problem = path_of(plan, uri)
  if not path then
    return problem
  end
  local file = plan.by_path[path]
  if not file then
    local before
    before, problem = read(path)
    if not before then
      return problem
    end
    file = { path = path, before = before, after = before }
    add(plan, file)
  end
  local after
  after, problem = M.apply(file.after, edits, plan.encoding)
  if not after then
    return problem
  end
  file.after = after
end

---@param plan agent.lsp.Plan
---@param operation table
---@return string? problem
local function create(plan, operation)
  local path, problem = path_of(plan, operation.uri)
  if not path then
    return problem
  end
  local options = operation.options or {}
  if not vim.uv.fs_stat(path) then
    add(plan, { path = path, after = "" })
  elseif options.overwrite then
    local before
    before, problem = read(path)
    if not before then
      return problem
    end
    add(plan, { path = path, before = before, after = "" })
  elseif not options.ignoreIfExists then
    return ("it would create %s, which exists"):format(path)
  end
end

--- All texts that a workspace edit changes.
---@param edit lsp.WorkspaceEdit
---@param encoding string
---@param roots string[]  real paths of the workspace
---@return agent.lsp.FileEdit[]? files
---@return string? problem reason why it is impossible, to follow "because"
function M.texts(edit, encoding, roots)
  local plan = { roots = roots, encoding = encoding, files = {}, by_path = {} } ---@type agent.lsp.Plan
  local changes = {} ---@type table[]
  if edit.documentChanges then
    changes = edit.documentChanges
  else
    for uri, edits in pairs(edit.changes or {}) do
      changes[#changes + 1] = { textDocument = { uri = uri }, edits = edits }
    end
    table.sort(changes, function(a, b)
      return a.textDocument.uri < b.textDocument.uri
    end)
  end
  for _, item in ipairs(changes) do
    local problem ---@type string?
    if item.kind == "create" then
      problem = create(plan, item)
    elseif item.kind then
      problem = ("it would %s a file, which is to be done with the tools for files"):format(item.kind)
    else
      problem = change(plan, item.textDocument.uri, item.edits)
    end
    if problem then
      return nil, problem
    end
  end
  return vim.tbl_filter(function(file)
    return file.before ~= file.after
  end, plan.files)
end

return M
