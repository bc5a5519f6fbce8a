--- vim.lsp, which fails to load where Neovim cannot create its log folder. Before it is loaded, no client runs.
local M = {}

---@return boolean
function M.is_loaded()
  -- A failure leaves a mark instead of the module.
  return type(package.loaded["vim.lsp"]) == "table"
end

--- See vim.lsp.get_clients.
---@param filter? vim.lsp.get_clients.Filter
---@return vim.lsp.Client[]
function M.clients(filter)
  return M.is_loaded() and vim.lsp.get_clients(filter) or {}
end

return M
