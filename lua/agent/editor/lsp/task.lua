--- Waits without blocking Neovim: a task is a coroutine that callbacks resume.
local M = {}

---@param thread thread
local function resume(thread)
  if vim.in_fast_event() then
    return vim.schedule(function()
      resume(thread)
    end)
  end
  local ok, problem = coroutine.resume(thread)
  if not ok then
    error(problem, 0)
  end
end

--- Runs `fn` as a task. `done` is called once, maybe before this returns: with true and what `fn` returned, or
--- with false and the error.
---@param fn fun(): any
---@param done fun(ok: boolean, result: any)
function M.run(fn, done)
  resume(coroutine.create(function()
    local ok, result = xpcall(fn, debug.traceback)
    done(ok, result)
  end))
end

--- Inside of a task: calls `start` and waits for its callback, at most `limit` milliseconds.
---@param start fun(finish: fun(...: any))
---@param limit? integer
---@return boolean in_time
---@return any ... arguments of `finish`
function M.await(start, limit)
  local thread = assert(coroutine.running(), "not in a task")
  local timer ---@type uv.uv_timer_t?
  local result ---@type { n: integer, [integer]: any }?
  local yielded = false
  local function finish(...)
    if result then
      return
    end
    result = vim.F.pack_len(...)
    if timer and not timer:is_closing() then
      timer:stop()
      timer:close()
    end
    if yielded then
      resume(thread)
    end
  end
  start(function(...)
    finish(true, ...)
  end)
  if not result then
    if limit then
      timer = vim.defer_fn(function()
        finish(false)
      end, math.max(0, limit))
    end
    yielded = true
    coroutine.yield()
  end
  return vim.F.unpack_len(result)
end

--- Checks every few milliseconds until `holds` returns a value.
---@generic T
---@param holds fun(): T?
---@param limit integer milliseconds
---@return T? value nil after the limit
function M.until_true(holds, limit)
  local stop = vim.uv.now() + limit
  local value = holds()
  while not value and vim.uv.now() < stop do
    M.await(function(finish)
      vim.defer_fn(finish, 15)
    end)
    value = holds()
  end
  return value
end

--- Runs all functions at the same time and waits for all. Raises the error of any.
---@generic T
---@param fns (fun(): T?)[]
---@return table<integer, T> results by index; a function without result leaves a gap
function M.all(fns)
  local results, problem, left = {}, nil, #fns ---@type table<integer, any>, string?, integer
  if left == 0 then
    return results
  end
  M.await(function(finish)
    for index, fn in ipairs(fns) do
      M.run(fn, function(ok, result)
        if ok then
          results[index] = result
        else
          problem = problem or result
        end
        left = left - 1
        if left == 0 then
          finish()
        end
      end)
    end
  end)
  if problem then
    error(problem, 0)
  end
  return results
end

return M
