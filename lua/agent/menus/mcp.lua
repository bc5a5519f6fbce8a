-- Lists the project's MCP servers, to read what they offer, or to start and stop them.
local client = require("agent.client")
local format = require("agent.ui.format")
local say = require("agent.ui.say")

local M = {}

---@class agent.McpTool
---@field name string
---@field description string
---@field listed boolean      models see it without a search

---@class agent.McpServer see protocol/results/mcp.ts and ShownMcpServer in protocol/ui.ts
---@field name string
---@field state string
---@field problem? string
---@field title? string
---@field protocol? string
---@field tools agent.McpTool[]
---@field resources { uri: string, name: string }[]
---@field prompts { name: string, description: string, arguments: string[] }[]
---@field log string[]
---@field description string[]
---@field is_approved boolean
---@field has_login boolean
---@field errors string[]
---@field refused string[]

---@param chat agent.Chat
---@param change? table<string, any> fields of the action `mcp`
---@param show fun(servers: agent.McpServer[], url?: string)
local function ask(chat, change, show)
  local action = { type = "mcp", chat = chat.id, session = chat.timeline.session }
  action = vim.tbl_extend("error", action, chat:place(), change or {})
  client.ask(action, function(update, problem)
    if not update then
      return say.error(problem)
    end
    show(update.servers, update.url)
  end)
end

---@param server agent.McpServer
---@return string
local function label(server)
  local parts = { server.name, server.state }
  if server.state == "ready" then
    table.insert(parts, format.plural(#server.tools, "tool"))
  elseif server.problem then
    table.insert(parts, server.problem)
  elseif not server.is_approved then
    table.insert(parts, "asks you before it starts")
  end
  if #server.refused > 0 then
    table.insert(parts, format.plural(#server.refused, "refused host"))
  end
  return table.concat(parts, " · ")
end

---@param lines string[]
---@param title string
---@param items string[]
local function section(lines, title, items)
  if #items == 0 then
    return
  end
  vim.list_extend(lines, { "", title, "" })
  for _, item in ipairs(items) do
    vim.list_extend(lines, vim.split(item, "\n"))
  end
end

---@param server agent.McpServer
local function read(server)
  local lines = { "# " .. label(server), "" }
  vim.list_extend(lines, server.description)
  if server.title then
    table.insert(lines, ("It calls itself %s, protocol %s."):format(server.title, server.protocol or "unknown"))
  end
  section(
    lines,
    "## Tools",
    vim.tbl_map(function(tool)
      local search = tool.listed and "" or " (found by a search)"
      return ("- %s%s: %s"):format(tool.name, search, tool.description)
    end, server.tools)
  )
  section(
    lines,
    "## Prompts",
    vim.tbl_map(function(prompt)
      local words = table.concat({ prompt.name, unpack(prompt.arguments) }, " ")
      return ("- /%s:%s: %s"):format(server.name, words, prompt.description)
    end, server.prompts)
  )
  section(
    lines,
    "## Resources",
    vim.tbl_map(function(resource)
      return ("- @%s:%s %s"):format(server.name, resource.uri, resource.name)
    end, server.resources)
  )
  section(lines, "## Refused hosts", server.refused)
  section(lines, "## Messages", server.log)
  section(lines, "## Error output", server.errors)
  require("agent.ui.page").open(lines, "the server")
end

---@class agent.McpChoice
---@field text string
---@field change? table<string, any>

---@param server agent.McpServer
---@return agent.McpChoice[]
local function choices(server)
  local function to(state)
    return { change = { name = server.name, to = state } }
  end
  local list = { { text = "Read what it offers, its messages and its errors" } } ---@type agent.McpChoice[]
  if server.state == "ready" or server.state == "starting" then
    table.insert(list, { text = "Stop it", change = to("stop") })
    table.insert(list, { text = "Restart it", change = to("restart") })
  else
    table.insert(list, { text = "Start it", change = to("start") })
  end
  if server.has_login then
    table.insert(list, { text = "Log in", change = { login = server.name } })
  end
  for _, host in ipairs(server.refused) do
    local change = { host = { name = server.name, host = host } }
    table.insert(list, { text = "Allow it to reach " .. host, change = change })
  end
  return list
end

--- Opens the page of a login; the chat tells how it ends.
---@param url string
local function open_page(url)
  local _, problem = vim.ui.open(url)
  if problem then
    return say.warn(("cannot open a browser: visit %s"):format(url))
  end
  say.info("agree on the page in your browser")
end

--- Lists them; the chosen one is read or changed.
---@param chat agent.Chat
function M.choose(chat)
  ask(chat, nil, function(servers)
    if #servers == 0 then
      return say.info("no MCP server is configured; see :help agent-mcp")
    end
    vim.ui.select(servers, { prompt = "MCP servers", format_item = label }, function(server)
      if not server then
        return
      end
      local options = {
        prompt = label(server),
        format_item = function(choice)
          return choice.text
        end,
      }
      vim.ui.select(choices(server), options, function(choice)
        if not choice then
          return
        elseif not choice.change then
          return read(server)
        end
        ask(chat, choice.change, function(now, url)
          if url then
            return open_page(url)
          end
          local changed = vim.iter(now):find(function(one)
            return one.name == server.name
          end)
          say.info(changed and label(changed) or server.name .. " is no longer configured")
        end)
      end)
    end)
  end)
end

return M
