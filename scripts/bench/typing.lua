-- A user who types into the current buffer at a fixed pace, in insert mode; how long each key takes to change the text.
local M = {}

local PACE_NS = 5e6
--- A timer of libuv comes up to so much late by itself; one that is later says that Neovim was busy.
local GRAIN_NS = 2e6

function M.start()
  local timer = assert(vim.uv.new_timer())
  local due, waiting, delays = vim.uv.hrtime() + PACE_NS, {}, {}
  M.timer, M.delays = timer, delays
  vim.api.nvim_buf_attach(0, false, {
    on_bytes = function(_, _, _, _, _, _, _, _, _, _, _, added)
      for _ = 1, M.timer == timer and added or 0 do
        table.insert(delays, (vim.uv.hrtime() - table.remove(waiting, 1)) / 1e6)
      end
      return M.timer ~= timer
    end,
  })
  local function tick()
    local time = vim.uv.hrtime()
    while due <= time do
      table.insert(waiting, time - due > GRAIN_NS and due or time)
      vim.api.nvim_input("x")
      due = due + PACE_NS
    end
    timer:start(math.ceil((due - time) / 1e6), 0, tick)
  end
  tick()
end

--- Milliseconds of each key.
---@return number[]
function M.stop()
  M.timer:close()
  M.timer = nil
  return M.delays
end

return M
