-- The border of the agent's floats: the user's 'winborder', as far as a title and keys can stand in it.

---@return string|string[]
return function()
  local wanted = vim.o.winborder
  if wanted == "" then
    return "rounded"
  elseif wanted == "none" or wanted == "shadow" then
    return "solid"
  end
  return wanted:find(",", 1, true) and vim.split(wanted, ",") or wanted
end
