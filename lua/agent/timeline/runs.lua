-- Pure: joins successive read-only calls, and the thoughts between them, into one line that says what they read.
local M = {}

--- Calls that make a line.
local FEWEST = 3
--- Names in a line.
local MOST_NAMED = 3

--- Kinds of calls, as in ACP, and their verbs.
local LOOKS = { read = "looked", search = "searched" }

local GOES_WELL = { pending = true, in_progress = true, completed = true }

---@param block agent.Block
---@return boolean
local function is_look(block)
  local is_well = block.kind == "tool" and GOES_WELL[block.status] and block.title ~= ""
  return is_well and LOOKS[block.what] ~= nil and not block.children and not block.expanded
end

---@param block? agent.Block
---@return boolean
local function is_passed(block)
  local is_thought = block ~= nil and block.kind == "thought" and block.status == "done" and not block.expanded
  return is_thought or block ~= nil and block.kind == "moved"
end

--- The next position of a call in the same line; nil if there is none.
---@param blocks agent.Block[]
---@param at integer
---@param step 1|-1
---@return integer?
local function beside(blocks, at, step)
  repeat
    at = at + step
    -- Joined blocks are skipped.
    at = blocks[at] and step < 0 and blocks[at].into or at
  until not is_passed(blocks[at])
  local block = blocks[at]
  return block and (block.kind == "run" or is_look(block)) and at or nil
end

--- The calls and thoughts in one line with the call at this position.
---@param blocks agent.Block[]
---@param index integer
---@return integer first place
---@return integer last
---@return agent.Block[] items
---@return integer count of the calls
local function around(blocks, index)
  local first, before = index, beside(blocks, index, -1)
  while before do
    first, before = before, beside(blocks, before, -1)
  end
  local last, after = index, beside(blocks, index, 1)
  while after do
    last, after = after, beside(blocks, after, 1)
  end
  local items, count = {}, 0
  for at = first, last do
    local block = blocks[at]
    for _, item in ipairs(block.kind == "run" and block.calls or block.kind ~= "moved" and { block } or {}) do
      table.insert(items, item)
      count = count + (item.kind == "tool" and 1 or 0)
    end
  end
  return first, last, items, count
end

--- Its calls that have not ended.
---@param run agent.Block
---@return agent.Block[]
function M.open(run)
  return vim.tbl_filter(function(call)
    return call.kind == "tool" and call.status ~= "completed"
  end, run.kind == "run" and run.calls or {})
end

--- The line has ended once all calls have.
---@param run agent.Block
local function set_status(run)
  run.status = #M.open(run) > 0 and "in_progress" or "completed"
end

--- Splits it into separate blocks.
---@param timeline agent.Timeline
---@param index integer
---@param changed table<integer, true>
---@return integer[] places
local function dissolve(timeline, index, changed)
  local blocks, run = timeline.blocks, timeline.blocks[index]
  local places, at = {}, index
  while #places < #run.calls do
    if at == index or blocks[at].into == index then
      table.insert(places, at)
    end
    at = at + 1
  end
  for number, place in ipairs(places) do
    local item = run.calls[number]
    blocks[place], changed[place] = item, true
    if item.kind == "tool" then
      timeline.tools[item.id], timeline.nested[item.id] = place, nil
    end
  end
  return places
end

--- Joins the call at this position with those beside it, if they are enough. A call that has failed, was stopped or
--- waits for the user leaves its line.
---@param timeline agent.Timeline
---@param index integer
---@param changed table<integer, true>
---@param call? agent.Block that has changed
function M.fold(timeline, index, changed, call)
  local blocks = timeline.blocks
  if blocks[index].kind == "run" and call then
    if is_look(call) or call.expanded then
      return set_status(blocks[index])
    end
    for _, place in ipairs(dissolve(timeline, index, changed)) do
      M.fold(timeline, place, changed)
    end
    return
  elseif not is_look(blocks[index]) then
    return
  end
  local first, last, items, count = around(blocks, index)
  if count < FEWEST then
    return
  end
  local run = blocks[first].kind == "run" and blocks[first] or { kind = "run", text = "" }
  run.calls = items
  set_status(run)
  for place = first, last do
    local block = blocks[place]
    if place == first then
      blocks[place], changed[place] = run, true
    elseif block.kind ~= "moved" then
      blocks[place], changed[place] = { kind = "moved", text = "", into = first }, true
    elseif block.into then
      block.into = first
    end
  end
  for _, item in ipairs(items) do
    if item.kind == "tool" then
      timeline.tools[item.id], timeline.nested[item.id] = first, item
    end
  end
end

--- The subject of a call: its title without the verb.
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

---@param item agent.Block
---@return boolean
local function is_call(item)
  return item.kind == "tool"
end

--- "read 5 files, searched 2 times  src/a.ts, src/b.ts …"
---@param run agent.Block
---@return string
function M.header(run)
  local counts, names, seen = { read = 0, search = 0 }, {}, {}
  local reads, files = 0, 0
  for _, call in ipairs(vim.tbl_filter(is_call, run.calls)) do
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

return M
