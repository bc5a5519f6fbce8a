-- The state of a chat in one line: for its windows, statuslines and lists.
local config = require("agent.config")
local format = require("agent.ui.format")
local permissions = require("agent.menus.permissions")
local projects = require("agent.projects")
local pulse = require("agent.chat.draw.pulse")
local states = require("agent.timeline.states")
local status_line = require("agent.ui.status_line")

---@class agent.Status
---@field chat agent.Chat
local Status = {}
Status.__index = Status

---@param chat agent.Chat
---@return agent.Status
function Status.new(chat)
  return setmetatable({ chat = chat }, Status)
end

local STATES = {
  idle = "ready",
  starting = "starting",
  working = "working",
  waiting = "waiting for you",
  retrying = "retrying",
  stopping = "stopping",
  folding = "making room",
  opening = "opening",
  closing = "closing",
}

--- Columns that the step of the plan gets at least.
local PLAN = 24

--- The parts of the line, in their order.
local ORDER = {
  "project",
  "untrusted",
  "permission",
  "mode",
  "model",
  "effort",
  "tokens",
  "cost",
  "running",
  "state",
  "paused",
}

--- Groups of parts: figures are dim. A loosened session stands out, and one that has read foreign text.
local GROUPS = { tokens = "AgentHint", cost = "AgentHint", loosened = "AgentWarning", untrusted = "AgentWarning" }

--- Ways to shorten the line, in this order.
---@type { [1]: string, [2]: fun(text: string): string? }[]
local SHORTER = {
  {
    "model",
    function(name)
      -- Without provider and date.
      return (name:match("[^/]+$") or name):gsub("%-%d%d%d%d%d%d%d%d$", ""):gsub("%-%d%d%d%d%-%d%d%-%d%d$", "")
    end,
  },
  {
    "tokens",
    function(text)
      return (text:gsub(" tokens$", ""))
    end,
  },
  { "effort", function() end },
  {
    "tokens",
    function(text)
      return text:match("^%S+")
    end,
  },
  { "model", function() end },
  { "cost", function() end },
  { "tokens", function() end },
  { "mode", function() end },
  {
    "untrusted",
    function()
      return "untrusted"
    end,
  },
  {
    "permission",
    function(text)
      return vim.iter(permissions.all):find(function(one)
        return one.bar == text
      end).short
    end,
  },
}

--- In words, without a sign of life.
---@return string
function Status:state()
  return self.chat.queue.paused == "paused" and self.chat.queue.paused or STATES[states.display(self.chat.timeline)]
end

--- The name of its project, if chats of several projects are open. A worktree is always named.
---@return string?
function Status:project()
  local root = self.chat.timeline.root
  local roots = vim.tbl_map(function(chat)
    return chat.timeline.root
  end, self.chat.list())
  local is_one = vim.iter(roots):all(function(other)
    return other == root
  end)
  return root and not (is_one and projects.worktree(root) ~= root) and projects.name(root, roots) or nil
end

--- Puts the project's name before a text that is shown elsewhere.
---@param text string
---@return string
function Status:with_project(text)
  local project = self:project()
  return project and ("%s: %s"):format(project, text) or text
end

local SEPARATOR = " · "

---@param parts { name: string, text: string }[]
---@return string
local function join(parts)
  return table.concat(
    vim.tbl_map(function(part)
      return part.text
    end, parts),
    SEPARATOR
  )
end

--- Model, tokens, state and the like, shortened to fit.
---@param room? integer columns
---@return { name: string, text: string }[]
function Status:parts(room)
  local line = self.chat.timeline
  local mode, effort = line.mode or config.get().mode, require("agent.menus.effort").current(self.chat)
  local parts = {
    project = self:project(),
    untrusted = (line.untrusted or "") ~= "" and "untrusted text" or nil,
    permission = permissions.current(self.chat).bar,
    mode = mode ~= "agent" and mode or nil,
    model = line.model or config.get().model or "agent",
    effort = effort ~= "default" and "effort " .. effort or nil,
    tokens = line.used and line.size and ("%s of %s tokens"):format(format.count(line.used), format.count(line.size)),
    cost = line.cost and format.money(line.cost),
    running = (line.running or 0) > 0 and ("%d running"):format(line.running) or nil,
    state = self.chat.queue.paused ~= "paused" and pulse.state(self.chat, STATES[states.display(line)]) or nil,
    paused = self.chat.queue.paused,
  }
  local function list()
    local all = {}
    for _, name in ipairs(ORDER) do
      table.insert(all, parts[name] and { name = name, text = parts[name] } or nil)
    end
    return all
  end
  for _, step in ipairs(room and SHORTER or {}) do
    if vim.api.nvim_strwidth(join(list())) <= room then
      break
    end
    local name, shorter = unpack(step)
    parts[name] = parts[name] and shorter(parts[name]) or nil
  end
  return list()
end

--- One line, for statuslines.
---@return string
function Status:line()
  return join(self:parts())
end

--- One line for a list of chats: number, state, title or first message.
---@return string
function Status:label()
  local line = self.chat.timeline
  local first = vim.iter(line.blocks):find(function(block)
    return block.kind == "user"
  end)
  local text = line.title and line.title ~= "" and line.title
    or first and vim.trim(first.text):gsub("\n.*", " …")
    or "(empty)"
  return ("chat %d  %s  %s"):format(self.chat.id, STATES[states.display(line)], format.cut(self:with_project(text), 60))
end

--- The step of the plan or the title, shortened to fit.
---@param room integer columns
---@return string
function Status:short_title(room)
  local title = self.chat.plan:line() or self.chat.timeline.title or ""
  if vim.api.nvim_strwidth(title) <= room then
    return title
  end
  if room < 8 then
    -- The number of the step always fits.
    return self.chat.plan:line() and title:match("^%d+/%d+") or ""
  end
  return format.cut(title, room)
end

function Status:show()
  if not self.chat.windows or not vim.api.nvim_win_is_valid(self.chat.windows.transcript) then
    return
  end
  local width = vim.api.nvim_win_get_width(self.chat.windows.transcript) - 1
  local plan = self.chat.plan:line()
  local kept = plan and math.min(vim.api.nvim_strwidth(plan), PLAN) + 3 or 0
  local parts = self:parts(width - kept)
  local title = self:short_title(width - vim.api.nvim_strwidth(join(parts)) - 3)
  local texts = vim.tbl_map(function(part)
    local text = part.text:gsub("%%", "%%%%")
    local group = GROUPS[part.name == "permission" and permissions.current(self.chat).loosens and "loosened" or part.name]
    return group and ("%%#%s#%s%%*"):format(group, text) or text
  end, parts)
  -- In a narrow window the state and the number of the step stay.
  title = title == "" and "" or title:gsub("%%", "%%%%") .. SEPARATOR
  status_line.set(self.chat.windows.transcript, (" %s%%<%s"):format(title, table.concat(texts, SEPARATOR)))
  self.chat.queue:show()
end

return Status
