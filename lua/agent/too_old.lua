-- Whether this Neovim lacks what the plugin calls.
local schema = require("agent.config.schema")

--- One line if this Neovim is too old.
---@return string?
return function()
  if vim.fn.has("nvim-" .. schema.oldest_neovim) == 1 then
    return nil
  end
  local version = vim.version()
  local this = ("%d.%d.%d"):format(version.major, version.minor, version.patch)
  return ("Cannot start: needs Neovim %s or later, this is %s. Update Neovim."):format(schema.oldest_neovim, this)
end
