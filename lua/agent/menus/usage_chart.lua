-- Draws the usage of the last days: a sparkline, and a bar for each day and model. Pure.
local bars = require("agent.ui.bars")
local format = require("agent.ui.format")

local M = {}

--- Days of the sparkline, and of one in a narrow window.
local DAYS, FEWER_DAYS = 30, 14

local MOST_BARS = 7

--- Columns: before each line, of the longest bar, of the shortest, of the longest name, of a number, of a percentage.
local INDENT, WIDEST, NARROWEST, NAME, NUMBER, PERCENTAGE = 2, 60, 8, 30, 8, 5

---@class agent.UsageSum
---@field name string
---@field input integer
---@field cachedRead integer
---@field output integer
---@field cost number of requests with a price
---@field has_prices boolean all requests have one

--- Sums rows that have the same name, in the order of their first rows.
---@param rows table[]
---@param name_of fun(row: table): string
---@return agent.UsageSum[]
---@return table<string, agent.UsageSum> by name
local function sums(rows, name_of)
  local list, by_name = {}, {}
  for _, row in ipairs(rows) do
    local name = name_of(row)
    local sum = by_name[name]
    if not sum then
      sum = { name = name, input = 0, cachedRead = 0, output = 0, cost = 0, has_prices = true }
      by_name[name] = sum
      table.insert(list, sum)
    end
    for _, field in ipairs({ "input", "cachedRead", "output" }) do
      sum[field] = sum[field] + row[field]
    end
    sum.cost = sum.cost + (row.cost or 0)
    sum.has_prices = sum.has_prices and row.cost ~= nil
  end
  return list, by_name
end

---@param rows table[] not empty
---@param name? string
---@return agent.UsageSum
local function sum_of(rows, name)
  return sums(rows, function()
    return name or ""
  end)[1]
end

--- The dates of the last days, the oldest first.
---@param today string YYYY-MM-DD
---@param count integer
---@return string[]
local function last_dates(today, count)
  local year, month, day = today:match("^(%d+)-(%d+)-(%d+)$")
  local dates = {}
  for back = count - 1, 0, -1 do
    -- Every day has a noon, also those on which the clock changes.
    local noon = { year = tonumber(year), month = tonumber(month), day = tonumber(day) - back, hour = 12 }
    table.insert(dates, os.date("%Y-%m-%d", os.time(noon)))
  end
  return dates
end

---@class agent.UsageMeasure
---@field name string
---@field of fun(sum: agent.UsageSum): number
---@field text fun(value: number): string

--- Dollars if all models have prices, otherwise tokens.
---@param rows table[]
---@return agent.UsageMeasure
local function measure_of(rows)
  local all = sum_of(rows)
  if all.has_prices and all.cost > 0 then
    return {
      name = "Cost",
      text = format.money,
      of = function(sum)
        return sum.cost
      end,
    }
  end
  return {
    name = "Tokens",
    text = format.count,
    of = function(sum)
      return sum.input + sum.output
    end,
  }
end

---@param sum agent.UsageSum
---@return string
local function total(sum)
  local cost = sum.cost > 0 and format.money(sum.cost)
  cost = cost and (sum.has_prices and cost or cost .. " for models with prices") or "cost unknown"
  local cached = sum.cachedRead > 0 and ("%.0f%% from the cache, "):format(100 * sum.cachedRead / sum.input) or ""
  return ("%s, %s in, %s%s out"):format(cost, format.count(sum.input), cached, format.count(sum.output))
end

--- The sparkline, its scale and the sums.
---@param rows table[] of these dates
---@param dates string[]
---@param measure agent.UsageMeasure
---@param width integer
---@param add fun(text: string|table, group?: string)
local function add_sparkline(rows, dates, measure, width, add)
  local _, by_day = sums(rows, function(row)
    return row.day
  end)
  local values = vim.tbl_map(function(date)
    return by_day[date] and measure.of(by_day[date]) or 0
  end, dates)
  add(("%s of the last %d days"):format(measure.name, #dates), "AgentTitle")
  local chunks = { { (" "):rep(INDENT) } }
  for index, character in ipairs(bars.sparkline(values)) do
    table.insert(chunks, { character, values[index] > 0 and "AgentAdded" or "AgentHint" })
  end
  add(chunks)
  local most = math.max(0, unpack(values))
  local scale = most > 0 and ("by day, today last; █ is %s"):format(measure.text(most)) or "nothing on these days"
  add((" "):rep(INDENT) .. scale, "AgentHint")
  for _, line in ipairs(rows[1] and format.wrap(total(sum_of(rows)), width - INDENT) or {}) do
    add((" "):rep(INDENT) .. line)
  end
  add("")
end

--- A bar for each sum.
---@param list agent.UsageSum[]
---@param measure agent.UsageMeasure
---@param width integer
---@param add fun(chunks: table)
---@param percentages? string[] without them, the largest value fills its bar
local function add_bars(list, measure, width, add, percentages)
  local values = vim.tbl_map(measure.of, list)
  local after = NUMBER + (percentages and PERCENTAGE or 0)
  local longest = 0
  for _, sum in ipairs(list) do
    longest = math.max(longest, vim.api.nvim_strwidth(sum.name))
  end
  local name_width = math.max(3, math.min(longest, NAME, width - INDENT - NARROWEST - after - 2))
  local cells = bars.cells(math.min(WIDEST, width - INDENT - name_width - after - 2))
  local whole = percentages and vim.iter(values):fold(0, function(all, value)
    return all + value
  end) or math.max(0, unpack(values))
  for index, sum in ipairs(list) do
    local name = format.cut_start(sum.name, name_width)
    local pad = (" "):rep(name_width - vim.api.nvim_strwidth(name) + 1)
    local bar, rest = bars.bar(whole > 0 and values[index] / whole or 0, cells)
    local number = ("%" .. NUMBER .. "s"):format(measure.text(values[index]))
    local percentage = percentages and ("%" .. PERCENTAGE .. "s"):format(percentages[index]) or ""
    add({
      { (" "):rep(INDENT) .. name .. pad },
      { bar, "AgentAdded" },
      { rest, "AgentHint" },
      { number .. percentage },
    })
  end
end

--- The largest models, and a row for the others.
---@param list agent.UsageSum[]
---@param measure agent.UsageMeasure
---@return agent.UsageSum[]
local function largest(list, measure)
  table.sort(list, function(a, b)
    local left, right = measure.of(a), measure.of(b)
    return left > right or left == right and a.name < b.name
  end)
  if #list <= MOST_BARS then
    return list
  end
  local top = vim.list_slice(list, 1, MOST_BARS - 1)
  table.insert(top, sum_of(vim.list_slice(list, MOST_BARS), ("%d more"):format(#list - #top)))
  return top
end

--- Adds the charts; nothing without tokens.
---@param daily table[] see `usage` of protocol/requests.ts
---@param width integer columns of the screen
---@param today string YYYY-MM-DD
---@param add fun(text: string|table, group?: string) adds a line: a text, or chunks as those of virtual text
function M.add(daily, width, today, add)
  local rows = vim.tbl_filter(function(row)
    return row.input + row.output > 0
  end, daily)
  if #rows == 0 then
    return
  end
  local measure = measure_of(rows)
  local dates = last_dates(today, bars.cells(width - INDENT) >= DAYS and DAYS or FEWER_DAYS)
  local recent = vim.tbl_filter(function(row)
    return vim.list_contains(dates, row.day)
  end, rows)
  add_sparkline(recent, dates, measure, width, add)
  local days = sums(rows, function(row)
    return row.day
  end)
  add(measure.name .. " by day", "AgentTitle")
  add_bars(vim.list_slice(days, 1, MOST_BARS), measure, width, add)
  add("")
  if #recent == 0 then
    return
  end
  local models = sums(recent, function(row)
    return row.model
  end)
  add(("%s by model, last %d days"):format(measure.name, #dates), "AgentTitle")
  models = largest(models, measure)
  add_bars(models, measure, width, add, bars.percentages(vim.tbl_map(measure.of, models)))
  add("")
end

return M
