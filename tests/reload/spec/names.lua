local T = ...
local eq, case = T.eq, T.case

case("found through symlinks, of the file and of the folder", function(c)
  c:lua([[
    local d = ...
    vim.fn.mkdir(d .. "/real"); T.write(d .. "/real/a.txt", "a\n"); T.write(d .. "/real/b.txt", "b\n")
    vim.uv.fs_symlink(d .. "/real", d .. "/link"); vim.uv.fs_symlink(d .. "/real/b.txt", d .. "/b-link")
    _G.a = T.edit(d .. "/link/a.txt"); _G.bb = T.edit(d .. "/b-link")]], c.dir)
  c:lua("local d = ...; T.change(d .. '/real/a.txt', 'A\\n'); T.change(d .. '/real/b.txt', 'B\\n')", c.dir)
  eq(c:lua("return { T.lines(a), T.lines(bb), vim.bo[a].modified, vim.bo[bb].modified, T.results }"), {
    { "A" }, { "B" }, false, false, { { buffer = 1, action = "reloaded" }, { buffer = 2, action = "reloaded" } },
  })
  c:calm(false)
  c:lua("local d = ...; vim.uv.fs_unlink(d .. '/real/b.txt'); T.emit({ path = d .. '/real/b.txt', kind = 'deleted' })", c.dir)
  eq(c:lua("return T.results[3].action"), "deleted", "through a dangling link")
end)

case("created below a folder that did not exist, through a symlink", function(c)
  c:lua([[
    local d = ...
    vim.fn.mkdir(d .. "/real"); vim.uv.fs_symlink(d .. "/real", d .. "/link")
    _G.a = T.edit(d .. "/link/new/deep/a.txt")
    vim.fn.mkdir(d .. "/real/new/deep", "p")
    T.change(d .. "/real/new/deep/a.txt", "A\n")]], c.dir)
  eq(c:lua("return { T.lines(a), T.results }"), { { "A" }, { { buffer = 1, action = "reloaded" } } })
  c:calm()
end)

case("names are no patterns", function(c)
  for i, name in ipairs({ "[abc].txt", "*.txt", "a b {x,y}.txt", "$HOME.txt", "a#1%.txt", "été.txt", "a'b|c.txt" }) do
    c:lua("T.write(...); T.edit(...)", c:path(name), "old\n")
    local result = c:lua("return T.change(...)", c:path(name), "new " .. i .. "\n")
    eq({ result.action, c:lua("return { T.lines(), api.nvim_buf_get_name(0) }") }, { "reloaded", { { "new " .. i }, c:path(name) } })
  end
  eq(c:lua("local n = 0; for _, b in ipairs(api.nvim_list_bufs()) do if T.lines(b)[1] == 'old' then n = n + 1 end end return n"), 0)
end)

local function rename(c, from, to, extra)
  return c:lua([[
    local from, to, extra = ...
    local before = T.read(from)
    vim.uv.fs_rename(from, to)
    return T.emit(vim.tbl_extend("force", { path = to, from = from, kind = "renamed", before = before, after = before }, extra))]],
    from, to, extra or vim.empty_dict())
end

case("renamed: same buffer, no stray one, alternate and filetype kept, :w asks nothing", function(c)
  c:lua("vim.cmd('filetype on'); vim.cmd.cd(...)", c.dir)
  c:lua("T.write(...); T.edit(...)", c:path("alt.txt"), "alt\n")
  c:lua("local p, t = ...; _G.p = p; T.write(p, t); _G.b = T.edit(p); vim.cmd('normal! Ox'); vim.cmd('silent write')", c:path("old.py"), "a\nb\n")
  eq(rename(c, c:path("old.py"), c:path("new.txt")), { buffer = 2, action = "renamed" })
  eq(c:lua("return { api.nvim_buf_get_name(b), vim.bo.filetype, vim.bo.modified, #api.nvim_list_bufs(), vim.fn.bufnr('#'), vim.fn.bufname(b), vim.fn.bufnr('old.py') }"), {
    c:path("new.txt"), "python", false, 2, 1, "new.txt", -1,
  })
  c:calm(false)
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return { T.lines(), vim.bo.modified }"), { { "a", "b" }, true })
  c:calm()
  eq(c:lua("local d = ...; return { T.read(d .. '/new.txt'), T.read(d .. '/old.py') }", c.dir), { "a\nb\n" })
end)

case("renamed and changed; renamed without any text", function(c)
  c:lua("local p, t = ...; T.write(p, t); _G.b = T.edit(p)", c:path("a"), "a\nb\n")
  c:lua([[
    local d = ...
    vim.uv.fs_rename(d .. "/a", d .. "/b"); T.write(d .. "/b", "a\nX\n")
    T.emit({ path = d .. "/b", from = d .. "/a", kind = "renamed", before = "a\nb\n", after = "a\nX\n" })]], c.dir)
  eq(c:lua("return { T.results[1], T.lines(), vim.bo.modified }"), { { buffer = 1, action = "renamed" }, { "a", "X" }, false })
  c:calm()
  c:lua("local d = ...; vim.uv.fs_rename(d .. '/b', d .. '/c'); T.emit({ path = d .. '/c', from = d .. '/b', kind = 'renamed' })", c.dir)
  T.eventually(function() return c:lua("return { T.results[2], api.nvim_buf_get_name(b), vim.bo.modified }") end, { { buffer = 1, action = "renamed" }, c:path("c"), false })
  c:calm()
end)

case("renamed with unsaved text: it stays, :w writes the new name", function(c)
  c:lua("local p, t = ...; T.write(p, t); _G.b = T.edit(p); api.nvim_buf_set_lines(b, 1, 2, true, { 'USER' })", c:path("a"), "a\nb\n")
  eq(rename(c, c:path("a"), c:path("b")).action, "renamed")
  eq(c:lua("return { T.lines(), vim.bo.modified }"), { { "a", "USER" }, true })
  c:calm()
  eq(c:lua("local d = ...; return { T.read(d .. '/b'), T.read(d .. '/a') }", c.dir), { "a\nUSER\n" })
end)

case("renamed: hidden buffer, through a symlink, into another folder", function(c)
  c:lua([[
    local d = ...
    vim.o.hidden = true
    vim.fn.mkdir(d .. "/real/sub", "p"); vim.uv.fs_symlink(d .. "/real", d .. "/link")
    T.write(d .. "/real/a", "a\n"); _G.b = T.edit(d .. "/link/a"); T.edit(d .. "/other")]], c.dir)
  eq(rename(c, c:path("real/a"), c:path("real/b")).action, "renamed")
  eq(c:lua("return api.nvim_buf_get_name(b)"), c:path("real/b"))
  eq(rename(c, c:path("real/b"), c:path("real/sub/b")).action, "renamed")
  eq(c:lua("return { api.nvim_buf_get_name(b), vim.bo[b].modified, api.nvim_buf_get_name(0), #api.nvim_list_bufs() }"), { c:path("real/sub/b"), false, c:path("other"), 2 })
  c:calm(false)
end)

case("renamed onto a file that is open too", function(c)
  c:lua([[
    local d = ...
    vim.o.hidden = true
    T.write(d .. "/a", "a\n"); T.write(d .. "/b", "b\n"); _G.b = T.edit(d .. "/b"); _G.a = T.edit(d .. "/a")]], c.dir)
  eq(rename(c, c:path("a"), c:path("b"), { before = "b\n" }).action, "deleted")
  eq(c:lua("return { T.lines(b), vim.bo[b].modified, T.lines(a), vim.bo[a].modified }"), { { "a" }, false, { "a" }, true })
  c:calm(false)
end)

case("renamed onto a name that only an unsaved buffer has: its :w does not write over the file", function(c)
  c:lua([[
    local d = ...
    vim.o.hidden = true
    T.write(d .. "/a", "a\n"); _G.b = T.edit(d .. "/b"); api.nvim_buf_set_lines(b, 0, -1, true, { "mine" })]], c.dir)
  local result = rename(c, c:path("a"), c:path("b"), { before = "a\n", after = "a\n" })
  eq(result.action, "conflict")
  eq({ c:lua("return T.lines(b)"), c:try("write"), c:lua("return T.read(...)", c:path("b")) }, { { "mine" }, "E13", "a\n" })
end)

case("two buffers of one file follow both", function(c)
  c:lua([[
    local d = ...
    vim.o.hidden = true
    vim.fn.mkdir(d .. "/real"); vim.uv.fs_symlink(d .. "/real/new", d .. "/link")
    _G.a = T.edit(d .. "/link"); _G.bb = T.edit(d .. "/real/new")
    T.change(d .. "/real/new", "x\n")]], c.dir)
  eq(c:lua("return { a == bb, T.lines(a), T.lines(bb) }"), { false, { "x" }, { "x" } })
  c:calm(false)
end)
