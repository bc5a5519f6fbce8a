-- The quickfix window, as tall as Neovim makes it but no more than a third of the screen.

return function()
  vim.cmd(("botright copen %d"):format(math.max(3, math.min(10, math.floor(vim.o.lines / 3)))))
end
