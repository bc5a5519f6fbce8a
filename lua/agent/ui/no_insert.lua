--- Leaves Insert mode in a buffer that takes no text: a click goes from window to window in any mode.
---@param buffer integer
return function(buffer)
  vim.api.nvim_create_autocmd("BufEnter", {
    buffer = buffer,
    callback = function()
      if vim.api.nvim_get_mode().mode:find("^[iR]") then
        vim.cmd.stopinsert()
      end
    end,
  })
end
