--- Renames the buffer of a renamed file, which otherwise stays the same.
local api = vim.api
local lsp = require("agent.ui.lsp")

local M = {}

---@return table<integer, true>
local function existing_buffers()
  local set = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    set[buf] = true
  end
  return set
end

--- Language servers identify a document by its name, so it is closed under the old name and opened under the
--- new one.
---@param buf integer
---@param change fun()
local function with_clients_reattached(buf, change)
  local ids = {} ---@type integer[]
  for _, client in ipairs(lsp.clients({ bufnr = buf })) do
    ids[#ids + 1] = client.id
    vim.lsp.buf_detach_client(buf, client.id)
  end
  change()
  for _, id in ipairs(ids) do
    vim.lsp.buf_attach_client(buf, id)
  end
end

--- Renames the buffer. The caller renews the time stamps; until then `:write` fails with E13.
---@param buf integer
---@param path string  absolute
---@return string? error
function M.rename(buf, path)
  local before = existing_buffers()
  local filetype = vim.bo[buf].filetype
  local name = vim.fn.fnamemodify(path, ":.")
  local ok, err = true, nil ---@type boolean, any
  with_clients_reattached(buf, function()
    ok, err = pcall(api.nvim_buf_call, buf, function()
      vim.cmd.file({
        args = { name },
        magic = { file = false, bar = false },
        mods = { keepalt = true, silent = true },
      })
    end)
  end)
  -- `:file` leaves an unlisted buffer with the old name.
  for _, other in ipairs(api.nvim_list_bufs()) do
    if not before[other] and not api.nvim_buf_is_loaded(other) then
      pcall(api.nvim_buf_delete, other, { force = true })
    end
  end
  if vim.bo[buf].filetype ~= filetype then
    vim.bo[buf].filetype = filetype
  end
  return not ok and tostring(err) or nil
end

return M
