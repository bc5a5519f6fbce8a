local T = ...
local eq, case, eventually = T.eq, T.case, T.eventually

-- T.seen keeps every text that the buffer has held. T.while_read runs once, between the first read and the follower's
-- look at it, and may change what was read. T.after_read runs once, after that look.
local WATCHED = [[
  local p, lines = ...
  _G.p = p
  T.write(p, T.text(lines))
  _G.b = T.edit(p)
  T.seen = {}
  api.nvim_buf_attach(b, false, { on_lines = function() table.insert(T.seen, T.text(T.lines(b))) end })
  -- As `:write` and most programs do it: the file is empty for a moment.
  function T.begin(text) T.file = assert(io.open(p, "wb")); T.file:write(text); T.file:flush() end
  function T.finish(text) T.file:write(text); T.file:close() end
  require("agent.reload")
  local disk = require("agent.reload.disk")
  local read = disk.read
  function disk.read(path, done)
    read(path, function(snapshot, problem)
      local before, after = T.while_read, T.after_read
      T.while_read, T.after_read = nil, nil
      if before then before(snapshot) end
      done(snapshot, problem)
      if after then after() end
    end)
  end]]

local function open(c, lines)
  c:lua(WATCHED, c:path("a.txt"), lines)
end

local TEN = {}
for i = 1, 10 do TEN[i] = "line " .. i end

case("a file that is written in two steps is taken when it is whole", function(c)
  open(c, TEN)
  c:lua([[
    local text = T.text(T.lines())
    T.begin(text:sub(1, 20))
    T.after_read = function() T.finish(text:sub(21) .. "new\n") end
    T.emit({ path = p, kind = "modified" })]])
  eventually(function() return c:lua("return T.results[1]") end, { buffer = 1, action = "reloaded" })
  local whole = T.joined(TEN) .. "new\n"
  eq(c:lua("return T.seen"), { whole })
  c:calm()
  eq(c:lua("return T.read(p)"), whole)
end)

case("a file that stays short is taken", function(c)
  open(c, TEN)
  c:lua("T.begin(''); T.finish('line 1\\n'); T.emit({ path = p, kind = 'modified' })")
  eventually(function() return c:lua("return T.lines()") end, { "line 1" })
  eventually(function() return c:lua("return T.results[1].action") end, "reloaded")
  c:calm()
end)

case("text that was read before Neovim wrote the file is dropped", function(c)
  open(c, TEN)
  c:lua([[
    T.while_read = function(snapshot)
      snapshot.bytes = snapshot.bytes:sub(1, 20)
      -- As long as the text before.
      api.nvim_buf_set_lines(b, 0, 1, true, { "LINE 1" })
      vim.cmd("silent write")
    end
    T.emit({ path = p, kind = "modified" })]])
  eventually(function() return c:lua("return T.results[1]") end, { buffer = 1, action = "none" })
  local written = (T.joined(TEN):gsub("line 1\n", "LINE 1\n"))
  eq(c:lua("return { T.seen, T.read(p), vim.bo.modified }"), { { written }, written, false })
  c:calm()
end)

case("text that was read before Neovim wrote the file for a tool is dropped", function(c)
  open(c, TEN)
  c:lua([[
    T.while_read = function()
      local text = T.text(T.lines())
      T.written = require("agent.reload").write_unsaved({ path = p, base = text, text = (text:gsub("line 1\n", "LINE 1\n")) })
    end
    T.emit({ path = p, kind = "modified" })]])
  eventually(function() return c:lua("return T.results[1]") end, { buffer = 1, action = "none" })
  local written = (T.joined(TEN):gsub("line 1\n", "LINE 1\n"))
  eq(c:lua("return { T.written.saved, T.seen, T.read(p), vim.bo.modified }"), { true, { written }, written, false })
  c:calm()
end)

case("the user's own write is no news, whatever is typed since", function(c)
  open(c, TEN)
  c:lua([[
    api.nvim_buf_set_lines(b, 0, 1, true, { "USER" })
    vim.cmd("silent write")
    api.nvim_buf_set_lines(b, 1, 2, true, { "USER TOO" })
    T.emit({ path = p, kind = "modified" })]])
  eventually(function() return c:lua("return T.results[1]") end, { buffer = 1, action = "none" })
  c:calm()
  eq(c:lua("return { T.read(p):match('^[^\\n]*\\n[^\\n]*'), #T.seen }"), { "USER\nUSER TOO", 2 })
end)

case("a program that rewrites the file after each write is followed", function(c)
  c:lua("api.nvim_create_autocmd('BufWritePost', { callback = function() T.write(p, 'FORMATTED\\n') end })")
  open(c, TEN)
  c:lua("vim.cmd('silent write'); T.emit({ path = p, kind = 'modified' })")
  eventually(function() return c:lua("return T.lines()") end, { "FORMATTED" })
end)

case("a file that goes away while it is followed leaves nothing unsaved", function(c)
  open(c, TEN)
  c:lua([[
    api.nvim_buf_attach(b, false, { on_lines = function() os.rename(p, p .. ".away"); return true end })
    T.write(p, "new\n")
    T.emit({ path = p, kind = "modified" })]])
  eventually(function() return c:lua("return type(T.results[1])") end, "table")
  eq(c:lua("return { T.lines(), vim.bo.modified, require('agent.reload').unsaved_text(p) }"), { { "new" }, false })
  c:lua("T.write(p, 'newest of all\\n'); T.emit({ path = p, kind = 'modified' })")
  eventually(function() return c:lua("return { T.lines(), vim.bo.modified }") end, { { "newest of all" }, false })
  c:calm()
  c:lua("vim.cmd('silent undo')")
  eq(c:lua("return { T.lines(), vim.bo.modified }"), { { "new" }, true })
end)
