-- The tutor's scripted model: a process that serves on 127.0.0.1, see denops/agent/scripted_model/serve.ts.
local process = require("agent.host.process")
local say = require("agent.ui.say")

---@class agent.TutorModel
---@field job integer
---@field waiting fun()[]  callbacks for sent orders, oldest first
local Model = {}
Model.__index = Model

local M = {}

---@param order table see `Order` in serve.ts
---@param done? fun() called when the model has executed it
function Model:tell(order, done)
  table.insert(self.waiting, done or function() end)
  pcall(vim.fn.chansend, self.job, vim.json.encode(order) .. "\n")
end

--- Handles a line of the model's output.
---@param line string
---@param ready fun(url: string)
function Model:hear(line, ready)
  local done = line == "done" and table.remove(self.waiting, 1)
  if done then
    done()
  elseif line:match("^http%S+$") then
    ready(line)
  end
end

--- Closes the connection; the process then exits.
function Model:stop()
  pcall(vim.fn.chanclose, self.job, "stdin")
end

---@param folder string removed at its end
---@param on { ready: fun(url: string), ended: fun(how: string) }
---@return agent.TutorModel?
---@return string? problem
function M.start(folder, on)
  local flags = { "--allow-net=127.0.0.1", "--allow-write=" .. folder }
  local command, problem = process.command("scripted_model/serve.ts", flags)
  if not command then
    return nil, problem
  end
  table.insert(command, folder)
  local printed, output, is_fetching = "", {}, false
  local model = setmetatable({ waiting = {} }, Model)
  model.job = vim.fn.jobstart(command, {
    on_stdout = function(_, data)
      local lines = vim.split(printed .. table.concat(data, "\n"), "\n")
      printed = table.remove(lines)
      for _, line in ipairs(lines) do
        model:hear(line, on.ready)
      end
    end,
    on_stderr = function(_, lines)
      vim.list_extend(output, lines)
      if not is_fetching and table.concat(lines, "\n"):find("Download") then
        is_fetching = true
        say.info("fetching the plugin's dependencies, once …")
      end
    end,
    on_exit = function(_, code)
      local text = table.concat(output, "\n")
      on.ended(process.offline(text) or process.ending(code, output))
    end,
  })
  return model
end

return M
