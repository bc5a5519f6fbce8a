--- Tests of pure modules by `nvim -l`: a line for each that fails, last the counts.
local M = {}

local passed, failed = 0, 0

---@param what string
---@param act fun()
function M.test(what, act)
  local ok, problem = xpcall(act, debug.traceback)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  if not ok then
    print(("FAILED %s\n%s"):format(what, problem))
  end
end

---@param what? string
function M.eq(actual, expected, what)
  if not vim.deep_equal(actual, expected) then
    local words = "%s\n  expected %s\n  got      %s"
    error(words:format(what or "differs", vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

--- Prints the counts and ends Neovim.
function M.finish()
  print(("%d passed, %d failed"):format(passed, failed))
  os.exit(failed == 0 and 0 or 1)
end

return M
