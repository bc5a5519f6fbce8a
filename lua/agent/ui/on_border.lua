--- Text on the border of a float. Without a background of its own it would have that of other windows.
---@param text string
---@param group string
---@return [string, string[]][]
return function(text, group)
  return { { text, { "AgentNormal", group } } }
end
