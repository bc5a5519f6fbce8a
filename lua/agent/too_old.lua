-- Refuses to run in a Neovim that is too old.
local say = require("agent.ui.say")
local schema = require("agent.config.schema")

local M = {}

--- The error message if this Neovim is too old.
---@return string?
function M.problem()
  if vim.fn.has("nvim-" .. schema.oldest_neovim) == 1 then
    return nil
  end
  local version = vim.version()
  local this = ("%d.%d.%d"):format(version.major, version.minor, version.patch)
  return ("Cannot start: needs Neovim %s or later, this is %s. Update Neovim."):format(schema.oldest_neovim, this)
end

--- A public API of which each function shows the message.
---@return table
function M.api()
  local line = say.line(M.problem() or "")
  -- Not say.error, which needs newer options. Later, so that the first screen is drawn.
  local refuse = vim.schedule_wrap(function()
    vim.notify(line, vim.log.levels.WARN)
  end)
  local function status()
    return ""
  end
  -- Typing `:Agent` shows nothing.
  local function preload() end
  return setmetatable({ status = status, preload = preload }, {
    __index = function()
      return refuse
    end,
  })
end

return M
