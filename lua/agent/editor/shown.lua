-- What the user has on screen, as the model is told of it.
local find = require("agent.reload.find")

local M = {}

local MOST_BUFFERS = 20

---@class agent.Shown see protocol/surroundings.ts; paths are absolute
---@field current? { path: string, line: integer, modified: boolean }
---@field buffers { path: string, modified: boolean }[]
---@field errors integer
---@field warnings integer

---@param window integer the one that the user came from
---@return agent.Shown
function M.get(window)
  local infos = vim.tbl_filter(function(info)
    return find.is_file_buffer(info.bufnr)
  end, vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 }))
  table.sort(infos, function(a, b)
    return a.lastused ~= b.lastused and a.lastused > b.lastused or a.lastused == b.lastused and a.bufnr < b.bufnr
  end)
  local buffers = {}
  for _, info in ipairs(vim.list_slice(infos, 1, MOST_BUFFERS)) do
    table.insert(buffers, { path = find.real(info.name), modified = info.changed == 1 })
  end
  local current
  local buffer = vim.api.nvim_win_get_buf(window)
  if find.is_file_buffer(buffer) then
    current = {
      path = find.real(vim.api.nvim_buf_get_name(buffer)),
      line = vim.api.nvim_win_get_cursor(window)[1],
      modified = vim.bo[buffer].modified,
    }
  end
  local counts = vim.diagnostic.count()
  local severity = vim.diagnostic.severity
  return {
    current = current,
    buffers = buffers,
    errors = counts[severity.ERROR] or 0,
    warnings = counts[severity.WARN] or 0,
  }
end

return M
