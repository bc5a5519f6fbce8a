-- Pure: sessions and what was found in them, as one line each.
local M = {}

---@param title? string
---@return string
function M.title(title)
  return title and title ~= "" and title or "(no title)"
end

--- Today the time, else the date.
---@param milliseconds number since 1970
---@param now? integer seconds since 1970
---@return string
function M.when(milliseconds, now)
  local at = math.floor(milliseconds / 1000)
  local function is_same(format)
    return os.date(format, at) == os.date(format, now)
  end
  return tostring(os.date(is_same("%Y-%m-%d") and "%H:%M" or is_same("%Y") and "%d %b" or "%Y-%m-%d", at))
end

---@param count integer
---@param name string
---@return string
local function counted(count, name)
  return ("%d %s%s"):format(count, name, count == 1 and "" or "s")
end

---@param row agent.SessionRow
---@return string
function M.label(row)
  local tokens = row.tokens < 1000 and tostring(row.tokens) or (("%.1fk"):format(row.tokens / 1000):gsub("%.0k$", "k"))
  local parts = {
    M.title(row.title),
    M.when(row.updated),
    counted(row.turns, "turn"),
    counted(row.files, "file"),
    tokens .. " tokens",
  }
  table.insert(parts, row.open and "in use" or nil)
  return table.concat(parts, " · ")
end

---@param hit { title: string, turn: integer, role: string, text: string, time: number }
---@return string
function M.hit(hit)
  return ("%s · %s · %s: %s"):format(M.title(hit.title), M.when(hit.time), hit.role, hit.text)
end

return M
