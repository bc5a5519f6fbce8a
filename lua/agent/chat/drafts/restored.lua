-- Session files of :mksession hold the windows of the plugin's buffers without their text.

---@param buffer integer
---@return boolean
local function is_named(buffer)
  return vim.api.nvim_buf_is_loaded(buffer) and vim.startswith(vim.api.nvim_buf_get_name(buffer), "agent://")
end

--- Closes the empty windows that a session file has restored.
return vim.schedule_wrap(function()
  local buffers = vim.tbl_filter(is_named, vim.api.nvim_list_bufs())
  if #buffers > 0 or package.loaded["agent.chat"] then
    require("agent.chat").restored(buffers)
  end
end)
