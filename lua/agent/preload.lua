-- Starts the processes while the user types `:Agent`, so that the first message need not wait for them, and loads the
-- chat in steps, between the keys.
local rooms = require("agent.rooms")
local steps = require("agent.steps")

local M = {}

--- Another command, such as `:Agents`, is typed on within this time.
local TYPING_MS = 30
--- Unused processes end after this time.
local UNUSED_MS = 60000

--- The command line that began it: a start that fails is not repeated with each key.
---@type table?
local command_line
--- The processes were started here, and the chat is not loaded yet.
local is_unfinished = false

--- True if the line is a message, the beginning of one or of `Agent`, or a sub-command that needs the processes.
---@param line string
---@return boolean
local function may_send(line)
  local word = line:match("^[%p%d%s]*(A%a*)$")
  if word and vim.startswith("Agent", word) then
    return true
  end
  local words = line:match("^[%p%d%s]*Agent!?%f[%s%z]%s*(.*)$")
  local row = words and require("agent.actions").read(words)
  return words ~= nil and (not row or row.starts ~= nil or row.ranged == true)
end

--- A function that is true while the user types such a line.
---@param begun table
---@return fun(): boolean
local function while_typed(begun)
  return function()
    return command_line == begun and vim.fn.getcmdtype() == ":" and may_send(vim.fn.getcmdline())
  end
end

--- False if the processes run already, unless a chat has still to be loaded for them.
---@return boolean
local function is_wanted()
  local client = require("agent.client")
  local has_work = not client.host() or is_unfinished and client.is_unused()
  return has_work and require("agent.config").get().preload and vim.uv.cwd() ~= nil
end

--- The chat that was made here.
---@type agent.Chat?
local made

--- The first look-up takes longer than the next one.
local function find_project()
  require("agent.projects").place()
end

--- The first time reads files of the plugin.
local function read_options()
  require("agent.config").for_supervisor()
end

local function start_processes()
  local client = require("agent.client")
  if client.host() then
    return
  end
  is_unfinished, made = true, nil
  client.start(require("agent.projects").place(), true)
  vim.defer_fn(function()
    if client.stop_unused() then
      is_unfinished = false
      if made and made:is_blank() then
        require("agent.chat").close(made)
      end
    end
  end, UNUSED_MS)
end

---@param load fun(): agent.Chats
---@param connect_rest fun()
---@return agent.Step[]
local function chat_steps(load, connect_rest)
  local all = vim.list_extend(vim.list_slice(rooms.first), rooms.rest)
  vim.list_extend(all, require("agent.ui.highlights").steps())
  return vim.list_extend(all, {
    function()
      load()
    end,
    connect_rest,
    function()
      made = not load().current() and load().get() or nil
    end,
    function()
      load().get():start_engine(true)
      is_unfinished = false
    end,
  })
end

--- The command line begins with `:Agent`, or with what only this command begins with.
---@param load fun(): agent.Chats
---@param connect_rest fun()  connects the rooms that the chats do not need at once
function M.start(load, connect_rest)
  if command_line then
    return
  end
  local begun = {}
  command_line = begun
  vim.api.nvim_create_autocmd("CmdlineLeave", {
    once = true,
    callback = function()
      command_line = nil
    end,
  })
  local is_typed = while_typed(begun)
  local function load_chat()
    steps.run(chat_steps(load, connect_rest), function()
      return is_typed() and require("agent.client").host() ~= nil
    end)
  end
  vim.defer_fn(function()
    local before = { "agent.actions", "agent.config", "agent.client", is_wanted, "agent.projects" }
    steps.run(vim.list_extend(before, { find_project, read_options, start_processes, load_chat }), is_typed)
  end, TYPING_MS)
end

return M
