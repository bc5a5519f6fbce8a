--- Bars of the usage and of the context window, without a screen: nvim --headless --clean -l bars.lua [seed]
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local checks = dofile(here .. "/checks.lua")
local bars = require("agent.ui.bars")
local context = require("agent.context")
local page = require("agent.ui.page")
local usage_chart = require("agent.menus.usage_chart")

local test, eq = checks.test, checks.eq

local seed = tonumber(_G.arg[1]) or os.time()
math.randomseed(seed)

--- With the seed, for what fails.
local function random_test(what, act)
  test(what .. ", seed " .. seed, function()
    for _ = 1, 300 do
      act()
    end
  end)
end

local function sum(values)
  return vim.iter(values):fold(0, function(all, value)
    return all + value
  end)
end

--- Values of very different sizes, some of them 0.
local function random_values()
  return vim.tbl_map(function()
    return math.random(4) == 1 and 0 or math.floor(10 ^ (6 * math.random()))
  end, vim.fn.range(math.random(8)))
end

random_test("cells are split without a rest: no value above 0 vanishes, and 0 has none", function()
  local values, cells = random_values(), math.random(8, 200)
  local counts = bars.split(values, cells)
  eq(sum(counts), sum(values) > 0 and cells or 0, vim.inspect({ values, cells }))
  for index, value in ipairs(values) do
    eq(counts[index] > 0, value > 0, vim.inspect({ values, cells }))
  end
end)

random_test("percentages sum to 100", function()
  local values = random_values()
  local percentages = bars.percentages(values)
  local percents = vim.tbl_map(function(text)
    return text == "<1%" and 0 or tonumber(text:match("^(%d+)%%$"))
  end, percentages)
  eq(sum(percents), sum(values) > 0 and 100 or 0, vim.inspect(values))
  for index, value in ipairs(values) do
    eq(percentages[index] == "0%", value == 0, vim.inspect(values))
  end
end)

test("a bar and its rest fill the cells; the smallest value has a mark, and 0 none", function()
  local function bar(share, cells)
    return { bars.bar(share, cells) }
  end
  eq(bar(0, 4), { "", "····" })
  eq(bar(0.0001, 4), { "▏", "···" })
  eq(bar(0.5, 4), { "██", "··" })
  eq(bar(0.6, 4), { "██▍", "·" })
  eq(bar(1, 4), { "████", "" })
end)

test("a sparkline reaches from the smallest value to the largest", function()
  eq(table.concat(bars.sparkline({ 0, 1, 50, 100, 0 })), "·▁▄█·")
  eq(table.concat(bars.sparkline({ 0, 0 })), "··")
end)

local TODAY = "2026-03-30"

local function used(day, model, cost, input, output)
  return { day = day, model = model, input = input or 1000, cachedRead = 0, output = output or 0, cost = cost }
end

---@return string[]
local function chart(rows, width)
  local lines, _, add = page.lines()
  usage_chart.add(rows, width, TODAY, add)
  return lines
end

--- No line is wider than the window, whatever 'ambiwidth' is.
local function assert_fits(lines, width)
  for _, line in ipairs(lines) do
    assert(vim.api.nvim_strwidth(line) <= width, ("%d columns: %s"):format(width, line))
  end
end

local WEEK = {
  used("2026-03-30", "openai/gpt-5.1", 0.5, 40000, 320),
  used("2026-03-29", "anthropic/claude", 0.25),
  used("2026-03-29", "openai/gpt-5.1", 0.125),
  used("2026-03-20", "openai/gpt-5.1", 0.004, 500),
}

test("cost by day and by model, in 80 columns", function()
  eq(chart(WEEK, 80), {
    "Cost of the last 30 days",
    "  ···················▁········▆█",
    "  by day, today last; █ is $0.50",
    "  $0.88, 42.5k in, 320 out",
    "",
    "Cost by day",
    "  2026-03-30 ██████████████████████████████████████████████████████████   $0.50",
    "  2026-03-29 ███████████████████████████████████████████▌··············   $0.38",
    "  2026-03-20 ▌························································· $0.0040",
    "",
    "Cost by model, last 30 days",
    "  openai/gpt-5.1   █████████████████████████████████▋·············   $0.63  72%",
    "  anthropic/claude █████████████▍·································   $0.25  28%",
    "",
  })
end)

test("in 40 columns bars and names are shorter", function()
  local rows = vim.deepcopy(WEEK)
  rows[2].model = "通义千问/通义千问超大模型"
  eq(chart(rows, 40), {
    "Cost of the last 30 days",
    "  ···················▁········▆█",
    "  by day, today last; █ is $0.50",
    "  $0.88, 42.5k in, 320 out",
    "",
    "Cost by day",
    "  2026-03-30 ██████████████████   $0.50",
    "  2026-03-29 █████████████▌····   $0.38",
    "  2026-03-20 ▏················· $0.0040",
    "",
    "Cost by model, last 30 days",
    "  openai/gpt-5.1  █████▊··   $0.63  72%",
    "  …义千问超大模型 ██▎·····   $0.25  28%",
    "",
  })
  assert_fits(chart(rows, 40), 40)
end)

test("a model without a price: bars are of tokens, and the cost says of what it is", function()
  local lines = chart({ used(TODAY, "copilot/gpt", nil, 30000), used(TODAY, "openai/gpt", 0.5, 10000) }, 80)
  eq(lines[1], "Tokens of the last 30 days")
  eq(lines[4], "  $0.50 for models with prices, 40k in, 0 out")
  assert(lines[10]:find("^  copilot/gpt █.* 30k  75%%$"), lines[10])
  eq(chart({ used(TODAY, "copilot/gpt") }, 80)[4], "  cost unknown, 1k in, 0 out")
end)

test("models without a cost are of tokens too", function()
  eq(chart({ used(TODAY, "ollama/qwen", 0) }, 80)[1], "Tokens of the last 30 days")
end)

test("no days, old days, one day, 400 days", function()
  eq(chart({}, 80), {})
  eq(chart({ used(TODAY, "a/b", 0, 0) }, 80), {}, "no tokens")
  local old = chart({ used("2024-02-29", "a/b", 1) }, 40)
  eq({ old[3], old[4] }, { "  nothing on these days", "" })
  eq(old[6], "  2024-02-29 ██████████████████   $1.00")
  eq(#old, 7, "no models of the last days")
  local many = {}
  for back = 0, 399 do
    local day = os.date("%Y-%m-%d", os.time({ year = 2026, month = 3, day = 30 - back, hour = 12 }))
    table.insert(many, used(day, "a/" .. back % 12, 1))
  end
  local lines = chart(many, 80)
  eq(lines[2], "  " .. ("█"):rep(30))
  eq(lines[4], "  $30.00, 30k in, 0 out")
  eq({ lines[7]:sub(3, 12), lines[13]:sub(3, 12), lines[14] }, { "2026-03-30", "2026-03-24", "" })
  assert(lines[22]:find("^  6 more █.* $12.00  40%%$"), lines[22])
end)

random_test("no line of a chart is wider than the window", function()
  local rows = {}
  for back = 0, math.random(0, 40) do
    local day = os.date("%Y-%m-%d", os.time({ year = 2026, month = 3, day = 30 - back, hour = 12 }))
    local model = ("模型abc"):rep(math.random(9)) .. math.random(20)
    local cost = math.random(3) > 1 and 10 ^ (8 * math.random() - 4) or nil
    table.insert(rows, used(day, model, cost, math.floor(10 ^ (9 * math.random()))))
  end
  local width = math.random(36, 130)
  assert_fits(chart(rows, width), width)
end)

test("with 'ambiwidth' double too", function()
  vim.o.ambiwidth = "double"
  local narrow, wide = chart(WEEK, 40), chart(WEEK, 120)
  assert_fits(narrow, 40)
  assert_fits(wide, 120)
  vim.o.ambiwidth = "single"
  eq(narrow[1], "Cost of the last 14 days")
end)

local CHARACTERS =
  { messages = "█", files = "▓", results = "▒", rules = "≡", system = "═", tools = "×", free = "·" }

local function context_of(sizes, window, limit)
  local parts = {}
  for group, size in pairs(sizes) do
    table.insert(parts, { group = group, name = group, characters = size })
  end
  local from = window and "default"
  return { parts = parts, tokens = sum(vim.tbl_values(sizes)), window = window, window_from = from, folds_above = limit }
end

test("the window as one bar with a legend", function()
  local sizes = { tools = 20000, system = 10000, rules = 100, results = 30000, messages = 0, files = 8000 }
  local lines = context.lines(context_of(sizes, 100000, 70000), 40)
  eq(vim.list_slice(lines, 1, 9), {
    "The next request sends about 68.1k of 100k tokens.",
    "××××××××════≡▒▒▒▒▒▒▒▒▒▒▒▓▓▓│············",
    "× Tools               20k   20%",
    "═ Prompt              10k   10%",
    "≡ Files of rules      100   <1%",
    "▒ Tool results        30k   30%",
    "▓ Files                8k    8%",
    "· Free              31.9k   32%",
    "│ Compacts above      70k   70%",
  })
end)

test("percentages of parts are of the request", function()
  local lines = context.lines(context_of({ files = 60000, system = 100 }, 100000, 70000), 40)
  eq(vim.list_slice(lines, 9, 14), {
    "The parts, in percent of the request:",
    "▓ Files               60k  100%",
    "  files               60k  100%",
    "",
    "═ Prompt              100   <1%",
    "  system              100   <1%",
  })
end)

random_test("the bar has the width of the window, and each category with tokens its character", function()
  local sizes = {}
  for group in pairs(CHARACTERS) do
    sizes[group] = group ~= "free" and math.random(4) > 1 and math.floor(10 ^ (6 * math.random())) or nil
  end
  sizes.system = sizes.system or 1
  local used_tokens = sum(vim.tbl_values(sizes))
  local window = math.random(3) > 1 and math.random(1, 2 * used_tokens) or nil
  local limit = window and math.ceil(0.7 * window)
  local width = math.random(10, 130)
  local line = context.lines(context_of(sizes, window, limit), width)[2]
  local of = vim.inspect({ sizes, window, width, line })
  eq(vim.api.nvim_strwidth(line), width, of)
  for group, character in pairs(CHARACTERS) do
    local size = group == "free" and (window or 0) - used_tokens or sizes[group] or 0
    eq(line:find(character, 1, true) ~= nil, size > 0, group .. of)
  end
  local mark = line:find("│", 1, true)
  eq(mark ~= nil, window ~= nil, of)
  if mark and used_tokens <= limit then
    eq((line:sub(mark):gsub("·", "")), "│", of)
  elseif mark then
    eq(line:sub(1, mark):find("·") == nil, true, of)
  end
end)

checks.finish()
