-- Lists the sub-agents of a session, to read their work or stop them.
local client = require("agent.client")
local format = require("agent.ui.format")
local rows = require("agent.sessions.rows")
local say = require("agent.ui.say")

local M = {}

---@class agent.SubagentRow see protocol/requests.ts
---@field sessionId string
---@field title string
---@field mode string
---@field created number  milliseconds since 1970
---@field state string    "waiting", "running", or its end
---@field tokens integer
---@field cost? number

---@param chat agent.Chat
---@param name string
---@param params table
---@param done fun(result: table)
local function ask(chat, name, params, done)
  client.request(chat, name, params, function(result, problem)
    if not result then
      return say.error(problem)
    end
    done(result)
  end)
end

---@param row agent.SubagentRow
---@return string
local function label(row)
  local parts = { format.one_line(row.title), row.mode, row.state, rows.when(row.created) }
  table.insert(parts, format.count(row.tokens) .. " tokens")
  table.insert(parts, row.cost and format.money(row.cost) or nil)
  return table.concat(parts, " · ")
end

--- Shows its prompt, its calls and its answers, as they are now.
---@param chat agent.Chat
---@param row agent.SubagentRow
local function read(chat, row)
  local export = require("agent.sessions.export")
  export.fill(export.buffer("markdown"), function(from, add)
    ask(chat, "session_export", { sessionId = row.sessionId, format = "markdown", from = from }, add)
  end)
end

---@param chat agent.Chat
---@param session string
---@param row agent.SubagentRow
local function stop(chat, session, row)
  ask(chat, "agents", { sessionId = session, stop = row.sessionId }, function()
    say.info(("%s is stopped"):format(format.one_line(row.title)))
  end)
end

--- Lists them, running ones first; the chosen one is opened or stopped.
---@param chat agent.Chat
function M.choose(chat)
  local session = chat.timeline.session
  if not session then
    return say.info("no sub-agents yet: send a message first")
  end
  ask(chat, "agents", { sessionId = session }, function(result)
    if #result.agents == 0 then
      return say.info("this session has no sub-agents yet")
    end
    vim.ui.select(result.agents, { prompt = "Sub-agents", format_item = label }, function(row)
      if not row then
        return
      elseif row.state == "waiting" then
        return stop(chat, session, row)
      elseif row.state ~= "running" then
        return read(chat, row)
      end
      vim.ui.select({ "Read what it has done", "Stop it" }, { prompt = label(row) }, function(_, choice)
        if choice == 1 then
          read(chat, row)
        elseif choice == 2 then
          stop(chat, session, row)
        end
      end)
    end)
  end)
end

return M
