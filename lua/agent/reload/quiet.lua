--- Runs a function on a buffer without autocommands and without traces in the lists of places.
local api = vim.api

local M = {}

local pending ---@type fun()?

--- Called by the command below only.
function M._run()
  local fn = pending
  pending = nil
  if fn then
    fn()
  end
end

--- Runs `fn` with `buf` as the current buffer. `:noautocmd` keeps OptionSet and FileChangedRO quiet and
--- `:keepjumps` leaves the change list and the `'.` mark to the user's own edits. Both are command
--- modifiers, which Lua calls cannot carry, hence the way through `:lua`.
---@param buf integer
---@param fn fun()
---@return boolean ok
---@return string? error
function M.run(buf, fn)
  local ok, err = false, nil ---@type boolean, any
  pending = function()
    ok, err = pcall(fn)
  end
  local called, reason = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("noautocmd keepjumps lua require('agent.reload.quiet')._run()")
  end)
  pending = nil
  if not called then
    return false, tostring(reason)
  end
  return ok, not ok and tostring(err) or nil
end

--- Sets buffer options quietly; to be called inside of `run`.
---@param options table<string, any>
function M.set(options)
  for name, value in pairs(options) do
    if vim.bo[name] ~= value then
      vim.bo[name] = value
    end
  end
end

return M
