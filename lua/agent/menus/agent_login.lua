-- Logs in at another agent: by the agent itself, or by a command in a terminal.
local agent_options = require("agent.menus.agent_options")

local tell = agent_options.tell

local M = {}

---@class agent.AgentLogin see protocol/results/agent_login.ts
---@field id string
---@field name string
---@field command? string[]
---@field path? string  PATH of the command
---@field env? table<string, string>
---@field variables? string[]

---@param chat agent.Chat
---@param method? string  run first
---@param done fun(title: string, logins: agent.AgentLogin[])
local function ask(chat, method, done)
  agent_options.ask(chat, { type = "agent_login", method = method }, function(update)
    done(update.title, update.logins)
  end)
end

--- As a shell would read it.
---@param login agent.AgentLogin
---@return string
local function line(login)
  local words = {}
  for name, value in vim.spairs(login.env or {}) do
    table.insert(words, name .. "=" .. vim.fn.shellescape(value))
  end
  for _, word in ipairs(login.command) do
    table.insert(words, word:find("^[%w_./:=-]+$") and word or vim.fn.shellescape(word))
  end
  return table.concat(words, " ")
end

--- The agent reads its login again when it is started again.
---@param chat agent.Chat
---@param title string
---@param login agent.AgentLogin
---@param code integer
local function ended(chat, title, login, code)
  if code ~= 0 then
    return tell(chat, "warning", ("The login of %s ended with code %d. `:Agent login` offers it again."):format(title, code))
  end
  ask(chat, login.id, function()
    tell(chat, "info", ("The login of %s has ended. Send your message again."):format(title))
  end)
end

--- In a tab, because other windows may be small; in the home folder, because projects have settings of their own.
---@param chat agent.Chat
---@param title string
---@param login agent.AgentLogin
local function run(chat, title, login)
  vim.cmd.tabnew()
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo.bufhidden = "wipe"
  vim.fn.jobstart(login.command, {
    term = true,
    cwd = vim.uv.os_homedir(),
    env = vim.tbl_extend("error", login.env or {}, { PATH = login.path }),
    on_exit = vim.schedule_wrap(function(_, code)
      if code == 0 and vim.api.nvim_buf_is_valid(buffer) then
        vim.api.nvim_buf_delete(buffer, { force = true })
      end
      ended(chat, title, login, code)
    end),
  })
  -- Without it the question covers the terminal for seconds.
  vim.cmd.redraw({ bang = true })
  vim.cmd.startinsert()
end

---@param chat agent.Chat
---@param title string
---@param login agent.AgentLogin
local function start(chat, title, login)
  if login.variables then
    local names = table.concat(login.variables, ", ")
    local text = "Set %s in Neovim's environment and name it in `agents.NAME.env`; then restart Neovim."
    return tell(chat, "info", text:format(names))
  elseif not login.command then
    tell(chat, "info", ("%s logs you in …"):format(title))
    return ask(chat, login.id, function()
      tell(chat, "info", ("%s has logged you in. Send your message again."):format(title))
    end)
  end
  local answers = { "Run it in a terminal, outside of every sandbox", "Do not run it" }
  vim.ui.select(answers, { prompt = line(login) }, function(_, choice)
    if choice == 1 then
      run(chat, title, login)
    end
  end)
end

---@param chat agent.Chat
local function choose(chat)
  ask(chat, nil, function(title, logins)
    if #logins == 0 then
      return tell(chat, "info", ("%s offers no login here; use its own program."):format(title))
    end
    vim.ui.select(logins, {
      prompt = "Log in at " .. title,
      -- The question about a command shows all of it.
      format_item = function(login)
        return login.command and login.name .. " (in a terminal)" or login.name
      end,
    }, function(login)
      if login then
        start(chat, title, login)
      end
    end)
  end)
end

--- Lists the agent's logins; the chosen one runs.
---@param chat agent.Chat
function M.choose(chat)
  chat.phases:act("login", choose)
end

return M
