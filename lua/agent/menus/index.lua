-- The index for searches by meaning: its state in one line, and its building.
local client = require("agent.client")
local format = require("agent.ui.format")
local rows = require("agent.sessions.rows")
local say = require("agent.ui.say")

local M = {}

---@class agent.IndexState see protocol/results/index.ts
---@field state "none"|"building"|"ready"
---@field files integer
---@field chunks integer
---@field total integer
---@field bytes integer
---@field vectors integer
---@field model? string
---@field updated? number   milliseconds since 1970
---@field problem? string

--- Milliseconds between two looks at an index that is being built.
local PAUSE = 1000

---@param chat agent.Chat
---@param change? "build"|"rebuild"|"delete"
---@param show fun(index: agent.IndexState)
local function ask(chat, change, show)
  local action = { type = "index", change = change, chat = chat.id, session = chat.timeline.session }
  client.ask(vim.tbl_extend("error", action, chat:place()), function(update, problem)
    if not update then
      return say.error(problem)
    end
    show(update.index)
  end)
end

---@param index agent.IndexState
---@return string
function M.line(index)
  if index.problem then
    return index.problem
  end
  if index.state == "none" then
    return "the project has no index; :Agent index builds it"
  end
  if index.state == "building" then
    if index.total == 0 then
      return "the index is being built: the files are being listed"
    end
    local part = math.min(100, math.floor(100 * index.files / index.total))
    return ("the index is being built: %d %% of %s"):format(part, format.plural(index.total, "file"))
  end
  local parts = {
    "index: " .. format.plural(index.files, "file"),
    format.plural(index.chunks, "chunk"),
    ("%.1f MB"):format(index.bytes / 1e6),
    "updated " .. rows.when(index.updated),
  }
  if index.model then
    table.insert(parts, ("%s of %s"):format(format.plural(index.vectors, "vector"), index.model))
  end
  return table.concat(parts, " · ")
end

--- Reports the end of the building, if Neovim is still open then.
---@param chat agent.Chat
local function watch(chat)
  vim.defer_fn(function()
    ask(chat, nil, function(index)
      if index.state == "building" and not index.problem then
        return watch(chat)
      end
      say.info(M.line(index))
    end)
  end, PAUSE)
end

--- Shows the state. Without an index, builds one.
---@param chat agent.Chat
---@param change? "rebuild"|"delete"
function M.show(chat, change)
  ask(chat, change, function(index)
    if change == "delete" then
      return say.info("the index is deleted")
    end
    if index.state == "none" and not index.problem and not change then
      ask(chat, "build", function(started)
        say.info(M.line(started))
        watch(chat)
      end)
      return
    end
    say.info(M.line(index))
    if index.state == "building" then
      watch(chat)
    end
  end)
end

return M
