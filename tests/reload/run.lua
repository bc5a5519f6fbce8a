--- Tests of agent.merge and agent.reload in real child processes of Neovim.
--- nvim --headless --clean -l reload_spec.lua [name part]      (NVIM_BIN: another Neovim to test)
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
local bin = vim.env.NVIM_BIN or vim.v.progpath
local filter = _G.arg and _G.arg[1] ~= "" and _G.arg[1] or nil
local scratch = vim.fn.tempname()
vim.fn.mkdir(scratch, "p")
local root = vim.fs.dirname(vim.fs.dirname(here))
vim.opt.runtimepath:prepend(root)

local passed, failed = 0, 0

-- Runs `work` with a size and four times as much. What looks at all for each takes sixteen times as long, whatever else
-- the machine does. In CPU time, and the least of some runs: the larger size runs again only if it took too long.
local ASSERT_LINEAR = [[
  return function(work, size)
    local function cost(n)
      collectgarbage()
      local start = os.clock()
      work(n)
      return os.clock() - start
    end
    local few, many = math.min(cost(size), cost(size), cost(size)), math.huge
    for _ = 1, 3 do
      many = math.min(many, cost(4 * size))
      if many < 10 * few then
        return
      end
    end
    error(("%d: %.4f s, %d: %.4f s"):format(size, few, 4 * size, many))
  end]]

-- What every child has: T.write (atomic, as the engine writes), T.emit and shorthands.
local PRELUDE = [[
  vim.opt.runtimepath:prepend((...))
  _G.api = vim.api
  local api = vim.api
  _G.T = { results = {} }
  function T.write(path, text)
    local f = assert(io.open(path .. ".tmp~", "wb")); f:write(text); f:close()
    assert(vim.uv.fs_rename(path .. ".tmp~", path))
  end
  function T.read(path)
    local f = io.open(path, "rb"); if not f then return nil end
    local s = f:read("*a"); f:close(); return s
  end
  function T.emit(event)
    local slot = #T.results + 1
    T.results[slot] = false
    require("agent.reload").file_modified(event, function(r) T.results[slot] = r end)
    return T.results[slot]
  end
  -- The engine's way: writes, then tells, with the texts.
  function T.change(path, after, extra)
    local before = T.read(path)
    T.write(path, after)
    return T.emit(vim.tbl_extend("force", { path = path, kind = before and "modified" or "created", before = before, after = after }, extra or {}))
  end
  function T.lines(buf) return api.nvim_buf_get_lines(buf or 0, 0, -1, true) end
  function T.numbered(n, prefix)
    local t = {}
    for i = 1, n do t[i] = (prefix or "line ") .. i end
    return t
  end
  function T.text(lines) return table.concat(lines, "\n") .. "\n" end
  T.assert_linear = loadstring((select(2, ...)))()
  function T.edit(path) vim.cmd.edit({ args = { path }, magic = { file = false } }); return api.nvim_get_current_buf() end
]]

local function eq(actual, expected, what)
  if not vim.deep_equal(actual, expected) then
    error(("%s\n  expected %s\n  got      %s"):format(what or "differs", vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

-- The limit of every wait, in milliseconds. It matters only when a case fails.
local LIMIT = 60000

local function eventually(fn, expected, what)
  local last
  local ok = vim.wait(LIMIT, function()
    last = fn()
    return vim.deep_equal(last, expected)
  end, 5)
  if not ok then
    error(("%s (waited)\n  expected %s\n  got      %s"):format(what or "differs", vim.inspect(expected), vim.inspect(last)), 2)
  end
end

local Child = {}
Child.__index = Child

function Child.start(dir, args)
  local early = "luafile " .. vim.fs.dirname(here) .. "/support/early.lua"
  local command = { bin, "--embed", "--headless", "--clean", "--cmd", early, "-i", "NONE" }
  vim.list_extend(command, args or { "-n" })
  local self = setmetatable({ dir = dir }, Child)
  self.channel = vim.fn.jobstart(command, { rpc = true })
  assert(self.channel > 0, "the child did not start")
  self:lua(PRELUDE, root, ASSERT_LINEAR)
  self:attach_screen()
  return self
end

--- Without a screen Neovim answers its own dialogs. What is drawn there nobody looks at.
function Child:attach_screen()
  local address = self:lua("return vim.fn.serverstart(...)", self.dir .. "/socket")
  local attach = vim.mpack.encode({ 0, 1, "nvim_ui_attach", { 200, 30, { rgb = true, ext_linegrid = true } } })
  self.screen = assert(vim.uv.new_pipe())
  self.screen:connect(address, function(problem)
    assert(not problem, problem)
    self.screen:read_start(function() end)
    self.screen:write(attach)
  end)
  eventually(function() return self:lua("return #api.nvim_list_uis()") end, 1, "screen")
end

function Child:request(...) return vim.rpcrequest(self.channel, ...) end
function Child:lua(code, ...) return self:request("nvim_exec_lua", code, { ... }) end
function Child:input(keys) self:request("nvim_input", keys) end
function Child:mode() return self:request("nvim_get_mode") end
function Child:path(name) return self.dir .. "/" .. name end
function Child:lines(buf) return self:lua("return T.lines(...)", buf) end

--- What the last `try` came to, by way of a file: a child that waits for an answer serves no request.
function Child:tried()
  local file = io.open(self.dir .. "/tried", "rb")
  local result = file and file:read("*a")
  if file then
    file:close()
  end
  return result
end

--- Runs an Ex command that might ask something. Returns "prompt" if it waits for an answer.
function Child:try(command)
  os.remove(self.dir .. "/tried")
  vim.rpcnotify(self.channel, "nvim_exec_lua", [[
    local command, file = ...
    local ok, err = pcall(vim.cmd, command)
    T.write(file, ok and "ok" or tostring(err):match("E%d+") or tostring(err))
  ]], { command, self.dir .. "/tried" })
  local result, since
  vim.wait(LIMIT, function()
    result = self:tried()
    if not result and self:mode().mode:find("^r") then
      since = since or vim.uv.now()
      result = vim.uv.now() - since > 200 and "prompt" or nil
    end
    return result ~= nil
  end, 5)
  return result
end

function Child:answer(keys)
  self:input(keys)
  local calm_since ---@type integer?
  eventually(function()
    local mode = self:mode().mode
    if mode:find("^r") and mode ~= "r?" then
      self:input("<CR>") -- two lines of message end in "Press ENTER", a moment later
    end
    calm_since = self:tried() and not mode:find("^r") and (calm_since or vim.uv.now()) or nil
    return calm_since ~= nil and vim.uv.now() - calm_since > 60
  end, true, "answered")
end

--- Nothing that Neovim does by itself may ask, and `:w` may not either.
function Child:calm(write)
  eq(self:try("checktime"), "ok", "checktime")
  eq(self:try("doautocmd FocusGained"), "ok", "FocusGained")
  if write ~= false then
    eq(self:try("write"), "ok", "write")
  end
  eq(self:lua("return vim.fn.execute('messages'):match('[WE]%d+:[^\\n]*')") , vim.NIL, "messages")
end

--- Lets the child's main loop come round, so that events it owes are triggered.
function Child:settle()
  self:lua("_G.T.settled = false; vim.schedule(function() vim.defer_fn(function() T.settled = true end, 20) end)")
  eventually(function() return self:lua("return T.settled") end, true, "settled")
end

function Child:stop()
  if self.screen then
    self.screen:close()
  end
  pcall(vim.fn.jobstop, self.channel)
end

local count = 0
local function case(name, fn, args)
  if filter and not name:find(filter, 1, true) then
    return
  end
  count = count + 1
  local dir = scratch .. "/" .. count
  vim.fn.mkdir(dir, "p")
  local child
  local ok, err = xpcall(function()
    child = Child.start(vim.uv.fs_realpath(dir), args)
    fn(child)
  end, function(e)
    return tostring(e) .. "\n" .. (debug.traceback("", 2):match("[%w_]+%.lua:%d+: in function <[^\n]*") or "")
  end)
  if child then
    child:stop()
  end
  if ok then
    passed = passed + 1
    print("ok    " .. name)
  else
    failed = failed + 1
    print("FAIL  " .. name .. "\n      " .. tostring(err):gsub("\n", "\n      "))
  end
end

local function pure(name, fn)
  if filter and not name:find(filter, 1, true) then
    return
  end
  local ok, err = pcall(fn)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  print((ok and "ok    " or "FAIL  ") .. name .. (ok and "" or "\n      " .. tostring(err)))
end

local function joined(lines)
  return #lines == 0 and "" or table.concat(lines, "\n") .. "\n"
end

local T = { joined = joined, case = case, pure = pure, eq = eq, eventually = eventually, Child = Child }
T.assert_linear = loadstring(ASSERT_LINEAR)()
--- Trials of what is random; all of them with `--full`.
T.trials = vim.env.AGENT_TEST_FULL and 250 or 30
for _, part in ipairs(vim.fn.exists("$PARTS") == 1 and vim.split(vim.env.PARTS, ",") or { "merge", "text", "formats", "places", "asks", "names", "modes", "unsaved", "saves", "others" }) do
  assert(loadfile(here .. "/spec/" .. part .. ".lua"))(T)
end

local version = vim.fn.system({ bin, "--clean", "--headless", "--cmd", "echo printf(\"%s\", luaeval(\"tostring(vim.version())\")) | qa!" })
print(("%d passed, %d failed (%s)"):format(passed, failed, version))
vim.fn.delete(scratch, "rf")
os.exit(failed == 0 and 0 or 1)
