-- The only speaker to the supervisor: in denops.vim's server if that is there, else in a process of our own.
-- Actions go down and are never waited for; updates come up in batches.
local config = require("agent.config")

local M = {}

---@type fun(batch: table[])[]
local listeners = {}
---@type "denops"|"standalone"|nil
local host
---@type integer? channel of the standalone process
local channel
--- Actions that wait for the host to be ready.
---@type table[]
local waiting = {}
local ready = false
--- The configuration that the supervisor has.
---@type string?
local configured
--- The last lines of the standalone process's stderr.
---@type string[]
local said = {}

--- Calls `listener` with each batch of updates, in order. See protocol/ui.ts for their shapes.
---@param listener fun(batch: table[])
function M.listen(listener)
  table.insert(listeners, listener)
end

--- Called by the supervisor.
---@param batch table[]
function M.receive(batch)
  for _, listener in ipairs(listeners) do
    local ok, problem = xpcall(listener, debug.traceback, batch)
    if not ok then
      vim.schedule(function()
        vim.notify("agent: " .. tostring(problem), vim.log.levels.ERROR)
      end)
    end
  end
  return true
end

---@param action table
local function deliver(action)
  if host == "denops" then
    vim.fn["denops#notify"]("agent", "act", { action })
  elseif channel then
    vim.rpcnotify(channel, "act", action)
  end
end

local function on_ready()
  if ready then
    return
  end
  ready = true
  local actions = waiting
  waiting = {}
  for _, action in ipairs(actions) do
    deliver(action)
  end
end

--- Nothing more will come: every chat is told, once.
---@param text string
---@param was_running boolean it may have known something
local function lost(text, was_running)
  waiting, ready, host, channel, configured = {}, false, nil, nil, nil
  vim.schedule(function()
    M.receive({ { type = "host_lost", text = text, was_running = was_running } })
  end)
end

---@return boolean
local function denops_is_there()
  if vim.g.loaded_denops == nil or vim.list_contains({ 1, true }, vim.g["denops#disabled"]) then
    return false
  end
  -- Called and not looked for: it is loaded with the first call.
  local ok, status = pcall(vim.fn["denops#server#status"])
  return ok and status ~= "stopped"
end

--- How the process ended: its code or signal, and the first line that tells what went wrong.
---@param code integer
---@return string
local function ending(code)
  local how = ("exit code %d"):format(code)
  for name, number in pairs(vim.uv.constants) do
    if code - 128 == number and name:find("^SIG") then
      how = "signal " .. name
    end
  end
  local telling = said[#said]
  for _, line in ipairs(said) do
    if line:lower():find("error") then
      telling = line
      break
    end
  end
  return telling and ("(%s): %s"):format(how, telling) or ("(%s)."):format(how)
end

---@param lines string[]
local function on_stderr(lines)
  for _, line in ipairs(lines) do
    line = line:gsub("\27%[[%d;]*m", ""):gsub("%c", "")
    if line ~= "" then
      if line:find("^Download") and #said == 0 then
        M.receive({ { type = "host_fetching" } })
      end
      table.insert(said, line)
      if #said > 20 then
        table.remove(said, 1)
      end
    end
  end
end

--- The folder of main.ts and standalone.ts.
---@return string
local function scripts()
  local folder = vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)), "..", "..", "denops", "agent")
  return vim.fs.normalize(vim.fn.fnamemodify(folder, ":p"))
end

--- The program on the PATH, but not in a folder of the project: a tool may have written it, and what Neovim starts runs
--- outside of every sandbox. nil if there is none; what the user has named by a path is taken as it is.
---@param program string
---@return string?
local function outside_of_project(program)
  if program:find("[/\\]") or vim.fn.has("win32") == 1 then
    return vim.fn.executable(program) == 1 and program or nil
  end
  local roots = vim.tbl_map(vim.uv.fs_realpath, { vim.fn.getcwd(), vim.fs.root(0, ".git") })
  for folder in vim.gsplit(vim.env.PATH or "", ":", { plain = true }) do
    local path = vim.startswith(folder, "/") and vim.uv.fs_realpath(vim.fs.joinpath(folder, program))
    local is_inside = path
      and vim.iter(roots):any(function(root)
        return root ~= "/" and vim.startswith(path, root .. "/")
      end)
    if path and not is_inside and vim.fn.executable(path) == 1 then
      return vim.fs.joinpath(folder, program)
    end
  end
end

local function start_standalone()
  local folder = scripts()
  local wanted = config.get().deno
  local program = outside_of_project(wanted[1])
  if not program then
    return lost(
      ("Cannot start: there is no %s. Install Deno (https://deno.com) or set the option deno."):format(wanted[1]),
      false
    )
  end
  local command = vim.list_extend({ program, unpack(wanted, 2) }, {
    "run",
    "-A",
    "--no-prompt",
    "--frozen",
    "--config=" .. vim.fs.joinpath(folder, "..", "..", "deno.json"),
    vim.fs.joinpath(folder, "standalone.ts"),
  })
  host, said = "standalone", {}
  local job
  job = vim.fn.jobstart(command, {
    rpc = true,
    on_stderr = function(_, lines)
      on_stderr(lines)
    end,
    on_exit = function(_, code)
      if channel == job then
        lost("The supervisor stopped " .. ending(code), true)
      end
    end,
  })
  channel = job
  on_ready()
end

--- denops.vim's server stopped, or could not load us. Where we may, we go on without it.
---@param what string
local function denops_lost(what)
  if host ~= "denops" then
    return
  end
  if ready then
    return lost(what .. ".", true)
  end
  if config.get().host == "denops" then
    local hint = 'Look at :messages, or set the option host to "standalone".'
    return lost(("Cannot start: %s. %s"):format(what, hint), false)
  end
  start_standalone()
end

local function start_denops()
  host = "denops"
  local group = vim.api.nvim_create_augroup("agent.denops", {})
  for pattern, what in pairs({
    ["DenopsProcessStopped:*"] = "denops.vim's server stopped",
    DenopsClosed = "the connection to denops.vim's server was closed",
    ["DenopsPluginFail:agent"] = "denops.vim's server did not load the plugin",
    ["DenopsPluginUnloadPre:agent"] = "denops.vim's server unloaded the plugin",
  }) do
    vim.api.nvim_create_autocmd("User", {
      group = group,
      pattern = pattern,
      callback = function()
        denops_lost(what)
      end,
    })
  end
  vim.fn["denops#server#wait_async"](function()
    -- denops.vim looks for plugins once: one that a plugin manager loads later is not among them.
    vim.fn["denops#plugin#load"]("agent", vim.fs.joinpath(scripts(), "main.ts"))
  end)
  vim.fn["denops#plugin#wait_async"]("agent", function()
    if host == "denops" then
      on_ready()
    end
  end)
end

local function start()
  local wanted = config.get().host
  local there = denops_is_there()
  if wanted == "denops" and not there then
    local what = vim.g.loaded_denops and "denops.vim's server does not run" or "denops.vim is not installed"
    return lost(("Cannot start: %s (option host)."):format(what), false)
  end
  if wanted ~= "standalone" and there then
    return start_denops()
  end
  start_standalone()
end

--- "denops", "standalone", or nil before the first action.
---@return string?
function M.host()
  return host
end

--- Sends an action; starts the supervisor if need be. Returns at once.
---@param action table see protocol/ui.ts
function M.send(action)
  local options = config.for_supervisor()
  local encoded = vim.json.encode(options)
  local actions = { action }
  if encoded ~= configured then
    configured = encoded
    table.insert(actions, 1, { type = "configure", config = options })
  end
  local begin = not host
  for _, item in ipairs(actions) do
    if ready then
      deliver(item)
    else
      table.insert(waiting, item)
    end
  end
  if begin then
    start()
  end
end

local last_request = 0
---@type table<integer, fun(update?: table, problem?: string)>
local asked = {}

--- Asks the supervisor about itself; the answer is an update of the action's own type.
---@param action table
---@param done fun(update?: table, problem?: string) the problem is set if there will be no answer
function M.ask(action, done)
  last_request = last_request + 1
  asked[last_request] = done
  M.send(vim.tbl_extend("error", action, { request = last_request }))
end

local ANSWERS = { health = true, rules = true, log = true, tools = true, engine_answer = true }

--- Asks the engine of a chat; names and shapes are those of protocol/requests.ts.
---@param chat { id: integer, place: fun(self): table }
---@param name string
---@param params table
---@param done fun(result?: table, problem?: string) exactly one of the two
function M.request(chat, name, params, done)
  -- An empty Lua table is a list to MessagePack.
  params = next(params) and params or vim.empty_dict()
  local action = { type = "engine_request", chat = chat.id, name = name, params = params }
  M.ask(vim.tbl_extend("error", action, chat:place()), function(update, problem)
    done(update and update.result, problem or update and update.error)
  end)
end

M.listen(function(batch)
  for _, update in ipairs(batch) do
    local done = ANSWERS[update.type] and asked[update.request]
    if done then
      asked[update.request] = nil
      -- Later: what is said within a remote call is in :messages, but not on the screen.
      vim.schedule(function()
        done(update)
      end)
    elseif update.type == "host_lost" then
      local waiting_for = asked
      asked = {}
      for _, tell in pairs(waiting_for) do
        tell(nil, update.text)
      end
    end
  end
end)

return M
