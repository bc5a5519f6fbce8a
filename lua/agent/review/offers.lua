-- Code actions on hunks: keep, undo, and show the turn.
local hunks_of = require("agent.review.hunks")
local server = require("agent.server")
local track = require("agent.review.track")

---@param buffer integer
---@return boolean
local function holds(buffer)
  local it = track.get(buffer)
  return it ~= nil and #it.hunks > 0
end

--- Runs an action at the hunk, wherever the cursor is now.
---@param buffer integer
---@param row integer
---@param run fun()
---@return fun()
local function at(buffer, row, run)
  return function()
    if vim.api.nvim_get_current_buf() == buffer then
      local last = vim.api.nvim_buf_line_count(buffer)
      vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(row, last)), 0 })
      run()
    end
  end
end

local M = {}

--- Offers the code actions from here on.
---@param run_action fun(name: string)
---@param show_turn fun()
function M.start(run_action, show_turn)
  server.offer({
    holds = holds,
    offers = function(buffer, range)
      local it = track.get(buffer) --[[@as agent.review.Tracked]]
      local row
      for line = range.start.line + 1, range["end"].line + 1 do
        row = row or hunks_of.at(it.hunks, line, #it.lines) and line
      end
      if not row then
        return {}
      end
      local function offer(title, run)
        return { title = title, kind = "agent.review", run = at(buffer, row, run) }
      end
      local function action(name)
        return function()
          run_action(name)
        end
      end
      return {
        offer("Agent: keep this hunk", action("keep")),
        offer("Agent: undo this hunk", action("undo")),
        offer("Agent: show the turn that wrote this", show_turn),
      }
    end,
  })
  track.listen(function(it)
    vim.schedule(function()
      server.refresh(it.buf)
    end)
  end)
end

return M
