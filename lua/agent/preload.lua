-- Starts the processes while the user types `:Agent`, so that the first message need not wait for them.
local M = {}

--- Another command, such as `:Agents`, is typed on within this time.
local TYPING_MS = 50
--- The processes get this much time before the chat is loaded.
local LOADING_MS = 30
--- Unused processes end after this time.
local UNUSED_MS = 60000

--- Once for each command line: a start that fails is not repeated with each key.
local is_begun = false

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

---@param load fun(): agent.Chats
local function open_session(load)
  local client = require("agent.client")
  if not client.host() then
    return
  end
  local chat = load().get()
  chat:start_engine(true)
  vim.defer_fn(function()
    if client.stop_unused() then
      require("agent.chat").close(chat)
    end
  end, UNUSED_MS)
end

--- The command line begins with `:Agent`, or with what only this command begins with.
---@param load fun(): agent.Chats
function M.start(load)
  local client = require("agent.client")
  if is_begun or client.host() or not require("agent.config").get().preload then
    return
  end
  is_begun = true
  vim.api.nvim_create_autocmd("CmdlineLeave", {
    once = true,
    callback = function()
      is_begun = false
    end,
  })
  vim.defer_fn(function()
    -- The user may have sent the message meanwhile.
    if client.host() or not may_send(vim.fn.getcmdline()) or not vim.uv.cwd() then
      return
    end
    client.start(require("agent.projects").place(), true)
    vim.defer_fn(function()
      open_session(load)
    end, LOADING_MS)
  end, TYPING_MS)
end

return M
