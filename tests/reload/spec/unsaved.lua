local T = ...
local eq, case = T.eq, T.case

local function open(c, text)
  c:lua("local p, t = ...; _G.p = p; T.write(p, t); _G.b = T.edit(p)", c:path("a.txt"), text)
end

local function unsaved(c)
  return c:lua("return require('agent.reload').unsaved_text(p)")
end

local function write(c, args)
  return c:lua("return require('agent.reload').write_unsaved(vim.tbl_extend('force', { path = p, save = false }, ...))", args)
end

case("unsaved_text: only with unsaved changes, as :w would write it", function(c)
  open(c, "a\nb\n")
  eq(unsaved(c), vim.NIL)
  c:lua("api.nvim_buf_set_lines(b, 0, 1, true, { 'é' })")
  eq(unsaved(c), "é\nb\n")
  for _, set in ipairs({
    { "fileformat=dos", "é\r\nb\r\n" },
    { "bomb", "\239\187\191é\r\nb\r\n" },
    { "nofixeol noeol", "\239\187\191é\r\nb" },
    { "fixeol nobomb ff=mac", "é\rb\r" },
    { "ff=unix", "é\nb\n" },
  }) do
    c:lua("vim.cmd('setlocal ' .. ...)", set[1])
    eq(unsaved(c), set[2], set[1])
    c:lua("vim.cmd('silent write! ' .. vim.fn.fnameescape(p .. '.copy'))")
    eq(c:lua("return T.read(p .. '.copy')"), set[2], "as written: " .. set[1])
  end
  c:lua("api.nvim_buf_set_lines(b, 0, -1, true, {})")
  eq(unsaved(c), "")
  c:lua("vim.cmd.bwipeout({ bang = true })")
  eq(unsaved(c), vim.NIL)
end)

case("write_unsaved: merges as one undo step, file untouched", function(c)
  open(c, "a\nb\nc\nd\ne\n")
  c:lua("api.nvim_buf_set_lines(b, 4, 5, true, { 'USER' }); vim.cmd('let &l:ul=&l:ul')")
  eq(write(c, { base = "a\nb\nc\nd\ne\n", text = "A\nb\nC\nd\ne\n" }), { written = true, before = "a\nb\nc\nd\nUSER\n", text = "A\nb\nC\nd\nUSER\n" })
  eq(c:lua("return { T.lines(), vim.bo.modified, T.read(p) }"), { { "A", "b", "C", "d", "USER" }, true, "a\nb\nc\nd\ne\n" })
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return { T.lines(), vim.bo.modified }"), { { "a", "b", "c", "d", "USER" }, true })
  c:lua("vim.cmd('silent redo')")
  c:calm()
  eq(c:lua("return T.read(p)"), "A\nb\nC\nd\nUSER\n")
end)

case("write_unsaved: made from the unsaved text", function(c)
  open(c, "a\nb\nc\n")
  c:lua("api.nvim_buf_set_lines(b, 0, 1, true, { 'USER' })")
  eq(write(c, { base = "USER\nb\nc\n", text = "USER and agent\nb\nc\n" }), { written = true, before = "USER\nb\nc\n", text = "USER and agent\nb\nc\n" })
end)

case("write_unsaved: a conflict changes nothing and shows both", function(c)
  open(c, "a\nb\nc\nd\ne\n")
  c:lua("api.nvim_buf_set_lines(b, 2, 3, true, { 'USER' })")
  local tick = c:lua("return vim.b.changedtick")
  local result = write(c, { base = "a\nb\nc\nd\ne\n", text = "A\nb\nAGENT\nd\ne\n", save = true })
  eq({ result.written, result.text }, { false })
  for _, part in ipairs({ "USER", "AGENT", "line 3" }) do
    assert(result.conflict:find(part, 1, true), part .. " in\n" .. result.conflict)
  end
  eq(c:lua("return { T.lines(), vim.b.changedtick }"), { { "a", "b", "USER", "d", "e" }, tick })
end)

case("write_unsaved: not open, or the file is not what the buffer shows", function(c)
  open(c, "a\n")
  eq(c:lua("return require('agent.reload').write_unsaved({ path = p .. '.no', base = '', text = 'b\\n', save = true })"), { written = false })
  c:lua("vim.o.autoread = false; T.write(p, 'foreign\\n')")
  eq(write(c, { base = "foreign\n", text = "b\n" }), { written = false })
  eq(c:lua("return { T.lines(), T.read(p) }"), { { "a" }, "foreign\n" })
  c:lua("T.write(p, 'a\\n'); vim.cmd('edit! | setlocal nobackup'); vim.o.write = false")
  eq(write(c, { base = "a\n", text = "b\n" }), { written = false })
  eq(c:lua("return { T.lines(), vim.bo.modified, T.read(p) }"), { { "a" }, false, "a\n" })
end)

case("write_unsaved: a file that a buffer shows is written by Neovim, in its format, as one undo step", function(c)
  for _, one in ipairs({
    { "unix", "\n", "", "" },
    { "dos", "\r\n", "", "" },
    { "mac", "\r", "", "" },
    { "no end", "\n", "", "x" },
    { "mark", "\n", "\239\187\191", "" },
  }) do
    local name, ending, mark, last = unpack(one)
    -- As Neovim writes and tools read it.
    local function file(first, third)
      return table.concat({ first, "é", third, "d", "" }, ending) .. last
    end
    c:lua("vim.o.fileformats = 'unix,dos,mac'; vim.o.backup = true; local n, t = ...; _G.p = n; T.write(p, t); _G.b = T.edit(p)", c:path(name), mark .. file("a", "c"))
    -- The user has typed and written since the tool has read.
    c:lua("api.nvim_buf_set_lines(b, 0, 1, true, { 'USER' }); vim.bo.fixendofline = false; vim.cmd('silent write'); vim.bo.fixendofline = true; vim.fn.delete(p .. '~')")
    local before, after = mark .. file("USER", "c"), mark .. file("USER", "C")
    eq(write(c, { base = file("a", "c"), text = file("a", "C") }), { written = true, saved = true, before = before, text = after }, name)
    eq(c:lua("return { T.read(p), vim.bo.modified, vim.bo.fixendofline, vim.o.fsync, T.read(p .. '~') == nil }"), { after, false, true, true, true }, name)
    eq(c:lua("return T.emit({ path = p, kind = 'modified', before = ..., after = select(2, ...) })", before, after).action, "none", name)
    c:lua("vim.cmd('silent undo')")
    eq(c:lua("return { T.lines()[3], vim.bo.modified }"), { "c", true }, name)
    c:lua("vim.cmd('silent redo')")
    c:calm()
  end
  eq(write(c, { base = "x", text = "USER2\né\nC\nd\n" }).written, false, "the same lines")
end)

case("write_unsaved: saves if asked to, with the user's autocommands", function(c)
  open(c, "a\nb\nc\n")
  c:lua([[
    api.nvim_buf_set_lines(b, 2, 3, true, { "USER" })
    api.nvim_create_autocmd("BufWritePre", { callback = function() api.nvim_buf_set_lines(0, 1, 2, true, { "formatted" }) end })]])
  eq(write(c, { base = "a\nb\nc\n", text = "A\nb\nc\n", save = true }), { written = true, saved = true, before = "a\nb\nUSER\n", text = "A\nformatted\nUSER\n" })
  eq(c:lua("return { T.read(p), vim.bo.modified }"), { "A\nformatted\nUSER\n", false })
  c:calm()
end)

case("write_unsaved: does not save over what someone else wrote", function(c)
  open(c, "a\nb\nc\n")
  c:lua("api.nvim_buf_set_lines(b, 2, 3, true, { 'USER' }); vim.uv.sleep(20); T.write(p, 'foreign\\n')")
  eq(write(c, { base = "a\nb\nc\n", text = "A\nb\nc\n", save = true }), { written = true, saved = false, before = "a\nb\nUSER\n", text = "A\nb\nUSER\n" })
  eq(c:lua("return { T.read(p), vim.bo.modified }"), { "foreign\n", true })
  eq(c:try("write"), "prompt")
end)

case("write_unsaved: a write that fails is told, not asked about", function(c)
  open(c, "a\nb\nc\n")
  c:lua("vim.o.confirm = true; api.nvim_buf_set_lines(b, 2, 3, true, { 'USER' }); vim.bo.readonly = true")
  eq(write(c, { base = "a\nb\nc\n", text = "A\nb\nc\n", save = true }), { written = true, saved = false, before = "a\nb\nUSER\n", text = "A\nb\nUSER\n" })
  eq(c:lua("return { T.read(p), vim.o.confirm }"), { "a\nb\nc\n", true })
end)

case("write_unsaved: byte order mark, dos, no final newline", function(c)
  open(c, "\239\187\191a\r\nb\r\nc\r\n")
  c:lua("vim.bo.fixendofline = false; api.nvim_buf_set_lines(b, 2, 3, true, { 'USER' })")
  eq(write(c, { base = "\239\187\191a\r\nb\r\nc\r\n", text = "A\r\nb\r\nc\r\n" }).text, "\239\187\191A\r\nb\r\nUSER\r\n")
  eq(write(c, { base = "A\r\nb\r\nUSER\r\n", text = "A2\r\nb\r\nUSER" }).text, "\239\187\191A2\r\nb\r\nUSER")
end)

case("write_unsaved: a buffer of a deleted file has no unsaved text of the user", function(c)
  open(c, "a\n")
  c:lua("vim.uv.fs_unlink(p); T.emit({ path = p, kind = 'deleted' })")
  eq({ unsaved(c), write(c, { base = "", text = "new\n" }) }, { vim.NIL, { written = false } })
  c:lua("api.nvim_buf_set_lines(b, 0, 1, true, { 'USER' })")
  eq(unsaved(c), "USER\n")
end)
