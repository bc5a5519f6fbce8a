-- The effects of a command in an approval: a row for each file, which the user can select.
local format = require("agent.ui.format")
local text = require("agent.timeline.lines")

local M = {}

---@class agent.Effect  see EffectRow in protocol/ui.ts
---@field number integer
---@field path string
---@field what "created"|"modified"|"deleted"|"renamed"
---@field from? string
---@field count? integer
---@field added? integer
---@field removed? integer
---@field note? string
---@field state "kept"|"left"|"refused"
---@field before? string
---@field after? string

---@param approval agent.Approval
---@param row agent.Effect
---@return boolean
local function is_chosen(approval, row)
  local by_user = approval.chosen and approval.chosen[row.number]
  if by_user ~= nil then
    return by_user
  end
  return row.state == "kept"
end

--- Files that need a look come first, files that cannot be kept last.
---@param approval agent.Approval
---@return agent.Effect[]
local function rows(approval)
  local ordered = {}
  for _, state in ipairs({ "left", "kept", "refused" }) do
    for _, row in ipairs(approval.effects) do
      if row.state == state then
        table.insert(ordered, row)
      end
    end
  end
  return ordered
end

--- The selected part.
---@param approval agent.Approval
---@return string
local function summary(approval)
  local chosen, all, added, removed = 0, 0, 0, 0
  for _, row in ipairs(approval.effects) do
    local count = row.count or 1
    all = all + count
    if is_chosen(approval, row) then
      chosen = chosen + count
      added, removed = added + (row.added or 0), removed + (row.removed or 0)
    end
  end
  local files = ("%d %s"):format(all, all == 1 and "file" or "files")
  local some = chosen < all and ("%d of %s"):format(chosen, files) or files
  return ("%s · nothing else has changed"):format(vim.trim(some .. "  " .. text.counts(added, removed)))
end

--- The lines above the rows: the command and its end, the reason for the question, and the summary.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
local function head(approval)
  local command = vim.split(vim.trim(approval.command), "\n")
  local title = { #command > 1 and ("%s … (%d lines)"):format(command[1], #command) or command[1], approval["end"] }
  table.insert(title, approval.folder ~= "." and "in ./" .. approval.folder or nil)
  local lines, groups = { format.one_line(table.concat(title, " · ")) }, { "AgentTitle" }
  if approval.reason ~= "" then
    table.insert(lines, format.one_line(approval.reason))
    groups[#lines] = "AgentWarning"
  end
  if approval.activation then
    table.insert(lines, format.one_line(approval.activation))
    groups[#lines] = "AgentWarning"
  end
  table.insert(lines, summary(approval))
  return lines, groups
end

--- The row at this line of the float; nil above the rows.
---@param approval agent.Approval
---@param line integer
---@return agent.Effect?
local function row_at(approval, line)
  return rows(approval)[line - #head(approval)]
end

local CHOSEN, NOT_CHOSEN, REFUSED = "✓", "☐", "✗"

---@param approval agent.Approval
---@param row agent.Effect
---@return string line
---@return agent.Mark[] marks
local function row_text(approval, row)
  local mark = row.state == "refused" and REFUSED or is_chosen(approval, row) and CHOSEN or NOT_CHOSEN
  local file = text.file_line({
    kind = row.what,
    shown = format.one_line(row.path),
    from = row.from and format.one_line(row.from),
    added = row.added or 0,
    removed = row.removed or 0,
    count = row.count,
  })
  local line = ("%s %s"):format(mark, file)
  local marks = row.state == "refused" and {} or text.count_marks(line)
  if mark == CHOSEN then
    table.insert(marks, { 0, #mark, "AgentToolDone" })
  end
  local note = row.note and format.one_line(row.note)
  if row.state == "refused" then
    note = "cannot be kept" .. (note and ": " .. note or "")
  end
  return note and ("%s · %s"):format(line, note) or line, marks
end

local GROUPS = { left = "AgentWarning", refused = "AgentHint" }

---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
---@return table<integer, agent.Mark[]> marks
function M.lines(approval)
  local lines, groups = head(approval)
  local marks = { [#lines] = text.count_marks(lines[#lines]) }
  for _, row in ipairs(rows(approval)) do
    local line
    line, marks[#lines + 1] = row_text(approval, row)
    table.insert(lines, line)
    groups[#lines] = GROUPS[row.state]
  end
  return lines, groups, marks
end

---@param approval agent.Approval
---@return string[]
function M.keys(approval)
  local can_keep = vim.iter(approval.effects):any(function(row)
    return row.state ~= "refused"
  end)
  local diffs = #M.files(approval) > 0 and { "d diffs" } or {}
  if not can_keep then
    return vim.list_extend({ "r discard", "R with reason" }, diffs)
  end
  local keys = vim.list_extend({ "a keep", "r discard", "␣ choose" }, diffs)
  table.insert(keys, not approval.scope and "s session" or nil)
  table.insert(keys, approval.suggestion and "A always")
  return vim.list_extend(keys, { "R with reason" })
end

--- Selects or deselects the row at this line; above the rows, all rows that are kept by default.
---@param approval agent.Approval
---@param line integer
---@return string[]? problem the longest text first
function M.toggle(approval, line)
  local row = row_at(approval, line)
  if row and row.state == "refused" then
    local why = "cannot be kept" .. (row.note and ": " .. row.note or "")
    return vim.tbl_map(format.one_line, { ("%s %s"):format(row.path, why), "this " .. why, "cannot be kept" })
  end
  local toggled = row and { row }
    or vim.tbl_filter(function(other)
      return other.state == "kept"
    end, approval.effects)
  local is_on = vim.iter(toggled):all(function(other)
    return is_chosen(approval, other)
  end)
  approval.chosen = approval.chosen or {}
  for _, other in ipairs(toggled) do
    approval.chosen[other.number] = not is_on
  end
end

--- The selection as fields of the answer; nil if nothing is selected.
---@param approval agent.Approval
---@return { kept?: integer[] }? `kept` is absent if the user has changed nothing
function M.choice(approval)
  local kept, is_changed = {}, false
  for _, row in ipairs(approval.effects) do
    local chosen = is_chosen(approval, row)
    is_changed = is_changed or chosen ~= (row.state == "kept")
    if chosen then
      table.insert(kept, row.number)
    end
  end
  if #kept > 0 then
    return { kept = is_changed and kept or nil }
  end
end

--- The rows with text to compare, and the position of the row at this line among them.
---@param approval agent.Approval
---@param line? integer
---@return agent.FileDiff[]
---@return integer?
function M.files(approval, line)
  local here, at = line and row_at(approval, line), nil
  local files = {}
  for _, row in ipairs(rows(approval)) do
    if row.before ~= nil or row.after ~= nil then
      table.insert(files, row)
      at = row == here and #files or at
    end
  end
  return files, at
end

return M
