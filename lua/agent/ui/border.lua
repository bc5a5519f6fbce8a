-- The border of the agent's floats: the user's 'winborder', if it can hold a title and keys.

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
