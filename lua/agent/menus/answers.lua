-- Requests and shows rules, tools, the log, usage and context.
local say = require("agent.ui.say")

local M = {}

--- Sends an action to the supervisor and shows the answer.
---@param chat agent.Chat
---@param action table
---@param show fun(update: table)
local function ask(chat, action, show)
  action = vim.tbl_extend("error", action, { chat = chat.id, session = chat.timeline.session }, chat:place())
  require("agent.client").ask(action, function(update, problem)
    if not update then
      return say.error(problem)
    end
    show(update)
  end)
end

---@class agent.RuleRow
---@field text string
---@field type string   of the action
---@field rule? string
---@field source? string
---@field agent? string
---@field title? string
---@field host? string

---@param chat agent.Chat
---@param row agent.RuleRow
local function allow_host(chat, row)
  local answers = { "Allow it until Neovim exits", "Do not allow it" }
  local prompt = ("%s wanted to reach %s"):format(row.title, row.host)
  vim.ui.select(answers, { prompt = prompt }, function(_, choice)
    if choice == 1 then
      require("agent.client").send({ type = row.type, chat = chat.id, agent = row.agent, host = row.host })
    end
  end)
end

---@param chat agent.Chat
function M.rules(chat)
  ask(chat, { type = "rules" }, function(update)
    if #update.rules + #update.refused + #update.agents == 0 then
      return say.info("no rules yet: A in an approval makes one")
    end
    local rows = vim.tbl_map(function(rule)
      local text = ("%-5s %s  (%s)"):format(rule.verdict, rule.rule, rule.source)
      return { text = text, type = "remove_rule", rule = rule.rule, source = rule.source }
    end, update.rules)
    for _, rule in ipairs(update.refused) do
      local text = ("add   %s  (a command was refused)"):format(rule)
      table.insert(rows, { text = text, type = "allow_host", rule = rule })
    end
    for _, one in ipairs(update.agents) do
      local text = ("add   %s  for %s alone (it was refused)"):format(one.host, one.title)
      table.insert(rows, vim.tbl_extend("error", { text = text, type = "allow_agent_host" }, one))
    end
    local adds = #update.refused + #update.agents > 0
    vim.ui.select(rows, {
      prompt = adds and "Rules (choose one to remove or add it)" or "Rules (choose one to remove it)",
      format_item = function(row)
        return row.text
      end,
    }, function(row)
      if row and row.host then
        allow_host(chat, row)
      elseif row then
        require("agent.client").send({ type = row.type, chat = chat.id, rule = row.rule, source = row.source })
      end
    end)
  end)
end

---@param chat agent.Chat
---@param toggle? string
function M.tools(chat, toggle)
  ask(chat, { type = "tools", toggle = toggle }, function(update)
    vim.ui.select(update.tools, {
      prompt = "Tools (choose one to switch it)",
      format_item = function(tool)
        return ("%s %s"):format(tool.on and "on " or "off", tool.name)
      end,
    }, function(tool)
      if tool then
        M.tools(chat, tool.name)
      end
    end)
  end)
end

---@param chat agent.Chat
function M.log(chat)
  ask(chat, { type = "log" }, function(update)
    local lines = #update.lines > 0 and update.lines or { "No approvals yet." }
    require("agent.ui.page").open(lines, "the log")
    vim.api.nvim_win_set_cursor(0, { #lines, 0 })
  end)
end

---@param chat agent.Chat
function M.usage(chat)
  require("agent.client").request(chat, "usage", { sessionId = chat.timeline.session }, function(usage, problem)
    if not usage then
      return say.error(problem)
    end
    local add = require("agent.menus.usage").show(usage)
    ask(chat, { type = "quota" }, function(update)
      add(update.line)
    end)
  end)
end

---@param chat agent.Chat
function M.context(chat)
  local session = chat.timeline.session
  if not session then
    return say.info("the chat is empty: after the first message this shows what the model receives")
  end
  local function request(name, params, done)
    params.sessionId = session
    require("agent.client").request(chat, name, params, function(result, problem)
      if not result then
        return say.error(problem)
      end
      done(result)
    end)
  end
  local function change(to, done)
    request("context", { change = to }, done)
  end
  local function read(part, done)
    request("context_part", { at = part.at, name = part.name }, function(result)
      done(result.text)
    end)
  end
  change(nil, function(context)
    require("agent.context").show(context, change, read)
  end)
end

return M
