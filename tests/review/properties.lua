--- What must hold of hunks for all texts: nvim --headless --clean -l properties.lua [seed]
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local hunks_of = require("agent.review.hunks")
local merge = require("agent.reload.merge")

--- A sample, and all of them with `--full`.
local TRIALS = vim.env.AGENT_TEST_FULL and 5000 or 400
math.randomseed(tonumber(_G.arg[1] or 7))
local random = math.random

-- Few different lines, so that equal ones stand side by side.
local LINES = { "a", "b", "c", "", "}" }

local function random_lines(most)
  local lines = {}
  for i = 1, random(0, most) do
    lines[i] = LINES[random(#LINES)]
  end
  return lines
end

local function spliced(lines, start, count, new)
  local result = vim.list_slice(lines, 1, start - 1)
  vim.list_extend(result, new)
  return vim.list_extend(result, lines, start + count, #lines)
end

local function random_edit(lines)
  local start = random(1, #lines + 1)
  return start, random(0, math.min(2, #lines - start + 1)), random_lines(2)
end

local function changed(lines)
  for _ = 1, random(0, 4) do
    lines = spliced(lines, random_edit(lines))
  end
  return lines
end

local function equal(actual, expected, what)
  if not vim.deep_equal(actual, expected) then
    error(("%s\nexpected %s\ngot %s"):format(what, vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

local function check_order(hunks, text)
  local next_row = 1
  for _, hunk in ipairs(hunks) do
    assert(hunk.row >= next_row and hunk.count >= 0, "sorted, without overlap")
    next_row = hunk.row + hunk.count
  end
  assert(next_row <= #text + 1, "within the text")
end

--- Where a line of the text outside of hunks is in the baseline.
local function in_baseline(hunks, row)
  local shift = 0
  for _, hunk in ipairs(hunks) do
    if hunk.row + hunk.count <= row then
      shift = shift + #hunk.removed - hunk.count
    end
  end
  return row + shift
end

local function is_outside(hunks, start, count)
  for _, hunk in ipairs(hunks) do
    if start <= hunk.row + hunk.count and start + count >= hunk.row then
      return false
    end
  end
  return true
end

--- The user changes lines that touch no hunk: they are agreed to as they are, and the hunks stay as they were.
local function edit_outside(hunks, text)
  local start, count, lines = random_edit(text)
  if not is_outside(hunks, start, count) then
    return hunks, text, false
  end
  local baseline = spliced(hunks_of.take_back(text, hunks), in_baseline(hunks, start), count, lines)
  local before = vim.tbl_map(function(hunk)
    return { vim.list_slice(text, hunk.row, hunk.row + hunk.count - 1), hunk.removed }
  end, hunks)
  local new = spliced(text, start, count, lines)
  local edit = { start = start, count = count, new_start = start, new_count = #lines }
  hunks = hunks_of.follow(hunks, { edit }, text, new)
  check_order(hunks, new)
  equal(hunks_of.take_back(new, hunks), baseline, "undoing all gives the baseline with the user's edits")
  equal(
    vim.tbl_map(function(hunk)
      return { vim.list_slice(new, hunk.row, hunk.row + hunk.count - 1), hunk.removed }
    end, hunks),
    before,
    "hunks are as they were"
  )
  return hunks, new, true
end

--- The user changes anything at all, also several places at once.
local function edit_anywhere(hunks, text)
  local new = changed(text)
  hunks = hunks_of.follow(hunks, merge.hunks(text, new), text, new)
  check_order(hunks, new)
  return hunks, new
end

--- Text before, between and behind the hunks.
local function outside(hunks, text)
  local parts, next_row = {}, 1
  for _, hunk in ipairs(hunks) do
    parts[#parts + 1] = vim.list_slice(text, next_row, hunk.row - 1)
    next_row = hunk.row + hunk.count
  end
  parts[#parts + 1] = vim.list_slice(text, next_row)
  return vim.iter(parts):flatten(1):totable()
end

--- Keeps and undoes in any order; nothing outside of the hunks changes, and both are what they say.
local function settle(hunks, text)
  local kept_only, undone_only = true, true
  local all_kept, all_undone = text, hunks_of.take_back(text, hunks)
  while #hunks > 0 do
    local hunk = hunks[random(#hunks)]
    local around = outside({ hunk }, text)
    if random(2) == 1 then
      kept_only = false
      local removed = hunk.removed
      local row = hunk.row
      local new = hunks_of.take_back(text, { hunk })
      hunks = hunks_of.without(hunks, { [hunk] = true })
      equal(outside({ { row = row, count = #removed } }, new), around, "undoing changes nothing else")
      text = new
    else
      undone_only = false
      hunks = vim.tbl_filter(function(other)
        return other ~= hunk
      end, hunks)
    end
    check_order(hunks, text)
  end
  if kept_only then
    equal(text, all_kept, "keeping all changes nothing")
  end
  if undone_only then
    equal(text, all_undone, "undoing one by one is undoing all")
  end
end

local edits, settled = 0, 0
for _ = 1, TRIALS do
  local baseline = random_lines(14)
  local text = changed(baseline)
  local hunks = hunks_of.between(baseline, text)
  check_order(hunks, text)
  equal(hunks_of.take_back(text, hunks), baseline, "undoing all gives the baseline")
  for _ = 1, random(0, 6) do
    local was_outside
    hunks, text, was_outside = edit_outside(hunks, text)
    edits = edits + (was_outside and 1 or 0)
  end
  -- Undoing the agent's change by hand leaves nothing to review.
  if #hunks == 1 then
    local hunk = hunks[1]
    local back = hunks_of.take_back(text, hunks)
    local edit = { start = hunk.row, count = hunk.count, new_start = hunk.row, new_count = #hunk.removed }
    equal(hunks_of.follow(vim.deepcopy(hunks), { edit }, text, back), {}, "what is as it was is no hunk")
    settled = settled + 1
  end
  if random(2) == 1 then
    hunks, text = edit_anywhere(hunks, text)
  end
  settle(hunks, text)
end
assert(edits > TRIALS and settled > TRIALS / 10, "enough of everything was tried")
print(("%d trials, %d edits outside, %d changes taken back by hand"):format(TRIALS, edits, settled))
