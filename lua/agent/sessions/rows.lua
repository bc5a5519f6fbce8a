-- Pure: sessions and hits as lines.
local format = require("agent.ui.format")

local M = {}

---@param title? string
---@return string
function M.title(title)
  return title and title ~= "" and title or "(no title)"
end

--- The time of today's, else the date.
---@param milliseconds number since 1970
---@param now? integer seconds since 1970
---@return string
function M.when(milliseconds, now)
  local at = math.floor(milliseconds / 1000)
  local function is_same(part)
    return os.date(part, at) == os.date(part, now)
  end
  return tostring(os.date(is_same("%Y-%m-%d") and "%H:%M" or is_same("%Y") and "%d %b" or "%Y-%m-%d", at))
end

--- States to filter by, and their marks.
M.STATES = { "running", "waiting", "done", "stopped", "failed", "archived" }
local MARKS = { running = "…", waiting = "?", done = "✓", stopped = "■", failed = "✗", archived = "▫" }

---@param row agent.ListedRow
---@return string state as the list shows it
function M.state(row)
  return row.archived and "archived" or row.state
end

---@class agent.SessionFilter
---@field word? string    in the title or the project's name, in any case
---@field state? string   one of STATES; default: all but archived ones
---@field root? string    of one project

---@param row agent.ListedRow
---@param filter agent.SessionFilter
---@return boolean
function M.fits(row, filter)
  local text = (row.title .. "\n" .. row.project):lower()
  local state = M.state(row)
  return (not filter.root or row.root == filter.root)
    and (filter.state and state == filter.state or not filter.state and state ~= "archived")
    and (not filter.word or text:find(filter.word:lower(), 1, true) ~= nil)
end

--- The same for a hit.
---@param row { hit: table }
---@param filter agent.SessionFilter
---@return boolean
function M.fits_hit(row, filter)
  return not filter.word or M.hit(row.hit):lower():find(filter.word:lower(), 1, true) ~= nil
end

--- A line of the list: the title, then project, time and size at the end.
---@param row agent.ListedRow
---@param all boolean whether sessions of all projects are listed
---@param width integer columns
---@param now? integer seconds since 1970
---@return string
function M.line(row, all, width, now)
  local details = { all and format.cut(row.project, math.floor(width / 4)) or nil }
  vim.list_extend(details, { M.when(row.updated, now), format.plural(row.turns, "turn") })
  table.insert(details, row.elsewhere and "in use" or nil)
  local tail = table.concat(details, " · ")
  local room = math.max(8, width - vim.api.nvim_strwidth(tail) - 4)
  local title = format.cut(M.title(row.title), room)
  local pad = (" "):rep(room - vim.api.nvim_strwidth(title))
  return format.cut(("%s %s%s  %s"):format(MARKS[M.state(row)], title, pad, tail), width)
end

---@param hit { title: string, turn: integer, role: string, text: string, time: number }
---@return string
function M.hit(hit)
  return ("%s · %s · %s: %s"):format(M.title(hit.title), M.when(hit.time), hit.role, hit.text)
end

return M
