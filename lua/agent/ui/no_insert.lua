--- Leaves Insert mode in a read-only buffer: a click changes the window in any mode.
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
