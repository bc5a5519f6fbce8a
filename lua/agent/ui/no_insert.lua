--- Leaves Insert mode in a read-only buffer: a click changes the window in any mode, and keys that start Insert mode
--- may arrive late.
---@param buffer integer
return function(buffer)
  local function leave()
    if vim.api.nvim_get_current_buf() == buffer and vim.api.nvim_get_mode().mode:find("^[iR]") then
      vim.cmd.stopinsert()
    end
  end
  vim.api.nvim_create_autocmd("BufEnter", { buffer = buffer, callback = leave })
  -- Later: Insert mode has not begun yet.
  vim.api.nvim_create_autocmd("InsertEnter", { buffer = buffer, callback = vim.schedule_wrap(leave) })
end
