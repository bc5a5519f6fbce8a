-- Pure: calls that only look, one after the other, are one line that says what they were about.
local M = {}

--- So many calls become one line.
local FEWEST = 3
--- What a line names of them.
local MOST_NAMED = 3

--- Kinds of calls, as ACP names them, and what they did.
local LOOKS = { read = "looked", search = "searched" }

---@param block agent.Block
---@return boolean
local function is_look(block)
  local is_done = block.kind == "tool" and block.status == "completed"
  return is_done and LOOKS[block.what] ~= nil and not block.children and not block.expanded
end

--- The next place of a call that may stand in the same line; nil if there is none.
---@param blocks agent.Block[]
---@param at integer
---@param step 1|-1
---@return integer?
local function beside(blocks, at, step)
  repeat
    at = at + step
    -- What has gone into a line is not gone through again.
    at = blocks[at] and step < 0 and blocks[at].into or at
  until not (blocks[at] and blocks[at].kind == "moved")
  local block = blocks[at]
  return block and (block.kind == "run" or is_look(block)) and at or nil
end

--- Puts the call at this place and those beside it into one line, if they are enough.
---@param timeline agent.Timeline
---@param index integer
---@param changed table<integer, true>
function M.fold(timeline, index, changed)
  local blocks = timeline.blocks
  if not is_look(blocks[index]) then
    return
  end
  local first, before = index, beside(blocks, index, -1)
  while before do
    first, before = before, beside(blocks, before, -1)
  end
  local places, calls, at = {}, {}, first
  while at do
    table.insert(places, at)
    vim.list_extend(calls, blocks[at].kind == "run" and blocks[at].calls or { blocks[at] })
    at = beside(blocks, at, 1)
  end
  if #calls < FEWEST then
    return
  end
  local run = blocks[first].kind == "run" and blocks[first] or { kind = "run", text = "", status = "completed" }
  run.calls = calls
  for _, place in ipairs(places) do
    blocks[place] = place == first and run or { kind = "moved", text = "", into = first }
    changed[place] = true
  end
  for _, call in ipairs(calls) do
    timeline.tools[call.id], timeline.nested[call.id] = first, call
  end
end

--- What a call is about: its title without the verb.
---@param call agent.Block
---@return string
local function subject(call)
  return (call.title:gsub("^%l+ ", "", 1):gsub(" %d+–%d+$", "", 1):gsub(" from %d+$", "", 1))
end

---@param verb string
---@param count integer
---@return string
local function times(verb, count)
  return count == 1 and verb .. " once" or ("%s %d times"):format(verb, count)
end

--- "read 5 files, searched 2 times  src/a.ts, src/b.ts …"
---@param run agent.Block
---@return string
function M.header(run)
  local counts, names, seen = { read = 0, search = 0 }, {}, {}
  local reads, files = 0, 0
  for _, call in ipairs(run.calls) do
    local name, is_file = subject(call), vim.startswith(call.title, "read ")
    counts[call.what] = counts[call.what] + 1
    reads = reads + (is_file and 1 or 0)
    if not seen[name] then
      seen[name] = true
      files = files + (is_file and 1 or 0)
      table.insert(names, name)
    end
  end
  local parts = {}
  if files > 0 and reads == counts.read then
    table.insert(parts, files == 1 and "read 1 file" or ("read %d files"):format(files))
  elseif counts.read > 0 then
    table.insert(parts, times(LOOKS.read, counts.read))
  end
  table.insert(parts, counts.search > 0 and times(LOOKS.search, counts.search) or nil)
  local more = #names > MOST_NAMED and " …" or ""
  return ("%s  %s%s"):format(table.concat(parts, ", "), table.concat(names, ", ", 1, math.min(#names, MOST_NAMED)), more)
end

--- What a search has found: each file with the number of its matches; nil if the output is of another form.
---@param output string as engine/tools/search/format.ts writes it
---@return string[]?
function M.found(output)
  local files, note = {}, {}
  for line in vim.gsplit(output, "\n") do
    local name = line:match("^── (.+) ──$")
    if name then
      table.insert(files, { name = name, count = 0 })
    elseif #files > 0 and vim.startswith(line, "→ ") then
      files[#files].count = files[#files].count + 1
    elseif line:find("^%[.*%]$") then
      table.insert(note, line)
    end
  end
  if #files == 0 or files[1].count == 0 then
    return
  end
  local lines = vim.tbl_map(function(file)
    return ("%s  %d"):format(file.name, file.count)
  end, files)
  return vim.list_extend(lines, note)
end

return M
