local T = ...
local eq, case, eventually = T.eq, T.case, T.eventually

-- An in-process language server that keeps the text it is told, by incremental changes only.
local SERVER = [[
  T.docs, T.changes, T.notes = {}, {}, {}
  local function apply(text, change)
    if not change.range then return change.text end
    table.insert(T.changes, { change.range.start.line, change.range.start.character, change.range["end"].line, change.range["end"].character, change.text })
    local lines = vim.split(text, "\n", { plain = true })
    local function offset(pos)
      local at = 0
      for i = 1, pos.line do at = at + #lines[i] + 1 end
      return at + pos.character
    end
    return text:sub(1, offset(change.range.start)) .. change.text .. text:sub(offset(change.range["end"]) + 1)
  end
  _G.client = vim.lsp.start({
    name = "test",
    root_dir = vim.fn.getcwd(),
    flags = { debounce_text_changes = 0 },
    cmd = function()
      return {
        request = function(method, _, callback)
          if method == "initialize" then
            callback(nil, { capabilities = { positionEncoding = "utf-8", textDocumentSync = { openClose = true, change = 2 } } })
          else
            callback(nil, nil)
          end
          return true, 1
        end,
        notify = function(method, params)
          local doc = params and params.textDocument
          if method == "textDocument/didOpen" then T.docs[doc.uri] = doc.text; table.insert(T.notes, "open " .. vim.fs.basename(doc.uri)) end
          if method == "textDocument/didClose" then T.docs[doc.uri] = nil; table.insert(T.notes, "close " .. vim.fs.basename(doc.uri)) end
          if method == "textDocument/didChange" then
            for _, change in ipairs(params.contentChanges) do T.docs[doc.uri] = apply(T.docs[doc.uri], change) end
          end
          return true
        end,
        is_closing = function() return false end,
        terminate = function() end,
      }
    end,
  })
]]

local function open(c, text)
  c:lua("local p, t = ...; _G.p = p; T.write(p, t); _G.b = T.edit(p)", c:path("a.txt"), text)
  c:lua(SERVER)
  eventually(function() return c:lua("return T.docs[vim.uri_from_fname(p)]") end, text)
end

case("language server: small didChange, same text in the end", function(c)
  open(c, "one\ntwo\nthree\nfour\nfive\n")
  c:lua("T.change(p, 'one\\ntwO\\nthree\\nnew\\nfour\\n')")
  eventually(function() return c:lua("return T.docs[vim.uri_from_fname(p)]") end, "one\ntwO\nthree\nnew\nfour\n")
  eq(c:lua("return T.changes"), { { 4, 0, 5, 0, "" }, { 2, 5, 3, 0, "\nnew\n" }, { 1, 2, 1, 3, "O" } })
end)

case("language server: merge, many random changes, emptied", function(c)
  open(c, "a\nb\nc\nd\ne\n")
  c:lua("api.nvim_buf_set_lines(b, 4, 5, true, { 'USER' }); T.change(p, 'A\\nb\\nc\\nd\\ne\\n')")
  eventually(function() return c:lua("return T.docs[vim.uri_from_fname(p)]") end, "A\nb\nc\nd\nUSER\n")
  c:lua("vim.cmd('silent write'); math.randomseed(3)")
  for _ = 1, 30 do
    local expected = c:lua([[
      local l = vim.deepcopy(T.lines())
      for _ = 1, math.random(6) do
        local at, what = math.random(#l + 1), math.random(4)
        if what == 1 and #l > 1 then table.remove(l, math.min(at, #l))
        elseif what == 2 then table.insert(l, at, ("wört "):rep(math.random(3)) .. math.random(9))
        elseif l[at] then l[at] = l[at]:sub(1, math.random(0, 1)) .. "ü" .. math.random(9) end
      end
      T.change(p, T.text(l))
      assert(vim.deep_equal(T.lines(), l)); assert(not vim.bo.modified)
      return T.text(l)]])
    eventually(function() return c:lua("return T.docs[vim.uri_from_fname(p)]") end, expected)
  end
  c:lua("T.change(p, '')")
  eventually(function() return c:lua("return T.docs[vim.uri_from_fname(p)]:gsub('\\n', '')") end, "")
  c:lua("T.change(p, 'x\\ny\\n')")
  eventually(function() return c:lua("return T.docs[vim.uri_from_fname(p)]") end, "x\ny\n")
end)

case("language server: a rename closes the old name and opens the new one", function(c)
  open(c, "a\nb\n")
  c:lua("local d = ...; vim.uv.fs_rename(p, d .. '/b.txt'); T.emit({ path = d .. '/b.txt', from = p, kind = 'renamed', before = 'a\\nb\\n', after = 'a\\nb\\n' })", c.dir)
  eq(c:lua("return T.notes"), { "open a.txt", "close a.txt", "open b.txt" })
  c:lua("T.change(..., 'a\\nX\\n')", c:path("b.txt"))
  eventually(function() return c:lua("return T.docs[vim.uri_from_fname(...)]", c:path("b.txt")) end, "a\nX\n")
end)

case("events of one file keep their order, others do not wait", function(c)
  c:lua([[
    local d = ...
    vim.o.hidden = true
    T.write(d .. "/a", "1\n"); T.write(d .. "/b", "1\n")
    _G.a, _G.bb = T.edit(d .. "/a"), T.edit(d .. "/b")
    T.order = {}
    local reload = require("agent.reload")
    T.write(d .. "/a", "22\n")
    reload.file_modified({ path = d .. "/a", kind = "modified", before = "1\n" }, function() table.insert(T.order, "a first") end)
    T.write(d .. "/a", "333\n")
    reload.file_modified({ path = d .. "/a", kind = "modified", before = "22\n", after = "333\n" }, function() table.insert(T.order, "a second") end)
    T.write(d .. "/b", "22\n")
    reload.file_modified({ path = d .. "/b", kind = "modified", before = "1\n", after = "22\n" }, function() table.insert(T.order, "b") end)
    vim.uv.fs_rename(d .. "/a", d .. "/c")
    reload.file_modified({ path = d .. "/c", from = d .. "/a", kind = "renamed", before = "333\n", after = "333\n" }, function() table.insert(T.order, "rename") end)]], c.dir)
  eventually(function() return c:lua("return T.order") end, { "b", "a first", "a second", "rename" })
  eq(c:lua("return { T.lines(a), T.lines(bb), api.nvim_buf_get_name(a) }"), { { "333" }, { "22" }, c:path("c") })
  c:calm(false)
end)

case("called from a callback of libuv", function(c)
  c:lua([[
    local p = ...
    _G.p = p; T.write(p, "a\n"); T.edit(p); T.write(p, "b\n")
    require("agent.reload")
    local timer = vim.uv.new_timer()
    timer:start(1, 0, function() timer:close(); require("agent.reload").file_modified({ path = p, kind = "modified", before = "a\n", after = "b\n" }, function(r) T.results[1] = r end) end)]], c:path("a"))
  eventually(function() return c:lua("return { T.results[1], T.lines() }") end, { { buffer = 1, action = "reloaded" }, { "b" } })
end)

case("the buffer goes away while the file is read", function(c)
  c:lua("local p = ...; T.write(p, 'a\\n'); T.edit(p); T.write(p, 'b\\n'); T.emit({ path = p, kind = 'modified' }); vim.cmd('bwipeout')", c:path("a"))
  eventually(function() return c:lua("return T.results[1]") end, { action = "none" })
  c:lua("local p = ...; T.edit(p); T.write(p, 'c\\n'); T.emit({ path = p, kind = 'modified' }); vim.uv.fs_unlink(p)", c:path("a"))
  eventually(function() return c:lua("return type(T.results[2])") end, "table")
end)

case("a write between reading and taking the time stamp is not lost", function(c)
  c:lua([[
    local p = ...
    _G.p = p; T.write(p, "a\n"); T.edit(p)
    -- A plugin's listener runs in the middle of the change; here it stands for another process.
    api.nvim_buf_attach(0, false, { on_lines = function() if not T.raced then T.raced = true; T.write(p, "newest of all\n") end end })
    T.change(p, "b\n")]], c:path("a"))
  eventually(function() return c:lua("return { T.lines(), vim.bo.modified }") end, { { "newest of all" }, false })
  c:calm()
end)

case("many changes in a big file take a time that grows as it does", function(c)
  c:lua([[
    local p = ...
    _G.p = p
    T.write(p, ""); T.edit(p)
    T.assert_linear(function(size)
      local l = T.numbered(size)
      T.change(p, T.text(l))
      for i = 1, #l, 7 do l[i] = l[i] .. "!" end
      T.change(p, T.text(l))
      assert(vim.deep_equal(T.lines(), l))
    end, 5000)]], c:path("a"))
  c:calm()
end)

case("Neovim writes the file while the agent does: whichever the disk has, both are in the buffer", function(c)
  for _, last in ipairs({ "agent", "Neovim" }) do
    c:lua("require('agent.reload'); local n = ...; _G.p = n; T.write(p, T.text(T.numbered(9))); _G.b = T.edit(p)", c:path(last))
    c:lua([[
      local last = ...
      local since = os.time() * 1000
      local before = T.read(p)
      local after = before:gsub("line 8", "AGENT8")
      if last == "Neovim" then T.write(p, after) end
      api.nvim_buf_set_lines(b, 1, 2, true, { "USER 2" })
      vim.cmd("silent write!")
      if last == "agent" then T.write(p, after) end
      T.emit({ path = p, kind = "modified", before = before, after = after, since = since })]], last)
    eventually(function() return c:lua("return T.results[#T.results] and T.results[#T.results].action") end, "merged", last)
    eq(c:lua("return { T.lines()[2], T.lines()[8], vim.bo.modified }"), { "USER 2", "AGENT8", true }, last)
    c:calm()
    eq(c:lua("return T.read(p)"), "line 1\nUSER 2\nline 3\nline 4\nline 5\nline 6\nline 7\nAGENT8\nline 9\n", last)
  end
end)

case("Neovim writes the lines that the agent writes too: its text stays, and that is said", function(c)
  c:lua("require('agent.reload'); local n = ...; _G.p = n; T.write(p, 'a\\nb\\nc\\n'); _G.b = T.edit(p); vim.o.autoread = true", c:path("a"))
  c:lua([[
    local since = os.time() * 1000
    api.nvim_buf_set_lines(b, 1, 2, true, { "USER" })
    vim.cmd("silent write")
    T.write(p, "a\nAGENT\nc\n")
    T.emit({ path = p, kind = "modified", before = "a\nb\nc\n", after = "a\nAGENT\nc\n", since = since })]])
  eventually(function() return c:lua("return T.results[1] and T.results[1].action") end, "conflict")
  eq(c:lua("return { T.lines(), vim.bo.modified }"), { { "a", "USER", "c" }, true })
  eq(c:try("write"), "prompt")
end)
