-- Hosts the supervisor: in denops.vim's server if there is one, else in a process. A host accepts actions at any time,
-- and delivers them in order once the supervisor has started.
local config = require("agent.config")
local process = require("agent.host.process")

--- Milliseconds until the supervisor must have started in the server.
local PATIENCE = { auto = 5000, denops = 30000 }
--- Distance of the numbers of hosts. A supervisor numbers its requests from its host's number on, so a request's
--- number names the host.
local REQUESTS = 1000000

local SERVER_GONE = "denops.vim's server stopped"

---@class agent.Host
---@field number integer             changes with each start
---@field kind "denops"|"standalone"
---@field wanted string              value of the option host
---@field state "starting"|"ready"|"lost"
---@field is_early? boolean          it waits for VimEnter, when denops.vim starts its server
---@field waiting table[]            actions
---@field process? agent.Process
---@field place? table              where an engine starts, see protocol/actions.ts
---@field preloads? boolean          the user has not sent anything yet
---@field is_used? boolean           it got an action other than that of a preload
---@field own? table                its own configuration instead of the options
---@field configured? string         the last configuration that it was sent
---@field editor_state? agent.EditorState the last one that it was sent
---@field on_lost fun(host: agent.Host, text: string, was_running: boolean)
---@field on_fetching fun()
local Host = {}
Host.__index = Host

local M = {}

local last_number = 0
---@type table<integer, agent.Host>
local hosts = {}

--- The status of denops.vim's server; nil without denops.vim.
---@return string?
local function server_status()
  if vim.g.loaded_denops == nil or vim.list_contains({ 1, true }, vim.g["denops#disabled"]) then
    return nil
  end
  -- Called without a check: the first call loads it.
  local ok, status = pcall(vim.fn["denops#server#status"])
  return ok and status or nil
end

---@return boolean
local function server_runs()
  return vim.list_contains({ "starting", "preparing", "running" }, server_status())
end

--- Later answers to earlier requests belong to nothing.
function Host:renumber()
  hosts[self.number or 0] = nil
  last_number = last_number + REQUESTS
  self.number = last_number
  hosts[last_number] = self
end

--- The host has ended, or has never started.
---@param text string
function Host:lose(text)
  if self.state == "lost" then
    return
  end
  local was_running = self.state == "ready"
  hosts[self.number] = nil
  self.state, self.waiting = "lost", {}
  self:stop_process()
  self.on_lost(self, text, was_running)
end

function Host:stop_process()
  local running = self.process
  self.process = nil
  if running then
    running:stop()
  end
end

--- Ends a host that no chat needs.
function Host:close()
  hosts[self.number] = nil
  if self.kind == "denops" and self.state ~= "lost" then
    self:notify("stop", self.number)
  end
  self.state, self.waiting = "lost", {}
  self:stop_process()
end

---@param name string
---@param ... any
---@return boolean delivered
function Host:notify(name, ...)
  if self.kind == "standalone" then
    return self.process ~= nil and pcall(vim.rpcnotify, self.process.channel, name, ...)
  end
  -- While it closes, it drops messages.
  return server_status() == "running" and pcall(vim.fn["denops#notify"], "agent", name, { ... })
end

--- The supervisor is loaded. The engine starts meanwhile.
function Host:notify_start()
  local place = self.place
  local options = self.own or config.for_supervisor()
  local hint = place
    and { config = options, place = place, environment = vim.fn.environ(), preloads = self.preloads == true }
  self:notify("start", self.number, hint)
end

--- Sends an action. False if the host is gone: then it is lost, and the action was not sent.
---@param action table
---@return boolean
function Host:send(action)
  if self.state == "starting" then
    table.insert(self.waiting, action)
    return true
  end
  if self.state == "ready" and not self:notify("act", action) then
    self:lose(self.kind == "denops" and SERVER_GONE .. "." or "The supervisor stopped.")
  end
  return self.state == "ready"
end

function Host:start_process()
  if vim.v.exiting ~= vim.NIL then
    -- Neovim would wait forever: it ends only processes that run when it begins to exit.
    return
  end
  self:renumber()
  self.kind = "standalone"
  local started, problem = process.start({
    on_fetching = self.on_fetching,
    on_exit = function(stopped, how)
      if self.process == stopped then
        self:lose(how)
      end
    end,
  })
  if not started then
    return self:lose("Cannot start: " .. problem)
  end
  self.process = started
  self:notify_start()
end

--- The server cannot be used. If the option allows it, a process takes its place.
---@param what string
function Host:without_server(what)
  if self.kind ~= "denops" or self.state == "lost" then
    return
  end
  if self.state == "ready" then
    return self:lose(what .. ".")
  end
  if self.wanted == "denops" then
    local hint = 'Look at :messages, try :call denops#server#restart(), or set the option host to "standalone".'
    return self:lose(("Cannot start: %s. %s"):format(what, hint))
  end
  self:start_process()
end

function Host:start_in_server()
  self:renumber()
  self.kind = "denops"
  local number = self.number
  local group = vim.api.nvim_create_augroup("agent.denops", {})
  for pattern, what in pairs({
    ["DenopsProcessStopped:*"] = SERVER_GONE,
    DenopsClosed = SERVER_GONE,
    ["DenopsPluginFail:agent"] = "denops.vim's server did not load the plugin",
    ["DenopsPluginUnloadPre:agent"] = "denops.vim's server unloaded the plugin",
  }) do
    vim.api.nvim_create_autocmd("User", {
      group = group,
      pattern = pattern,
      callback = function()
        self:without_server(what)
      end,
    })
  end
  vim.fn["denops#server#wait_async"](function()
    -- denops.vim looks for plugins once, and misses those that a plugin manager loads later.
    vim.fn["denops#plugin#load"]("agent", vim.fs.joinpath(require("agent.config.scripts")(), "main.ts"))
  end)
  vim.fn["denops#plugin#wait_async"]("agent", function()
    if self.number == number then
      self:notify_start()
    end
  end)
  local patience = PATIENCE[self.wanted]
  vim.defer_fn(function()
    if self.number == number and self.state == "starting" then
      self:without_server(("denops.vim's server was not ready within %d s"):format(patience / 1000))
    end
  end, patience)
end

function Host:start()
  self.is_early = nil
  if self.state ~= "starting" then
    return
  end
  local runs = server_runs()
  if self.wanted == "denops" and not runs then
    if vim.g.loaded_denops and vim.v.vim_did_enter == 0 then
      return self:lose("Cannot start: denops.vim's server starts after Neovim. Try again once Neovim has started.")
    end
    local what = vim.g.loaded_denops and "denops.vim's server is not running" or "denops.vim is not installed"
    return self:lose(('Cannot start: %s. Set the option host to "auto", which does without it.'):format(what))
  end
  if self.wanted ~= "standalone" and runs then
    return self:start_in_server()
  end
  self:start_process()
end

--- Starts now, even before VimEnter: the user waits for an answer, and Neovim's startup waits too.
function Host:hurry()
  if self.is_early then
    self:start()
  end
end

--- Starts a host.
---@param on { lost: fun(host: agent.Host, text: string, was_running: boolean), fetching: fun() }
---@param place? table where an engine starts
---@param own? table a configuration: then the host is a process of its own
---@param preloads? boolean the user has not sent anything yet
---@return agent.Host
function M.open(on, place, own, preloads)
  local host = setmetatable({
    kind = "standalone",
    wanted = own and "standalone" or config.get().host,
    own = own,
    state = "starting",
    waiting = {},
    on_lost = on.lost,
    on_fetching = on.fetching,
    place = place,
    preloads = preloads,
  }, Host)
  host:renumber()
  if vim.v.vim_did_enter == 1 or host.wanted == "standalone" then
    host:start()
  else
    host.is_early = true
    vim.api.nvim_create_autocmd("VimEnter", {
      once = true,
      callback = vim.schedule_wrap(function()
        host:hurry()
      end),
    })
  end
  return host
end

--- True if a new host would be better: denops.vim's server has started (again) meanwhile.
---@param host agent.Host
---@return boolean
function M.is_outdated(host)
  local is_bound = host.own ~= nil or config.get().host == "standalone"
  return host.kind == "standalone" and host.state == "ready" and not is_bound and server_runs()
end

---@return agent.Host[]
function M.all()
  return vim.tbl_values(hosts)
end

--- The host of a request.
---@param request integer
---@return agent.Host?
function M.of_request(request)
  return hosts[request - request % REQUESTS]
end

--- Called by main.ts: the supervisor accepts actions.
---@param number integer
---@return boolean is_wanted  false: it was slow, and another host has replaced it
function M.started(number)
  local host = hosts[number]
  if not host or host.state ~= "starting" then
    return false
  end
  host.state = "ready"
  local actions = host.waiting
  host.waiting = {}
  for _, action in ipairs(actions) do
    host:send(action)
  end
  return true
end

--- Called by main.ts: the supervisor could not be loaded.
---@param number integer
---@param reason string Deno's words
function M.failed(number, reason)
  local host = hosts[number]
  if not host or host.state ~= "starting" then
    return
  end
  local offline = process.offline(reason)
  reason = reason:match("^[^\n]*")
  if host.kind == "denops" then
    reason = offline and offline:gsub("^C", "c") or reason
    return host:without_server(("denops.vim's server could not load the supervisor (%s)"):format(reason))
  end
  host:lose(offline or "Cannot start: " .. reason)
end

return M
