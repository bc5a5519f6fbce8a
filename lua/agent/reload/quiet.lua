--- Runs a function on a buffer without autocommands, and without changing the jump and change lists.
local api = vim.api

local M = {}

local pending ---@type fun()?

--- Called only by the command below.
function M._run()
  local fn = pending
  pending = nil
  if fn then
    fn()
  end
end

--- Runs `fn` with `buf` as the current buffer. `:noautocmd` suppresses OptionSet and FileChangedRO, and
--- `:keepjumps` reserves the change list and the `'.` mark for the user's own edits. Lua calls cannot have
--- these command modifiers, so this uses `:lua`.
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

--- Sets buffer options quietly. Call it inside of `run`.
---@param options table<string, any>
function M.set(options)
  for name, value in pairs(options) do
    if vim.bo[name] ~= value then
      vim.bo[name] = value
    end
  end
end

return M
