-- Pure: the names of a long list that fit the typed text, found before the next letter.
local M = {}

--- Milliseconds for the search, and names of one step.
local BUDGET, SLICE = 15, 2000

---@return fun(): boolean
local function budget()
  local ends = vim.uv.hrtime() + BUDGET * 1e6
  return function()
    return vim.uv.hrtime() > ends
  end
end

--- Lower-case copies of each list.
---@type table<string[], table<integer, string>>
local lowered = setmetatable({}, { __mode = "k" })

--- Names with the letters in this order, the best first. Searches as many as time allows.
---@param names string[]
---@param base string
---@param most integer
---@return string[]
local function fuzzy(names, base, most)
  local found, is_over = {}, budget()
  for first = 1, #names, SLICE do
    local slice = vim.list_slice(names, first, first + SLICE - 1)
    local matches, _, scores = unpack(vim.fn.matchfuzzypos(slice, base, { limit = most }))
    for at, name in ipairs(matches) do
      table.insert(found, { name = name, score = scores[at], order = #found })
    end
    if is_over() then
      break
    end
  end
  table.sort(found, function(a, b)
    return a.score ~= b.score and a.score > b.score or a.score == b.score and a.order < b.order
  end)
  return vim.tbl_map(function(one)
    return one.name
  end, vim.list_slice(found, 1, most))
end

--- Ranks a name that contains the wanted text.
---@param text string
---@param wanted string
---@param from integer where it is first
---@return 1|2|3 its last part begins with it, it begins with it, or neither
local function rank_of(text, wanted, from)
  if from == 1 or text:find("/" .. wanted, from - 1, true) then
    local last = (text:match("^.*()/") or 0) + 1
    return text:find(wanted, last, true) == last and 1 or from == 1 and 2 or 3
  end
  return 3
end

--- Sorts by rank, then by length; names with the letters apart come last.
---@param names string[] not changed after the first call
---@param base string
---@param most integer
---@return string[]
function M.best(names, base, most)
  if base == "" then
    return vim.list_slice(names, 1, most)
  end
  local wanted, ranks, is_over = base:lower(), { {}, {}, {} }, budget()
  local lower = lowered[names] or {}
  lowered[names] = lower
  for at, name in ipairs(names) do
    local text = lower[at] or name:lower()
    lower[at] = text
    local from = text:find(wanted, 1, true)
    local rank = from and ranks[rank_of(text, wanted, from)]
    if rank and #rank < most then
      table.insert(rank, name)
    end
    local has_most = #ranks[1] + #ranks[2] + #ranks[3] >= most
    if #ranks[1] == most or has_most and at % SLICE == 0 and is_over() then
      break
    end
  end
  for _, rank in ipairs(ranks) do
    table.sort(rank, function(a, b)
      return #a ~= #b and #a < #b or #a == #b and a < b
    end)
  end
  local best = vim.iter(ranks):flatten():take(most):totable()
  if #best == most then
    return best
  end
  local seen = {}
  for _, name in ipairs(best) do
    seen[name] = true
  end
  local more = vim.iter(fuzzy(names, base, most)):filter(function(name)
    return not seen[name]
  end)
  return vim.list_extend(best, more:take(most - #best):totable())
end

return M
