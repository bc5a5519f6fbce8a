-- A message "/name" calls a prompt, a command of the agent itself, a sub-command of :Agent or a skill, in this order. A
-- message ":Agent …" is that command.
local client = require("agent.client")
local format = require("agent.ui.format")
local input = require("agent.chat.input")
local say = require("agent.ui.say")

local M = {}

---@param chat agent.Chat
---@param name string
---@return boolean
local function is_the_agents(chat, name)
  return vim.iter(chat.timeline.commands or {}):any(function(one)
    return one.name == name
  end)
end

--- Runs an action in Normal mode: its windows are not for typing, unless it says so.
---@param chat agent.Chat
---@param run fun()
local function in_normal_mode(chat, run)
  if not vim.api.nvim_get_mode().mode:find("^i") then
    return run()
  end
  vim.api.nvim_create_autocmd("InsertLeave", {
    once = true,
    callback = vim.schedule_wrap(function()
      chat.was_typing = true
      vim.schedule(function()
        chat.was_typing = nil
      end)
      run()
    end),
  })
  vim.cmd.stopinsert()
end

--- Columns of an unknown command in a message of one line.
local LONGEST = 20

--- Runs the words as Neovim runs them after :Agent. Unknown words are no message here: they stay in the input.
---@param chat agent.Chat
---@param text string
---@param bang string
---@param words string
local function run_command(chat, text, bang, words)
  if words ~= "" and not chat.peers.is_sub_command(words) then
    chat.input:add(text)
    local unknown, near = format.cut(words, LONGEST), chat.peers.near(words)
    if near then
      return say.error(("cannot run :Agent %s: no such command. Did you mean :Agent %s?"):format(unknown, near))
    end
    return say.error(("cannot run :Agent %s: no such command. Type / for all."):format(unknown))
  end
  local problem = chat.peers.refusal(words)
  if problem then
    chat.input:add(text)
    return say.error(problem)
  end
  input.remember(text)
  in_normal_mode(chat, function()
    vim.api.nvim_cmd({ cmd = "Agent", bang = bang ~= "", args = words ~= "" and { words } or {} }, {})
  end)
end

--- Runs the sub-command once nothing else is known to have its name. While the chat is opening, it waits as a message
--- does.
---@param chat agent.Chat
---@param text string
---@param send fun() sends the text as a message
function M.call_or(chat, text, send)
  local bang, words = text:match("^:Agent(!?)%f[%s%z][ \t]*([^\n]*)$")
  if words then
    return run_command(chat, text, bang, words)
  end
  local name = text:match("^/([%l-]+)")
  local is_ours = name and not is_the_agents(chat, name)
  local run = is_ours and chat.peers.sub_command(text:sub(2))
  local meant = is_ours and not run and text == "/" .. name and chat.peers.near(name)
  local problem = is_ours and not run and chat.peers.refusal(text:sub(2))
  if meant then
    problem = ("did you mean /%s? To send the word as a message: :Agent send %s"):format(meant, text)
  end
  if not run and not problem then
    return send()
  end
  if chat.phases:current() == "opening" then
    return chat.phases:act("send", function(opened)
      M.call_or(opened, text, function()
        opened:send(text, { typed = true })
      end)
    end, text)
  end
  local action = { type = "prompts", chat = chat.id, session = chat.timeline.session }
  client.ask(vim.tbl_extend("error", action, chat:place()), function(update)
    -- A skill of the project cannot take the place of a sub-command.
    local is_prompt = vim.iter(update and update.prompts or {}):any(function(prompt)
      return prompt.name == name and not (run and prompt.kind == "skill")
    end)
    if is_prompt then
      return send()
    elseif problem then
      chat.input:add(text)
      return say.error(problem)
    end
    input.remember(text)
    in_normal_mode(chat, run)
  end)
end

--- See the update `prompts` in protocol/ui.ts.
---@class agent.Callable
---@field kind "prompt"|"skill"|"mcp"
---@field name string
---@field description string
---@field hint string

--- Everything that a message can call after a slash, as items of the menu. The first of each name is called.
---@param chat agent.Chat
---@param callable agent.Callable[]
---@param lead string the text before the cursor
---@return table[]
function M.items(chat, callable, lead)
  local items, seen = {}, {}
  local room = math.max(10, vim.api.nvim_win_get_width(0) - 32)
  local function add(name, kind, note)
    local word = "/" .. name
    if vim.startswith(word, lead) and not seen[word] then
      seen[word] = true
      table.insert(items, { word = word, kind = kind, menu = format.cut(vim.trim(note), room), dup = 0 })
    end
  end
  local is_sub_command = {}
  for _, row in ipairs(chat.peers.sub_commands()) do
    is_sub_command[row.name] = true
  end
  local function add_callable(kind)
    for _, one in ipairs(callable) do
      if one.kind == kind and not (kind == "skill" and is_sub_command[one.name]) then
        add(one.name, kind, one.hint .. "  " .. one.description)
      end
    end
  end
  add_callable("prompt")
  for _, one in ipairs(chat.timeline.commands or {}) do
    add(one.name, "agent", one.description)
  end
  add_callable("skill")
  add_callable("mcp")
  for _, row in ipairs(chat.peers.sub_commands()) do
    if not row.unlisted then
      add(row.name, ":Agent", row.doc)
    end
  end
  return items
end

return M
