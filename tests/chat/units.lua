--- The chat's pure modules, without a screen: nvim --headless --clean -l units.lua [seed]
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local checks = dofile(here .. "/checks.lua")
local format = require("agent.ui.format")
local markdown = require("agent.chat.draw.markdown")
local Renderer = require("agent.chat.draw.renderer")
local text = require("agent.timeline.lines")
local timeline = require("agent.timeline")

local test, eq = checks.test, checks.eq

--- What is on screen of a block.
local function drawn(block)
  return { block.kind, block.severity, (text.lines(block)) }
end

local function screen(of)
  return vim
    .iter(of.blocks)
    :map(function(block)
      return (text.lines(block))
    end)
    :flatten()
    :totable()
end

--- The indexes of all updates' changed blocks, in order and once.
local function apply(to, ...)
  local all = {}
  for _, update in ipairs({ ... }) do
    all = vim.tbl_extend("force", all, timeline.apply(to, update))
  end
  local indexes = vim.tbl_keys(all)
  table.sort(indexes)
  return indexes
end

local function send(words)
  return { type = "submitted", text = words }
end
local STARTED = { type = "turn_started" }
local function says(words, message)
  return { type = "text", message = message or "m1", text = words }
end
local function thinks(words)
  return { type = "thought", message = "m1", text = words }
end
local function calls(id, status, more)
  return vim.tbl_extend("force", { type = "tool", id = id, title = "call " .. id, status = status }, more or {})
end
local function done(reason, problem)
  return { type = "turn_done", reason = reason or "end_turn", error = problem }
end

test("a message that is sent between two turns stands behind one that waited, and is not taken for it", function()
  local it = timeline.new()
  local function sent(word)
    apply(it, { type = "submitted", text = word, id = word })
  end
  sent("first")
  apply(it, { type = "turn_started", id = "first" }, { type = "turn", turn = 1 })
  sent("second")
  apply(it, { type = "turn_done", reason = "end_turn" })
  sent("third")
  apply(it, { type = "turn_started", id = "second" }, { type = "turn", turn = 2 })
  local users = vim.tbl_filter(function(block)
    return block.kind == "user"
  end, it.blocks)
  eq(
    vim.tbl_map(function(block)
      return { block.text, block.status, block.turn }
    end, users),
    { { "first", "done", 1 }, { "second", "sent", 2 }, { "third", "queued" } }
  )
end)

test("pieces of one message are one block, until something else comes between them", function()
  local it = timeline.new()
  eq(apply(it, send("Go"), STARTED), { 1 })
  eq(apply(it, says("\n\nOne ")), { 2 })
  eq(apply(it, says("two.")), { 2 })
  eq(apply(it, calls("a", "in_progress")), { 2, 3 })
  eq(apply(it, says("Three.")), { 4 })
  eq(apply(it, says("Four.", "m2")), { 4, 5 })
  eq(screen(it), { "Go", "One two.", "… call a", "Three.", "Four." })
end)

test("a list of changed files or a notice in the middle of a text stands below it, and does not cut it", function()
  local it = timeline.new()
  local file = { shown = "a", path = "a", kind = "modified", added = 1, removed = 0 }
  local files = { type = "turn_files", turn = 1, files = { file } }
  apply(it, send("Go"), STARTED, says("It is **sal"))
  eq(apply(it, files), { 3 })
  eq(apply(it, says("ute** ")), { 2 })
  apply(it, { type = "notice", severity = "info", text = "By the way." })
  eq(apply(it, says("now.")), { 2 })
  local list = { "Changed 1 file  +1", "  M a  +1" }
  eq(screen(it), { "Go", "It is **salute** now.", list[1], list[2], "By the way." })
  -- A call ends the text, and a retry begins it again.
  apply(it, calls("a", "completed"), says("More"))
  apply(it, { type = "retry", reason = "HTTP 529.", wait_ms = 0, attempt = 1, tries = 2 }, says("More."))
  eq(vim.list_slice(screen(it), 6), { "✓ call a", "More", "HTTP 529. Retried.", "More." })
end)

test("a call is changed in place, and its end stays its end", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED, calls("a", "pending"), calls("b", "pending"))
  eq(apply(it, calls("a", "in_progress", { output = "1\n2\n3\n4\n5\n6" })), { 2 })
  eq(screen(it), { "Go", "… call a", "  2", "  3", "  4", "  5", "  6", "… call b" })
  eq(apply(it, { type = "tool", id = "a", status = "completed", summary = "6 lines" }), { 2 })
  eq(apply(it, { type = "tool", id = "a", status = "in_progress", output = "late" }), { 2 })
  eq(screen(it), { "Go", "✓ call a  6 lines", "… call b" })
end)

test("calls that only look are one line once they are three, in whatever order they end", function()
  local it = timeline.new()
  local function reads(id, status)
    return calls(id, status, { title = "read src/" .. id .. ".ts", kind = "read" })
  end
  apply(it, send("Go"), STARTED, reads("a", "pending"), reads("b", "pending"))
  eq(screen(it), { "Go", "… read src/a.ts", "… read src/b.ts" })
  eq(apply(it, reads("c", "pending")), { 2, 3, 4 })
  apply(it, reads("c", "completed"), reads("a", "completed"))
  eq(screen(it), { "Go", "… read 3 files  src/a.ts, src/b.ts, src/c.ts" })
  eq(apply(it, reads("b", "completed")), { 2 })
  eq(screen(it), { "Go", "✓ read 3 files  src/a.ts, src/b.ts, src/c.ts" })
  local found = "── src/a.ts ──\n→ 1: x\n  2: y\n→ 3: x\n\n── b.ts ──\n→ 9: x\n\n[more]"
  local search = { title = "search x", kind = "search", output = found, summary = "3 matches" }
  eq(apply(it, calls("d", "completed", search)), { 2, 5 })
  eq(screen(it)[2], "✓ read 3 files, searched once  src/a.ts, src/b.ts, src/c.ts …")
  it.blocks[2].expanded, it.nested.d.expanded = true, true
  local header = "  ✓ search x  3 matches"
  local rows = { "    src/a.ts:1: x", "    src/a.ts:3: x", "    b.ts:9: x", "    [more]" }
  eq(vim.list_slice(screen(it), 5), vim.list_extend({ "  ✓ read src/c.ts", header }, rows))
  it.blocks[2].expanded = false
  -- What has failed, and what is open, stands for itself.
  apply(it, calls("e", "failed", { kind = "read" }), reads("f", "completed"), says("So."))
  eq(vim.list_slice(screen(it), 3), { "✗ call e", "✓ read src/f.ts", "So." })
  local older = timeline.new()
  apply(older, send("Before"), STARTED, done())
  timeline.prepend(it, older)
  eq(apply(it, reads("b", "completed")), { 3 })
end)

test("thoughts between calls that only look stand in their line; a call that fails or waits leaves it", function()
  local it = timeline.new()
  local function reads(id, status)
    return calls(id, status, { title = "read " .. id, kind = "read" })
  end
  local function thought(message)
    return { type = "thought", message = message, text = "Hm." },
      { type = "thought_done", message = message, milliseconds = 2000 }
  end
  apply(it, send("Go"), STARTED)
  apply(it, thought("m1"))
  apply(it, reads("a", "completed"))
  apply(it, thought("m2"))
  apply(it, reads("b", "completed"))
  apply(it, thought("m3"))
  apply(it, reads("c", "in_progress"))
  eq(screen(it), { "Go", "Thought for 2.0 s", "… read 3 files  a, b, c" })
  apply(it, reads("c", "completed"))
  it.blocks[3].expanded = true
  eq(vim.list_slice(screen(it), 3), {
    "✓ read 3 files  a, b, c",
    "  ✓ read a",
    "  Thought for 2.0 s",
    "  ✓ read b",
    "  Thought for 2.0 s",
    "  ✓ read c",
  })
  it.blocks[3].expanded = false
  apply(it, reads("d", "in_progress"), reads("e", "in_progress"), reads("f", "in_progress"))
  eq(screen(it)[3], "… read 6 files  a, b, c …")
  apply(it, reads("d", "failed"))
  local rest = { "✓ read 3 files  a, b, c", "✗ read d", "… read e", "… read f" }
  eq(vim.list_slice(screen(it), 3), rest)
  apply(it, reads("g", "in_progress"), reads("e", "completed"))
  eq(vim.list_slice(screen(it), 4), { "✗ read d", "… read 3 files  e, f, g" })
  apply(it, { type = "approval", request = 1, tool = "g" })
  eq(vim.list_slice(screen(it), 5), { "✓ read e", "… read f", "? read g  waiting for your answer" })
  apply(it, { type = "approval_closed", request = 1 }, reads("g", "in_progress"))
  eq(vim.list_slice(screen(it), 5), { "… read 3 files  e, f, g" })
  apply(it, done("cancelled"))
  eq(vim.list_slice(screen(it), 5), { "✓ read e", "■ read f  stopped", "■ read g  stopped", "Stopped." })
end)

test("an approval waits at its call, and the turn with it", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED, calls("a", "pending"))
  eq(apply(it, { type = "approval", request = 1, tool = "a" }), { 2 })
  eq({ it.state, screen(it)[2] }, { "waiting", "? call a  waiting for your answer" })
  apply(it, calls("a", "pending"))
  eq(it.state, "waiting")
  apply(it, { type = "approval_closed", request = 1 }, calls("a", "completed"))
  eq({ it.state, screen(it)[2] }, { "working", "✓ call a" })
end)

test("what a command printed stays while its changes wait for an answer, and after that it goes on", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED, calls("a", "in_progress", { output = "All formatted." }))
  apply(it, { type = "approval", request = 1, tool = "a" })
  apply(it, calls("a", "in_progress", { output = "All formatted.\nLate." }))
  eq(screen(it), { "Go", "? call a  waiting for your answer", "  All formatted.", "  Late." })
  eq(apply(it, { type = "approval_closed", request = 1 }), { 2 })
  eq(screen(it), { "Go", "… call a", "  All formatted.", "  Late." })
end)

test("a message that waits stands below the text that goes on, and moves to where its turn begins", function()
  local it = timeline.new()
  apply(it, send("One"), STARTED, says("So "), send("Two"), send("Three"))
  eq(apply(it, says("far.")), { 2 })
  eq({ timeline.unsent(it) }, { { "Two", "Three" }, false })
  apply(it, calls("a", "completed"), done(), STARTED, says("Yes.", "m2"))
  eq(screen(it), { "One", "So far.", "✓ call a", "Two", "Three (waiting for the turn to end)", "Yes." })
  apply(it, send("Four"), { type = "unsent", texts = { "Three" } })
  eq(vim.list_slice(screen(it), 5), { "Three (not sent)", "Yes.", "Four (waiting for the turn to end)" })
end)

test("what was not stored comes back, whatever was said after it", function()
  local function back(...)
    local it = timeline.new()
    apply(it, send("One"), ...)
    return timeline.unsent(it)
  end
  local notice = { type = "notice", severity = "info", text = "Fetching." }
  local steers = { type = "steering", text = "Two", id = "1" }
  eq({ back() }, { { "One" }, true })
  eq({ back(notice) }, { { "One" }, true })
  eq({ back(STARTED, notice, steers, notice, send("Three")) }, { { "One", "Two", "Three" }, true })
  eq({ back(STARTED, send("Two"), { type = "unsent", texts = { "Two" } }, notice) }, { { "One" }, true })
  eq({ back({ type = "turn_files", turn = 1, files = {} }) }, { { "One" }, true })
  eq({ back(STARTED, { type = "turn", turn = 1 }, notice, steers) }, { { "Two" }, false })
  -- Other agents do not say that they have stored it.
  eq({ back(STARTED, says("So"), notice, send("Two")) }, { { "Two" }, false })
  eq({ back(STARTED, calls("a", "pending")) }, { {}, false })
  eq({ back(STARTED, done()) }, { {}, false })
end)

test("a message that was taken back does not part the text that goes on", function()
  local it = timeline.new()
  apply(it, send("One"), STARTED, says("So "), send("Two"), { type = "steering", text = "Three", id = "1" })
  apply(it, { type = "unsteered", id = "1" })
  eq(apply(it, says("far.")), { 2 })
  eq(screen(it), { "One", "So far.", "Two (waiting for the turn to end)" })
end)

test("the end of a turn ends what is open, and says why if it is not the model's", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED, thinks("Hm"), says("```lua\nx"), calls("a", "in_progress"))
  eq(apply(it, done("cancelled")), { 2, 4, 5 })
  eq(screen(it), { "Go", "Thought for a moment", "```lua", "x", "```", "■ call a  stopped", "Stopped." })
  eq(it.state, "idle")
  apply(it, send("On"), STARTED)
  eq(#apply(it, done()), 0)
end)

test("a failure that was tried again is one line", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED)
  apply(it, { type = "retry", reason = "HTTP 529.", wait_ms = 1500, attempt = 1, tries = 2 })
  eq(screen(it)[2], "HTTP 529. Retrying in 2 s, attempt 2 of 2; <C-c> stops.")
  eq(apply(it, { type = "second" }, { type = "second" }), { 2 })
  eq(screen(it)[2], "HTTP 529. Retrying now, attempt 2 of 2; <C-c> stops.")
  apply(it, done("error", "HTTP 529."))
  eq(screen(it), { "Go", "HTTP 529." })
end)

test("what is unknown changes nothing", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED, says("So"))
  local before = vim.deepcopy(it)
  eq(apply(it, { type = "of_tomorrow", text = "x" }), {})
  eq(apply(it, { type = "thought_done", message = "nobody's", milliseconds = 5 }), {})
  eq(it, before)
end)

test("an older part comes before what is there, which goes on", function()
  local it = timeline.new()
  apply(it, send("Now"), STARTED, calls("b", "pending"))
  local older = timeline.replay({
    { type = "user", text = "Then", turn = 1 },
    calls("a", "in_progress"),
    { type = "title", title = "Old" },
  })
  eq(timeline.prepend(it, older), #older.blocks)
  local cut = 'Interrupted before its end. Send "continue" to go on.'
  eq(screen(it), { "Then", "■ call a  stopped", cut, "Now", "… call b" })
  eq(apply(it, calls("b", "completed")), { 5 })
  eq({ timeline.turn_of(it, 3), timeline.turn_of(it, 5) }, { 1, 1 })
end)

test("the list of changed files grows where it was last changed, shorter while the turn runs", function()
  local function files(count)
    local list = {}
    for number = 1, count do
      local path = ("f%02d"):format(number)
      list[number] = { shown = path, path = path, kind = "modified", added = 1, removed = 0 }
    end
    return { type = "turn_files", turn = 1, files = list }
  end
  local it = timeline.new()
  apply(it, send("Go"), STARTED, calls("a", "completed"), files(1))
  eq(screen(it), { "Go", "✓ call a", "Changed 1 file  +1", "  M f01  +1" })
  eq(apply(it, files(2)), { 3 })
  apply(it, says("Now"), calls("b", "completed"), files(10))
  local now = screen(it)
  eq(vim.list_slice(now, 1, 5), { "Go", "✓ call a", "Now", "✓ call b", "Changed 10 files  +10" })
  eq({ #now, now[#now] }, { 14, "  and 2 more: :Agent changes" })
  apply(it, files(0), files(10), says("Done", "m2"), done("end_turn"))
  eq(#screen(it), 16)
  apply(it, files(3))
  eq(vim.list_slice(screen(it), 5), { "Changed 3 files  +3", "  M f01  +1", "  M f02  +1", "  M f03  +1", "Done" })
end)

test("whatever comes: what looks different is told as changed", function()
  math.randomseed(tonumber(_G.arg[1]) or 7)
  local random = math.random
  local function any(of)
    return of[random(#of)]
  end
  local FILE = { shown = "a", path = "a", kind = "modified", added = 1, removed = 0 }
  local parts = { "a ", "```\n", "\n", "b" }
  local ids, parents = { "1", "2", "3" }, { "1", "2", "4" }
  local makers = {
    function() return send("Go") end,
    function() return STARTED end,
    function() return says(any(parts), any({ "m1", "m2" })) end,
    function() return thinks(any(parts)) end,
    function() return vim.tbl_extend("force", says(any(parts)), { parent = any(parents) }) end,
    function() return { type = "thought_done", message = "m1", milliseconds = 2000 } end,
    function() return calls(any(ids), any({ "pending", "in_progress", "completed", "failed" })) end,
    function() return calls(any({ "5", "6", "7" }), any({ "pending", "completed", "failed" }), { kind = "read" }) end,
    function() return { type = "approval", request = 2, tool = any({ "5", "6" }) } end,
    function() return calls("4", any({ "in_progress", "completed" }), { parent = any(ids) }) end,
    function() return { type = "approval", request = 1, tool = any(ids) } end,
    function() return { type = "approval_closed", request = 1 } end,
    function() return { type = "retry", reason = "Busy.", wait_ms = 1000, attempt = 1, tries = 3 } end,
    function() return { type = "second" } end,
    function() return { type = "plan", steps = { { step = any(parts), status = "pending" } } } end,
    function() return { type = "notice", severity = "info", text = any(parts) } end,
    function() return { type = "turn_files", turn = random(2), files = any({ {}, { FILE } }) } end,
    function() return { type = "undone", turns = { { turn = 1, undone = any({ "all", "part" }) }, { turn = 2 } } } end,
    function() return { type = "undone", calls = { { call = any(ids), undone = "all" }, { call = "4" } } } end,
    function() return { type = "unsent", texts = {}, unstored = random(2) == 1 } end,
    function() return done(any({ "end_turn", "cancelled", "error" }), any({ "No.", nil })) end,
  }
  for _ = 1, 300 do
    local it, told = timeline.new(), {}
    for _ = 1, 25 do
      local update = any(makers)()
      table.insert(told, update)
      local before = {}
      for index, block in ipairs(it.blocks) do
        before[index] = drawn(block)
      end
      local changed = timeline.apply(it, update)
      for index, block in ipairs(it.blocks) do
        if not changed[index] and not vim.deep_equal(drawn(block), before[index]) then
          eq(drawn(block), before[index], ("block %d after %s"):format(index, vim.inspect(told)))
        end
      end
    end
  end
end)

local MARKDOWN = {
  { "", "", "", "", "", "word", "Two words", "# Head", "===", "---", "+++", "***", "**Bold** `code`", "[a]: http://x" },
  { "- item", "  - deeper", "    deeper", "1. one", "2) two", "* star", "+ plus", "- [ ] task", "> quote", "> - in it" },
  { "```", "```lua", "  ```", "    ```", "- ```", "> ```", "~~~", "````", "local x = 1", "    indented" },
  { "| a | b |", "|---|---|", "| 1 | 2 |", "<!-- open", "close -->", "<div>", "<pre>", "</pre>", "- <pre>", "&amp;" },
}

--- What markdown has in these rows.
local function nodes(tree, first, last)
  local found = {}
  local function look(node)
    local row, column, end_row, end_column = node:range()
    local is_within = row >= first and end_row <= last and not vim.list_contains({ "document", "section" }, node:type())
    if is_within and node:type() ~= "block_continuation" then
      table.insert(found, { node:type(), row, column, end_row, end_column })
    end
    vim.iter(node:iter_children()):each(look)
  end
  look(tree:root())
  return found
end

--- A buffer with a renderer, and the parser that its colours come from.
local function transcript()
  local buffer = vim.api.nvim_create_buf(false, true)
  local renderer = Renderer.new(buffer)
  markdown.start(buffer, renderer)
  return buffer, renderer, vim.treesitter.get_parser(buffer, "markdown")
end

test("what is shown of an answer has the colours that it has in all of the answer", function()
  math.randomseed(tonumber(_G.arg[1]) or 7)
  local pieces = vim.iter(MARKDOWN):flatten():totable()
  for _ = 1, 25 do
    local buffer, renderer, parser = transcript()
    local block = { kind = "text", text = "So ", status = "open" }
    for _ = 1, 12 do
      for _ = 1, math.random(8) do
        block.text = block.text .. pieces[math.random(#pieces)] .. (math.random(5) > 1 and "\n" or " ")
      end
      renderer:draw({ block }, { [1] = true })
      local count = vim.api.nvim_buf_line_count(buffer)
      local first = math.random() < 0.5 and math.max(0, count - 6) or math.random(count) - 1
      local last = math.min(count, first + math.random(8))
      local shown = nodes(parser:parse({ { first, last } })[1], first, last)
      local whole = vim.treesitter.get_string_parser(block.text .. "\n", "markdown"):parse()[1]
      eq(shown, nodes(whole, first, last), block.text)
    end
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
end)

test("of a long answer no more is parsed than of a short one", function()
  local _, renderer, parser = transcript()
  local block = { kind = "text", text = "So:", status = "open" }
  for step = 1, 30 do
    block.text = block.text .. "\n\nA paragraph\nof two lines\n- and\n- a list\n\n```lua\nlocal a = 1\n```"
    renderer:draw({ block }, { [1] = true })
    local rows = renderer.total
    local first, _, last = parser:parse({ { math.max(0, rows - 20), rows } })[1]:root():range()
    assert(last - first < 40, ("%d rows of %d at step %d"):format(last - first, rows, step))
  end
end)

test("numbers are short", function()
  local counts = { [0] = "0", [980] = "980", [12300] = "12.3k", [2000] = "2k", [128000] = "128k" }
  counts[99949], counts[99950], counts[999499], counts[999500] = "99.9k", "100k", "999k", "1M"
  for number, said in pairs(counts) do
    eq(format.count(number), said)
  end
  for dollars, said in pairs({ [0] = "$0", [0.0042] = "$0.0042", [0.012] = "$0.012", [12.5] = "$12.50", [140] = "$140" }) do
    eq(format.money(dollars), said)
  end
  for milliseconds, said in pairs({ [480] = "480 ms", [1200] = "1.2 s", [95000] = "95 s" }) do
    eq(format.milliseconds(milliseconds), said)
  end
end)

test("what an agent says of itself is kept, and its echo of a message is not shown twice", function()
  local line = timeline.new()
  apply(line, send("Go"), STARTED, { type = "user", text = "Go" }, { type = "agent_state", mode = "careful" })
  apply(line, { type = "agent_state", commands = { { name = "tidy", description = "" } } })
  eq(screen(line), { "Go" })
  eq({ line.mode, line.commands[1].name }, { "careful", "tidy" })
end)

test("of 50,000 names those that fit best come first", function()
  local matching = require("agent.chat.complete.matching")
  local names = {}
  for at = 1, 50000 do
    names[at] = ("packages/module_%d/src/Some%sFile_%d.ts"):format(at % 500, ("ABCDE"):sub(at % 5 + 1, at % 5 + 1), at)
  end
  names[49999] = "packages/last/module.ts"
  names[50000] = "docs/漢字 notes.md"
  eq(matching.best(names, "漢", 50)[1], "docs/漢字 notes.md")
  eq(matching.best(names, "MODULE.", 50)[1], "packages/last/module.ts")
  eq(#matching.best(names, "", 50), 50)
  eq(#matching.best(names, "zz", 50), 0)
  eq(matching.best({ "a/b.lua", "b/a.lua", "xab.lua", "l/u.a" }, "a", 3), { "b/a.lua", "a/b.lua", "l/u.a" })
  eq(matching.best({ "src/greet.ts", "src/other.ts" }, "sgt", 9), { "src/greet.ts" })
end)

test("wide names are cut by columns, and no letter of several parts is", function()
  eq(format.cut("漢字漢字", 5), "漢字…")
  eq(format.cut_start("漢字漢字", 5), "…漢字")
  eq(format.cut("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3), "👨‍👩‍👧‍👦…")
  eq({ format.cut("abc", 3), format.cut("abcd", 3), format.cut_start("abcd", 3) }, { "abc", "ab…", "…cd" })
end)

checks.finish()
