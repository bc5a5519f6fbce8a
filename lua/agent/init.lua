-- The public API: setup(), status(), and a function for each row of actions.lua.
local say = require("agent.ui.say")

local too_old = require("agent.too_old")
if too_old.problem() then
  return too_old.api()
end

local M = {}

---@type agent.Chats?
local chats

---@param name string
---@param chat? agent.Chat  default: the current one
---@param task? string      what a key does there
---@return string? line
local function refusal(name, chat, task)
  chat = chat or chats and chats.current()
  local states = require("agent.timeline.states")
  return chat and states.refusal(name, chat.timeline, require("agent.approval").name(chat.id), task)
end

--- The state of the rooms that the first drawing does not need; see rooms.lua.
---@type "none"|"soon"|"connected"
local rest = "none"

--- Connects them.
local function connect_rest()
  if rest ~= "connected" and chats then
    rest = "connected"
    vim.iter(require("agent.rooms").rest):each(require)
    require("agent.approval").connect(chats)
    require("agent.review").connect(chats)
    require("agent.in_place.fix").offer(M.fix)
  end
end

--- A function of the approvals, which are connected first.
---@param name string
---@return fun(): any
local function approval(name)
  return function()
    connect_rest()
    return require("agent.approval")[name]()
  end
end

--- Connects them in steps, after Neovim has drawn.
local function connect_rest_soon()
  if rest == "none" then
    rest = "soon"
    local modules = vim.list_slice(require("agent.rooms").rest)
    require("agent.steps").run(vim.list_extend(modules, { connect_rest }))
  end
end

--- Loads the chats and connects them.
---@return agent.Chats
local function connect()
  require("agent.events").say = say.warn
  -- The rest hears the first updates too: it listens after this one.
  require("agent.client").listen(connect_rest)
  require("agent.editor")
  local all = require("agent.chat")
  local sub_commands = require("agent.sub_commands")
  all.connect({
    focus_approval = approval("focus"),
    answer_approval = approval("use_typed"),
    input_changed = function()
      if rest == "connected" then
        require("agent.approval").refit()
      end
    end,
    turn_done = function(chat)
      if not require("agent.review.by_agent").take(chat) then
        require("agent.review.findings").take(chat)
      end
      require("agent.menus.modes").offer_start(chat)
    end,
    sub_commands = sub_commands.in_input,
    is_sub_command = function(words)
      return require("agent.actions").read(words) ~= nil
    end,
    near = function(word)
      return require("agent.actions").near(word)
    end,
    refusal = sub_commands.refusal,
    sub_command = function(words)
      local row, argument = sub_commands.find(words)
      return row and function()
        M[row.name](argument)
      end
    end,
    undo = function(call)
      local problem = refusal("undo", call.chat, "undo this call")
      if problem then
        return say.error(problem)
      end
      require("agent.checkpoints").undo(call.chat, nil, call)
    end,
    review = function(verb, listed)
      local task = #listed.files == 1 and "undo the changes of this file" or "undo the changes of these files"
      local problem = verb == "undo" and refusal("undo", listed.chat, task)
      if problem then
        return say.error(problem)
      end
      require("agent.review").settle_listed(verb, listed)
    end,
  })
  require("agent.menus.current").chat = all.current
  return all
end

---@return agent.Chats
local function loaded()
  chats = chats or connect()
  return chats
end

---@return agent.Chats
local function ready()
  require("agent.config").tell(say.error)
  return loaded()
end

--- The actions that need the chats alone.
local NEEDS_CHATS = { open = true, toggle = true, new = true, send = true }

---@param row agent.Action
---@param argument? string|integer
---@param options? agent.ActionOptions
local function run(row, argument, options)
  if row.args then
    vim.validate(row.name, argument, { "string", "number" }, true)
  end
  local problem = refusal(row.name)
  if problem then
    return say.error(problem)
  end
  if row.starts == "always" or row.starts == "with_text" and argument then
    -- First, because starting the processes takes longer than drawing.
    require("agent.client").start(require("agent.projects").place())
  end
  local all = ready()
  if NEEDS_CHATS[row.name] then
    connect_rest_soon()
  else
    connect_rest()
  end
  row.run(all, argument, options or {})
end

--- Starts the processes and opens a session while the user types `:Agent`, unless the command needs neither. Unused
--- processes end soon.
function M.preload()
  require("agent.preload").start(loaded, connect_rest)
end

--- Sets options; see |agent-options|. Not needed for the defaults.
---@param options? table
function M.setup(options)
  vim.validate("options", options, "table", true)
  local config = require("agent.config")
  config.set(options)
  -- Later, so that nothing is read at startup.
  vim.schedule(function()
    config.tell(say.error)
  end)
end

--- One line for a statusline: model, tokens, state; empty before the first use.
---@return string
function M.status()
  local chat = chats and chats.current()
  if not chat then
    return ""
  end
  require("agent.chat.draw.pulse").watch()
  return chat.status:line()
end

return setmetatable(M, {
  --- Actions load on first use: setup() runs at every start of Neovim.
  __index = function(_, name)
    local row = require("agent.actions").by_name(name)
    M[name] = row and function(argument, options)
      return run(row, argument, options)
    end
    return rawget(M, name)
  end,
})
