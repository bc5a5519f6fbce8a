-- Buffers of the plugin.

--- Makes one that can be written, whatever the user's options for new buffers are.
---@param hidden? "hide"|"wipe" what becomes of it when no window shows it; default: "wipe"
---@return integer buffer
return function(hidden)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = hidden or "wipe"
  vim.bo[buffer].modifiable = true
  vim.bo[buffer].modeline = false
  return buffer
end
