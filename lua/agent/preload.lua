-- Starts the processes while the user types `:Agent`, so that the first message need not wait for them.
local M = {}

--- Another command, such as `:Agents`, is typed on within this time.
local TYPING_MS = 50
--- The processes get this much time before the chat is loaded.
local LOADING_MS = 30
--- Unused processes end after this time.
local UNUSED_MS = 60000

local is_preloading = false

--- True if the line is a message, the beginning of one, or a sub-command that needs the processes.
---@param line string
---@return boolean
local function may_send(line)
  local words = line:match("^[%p%d%s]*Agent!?%f[%s%z]%s*(.*)$")
  local row = words and require("agent.actions").read(words)
  return words ~= nil and (not row or row.starts ~= nil or row.ranged == true)
end

--- Ends what was started for the chat, if it was not used.
---@param chat agent.Chat
local function stop_unused(chat)
  if not chat.is_closed and chat:is_blank() and not chat:is_visible() then
    require("agent.chat").close(chat)
    require("agent.client").stop_unused()
  end
end

---@param load fun(): agent.Chats
local function open_session(load)
  is_preloading = false
  if require("agent.client").host() then
    local chat = load().get()
    chat:start_engine(true)
    vim.defer_fn(function()
      stop_unused(chat)
    end, UNUSED_MS)
  end
end

--- The command line begins with `:Agent`.
---@param load fun(): agent.Chats
function M.start(load)
  local client = require("agent.client")
  if is_preloading or client.host() or not require("agent.config").get().preload then
    return
  end
  is_preloading = true
  vim.defer_fn(function()
    -- The user may have sent the message meanwhile.
    if client.host() or not may_send(vim.fn.getcmdline()) or not vim.uv.cwd() then
      is_preloading = false
      return
    end
    client.start(require("agent.projects").place(), true)
    vim.defer_fn(function()
      open_session(load)
    end, LOADING_MS)
  end, TYPING_MS)
end

return M
