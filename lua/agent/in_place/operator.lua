-- `<Plug>(AgentOperator)`: adds the lines of a motion to the next message, as a Visual selection does.
local M = {}

--- Called by 'operatorfunc'; the dot repeats it elsewhere.
function M.func()
  local first, last = vim.api.nvim_buf_get_mark(0, "[")[1], vim.api.nvim_buf_get_mark(0, "]")[1]
  vim.cmd.Agent({ args = { "open" }, range = { first, last } })
end

--- For a map with `expr`.
---@return string keys that wait for a motion
function M.start()
  vim.o.operatorfunc = "v:lua.require'agent.in_place.operator'.func"
  return "g@"
end

return M
