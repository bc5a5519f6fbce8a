-- Opens the quickfix window, at most a third of the screen tall.

return function()
  vim.cmd(("botright copen %d"):format(math.max(3, math.min(10, math.floor(vim.o.lines / 3)))))
end
