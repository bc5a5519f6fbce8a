-- The connection to the supervisor. Actions go down without waiting; updates come up in batches.
local config = require("agent.config")
local hosts = require("agent.host")

local M = {}

---@type fun(batch: table[])[]
local listeners = {}
--- The host of new chats and of actions without a chat.
---@type agent.Host?
local current
--- The host of each chat that has sent an action.
---@type table<integer, agent.Host>
local host_of = {}
--- Chats with a running turn.
---@type table<integer, true>
local busy = {}
--- Requests without an answer yet.
---@class agent.Request
---@field host? agent.Host
---@field done fun(update?: table, problem?: string)
---@field more? fun(text: string)
---@type table<integer, agent.Request>
local requests = {}
local last_request = 0

--- Actions that only the host of their chat or request understands.
local OF_WHAT_RUNS = {
  answer = true,
  edit_command = true,
  reply = true,
  answer_question = true,
  cancel = true,
  close = true,
  aside_stop = true,
}

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
        require("agent.ui.say").bug(problem)
      end)
    end
  end
  return true
end

--- The chats of a host.
---@param host agent.Host
---@return integer[]
local function chats_of(host)
  local chats = {}
  for chat, its in pairs(host_of) do
    if its == host then
      table.insert(chats, chat)
    end
  end
  return chats
end

--- Forgets a lost host. Reports the loss once to its chats, and to every open request.
---@param host agent.Host
---@param text string
---@param was_running boolean it may have received actions
local function forget(host, text, was_running)
  local chats, unanswered = chats_of(host), {}
  for _, chat in ipairs(chats) do
    host_of[chat], busy[chat] = nil, nil
  end
  for request, question in pairs(requests) do
    if question.host == host then
      requests[request] = nil
      table.insert(unanswered, question.done)
    end
  end
  M.receive({ { type = "host_lost", text = text, was_running = was_running, chats = chats } })
  for _, done in ipairs(unanswered) do
    done(nil, text)
  end
end

local lost = vim.schedule_wrap(forget)

local function fetching()
  M.receive({ { type = "host_fetching" } })
end

--- Ends a host without chats, unless it is the current one.
---@param host agent.Host
local function close_unused(host)
  if host ~= current and not vim.list_contains(vim.tbl_values(host_of), host) then
    host:close()
  end
end

--- The host for a chat without one, or for an action without a chat.
---@param chat? integer
---@param place? table where an engine starts
---@param preloads? boolean the user has not sent anything yet
---@return agent.Host
local function default_host(chat, place, preloads)
  local before = current
  -- Chats of two hosts would have an engine each.
  local is_outdated = before and chat and #chats_of(before) == 0 and hosts.is_outdated(before)
  if not before or before.state == "lost" or is_outdated then
    current = hosts.open({ lost = lost, fetching = fetching }, place, before and before.own, preloads)
    if before and before.state ~= "lost" then
      close_unused(before)
    end
  end
  return current
end

--- Starts the supervisor if needed, and the engine of this place, while Neovim draws.
---@param place table see protocol/actions.ts
---@param preloads? boolean the user has not sent anything yet
function M.start(place, preloads)
  default_host(nil, place, preloads)
end

--- True if the current host was preloaded and nothing has used it since.
---@return boolean
function M.is_unused()
  return current ~= nil and not current.is_used
end

--- Ends the current host if it is unused.
---@return boolean? stopped
function M.stop_unused()
  local host = current
  if host and M.is_unused() then
    current = nil
    host:close()
    return true
  end
end

--- Starts a host that waits for VimEnter. Call this before waiting for an answer.
function M.hurry()
  for _, host in ipairs(hosts.all()) do
    host:hurry()
  end
end

--- Opens a host with its own configuration. It gets nothing before it is used.
---@param own table see config.for_supervisor
---@return agent.Host
function M.open_own(own)
  return hosts.open({ lost = lost, fetching = fetching }, nil, own)
end

--- Makes this host the current one; nil: the next action starts one.
---@param host? agent.Host
---@return agent.Host? before
function M.use(host)
  local before = current
  current = host
  return before
end

--- Chats of the hosts with this configuration.
---@param own table
---@return table<integer, true>
function M.chats_with(own)
  local chats = {}
  for chat, host in pairs(host_of) do
    chats[chat] = host.own == own or nil
  end
  return chats
end

--- True if the chat's host has its own configuration: nothing of it is kept.
---@param chat integer
---@return boolean
function M.is_own(chat)
  local host = host_of[chat]
  return host ~= nil and host.own ~= nil
end

--- Ends the hosts with this configuration, and reports it to their chats.
---@param own table
---@param text string
function M.close_own(own, text)
  for _, host in ipairs(hosts.all()) do
    if host.own == own then
      current = current ~= host and current or nil
      forget(host, text, false)
      host:close()
    end
  end
end

--- "denops", "standalone", or nil before the first action: the host of the next chat.
---@return string?
function M.host()
  return current and current.state ~= "lost" and current.kind or nil
end

---@param action table
---@return agent.Host? known
local function known_host(action)
  if action.chat then
    return host_of[action.chat]
  end
  return OF_WHAT_RUNS[action.type] and hosts.of_request(action.request) or nil
end

--- The state of the editor. The room `editor` sets it.
---@type fun(): agent.EditorState?
local editor_state = function() end

---@param host agent.Host
local function send_editor_state(host)
  local state = editor_state()
  if state and host.editor_state ~= state then
    host.editor_state = state
    host:send({ type = "editor_state", files = state.files, servers = state.servers })
  end
end

--- Sends each host the state of the editor, before its first action and after changes.
---@param state { get: (fun(): agent.EditorState), on_change: fun(listener: fun()) }
function M.follow_editor(state)
  editor_state = state.get
  state.on_change(function()
    for _, host in ipairs(hosts.all()) do
      send_editor_state(host)
    end
  end)
end

--- Sends an action, and starts the supervisor if needed. Returns at once.
---@param action table see protocol/actions.ts
function M.send(action)
  local known = known_host(action)
  if not known and OF_WHAT_RUNS[action.type] then
    return
  end
  local before = current
  local host = known or default_host(action.chat)
  local is_fresh = not known and host ~= before
  host.is_used = host.is_used or not action.preloads
  local begins = action.type ~= "prompt" or not busy[action.chat]
  if action.chat then
    host_of[action.chat] = host
  end
  if action.type == "prompt" then
    busy[action.chat] = true
  end
  if not OF_WHAT_RUNS[action.type] and requests[action.request] then
    requests[action.request].host = host
  end
  local options = host.own or config.for_supervisor()
  local encoded = vim.json.encode(options)
  if encoded ~= host.configured then
    host.configured = encoded
    host:send({ type = "configure", config = options })
  end
  send_editor_state(host)
  local is_sent = host:send(action)
  -- Another host gets what begins something. Other actions end with this host.
  if not is_sent and not is_fresh and begins and not OF_WHAT_RUNS[action.type] then
    if action.chat then
      host_of[action.chat], busy[action.chat] = nil, nil
    end
    return M.send(action)
  end
  if action.type == "close" then
    host_of[action.chat], busy[action.chat] = nil, nil
    close_unused(host)
  end
end

--- Sends the supervisor a request. The answer is an update of the action's own type.
---@param action table
---@param done fun(update?: table, problem?: string) the problem is set if no answer will come
---@param more? fun(text: string) gets the answer as it streams in
---@return integer request
function M.ask(action, done, more)
  last_request = last_request + 1
  local request = last_request
  requests[request] = { done = done, more = more }
  M.send(vim.tbl_extend("error", action, { request = request }))
  return request
end

local ANSWERS = {
  files = true,
  readable = true,
  health = true,
  rules = true,
  log = true,
  prompts = true,
  tools = true,
  modes = true,
  models = true,
  agent_login = true,
  agent_options = true,
  providers = true,
  provider = true,
  sessions = true,
  login = true,
  quota = true,
  index = true,
  jobs = true,
  mcp = true,
  skills = true,
  hooks = true,
  engine_answer = true,
}

--- Sends a request to the engine of a chat; see protocol/requests.ts for names and shapes.
---@param chat { id: integer, place: fun(self): table }
---@param name string
---@param params table
---@param done fun(result?: table, problem?: string) exactly one of the two
function M.request(chat, name, params, done)
  -- An empty Lua table is a list in MessagePack.
  params = next(params) and params or vim.empty_dict()
  local action = { type = "engine_request", chat = chat.id, name = name, params = params }
  M.ask(vim.tbl_extend("error", action, chat:place()), function(update, problem)
    done(update and update.result, problem or update and update.error)
  end)
end

M.listen(function(batch)
  for _, update in ipairs(batch) do
    local question = ANSWERS[update.type] and requests[update.request]
    if question then
      requests[update.request] = nil
      -- Later: a message from within a remote call would not be on the screen.
      vim.schedule(function()
        question.done(update)
      end)
    elseif update.type == "aside_text" and requests[update.request] then
      requests[update.request].more(update.text)
    elseif update.type == "turn_started" then
      busy[update.chat] = true
    elseif update.type == "turn_done" then
      busy[update.chat] = nil
    end
  end
end)

return M
