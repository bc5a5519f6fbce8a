-- Shows the usage of models as charts and tables in a tab page.
local format = require("agent.ui.format")
local languages = require("agent.ui.languages")
local page = require("agent.ui.page")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.usage")

--- Columns after the name: header, width, text of a row.
---@type { [1]: string, [2]: integer, [3]: fun(row: table): string }[]
local COLUMNS = {
  {
    "asked",
    6,
    function(row)
      return row.requests .. (row.unreported > 0 and "*" or "")
    end,
  },
  {
    "in",
    7,
    function(row)
      return format.count(row.input)
    end,
  },
  {
    "out",
    7,
    function(row)
      return format.count(row.output)
    end,
  },
  {
    "read",
    7,
    function(row)
      return format.count(row.cachedRead)
    end,
  },
  {
    "write",
    7,
    function(row)
      return format.count(row.cachedWrite)
    end,
  },
  {
    "hit",
    5,
    function(row)
      return row.input > 0 and ("%.0f%%"):format(100 * row.cachedRead / row.input) or ""
    end,
  },
  {
    "first",
    8,
    function(row)
      return row.firstToken and format.milliseconds(row.firstToken) or ""
    end,
  },
  {
    "time",
    8,
    function(row)
      return row.time and format.time(row.time) or ""
    end,
  },
  {
    "cost",
    8,
    function(row)
      return row.cost and format.money(row.cost) or ""
    end,
  },
}

local TABLES = {
  { "turns", "This session" },
  -- The sums of their turns include them.
  { "agents", "Its sub-agents" },
  { "sessions", "All sessions" },
  { "days", "Days" },
  { "models", "Models" },
}

local LEGEND = "asked: requests to the model. in, out: tokens sent and answered. read, write: of those sent, from and into"
  .. " the provider's cache; hit: the share that was read from it. first: time to the first token, the median. time: from"
  .. " your message to the end of the turn, with the time that it waited for you; of several turns, the sum."
  .. " turn, request: the medians; 90%: nine of ten took at most this. tokens/s: while an answer came. copied, applied:"
  .. " code blocks of answers; edits in place are applied. tried: calls that were to write files; failed: those that did"
  .. " not fit. kept, changed, undone: hunks as you left them when you had gone through a file."

--- Columns that a narrow screen drops, in order, and the width that the name keeps.
local LESS, NAME = { "first", "hit", "write", "read", "time" }, 14

--- The columns that fit after the name.
---@param width integer columns of the screen
---@return table[] columns
---@return integer room of the name
local function fitting(width)
  local columns = vim.list_slice(COLUMNS)
  local function room()
    return vim.iter(columns):fold(width - 1, function(left, column)
      return left - column[2]
    end)
  end
  for _, name in ipairs(LESS) do
    if room() < NAME then
      columns = vim.tbl_filter(function(column)
        return column[1] ~= name
      end, columns)
    end
  end
  return columns, math.max(3, math.min(room(), 60))
end

local MOST_TOOLS = 5

---@param text string
---@param width integer
---@return string
local function pad_left(text, width)
  return (" "):rep(width - vim.api.nvim_strwidth(text)) .. text
end

--- The text in exactly `width` columns; its end is cut, or its beginning.
---@param text string
---@param width integer
---@param keep_end? boolean
---@return string
local function fit(text, width, keep_end)
  text = (keep_end and format.cut_start or format.cut)(format.one_line(text), width)
  return text .. (" "):rep(width - vim.api.nvim_strwidth(text))
end

---@param edits { tried: integer, failed: integer, kept: integer, changed: integer, undone: integer }
---@return string
local function outcomes(edits)
  local calls = ("edits: %d tried, %d failed"):format(edits.tried, edits.failed)
  local hunks = ("hunks: %d kept, %d changed, %d undone"):format(edits.kept, edits.changed, edits.undone)
  return edits.kept + edits.changed + edits.undone == 0 and calls or calls .. "; " .. hunks
end

---@param row { copied: integer, applied: integer }
---@return string
local function uses(row)
  return ("code: %d copied, %d applied"):format(row.copied, row.applied)
end

--- The length of the prompt and its parts; nil if unknown.
---@param row table
---@param is_turn boolean
---@return string?
local function size(row, is_turn)
  if row.messages == 0 then
    return nil
  end
  local parts = {}
  if not is_turn then
    table.insert(parts, format.plural(row.turns, "turn"))
  end
  table.insert(parts, format.plural(row.messages, "message"))
  if row.offered > 0 or row.prompt then
    table.insert(parts, format.plural(row.offered, "tool"))
  end
  table.insert(parts, table.concat(row.modes, " + "))
  if row.prompt then
    local built, sent = format.milliseconds(row.prompt.build), format.milliseconds(row.prompt.ready)
    table.insert(parts, ("built in %s, sent after %s"):format(built, sent))
  end
  return table.concat(parts, ", ")
end

--- The most used tools; nil without any.
---@param row table
---@return string?
local function tools(row)
  local used = vim.list_slice(row.tools)
  table.sort(used, function(a, b)
    if a.count ~= b.count then
      return a.count > b.count
    end
    return a.name < b.name
  end)
  local parts = {}
  for index = 1, math.min(MOST_TOOLS, #used) do
    table.insert(parts, ("%s %d"):format(used[index].name, used[index].count))
  end
  if #used > MOST_TOOLS then
    table.insert(parts, ("%d more"):format(#used - MOST_TOOLS))
  end
  if row.invalid > 0 then
    table.insert(parts, ("%d invalid"):format(row.invalid))
  end
  return parts[1] and table.concat(parts, ", ")
end

---@param times? { median: number, most: number }
---@param which "median"|"most"
---@return string
local function time_of(times, which)
  return times and format.time(times[which]) or ""
end

--- Columns of a small table after the name: header, field or text of a row, least width. A narrow screen drops the last
--- ones.
---@type table<string, { [1]: string, [2]: string|(fun(row: table): string), [3]?: integer }[]>
local SMALL_COLUMNS = {
  times = {
    {
      "turn",
      function(row)
        return time_of(row.turnTimes, "median")
      end,
      #"  12m 59s",
    },
    {
      "request",
      function(row)
        return time_of(row.requestTimes, "median")
      end,
    },
    {
      "tokens/s",
      function(row)
        return row.speed and ("%.0f"):format(row.speed) or ""
      end,
    },
    {
      "turn 90%",
      function(row)
        return time_of(row.turnTimes, "most")
      end,
    },
    {
      "request 90%",
      function(row)
        return time_of(row.requestTimes, "most")
      end,
    },
  },
  edits = {
    { "form", "form" },
    { "tried", "tried" },
    { "failed", "failed" },
    { "kept", "kept" },
    { "changed", "changed" },
    { "undone", "undone" },
  },
  languages = {
    { "edits", "edits" },
    { "files", "files" },
    {
      "lines",
      function(row)
        return ("+%s −%s"):format(format.count(row.added), format.count(row.removed))
      end,
    },
  },
}

---@param name string key of SMALL_COLUMNS
---@param title string
---@param rows { name: string }[]
---@param width integer
---@param add fun(text: string, group?: string)
local function add_small(name, title, rows, width, add)
  if #rows == 0 then
    return
  end
  local columns = vim.list_slice(SMALL_COLUMNS[name])
  local widths, cells = {}, {}
  local room = width - 1
  for index, column in ipairs(columns) do
    widths[index] = math.max(#column[1] + 2, column[3] or 0)
    cells[index] = vim.tbl_map(function(row)
      local value = column[2]
      return type(value) == "function" and value(row) or tostring(row[value])
    end, rows)
    for _, cell in ipairs(cells[index]) do
      widths[index] = math.max(widths[index], vim.api.nvim_strwidth(cell) + 2)
    end
    room = room - widths[index]
  end
  while room < 8 and #columns > 3 do
    room = room + widths[#columns]
    table.remove(columns)
  end
  room = math.max(3, math.min(room, 60))
  local header = fit(title, room)
  for index, column in ipairs(columns) do
    header = header .. pad_left(column[1], widths[index])
  end
  add(header, "AgentTitle")
  for number, row in ipairs(rows) do
    local line = "  " .. fit(row.name, room - 2, true)
    for index in ipairs(columns) do
      line = line .. pad_left(cells[index][number], widths[index])
    end
    add(line)
  end
  add("")
end

local MOST_LANGUAGES = 10

--- Sums of extensions with the same filetype, most changed lines first.
---@param extensions table[] see `languages` of the request `usage`
---@return table[]
local function by_language(extensions)
  local list, by_name = {}, {}
  for _, row in ipairs(extensions) do
    local name = languages.of_fence(row.extension) or row.extension
    local sum = by_name[name]
    if not sum then
      sum = { name = name, edits = 0, files = 0, added = 0, removed = 0 }
      by_name[name] = sum
      table.insert(list, sum)
    end
    for _, field in ipairs({ "edits", "files", "added", "removed" }) do
      sum[field] = sum[field] + row[field]
    end
  end
  table.sort(list, function(a, b)
    local left, right = a.added + a.removed, b.added + b.removed
    return left > right or left == right and a.name < b.name
  end)
  return vim.list_slice(list, 1, MOST_LANGUAGES)
end

--- Adds the tables of models and languages.
---@param usage table
---@param width integer
---@param add fun(text: string, group?: string)
local function add_small_tables(usage, width, add)
  local timed = vim.tbl_filter(function(row)
    return row.turnTimes or row.requestTimes or row.speed
  end, usage.models)
  add_small("times", "Times", timed, width, add)
  local edits = vim.tbl_map(function(row)
    return vim.tbl_extend("force", row, { name = row.model })
  end, usage.edits)
  add_small("edits", "Edits", edits, width, add)
  add_small("languages", "Languages", by_language(usage.languages), width, add)
end

--- Adds the tables of requests.
---@param usage table
---@param width integer
---@param add fun(text: string, group?: string)
---@return integer unreported requests
local function add_tables(usage, width, add)
  local columns, room = fitting(width)
  local unreported = 0
  local previous
  for _, name_and_title in ipairs(TABLES) do
    local name, title = unpack(name_and_title)
    if name == "agents" and #usage.agents == 0 then
      goto continue
    end
    local header = fit(title, room)
    for _, column in ipairs(columns) do
      header = header .. pad_left(column[1], column[2])
    end
    add(header, "AgentTitle")
    for _, row in ipairs(usage[name]) do
      unreported = unreported + row.unreported
      local line = "  " .. fit(row.name, room - 2, name == "models")
      for _, column in ipairs(columns) do
        line = line .. pad_left(column[3](row), column[2])
      end
      add(line)
      local details = { tools(row) or false, size(row, name == "turns") or false }
      table.insert(details, row.copied + row.applied > 0 and uses(row) or false)
      table.insert(details, row.edits and outcomes(row.edits))
      -- The only session, day and model have the same.
      local is_only = #usage[name] == 1
      if not (is_only and vim.deep_equal(details, previous)) then
        for _, detail in ipairs(details) do
          if detail then
            add("    " .. fit(detail, width - 5), "AgentHint")
          end
        end
      end
      previous = is_only and details or nil
    end
    if #usage[name] == 0 then
      add("  none yet", "AgentHint")
    end
    add("")
    ::continue::
  end
  return unreported
end

--- The lines of the page, and their highlights.
---@param usage table the answer to the request `usage`
---@param width integer columns of the screen
---@param today string YYYY-MM-DD
---@return string[] lines
---@return table<integer, table[]> spans by line, see ui/page.lua
function M.lines(usage, width, today)
  local lines, spans, add = page.lines()
  require("agent.menus.usage_chart").add(usage.daily, width, today, add)
  local unreported = add_tables(usage, width, add)
  add_small_tables(usage, width, add)
  add(LEGEND, "AgentHint")
  if unreported > 0 then
    add("*: with requests whose tokens the provider did not tell; they are not in the sums.", "AgentHint")
  end
  add(("cost: prices as of %s, US dollars; models[name].price overrides them."):format(usage.pricesOf), "AgentHint")
  return lines, spans
end

--- Shows the answer to the request `usage` in a tab page.
---@param usage table
---@return fun(line?: string) add adds a line about the account on top, while the page exists
function M.show(usage)
  require("agent.ui.highlights").define()
  local buffer, top, width = page.open({}, "the usage"), {}, nil
  --- Draws the page for the width of its window.
  local function draw()
    local window = vim.fn.win_findbuf(buffer)[1]
    local now = window and vim.api.nvim_win_get_width(window) or width
    if now == width then
      return
    end
    width = now
    local lines, spans = M.lines(usage, width, os.date("%Y-%m-%d"))
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, #top, -1, false, lines)
    vim.bo[buffer].modifiable = false
    page.highlight(buffer, namespace, lines, spans, #top)
  end
  draw()
  vim.api.nvim_create_autocmd({ "VimResized", "WinResized", "WinEnter" }, {
    desc = "agent: fit the usage into its window",
    callback = function()
      if not vim.api.nvim_buf_is_valid(buffer) then
        return true
      end
      draw()
    end,
  })
  return function(line)
    if not line or not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    top = { line, "" }
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, 0, false, top)
    vim.bo[buffer].modifiable = false
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      vim.api.nvim_win_call(window, function()
        -- Otherwise the new line would be above the view.
        if vim.fn.line("w0") == 3 then
          vim.fn.winrestview({ topline = 1 })
        end
      end)
    end
  end
end

return M
