local T = ...
local eq, case, eventually = T.eq, T.case, T.eventually

--- A file of `n` lines in a window, cursor at (lnum, col), top line `top`.
local function open(c, n, lnum, col, top)
  c:lua([[
    local p, n, lnum, col, top = ...
    _G.p = p
    T.write(p, T.text(T.numbered(n)))
    _G.b = T.edit(p)
    if lnum then vim.fn.winrestview({ lnum = lnum, col = col or 0, curswant = col or 0, topline = top or 1 }) end]],
    c:path("a.txt"), n, lnum, col, top)
end

--- Changes the file by a function on its lines.
local function change(c, code)
  return c:lua("local l = vim.split(T.read(p), '\\n'); l[#l] = nil; " .. code .. " return T.change(p, T.text(l))")
end

local function view(c)
  return c:lua("local v = vim.fn.winsaveview(); return { v.lnum, v.col, v.topline, api.nvim_get_current_line() }")
end

case("cursor: change below", function(c)
  open(c, 100, 50, 3, 40)
  change(c, "l[60] = 'X'; table.insert(l, 70, 'new'); table.remove(l, 80)")
  eq(view(c), { 50, 3, 40, "line 50" })
end)

case("cursor: lines inserted and removed above stay out of sight", function(c)
  open(c, 100, 50, 3, 40)
  change(c, "for i = 1, 5 do table.insert(l, 2, 'new') end")
  eq(view(c), { 55, 3, 45, "line 50" })
  change(c, "for i = 1, 7 do table.remove(l, 1) end")
  eq(view(c), { 48, 3, 38, "line 50" })
end)

case("cursor: lines inserted at the very top of the view", function(c)
  open(c, 100, 5, 3, 1)
  change(c, "table.insert(l, 1, 'new')")
  eq(view(c), { 6, 3, 2, "line 5" })
end)

case("cursor: lines inserted between the top line and the cursor", function(c)
  open(c, 100, 50, 3, 40)
  change(c, "table.insert(l, 45, 'new')")
  eq(view(c), { 51, 3, 40, "line 50" })
end)

case("cursor: change in its line, before, behind and around it", function(c)
  open(c, 10, 5, 5)
  c:lua("T.write(p, 'one two three\\n'); vim.cmd('edit!'); api.nvim_win_set_cursor(0, { 1, 4 })")
  change(c, "l[1] = 'oneone two three'")
  eq(view(c), { 1, 7, 1, "oneone two three" })
  change(c, "l[1] = 'oneone two three four'")
  eq(view(c), { 1, 7, 1, "oneone two three four" })
  change(c, "l[1] = 'oneone 2 three four'")
  eq(view(c), { 1, 7, 1, "oneone 2 three four" })
end)

case("cursor: deleting the lines under it keeps it in place", function(c)
  open(c, 100, 50, 3, 40)
  change(c, "for i = 1, 3 do table.remove(l, 49) end")
  eq(view(c), { 49, 3, 40, "line 52" })
  c:lua("vim.cmd('normal! G')")
  change(c, "for i = 1, 50 do table.remove(l) end")
  eq(c:lua("return vim.fn.winsaveview().lnum == api.nvim_buf_line_count(0)"), true)
  change(c, "l = {}")
  eq(c:lua("return { vim.fn.winsaveview().lnum, T.lines() }"), { 1, { "" } })
end)

case("cursor: the block around it is rewritten", function(c)
  open(c, 20, 10, 3)
  change(c, "for i = 8, 12 do l[i] = 'wholly other ' .. i end; table.insert(l, 13, 'and one more')")
  eq(view(c), { 10, 3, 1, "wholly other 10" })
end)

case("cursor: the column that j aims at stays", function(c)
  open(c, 5, 2, 0)
  c:lua("vim.cmd('normal! $')")
  change(c, "l[2] = l[2] .. ' longer'")
  eq(c:lua("return vim.fn.winsaveview().curswant == vim.v.maxcol"), true)
end)

local VIEWS = [[
    local out = {}
    for _, w in ipairs({ w1, w2, w3 }) do
      local v = api.nvim_win_call(w, vim.fn.winsaveview)
      table.insert(out, { v.lnum, v.col, v.topline })
    end
    return out]]

case("two windows, another tab: each keeps its own place", function(c)
  open(c, 100, 90, 0, 80)
  c:lua([[
    _G.w1 = api.nvim_get_current_win()
    vim.cmd("split"); _G.w2 = api.nvim_get_current_win()
    vim.fn.winrestview({ lnum = 10, col = 2, topline = 8 })
    vim.cmd("tabnew"); vim.cmd.buffer(b); _G.w3 = api.nvim_get_current_win()
    vim.fn.winrestview({ lnum = 50, col = 1, topline = 45 })
    vim.cmd("vnew"); _G.w4 = api.nvim_get_current_win()
    vim.cmd("redraw")]])
  c:settle()
  local before = c:lua(VIEWS)
  c:lua([[
    T.entered = {}
    api.nvim_create_autocmd({ "WinEnter", "BufEnter", "TabEnter", "WinLeave", "BufLeave", "CursorMoved" }, { callback = function(e) table.insert(T.entered, e.event) end })]])
  change(c, "for i = 1, 5 do table.insert(l, 30, 'new') end")
  eq(c:lua("return { api.nvim_get_current_win() == w4, T.entered }"), { true, {} })
  local after = c:lua(VIEWS)
  eq(after, { { 95, 0, before[1][3] + 5 }, { 10, 2, 8 }, { 55, 1, 50 } })
end)

case("marks, jumplist, change list and '[ '] stay with their text", function(c)
  open(c, 100, 1, 0)
  c:lua([[
    api.nvim_buf_set_mark(b, "a", 50, 3, {})
    api.nvim_buf_set_mark(b, "b", 20, 1, {})
    api.nvim_buf_set_mark(b, "c", 60, 2, {})
    api.nvim_buf_set_mark(b, "D", 60, 3, {})
    api.nvim_buf_set_mark(b, "<", 55, 0, {}); api.nvim_buf_set_mark(b, ">", 57, 0, {})
    vim.cmd("normal! 70G"); vim.cmd("normal! 80Gix"); vim.cmd("normal! 90G"); vim.cmd("silent write")
    vim.cmd("normal! 10Gyy")
    api.nvim_buf_set_mark(b, "[", 65, 0, {}); api.nvim_buf_set_mark(b, "]", 66, 1, {})]])
  change(c, "l[60] = 'line sixty'; for i = 1, 5 do table.insert(l, 30, 'new') end")
  eq(c:lua([[
    local function m(n) local q = api.nvim_buf_get_mark(b, n); return { q[1], q[2] } end
    local jumps = {}
    for _, j in ipairs(vim.fn.getjumplist()[1]) do table.insert(jumps, j.lnum) end
    local changes = {}
    for _, j in ipairs(vim.fn.getchangelist(b)[1]) do table.insert(changes, j.lnum) end
    return { a = m("a"), b = m("b"), c = m("c"), D = m("D"), lt = m("<"), gt = m(">"), open = m("["), close = m("]"), dot = m("."), jumps = jumps, changes = changes }]]), {
    a = { 55, 3 }, b = { 20, 1 }, c = { 65, 2 }, D = { 65, 3 }, lt = { 60, 0 }, gt = { 62, 0 },
    open = { 70, 0 }, close = { 71, 1 }, dot = { 85, 0 }, jumps = { 1, 75, 85, 95 }, changes = { 85 },
  })
end)

case("extmarks of other plugins stay with their text", function(c)
  open(c, 20)
  c:lua([[
    local ns = api.nvim_create_namespace("other")
    for _, at in ipairs({ { 2, 0 }, { 9, 2 }, { 9, 5 }, { 15, 3 } }) do api.nvim_buf_set_extmark(b, ns, at[1], at[2], {}) end]])
  change(c, "l[10] = 'line 10 and more'; table.insert(l, 5, 'new'); l[16] = 'X' .. l[16]; l[17] = 'Other'")
  eq(c:lua([[
    local out = {}
    for _, m in ipairs(api.nvim_buf_get_extmarks(b, api.nvim_create_namespace("other"), 0, -1, {})) do table.insert(out, { m[2], m[3] }) end
    return out]]), { { 2, 0 }, { 10, 2 }, { 10, 5 }, { 16, 5 } })
end)

case("manual folds stay, open and closed", function(c)
  open(c, 100, 1)
  c:lua("vim.wo.foldmethod = 'manual'; vim.cmd('20,30fold'); vim.cmd('50,60fold'); vim.cmd('55foldopen'); vim.cmd('80,90fold')")
  change(c, "l[25] = 'changed'; l[52] = 'changed'; for i = 1, 3 do table.insert(l, 10, 'new') end; table.insert(l, 90, 'in the last')")
  eq(c:lua([[
    local out = {}
    for _, n in ipairs({ 22, 23, 33, 34, 53, 63, 64, 82, 83, 94, 95 }) do table.insert(out, { n, vim.fn.foldlevel(n), vim.fn.foldclosed(n) }) end
    return out]]), {
    { 22, 0, -1 }, { 23, 1, 23 }, { 33, 1, 23 }, { 34, 0, -1 },
    { 53, 1, -1 }, { 63, 1, -1 }, { 64, 0, -1 },
    { 82, 0, -1 }, { 83, 1, 83 }, { 94, 1, 83 }, { 95, 0, -1 },
  })
end)

case("undo goes back one step and redo again; undone text is modified", function(c)
  open(c, 10)
  c:lua("api.nvim_buf_set_lines(b, 8, 9, true, { 'mine' }); vim.cmd('silent write')")
  change(c, "l[1] = 'A'; l[3] = 'B'; table.insert(l, 5, 'C')")
  local first = c:lua("local t = T.lines(); vim.cmd('silent undo'); return t")
  eq(c:lua("return { T.lines()[1], T.lines()[3], T.lines()[5], T.lines()[9], vim.bo.modified }"), { "line 1", "line 3", "line 5", "mine", true })
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return { T.lines()[9], vim.bo.modified }"), { "line 9", true })
  c:lua("vim.cmd('silent redo'); vim.cmd('silent redo')")
  eq(c:lua("return { T.lines(), vim.bo.modified }"), { first, false })
  c:calm()
end)

case("undo: two changes are two steps; a merge is one", function(c)
  open(c, 10)
  change(c, "l[1] = 'A'")
  change(c, "l[1] = 'B'")
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return T.lines()[1]"), "A")
  c:lua("vim.cmd('silent redo'); api.nvim_buf_set_lines(b, 8, 9, true, { 'mine' })")
  change(c, "l[1] = 'C'; l[3] = 'C'")
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return { T.lines()[1], T.lines()[3], T.lines()[9] }"), { "B", "line 3", "mine" })
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return T.lines()[9]"), "line 9")
end)

case("undofile: the history survives a restart", function(c)
  c:lua("vim.o.undofile = true; vim.o.undodir = ...", c:path("undo"))
  open(c, 10)
  c:lua("api.nvim_buf_set_lines(b, 8, 9, true, { 'mine' }); vim.cmd('silent write')")
  change(c, "l[1] = 'A'; l[3] = 'B'")
  local second = T.Child.start(c.dir .. "/undo")
  local ok, err = pcall(function()
    second:lua("vim.o.undofile = true; vim.o.undodir = ...", c:path("undo"))
    second:lua("T.edit(...)", c:path("a.txt"))
    second:lua("vim.cmd('silent undo')")
    eq(second:lua("return { T.lines()[1], T.lines()[9], vim.bo.modified }"), { "line 1", "mine", true })
    second:lua("vim.cmd('silent undo')")
    eq(second:lua("return T.lines()[9]"), "line 9")
    second:lua("vim.cmd('silent redo'); vim.cmd('silent redo')")
    eq(second:lua("return { T.lines()[1], vim.bo.modified }"), { "A", false })
  end)
  second:stop()
  assert(ok, err)
end)

case("screen: what is seen does not move when lines come above", function(c)
  open(c, 200, 100, 0, 90)
  c:lua("vim.cmd('redraw')")
  local before = c:lua("local t = {} for i = 1, 20 do t[i] = vim.fn.screenstring(i, 6) .. vim.fn.screenstring(i, 7) .. vim.fn.screenstring(i, 8) end return t")
  change(c, "for i = 1, 9 do table.insert(l, 50, 'new') end")
  c:lua("vim.cmd('redraw')")
  local after = c:lua("local t = {} for i = 1, 20 do t[i] = vim.fn.screenstring(i, 6) .. vim.fn.screenstring(i, 7) .. vim.fn.screenstring(i, 8) end return t")
  eq(after, before)
end)

case("random changes: lines that did not change keep cursor, marks and extmarks", function(c)
  c:lua([[
    _G.p = ...
    T.write(p, T.text(T.numbered(60, "unique "))); _G.b = T.edit(p)
    math.randomseed(11)
    _G.ns = api.nvim_create_namespace("random")
    local serial = 60
    for _ = 1, 80 do
      local old = T.lines()
      local new = vim.deepcopy(old)
      for _ = 1, math.random(8) do
        local at, what = math.random(#new), math.random(3)
        serial = serial + 1
        if what == 1 and #new > 20 then table.remove(new, at)
        elseif what == 2 then table.insert(new, at, "unique " .. serial)
        else new[at] = new[at] .. " x" .. serial end
      end
      local place = {}
      for i, line in ipairs(new) do place[line] = i end
      local cursor = math.random(#old)
      api.nvim_win_set_cursor(0, { cursor, 3 })
      api.nvim_buf_set_mark(b, "a", cursor, 4, {})
      api.nvim_buf_clear_namespace(b, ns, 0, -1)
      local ids = {}
      for i, line in ipairs(old) do ids[line] = api.nvim_buf_set_extmark(b, ns, i - 1, 2, {}) end
      T.change(p, T.text(new))
      assert(vim.deep_equal(T.lines(), new), "text")
      for line, id in pairs(ids) do
        if place[line] then
          local pos = api.nvim_buf_get_extmark_by_id(b, ns, id, {})
          assert(pos[1] + 1 == place[line] and pos[2] == 2, "extmark of " .. line)
        end
      end
      if place[old[cursor] ] then
        local pos, mark = api.nvim_win_get_cursor(0), api.nvim_buf_get_mark(b, "a")
        assert(pos[1] == place[old[cursor] ] and pos[2] == 3, "cursor")
        assert(mark[1] == pos[1] and mark[2] == 4, "mark")
      end
    end]], c:path("a.txt"))
  eq(c:lua("return vim.bo.modified"), false)
end)
