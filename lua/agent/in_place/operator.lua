-- `<Plug>(AgentOperator)`: the lines of a motion go along with the next message, as a Visual selection does.
local M = {}

--- As 'operatorfunc' is called. The dot does it again elsewhere.
function M.func()
  local first, last = vim.api.nvim_buf_get_mark(0, "[")[1], vim.api.nvim_buf_get_mark(0, "]")[1]
  local selection = require("agent.context.given").selection(vim.api.nvim_get_current_buf(), first, last)
  require("agent").open(nil, { context = selection })
end

--- For a map with `expr`.
---@return string keys that wait for a motion
function M.start()
  vim.o.operatorfunc = "v:lua.require'agent.in_place.operator'.func"
  return "g@"
end

return M
