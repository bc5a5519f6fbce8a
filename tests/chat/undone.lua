--- What was undone, as the chat shows it, without a screen: nvim --headless --clean -l undone.lua
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local checks = dofile(here .. "/checks.lua")
local text = require("agent.timeline.lines")
local timeline = require("agent.timeline")

local test, eq = checks.test, checks.eq

local function screen(of)
  return vim
    .iter(of.blocks)
    :map(function(block)
      return (text.lines(block))
    end)
    :flatten()
    :totable()
end

--- The indexes of all updates' changed blocks, in order.
local function apply(to, ...)
  local all = {}
  for _, update in ipairs({ ... }) do
    all = vim.tbl_extend("force", all, timeline.apply(to, update))
  end
  local indexes = vim.tbl_keys(all)
  table.sort(indexes)
  return indexes
end

local STARTED, DONE = { type = "turn_started" }, { type = "turn_done", reason = "end_turn" }
local function send(words)
  return { type = "submitted", text = words }
end
local function calls(id, more)
  return vim.tbl_extend("force", { type = "tool", id = id, title = "call " .. id, status = "completed" }, more or {})
end

test("the list of changed files says what of its turn was undone, until it is redone", function()
  local it = timeline.new()
  local files = { { shown = "a", path = "a", kind = "modified", added = 2, removed = 1 } }
  local stored = { type = "turn_files", turn = 2, files = files, undone = "part" }
  apply(it, send("One"), STARTED, { type = "turn_files", turn = 1, files = files }, DONE, stored)
  eq({ screen(it)[2], screen(it)[4] }, { "Changed 1 file  +2 −1", "Changed 1 file, undone in part  +2 −1" })
  eq(apply(it, { type = "undone", turns = { { turn = 1, undone = "all" }, { turn = 2 }, { turn = 3 } } }), { 2, 3 })
  eq({ screen(it)[2], screen(it)[4] }, { "Changed 1 file, undone  +2 −1", "Changed 1 file  +2 −1" })
end)

test("the rows of a list say which files were kept, undone, or undone in part", function()
  local it = timeline.new()
  local function file(name, more)
    return vim.tbl_extend("force", { shown = name, path = name, kind = "modified", added = 2, removed = 1 }, more or {})
  end
  local files = { file("a"), file("b", { kind = "renamed", from = "z", added = 0, removed = 0 }), file("c") }
  apply(it, send("One"), STARTED, { type = "turn_files", turn = 1, files = files }, DONE)
  local function review(state, ...)
    local paths = {}
    for _, path in ipairs({ ... }) do
      paths[path] = true
    end
    return apply(it, { type = "review", turn = 1, paths = paths, state = state })
  end
  local function undo(undone, list, redone)
    return apply(it, { type = "undone", turns = { { turn = 1, undone = undone, files = list } }, redone = redone })
  end
  eq(review("kept", "a", "other"), { 2 })
  eq(vim.list_slice(screen(it), 2), { "Changed 3 files  +4 −2", "  M a  +2 −1, kept", "  R z → b", "  M c  +2 −1" })
  eq(undo("part", { { path = "b", undone = "all" }, { path = "c", undone = "part" } }), { 2 })
  eq(vim.list_slice(screen(it), 2), {
    "Changed 3 files, undone in part  +4 −2",
    "  M a  +2 −1, kept",
    "  R z → b  undone",
    "  M c  +2 −1, undone in part",
  })
  eq(undo("part", { { path = "b", undone = "all" } }), { 2 })
  eq(undo("part", { { path = "b", undone = "all" } }), {})
  review("undone", "a", "c")
  eq(screen(it)[2], "Changed 3 files, undone  +4 −2")
  eq(undo(nil, nil, { a = true }), { 2 })
  eq(vim.list_slice(screen(it), 2), {
    "Changed 3 files, undone in part  +4 −2",
    "  M a  +2 −1",
    "  R z → b",
    "  M c  +2 −1, undone",
  })
  review(nil, "c")
  eq(screen(it)[2], "Changed 3 files  +4 −2")
  review("kept", "a", "b", "c")
  eq(screen(it)[2], "Changed 3 files, kept  +4 −2")
end)

test("a call says that it was undone, also under another call, which says how much of it", function()
  local it = timeline.new()
  apply(it, send("Go"), STARTED, calls("a", { summary = "+1 −1" }), calls("b"))
  for _, id in ipairs({ "c", "d" }) do
    apply(it, calls(id, { parent = "b" }))
  end
  local function undone(...)
    return apply(it, { type = "undone", calls = { ... } })
  end
  eq(undone({ call = "a", undone = "all" }, { call = "c", undone = "all" }, { call = "d" }), { 2, 3 })
  eq(screen(it), { "Go", "✓ call a  +1 −1, undone", "✓ call b  undone in part" })
  it.blocks[3].expanded = true
  apply(it, calls("e", { parent = "b" }))
  eq(vim.list_slice(screen(it), 4), { "  ✓ call c  undone", "  ✓ call d", "  ✓ call e" })
  local owners = select(3, text.lines(it.blocks[3]))
  eq({ owners[1].block.id, owners[2].block.id, owners[3].block.id }, { "b", "c", "d" })
  eq(undone({ call = "a", undone = "all" }, { call = "d", undone = "all" }, { call = "x", undone = "all" }), { 3 })
  eq(screen(it)[3], "✓ call b  undone")
  eq(undone({ call = "a" }, { call = "c" }, { call = "d" }), { 2, 3 })
  eq(screen(it), { "Go", "✓ call a  +1 −1", "✓ call b", "  ✓ call c", "  ✓ call d", "  ✓ call e" })
end)

checks.finish()
