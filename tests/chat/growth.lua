--- What texts of a model cost grows with their length: nvim --headless --clean -l growth.lua
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local append = require("agent.timeline.append")
local fences = require("agent.timeline.fences")
local findings = require("agent.review.findings")
local format = require("agent.ui.format")
local lines = require("agent.timeline.lines")
local markdown = require("agent.chat.draw.markdown")
local Renderer = require("agent.chat.draw.renderer")
local structure = require("agent.markdown.structure")
local table_view = require("agent.markdown.table")

--- Characters of the smaller text. Four times as much may cost eight times as much; a quadratic step costs 16 times.
local SIZE, TIMES, MOST = 5000, 4, 8
--- Larger texts leave the processor's caches, more so beside other programs. So more is measured again: a quadratic step
--- costs 170 to 256 times as much here, a linear one at most 50.
local LARGE_TIMES, LARGE_MOST, TRIES = 16, 128, 7
--- Shorter work is too short for the clock: it is repeated. Seconds.
local SHORTEST = 0.001
--- No work is that long, not even on a machine that is slow: the rest of it is not waited for. Seconds of CPU time.
local LONGEST = 20

--- What is repeated, and what stands before and behind it.
local SHAPES = {
  { "a" },
  { " ", "", "x" },
  { "\n", "", "x" },
  { " \n", "", "-" },
  { "\t", "a", "a" },
  { "-", "a\n|a|\n|", "x" },
  { "-:|", "a\n|a|\n|", "x" },
  { "|", "|a|\n|-|\n" },
  { "a", "|a|\n|-|\n|", "|" },
  { "\\|", "|a|\n|-|\n|" },
  { "|a|\n|-|\n" },
  { "`" },
  { "`a" },
  { "~~~\n" },
  { "```\n" },
  { "- ```\n" },
  { "> " },
  { "1. " },
  { "---\n\n" },
  { "***\n\n", "```\n" },
  { "漢" },
  { "\\" },
  { "a\n" },
  { "1", "a.ts:", "x" },
  { "a:1: text\n" },
  { "*" },
  { "*a\n" },
  { "**a" },
  { "~~a" },
  { "- `a` *b*\n" },
  { "![" },
  { "[a](" },
}

local WORK = {
  ["a text ends"] = function(text)
    append.close_text({ kind = "text", text = text, status = "open" })
  end,
  ["markdown"] = function(text)
    local read = structure.new(vim.split(text, "\n"))
    structure.read(read, false)
    for _, item in ipairs(read.items) do
      if item.table and item.index == 1 then
        table_view.draw(item.table.rows, 80)
      end
    end
  end,
  ["the block around"] = function(text)
    local rows = vim.split(text, "\n")
    fences.around(rows, #rows)
  end,
  ["lines of a message"] = function(text)
    lines.lines({ kind = "user", text = text, attachments = { "a" } })
  end,
  ["lines of a call"] = function(text)
    lines.lines({ kind = "tool", title = text, status = "in_progress", output = text, draft = text })
  end,
  ["lines of what a search found"] = function(text)
    lines.lines({ kind = "tool", title = "a", status = "completed", what = "search", output = text, expanded = true })
  end,
  ["counts"] = lines.count_marks,
  ["what is shown"] = function(text)
    local buffer = vim.api.nvim_create_buf(false, true)
    local renderer = Renderer.new(buffer)
    markdown.start(buffer, renderer)
    renderer:draw({ { kind = "text", text = "So: " .. text, status = "open" } }, { true })
    local rows = renderer.total
    vim.treesitter.get_parser(buffer, "markdown"):parse({ math.max(0, rows - 40), rows })
    vim.api.nvim_buf_delete(buffer, { force = true })
  end,
  ["a title"] = function(text)
    return format.cut(text, 40) .. format.cut_start(text, 40) .. format.one_line(text)
  end,
  ["findings"] = function(text)
    findings.read("```findings\n" .. text .. "\n```", "/root")
  end,
}

--- Each work gets a third of the shapes, each shape a third of the works; all of them with `--full`.
local EVERY = vim.env.AGENT_TEST_FULL and 1 or 3

---@return number seconds of CPU time
local function cost(work, text, times)
  local start = os.clock()
  for _ = 1, times do
    work(text)
  end
  return os.clock() - start
end

--- A hook ends work that takes too long.
local function limited(act)
  local stop = os.clock() + LONGEST
  debug.sethook(function()
    assert(os.clock() < stop, "too slow")
  end, "", 1e6)
  local ok, ratio, times = pcall(act)
  debug.sethook()
  if not ok then
    return math.huge, LARGE_TIMES
  end
  return ratio, times
end

---@return number? ratio too high
---@return integer? times the text that costs as much
local function excess(work, shape)
  local function text(size)
    return (shape[2] or "") .. shape[1]:rep(math.floor(size / #shape[1])) .. (shape[3] or "")
  end
  local small = text(SIZE)
  local repeats = 1
  while cost(work, small, repeats) < SHORTEST do
    repeats = repeats * 2
  end
  --- As much input on both sides, so that both make as much garbage.
  local function costs(times)
    return cost(work, small, repeats * times) / times, cost(work, text(SIZE * times), repeats)
  end
  local before, after = costs(TIMES)
  if after / before <= MOST then
    return
  end
  -- Other programs can only make either of them dearer.
  before, after = math.huge, math.huge
  for _ = 1, TRIES do
    collectgarbage()
    collectgarbage("stop")
    local one, many = costs(LARGE_TIMES)
    before, after = math.min(before, one), math.min(after, many)
    collectgarbage("restart")
    if after / before <= LARGE_MOST then
      return
    end
  end
  return after / before, LARGE_TIMES
end

local passed, failed, offset = 0, 0, 0
for what, work in vim.spairs(WORK) do
  offset = offset % EVERY + 1
  for at = offset, #SHAPES, EVERY do
    local shape = SHAPES[at]
    local ratio, times = limited(function()
      return excess(work, shape)
    end)
    if not ratio then
      passed = passed + 1
    else
      failed = failed + 1
      print(("FAILED %s, %s: %d times the text costs %.1f times as much"):format(what, vim.inspect(shape), times, ratio))
    end
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
