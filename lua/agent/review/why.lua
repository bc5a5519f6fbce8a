--- Finds the turn that wrote a line.
local api = vim.api
local codec = require("agent.reload.codec")
local files = require("agent.review.files")

local say = require("agent.ui.say")

local M = {}

---@class agent.review.Why
---@field sessionId string
---@field title string
---@field turn integer

--- Opens the chat at the turn that wrote the line at the cursor.
---@param chats agent.Chats
function M.show(chats)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local params = { path = files.path_of(buf), line = row, text = codec.join(codec.of_buffer(buf)) }
  files.request(nil, "why", params, function(result, problem)
    if not result then
      say.error(problem)
    elseif not result.found then
      say.info("no recorded turn wrote this line")
    else
      require("agent.sessions").go_to(chats, result.found)
    end
  end)
end

return M
