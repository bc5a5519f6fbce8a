--- Serialises events with a common path; others run concurrently.
local M = {}

---@class agent.reload.Job
---@field paths string[]
---@field run fun(finish: fun())
---@field started boolean

local jobs = {} ---@type agent.reload.Job[]

---@param a string[]
---@param b string[]
---@return boolean
local function share(a, b)
  for _, path in ipairs(a) do
    if vim.list_contains(b, path) then
      return true
    end
  end
  return false
end

---@param index integer
---@return boolean
local function is_free(index)
  for i = 1, index - 1 do
    if share(jobs[i].paths, jobs[index].paths) then
      return false
    end
  end
  return true
end

---@return agent.reload.Job?
local function next_job()
  for i, job in ipairs(jobs) do
    if not job.started and is_free(i) then
      return job
    end
  end
end

local start_free ---@type fun()

---@param job agent.reload.Job
local function start(job)
  job.started = true
  local finished = false
  job.run(function()
    if finished then
      return
    end
    finished = true
    for i, other in ipairs(jobs) do
      if other == job then
        table.remove(jobs, i)
        break
      end
    end
    start_free()
  end)
end

function start_free()
  local job = next_job()
  while job do
    start(job)
    job = next_job()
  end
end

--- Runs `run` as soon as no earlier job shares a path with it, possibly at once. `run` must call `finish`
--- exactly once, at any time.
---@param paths string[]
---@param run fun(finish: fun())
function M.push(paths, run)
  jobs[#jobs + 1] = { paths = paths, run = run, started = false }
  start_free()
end

return M
