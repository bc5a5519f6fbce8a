--- Which turn wrote a line.
local api = vim.api
local codec = require("agent.reload.codec")
local files = require("agent.review.files")

local M = {}

---@class agent.review.Why
---@field sessionId string
---@field title string
---@field turn integer
---@field message string  first line of what the user asked
---@field tool string
---@field time number     milliseconds since 1970

--- Asks about the line at the cursor. `open` is called with the turn that wrote it.
---@param open fun(found: agent.review.Why)
function M.ask(open)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local params = { path = files.path_of(buf), line = row, text = codec.join(codec.of_buffer(buf)) }
  files.request(nil, "why", params, function(result, problem)
    if not result then
      vim.notify("agent: " .. problem, vim.log.levels.ERROR)
    elseif not result.found then
      vim.notify("agent: no turn that is known wrote this line")
    else
      open(result.found)
    end
  end)
end

--- One line about the turn.
---@param found agent.review.Why
---@return string
function M.describe(found)
  local when = os.date("%Y-%m-%d %H:%M", math.floor(found.time / 1000))
  local session = found.title ~= "" and (" of “%s”"):format(found.title) or ""
  return ("turn %d%s, %s, %s: %s"):format(found.turn, session, when, found.tool, found.message)
end

return M
