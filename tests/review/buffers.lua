--- Hunks of real buffers under random typing, undo and redo: nvim --headless --clean -l buffers.lua [seed]
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local api = vim.api
local codec = require("agent.reload.codec")
local apply = require("agent.reload.apply")
local marks = require("agent.review.marks")
local track = require("agent.review.track")

--- A sample, and all of them with `--full`.
local BUFFERS, STEPS = vim.env.AGENT_TEST_FULL and 60 or 10, 60
math.randomseed(tonumber(_G.arg[1] or 3))
local random = math.random
local LINES = { "a", "b", "", "}", "\tx" }

local function random_lines(most)
  local lines = {}
  for i = 1, random(0, most) do
    lines[i] = LINES[random(#LINES)]
  end
  return lines
end

local function splice(lines)
  local start = random(1, #lines + 1)
  local result = vim.list_slice(lines, 1, start - 1)
  vim.list_extend(result, random_lines(3))
  return vim.list_extend(result, lines, start + random(0, 2), #lines)
end

--- The agent changes the text, as a reload does.
local function agent(buf)
  local mine = codec.of_buffer(buf)
  local theirs = { lines = splice(splice(mine.lines)), format = mine.format }
  local baseline = track.get(buf) and track.baseline(track.get(buf)) or mine.lines
  local after = track.agent_changes(buf, nil, false)
  local applied = apply.apply(buf, mine, theirs)
  after(applied)
  assert(applied ~= "failed" and applied ~= "locked")
  if applied == "changed" then
    assert(vim.deep_equal(track.baseline(track.get(buf)), baseline), "the agent changes no baseline")
  end
end

local function type_something(buf)
  vim.cmd("let &l:undolevels = &l:undolevels")
  local last = api.nvim_buf_line_count(buf)
  for _ = 1, random(2) do
    local start = random(0, last)
    api.nvim_buf_set_lines(buf, start, math.min(last, start + random(0, 2)), true, random_lines(2))
    last = api.nvim_buf_line_count(buf)
  end
end

local function settle(buf)
  local it = track.get(buf)
  if it and #it.hunks > 0 then
    local hunk = it.hunks[random(#it.hunks)]
    local baseline = track.baseline(it)
    if random(2) == 1 then
      track.keep(it, { hunk })
    else
      assert(track.undo(it, { hunk }))
      assert(vim.deep_equal(track.baseline(it), baseline), "undoing a hunk changes no baseline")
    end
  end
end

local function normal(keys)
  return function()
    vim.cmd("silent! normal! " .. vim.keycode(keys))
  end
end

local undo, redo = normal("u"), normal("<C-r>")
local steps = { agent, type_something, type_something, settle, undo, undo, redo, normal("3g-"), normal("2g+") }

local function check(buf)
  local it = track.get(buf)
  if not it then
    return 0
  end
  assert(vim.deep_equal(it.lines, track.lines_of(buf)), "the text is the one that hunks are about")
  local next_row = 1
  for _, hunk in ipairs(it.hunks) do
    assert(hunk.row >= next_row and hunk.count >= 0, "sorted, without overlap")
    next_row = hunk.row + hunk.count
  end
  assert(next_row <= #it.lines + 1, "within the text")
  local drawn = api.nvim_buf_get_extmarks(buf, marks.namespace, 0, -1, { details = true })
  assert(#drawn == #it.hunks, "every hunk is drawn once")
  local last = api.nvim_buf_line_count(buf)
  for _, mark in ipairs(drawn) do
    local id, row, _, details = unpack(mark)
    local hunk = vim.iter(it.hunks):find(function(each)
      return each.mark == id
    end)
    assert(hunk, "drawn for a hunk")
    assert(row == math.min(hunk.row, last) - 1, ("drawn at %d, not at %d"):format(row + 1, hunk.row))
    assert(hunk.count == 0 or details.end_row == row + hunk.count, "as long as it is")
    assert(#(details.virt_lines or {}) == #hunk.removed, "with what it has removed")
  end
  return #it.hunks
end

local seen = 0
for _ = 1, BUFFERS do
  local buf = api.nvim_create_buf(true, false)
  api.nvim_win_set_buf(0, buf)
  api.nvim_buf_set_lines(buf, 0, -1, true, random_lines(8))
  agent(buf)
  for _ = 1, STEPS do
    steps[random(#steps)](buf)
    seen = seen + check(buf)
  end
  api.nvim_buf_delete(buf, { force = true })
  assert(not track.is_tracked(buf))
end
assert(seen > BUFFERS, "there were hunks")
print(("%d buffers, %d hunks checked"):format(BUFFERS, seen))
