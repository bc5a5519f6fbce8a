--- The files and lines that rows of outputs name, without a screen: nvim --headless --clean -l targets.lua
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local checks = dofile(here .. "/checks.lua")
local targets = require("agent.timeline.targets")

local test, eq = checks.test, checks.eq

--- "src/a.ts:3" for each row of an output.
local function named(block)
  return vim.iter(ipairs(targets.rows(block))):fold({}, function(names, row)
    local target = targets.target(block, row)
    local folder = target and target.folder and target.folder .. "/" or ""
    names[row] = target and ("%s%s:%s"):format(folder, target.path, target.line or "") or ""
    return names
  end)
end

test("each row of an output names its file and line", function()
  local two = { { path = "/p/a/x.ts", line = 2 }, { path = "/p/b/x.ts", line = 7 } }
  local diff = "── x.ts ──\n@@ -2,2 +2,1 @@\n a\n-b\n── x.ts ──\n@@ -6,1 +7,2 @@\n c\n+d\n@@ -9,1 +10,0 @@\n-e"
  local edit = { what = "edit", title = "edit x.ts", output = diff, is_diff = true, locations = two }
  local first = { "/p/a/x.ts:2", "/p/a/x.ts:2", "/p/a/x.ts:2", "/p/a/x.ts:3" }
  local second = { "/p/b/x.ts:7", "/p/b/x.ts:7", "/p/b/x.ts:7", "/p/b/x.ts:8", "/p/b/x.ts:11", "/p/b/x.ts:11" }
  eq(named(edit), vim.list_extend(first, second))
  local new = { what = "edit", title = "write a", output = "@@ -0,0 +1,1 @@\n+a", is_diff = true, locations = two }
  eq(named(new), { "/p/a/x.ts:1", "/p/a/x.ts:1" })
  local outline = { what = "search", title = "outline of a/x.ts", output = "5-10 class C\n  7 method m", locations = two }
  eq(named(outline), { "/p/a/x.ts:5", "/p/a/x.ts:7" })
  local list = { what = "read", title = "list a", output = "sub dir/\nx (1).ts (3.1 kB)\n[9 more]", locations = two }
  eq(named(list), { "/p/a/x.ts/sub dir/:", "/p/a/x.ts/x (1).ts:", "/p/a/x.ts/[9 more]:" })
  eq(targets.target(outline), two[1])
end)

checks.finish()
