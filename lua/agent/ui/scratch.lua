-- Buffers of the plugin.

--- Buffers with the same name and another number.
local MOST = 20

--- Makes one that can be written, whatever the user's options for new buffers are.
---@param name? string one word for lists of buffers and the tab line, which shortens folders: it has no slash
---@param hidden? "hide"|"wipe" what becomes of it when no window shows it; default: "wipe"
---@return integer buffer
return function(name, hidden)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = hidden or "wipe"
  vim.bo[buffer].modifiable = true
  vim.bo[buffer].modeline = false
  for count = 1, name and MOST or 0 do
    local suffix = count > 1 and "-" .. count or ""
    if pcall(vim.api.nvim_buf_set_name, buffer, "agent://" .. name .. suffix) then
      break
    end
  end
  return buffer
end
