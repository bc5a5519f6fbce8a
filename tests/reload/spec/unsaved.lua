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
  eq(write(c, { base = "a\nb\nc\nd\ne\n", text = "A\nb\nC\nd\ne\n" }), { written = true, text = "A\nb\nC\nd\nUSER\n" })
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
  eq(write(c, { base = "USER\nb\nc\n", text = "USER and agent\nb\nc\n" }), { written = true, text = "USER and agent\nb\nc\n" })
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

case("write_unsaved: no unsaved text, not open", function(c)
  open(c, "a\n")
  eq(write(c, { base = "a\n", text = "b\n" }), { written = false })
  eq(c:lua("return require('agent.reload').write_unsaved({ path = p .. '.no', base = '', text = 'b\\n', save = true })"), { written = false })
  eq(c:lua("return T.lines()"), { "a" })
end)

case("write_unsaved: saves if asked to, with the user's autocommands", function(c)
  open(c, "a\nb\nc\n")
  c:lua([[
    api.nvim_buf_set_lines(b, 2, 3, true, { "USER" })
    api.nvim_create_autocmd("BufWritePre", { callback = function() api.nvim_buf_set_lines(0, 1, 2, true, { "formatted" }) end })]])
  eq(write(c, { base = "a\nb\nc\n", text = "A\nb\nc\n", save = true }), { written = true, saved = true, text = "A\nformatted\nUSER\n" })
  eq(c:lua("return { T.read(p), vim.bo.modified }"), { "A\nformatted\nUSER\n", false })
  c:calm()
end)

case("write_unsaved: does not save over what someone else wrote", function(c)
  open(c, "a\nb\nc\n")
  c:lua("api.nvim_buf_set_lines(b, 2, 3, true, { 'USER' }); vim.uv.sleep(20); T.write(p, 'foreign\\n')")
  eq(write(c, { base = "a\nb\nc\n", text = "A\nb\nc\n", save = true }), { written = true, saved = false, text = "A\nb\nUSER\n" })
  eq(c:lua("return { T.read(p), vim.bo.modified }"), { "foreign\n", true })
  eq(c:try("write"), "prompt")
end)

case("write_unsaved: a write that fails is told, not asked about", function(c)
  open(c, "a\nb\nc\n")
  c:lua("vim.o.confirm = true; api.nvim_buf_set_lines(b, 2, 3, true, { 'USER' }); vim.bo.readonly = true")
  eq(write(c, { base = "a\nb\nc\n", text = "A\nb\nc\n", save = true }), { written = true, saved = false, text = "A\nb\nUSER\n" })
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
