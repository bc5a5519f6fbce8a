-- Lists the background commands of a session, to read their output or stop them.
local client = require("agent.client")
local format = require("agent.ui.format")
local rows = require("agent.sessions.rows")
local say = require("agent.ui.say")

local M = {}

---@class agent.Job see protocol/jobs.ts
---@field id string
---@field command string
---@field state string     "running", or its end
---@field running boolean
---@field started number   milliseconds since 1970
---@field output string

---@param chat agent.Chat
---@param stop? string id of a job to stop first
---@param show fun(jobs: agent.Job[])
local function ask(chat, stop, show)
  local action = { type = "jobs", stop = stop, chat = chat.id, session = chat.timeline.session }
  client.ask(vim.tbl_extend("error", action, chat:place()), function(update, problem)
    if not update then
      return say.error(problem)
    end
    show(update.jobs)
  end)
end

---@param job agent.Job
---@return string
local function label(job)
  return table.concat({ format.one_line(job.command), job.state, rows.when(job.started) }, " · ")
end

---@param job agent.Job
local function read(job)
  local output = vim.trim(job.output) == "" and "Nothing was printed yet." or job.output
  local lines = { "$ " .. job.command }
  vim.list_extend(lines, vim.split((output:gsub("\n+$", "")), "\n"))
  table.insert(lines, ("[%s]"):format(job.state))
  require("agent.ui.page").open(lines, "the output")
  vim.api.nvim_win_set_cursor(0, { #lines, 0 })
end

---@param chat agent.Chat
---@param job agent.Job
local function stop(chat, job)
  ask(chat, job.id, function()
    say.info(("%s is stopped"):format(format.one_line(job.command)))
  end)
end

--- Lists them, the newest first; the chosen one is read or stopped.
---@param chat agent.Chat
function M.choose(chat)
  ask(chat, nil, function(jobs)
    if #jobs == 0 then
      return say.info("no command runs in the background")
    end
    vim.ui.select(jobs, { prompt = "Commands in the background", format_item = label }, function(job)
      if not job then
        return
      elseif not job.running then
        return read(job)
      end
      vim.ui.select({ "Read what it has printed", "Stop it" }, { prompt = label(job) }, function(_, choice)
        if choice == 1 then
          -- It may have printed more since the list was shown.
          ask(chat, nil, function(now)
            read(vim.iter(now):find(function(other)
              return other.id == job.id
            end) or job)
          end)
        elseif choice == 2 then
          stop(chat, job)
        end
      end)
    end)
  end)
end

return M
