-- Work in small steps, each in its own turn of the event loop: Neovim reads and draws keys between them.
local M = {}

--- Milliseconds between two steps. Without them the next step would run before the next key.
local PAUSE_MS = 5

--- A module to load, or a function. If the function returns false, no further step runs.
---@alias agent.Step string|fun(): boolean?

--- Modules that are already loaded take no turn.
---@param steps agent.Step[]
---@param goes_on? fun(): boolean asked before each step
---@param first? integer
function M.run(steps, goes_on, first)
  local at = first or 1
  while package.loaded[steps[at]] do
    at = at + 1
  end
  local step = steps[at]
  if not step then
    return
  end
  vim.defer_fn(function()
    if goes_on and not goes_on() then
      return
    end
    if type(step) == "string" then
      require(step)
    elseif step() == false then
      return
    end
    M.run(steps, goes_on, at + 1)
  end, PAUSE_MS)
end

return M
