-- Pure: the rows of a call's output as they are shown, and the file and line that each of them names. The engine's tools
-- write these forms (engine/tools/).
local M = {}

---@class agent.Target
---@field path string     absolute, or as the output names it
---@field line? integer   from 1
---@field folder? string  absolute; `path` is relative to it, otherwise to the project

---@alias agent.Targets table<integer, agent.Target>  by row, from 1

--- Before the rows of a file.
local HEADING = "^── (.+) ──$"

--- The matching lines of a search under their files' names, as rows of their own; nil if the output has another form.
---@param output string
---@return string[]?
---@return agent.Targets?
local function matches(output)
  local rows, targets, notes, name = {}, {}, {}, nil
  for line in vim.gsplit(output, "\n") do
    local number, text = line:match("^→ +(%d+):?(.*)$")
    local heading = line:match(HEADING)
    if heading then
      name = heading:gsub(" %(outside of the project%)$", "")
    elseif name and number then
      table.insert(rows, vim.trim(("%s:%s: %s"):format(name, number, vim.trim(text))))
      targets[#rows] = { path = name, line = tonumber(number) }
    elseif line:find("^%[.*%]$") then
      table.insert(notes, line)
    end
  end
  if #rows > 0 then
    return vim.list_extend(rows, notes), targets
  end
end

--- Rows of a diff lead to their line of the new file; a removed line leads to the one that follows it.
---@param rows string[]
---@param begins fun(text: string, row: integer): agent.Location?  the file that begins at a row
---@return agent.Targets
local function diff_targets(rows, begins)
  local targets, location, line = {}, nil, nil
  for row, text in ipairs(rows) do
    local begun = begins(text, row)
    local first, count = text:match("^@@ %-[%d,]+ %+(%d+),?(%d*) @@")
    if begun then
      location, line = begun, nil
    end
    if first then
      -- An empty range starts at the line before it.
      line = tonumber(first) + (count == "0" and 1 or 0)
    end
    local is_row = location and (not line or text:find("^[ +@\\-]"))
    targets[row] = is_row and { path = location.path, line = line or location.line } or nil
    line = line and text:find("^[ +]") and line + 1 or line
  end
  return targets
end

--- The diff of a write.
---@param rows string[]
---@param locations agent.Location[] of its files, in their order
---@return agent.Targets
local function write_targets(rows, locations)
  local file = 1
  return diff_targets(rows, function(text, row)
    local is_heading = text:find(HEADING) ~= nil
    file = is_heading and row > 1 and file + 1 or file
    return (row == 1 or is_heading) and locations[file] or nil
  end)
end

--- Git's status and its diffs.
---@param rows string[]
---@return agent.Targets
local function change_targets(rows)
  local targets = diff_targets(rows, function(text)
    local name = text:match('^diff %-%-git "?a/(.-)"? "?b/%1"?$')
    return name and { path = name }
  end)
  for row, text in ipairs(rows) do
    local name = text:match('^[ MADTU?][ MADTU?] "?(.-)"?$')
    if targets[row] or not name then
      break
    end
    targets[row] = { path = name }
  end
  return targets
end

--- Numbered lines of files. Several files have headings.
---@param rows string[]
---@param locations agent.Location[]
---@return agent.Targets
local function read_targets(rows, locations)
  local targets, name = {}, locations[1] and locations[1].path
  for row, text in ipairs(rows) do
    name = text:match(HEADING) or name
    targets[row] = name and { path = name, line = tonumber(text:match("^(%d+)\t")) }
  end
  return targets
end

--- The entries of a folder, or the files found below it, which have their whole names.
---@param rows string[]
---@param locations agent.Location[]
---@return agent.Targets
local function list_targets(rows, locations)
  local targets, folder = {}, locations[1] and locations[1].path
  for row, text in ipairs(rows) do
    local name = text:gsub(" %(%d[%d.]* [kM]?B%)$", ""):gsub(" %(symbolic link%)$", "")
    local is_entry = not name:find("/.")
    targets[row] = name ~= "" and { path = name, folder = is_entry and folder or nil } or nil
  end
  return targets
end

--- Diagnostics, symbols and callers: "src/a.ts:3:14 error …", "  src/a.ts:3-5 function greet".
---@param rows string[]
---@return agent.Targets
local function symbol_targets(rows)
  local targets = {}
  for row, text in ipairs(rows) do
    local name, number = text:match("^%s*(%S.-):(%d+)[:%-%s]")
    targets[row] = name and { path = name, line = tonumber(number) }
  end
  return targets
end

--- The symbols of one file: "  7-9 method area".
---@param rows string[]
---@param locations agent.Location[]
---@return agent.Targets
local function outline_targets(rows, locations)
  local targets = {}
  for row, text in ipairs(rows) do
    local number = locations[1] and text:match("^%s*(%d+)[%-%s]")
    targets[row] = number and { path = locations[1].path, line = tonumber(number) }
  end
  return targets
end

---@param block agent.Block
---@return boolean
local function is_of_git(block)
  return block.what == "search" and vim.startswith(block.title, "changes ")
end

---@param block agent.Block
---@return boolean
function M.is_listing(block)
  return block.what == "read" and (vim.startswith(block.title, "list ") or vim.startswith(block.title, "find "))
end

---@param block agent.Block a call with an output
---@return string[] rows
---@return agent.Targets
local function parse(block)
  local rows, targets = nil, nil
  if block.what == "search" and not (block.is_diff or is_of_git(block)) then
    rows, targets = matches(block.output)
  end
  if rows then
    return rows, targets
  end
  rows = vim.split(block.output, "\n")
  local locations = block.locations or {}
  if block.is_diff then
    return rows, write_targets(rows, locations)
  elseif is_of_git(block) then
    return rows, change_targets(rows)
  elseif block.what == "search" and vim.startswith(block.title, "outline of ") then
    return rows, outline_targets(rows, locations)
  elseif block.what == "search" then
    return rows, symbol_targets(rows)
  elseif M.is_listing(block) then
    return rows, list_targets(rows, locations)
  elseif block.what == "read" then
    return rows, read_targets(rows, locations)
  end
  return rows, {}
end

--- The rows of a call's output.
---@param block agent.Block with an output
---@return string[]
function M.rows(block)
  return (parse(block))
end

--- The file or folder that a row of the output names, or else the call.
---@param block agent.Block
---@param row? integer of the output, from 1; absent for the call's own line
---@return agent.Target?
function M.target(block, row)
  local location = block.locations and block.locations[1]
  if not row or not block.output then
    return location
  end
  local _, targets = parse(block)
  -- Each row of a search or a listing is about a file of its own.
  local is_own = block.what == "search" or M.is_listing(block)
  return targets[row] or not is_own and location or nil
end

return M
