-- The supervisor in a process of the plugin.
local config = require("agent.config")
local program = require("agent.host.program")
local schema = require("agent.config.schema")
local scripts = require("agent.config.scripts")

---@class agent.Process
---@field channel integer
local Process = {}
Process.__index = Process

local M = {}

--- Kept lines of stderr.
local KEPT = 20

---@return string
local function config_flag()
  return "--config=" .. vim.fs.normalize(vim.fs.joinpath(scripts(), "../../deno.json"))
end

--- Deno's messages for a module that is neither cached nor reachable.
local OFFLINE = { "Failed loading http", "Failed caching npm package", "error sending request", "dns error" }

--- One line with the command to run, after such a message.
---@param output string Deno's words
---@return string?
function M.offline(output)
  local is_offline = vim.iter(OFFLINE):any(function(pattern)
    return output:find(pattern) ~= nil
  end)
  if not is_offline then
    return nil
  end
  local command = vim.list_extend({ unpack(config.get().deno) }, { "cache", "--frozen", config_flag() })
  for _, script in ipairs({ "standalone.ts", "supervisor/supervisor.ts", "engine/main.ts" }) do
    table.insert(command, vim.fs.joinpath(scripts(), script))
  end
  return "Cannot fetch the plugin's dependencies. Run this once when online: " .. table.concat(command, " ")
end

--- The problem of this Deno version; nil if it is supported.
---@param output string of --version
---@return string?
function M.version_problem(output)
  local version = output:match("^deno (%d+%.%d+%.%d+)")
  if version and vim.version.lt(version, schema.oldest_deno) then
    return ('it needs Deno %s or newer, and this is %s. Update with "deno upgrade".'):format(schema.oldest_deno, version)
  end
end

--- The end of the process: its code or signal, and the line with the reason.
---@param code integer
---@param output string[]
---@return string
function M.ending(code, output)
  local how = ("exit code %d"):format(code)
  for name, number in pairs(vim.uv.constants) do
    if code - 128 == number and name:find("^SIG") then
      how = "signal " .. name
    end
  end
  local telling = output[#output]
  for _, line in ipairs(output) do
    if line:lower():find("error") then
      telling = line
      break
    end
  end
  return telling and ("(%s): %s"):format(how, telling) or ("(%s)."):format(how)
end

--- Closes the connection, after which the process exits.
function Process:stop()
  pcall(vim.fn.chanclose, self.channel)
end

--- The command for a module of the plugin in Deno; nil and the reason if Deno is missing.
---@param script string below scripts()
---@param flags string[]
---@return string[]?
---@return string? problem
function M.command(script, flags)
  local wanted = config.get().deno
  local found = program.find(wanted[1])
  if not found then
    local name = wanted[1] == "deno" and "Deno" or wanted[1]
    return nil, ("%s was not found. Install Deno (https://deno.com), or set the option deno."):format(name)
  end
  local command = vim.list_extend({ found, unpack(wanted, 2) }, { "run", unpack(flags) })
  return vim.list_extend(command, { "--no-prompt", "--frozen", config_flag(), vim.fs.joinpath(scripts(), script) })
end

--- nil and why there is none.
---@param on { on_fetching: fun(), on_exit: fun(process: agent.Process, how: string) }
---@return agent.Process?
---@return string? problem
function M.start(on)
  -- The same for the engine, see supervisor/agents/grants.ts.
  local command, none = M.command("standalone.ts", { "--v8-flags=--max-semi-space-size=1", "-A" })
  if not command then
    return nil, none
  end
  local process = setmetatable({}, Process)
  --- The last lines of its stderr.
  local output = {} ---@type string[]
  local is_fetching = false
  ---@param done fun(problem?: string) called later
  ---@return boolean started
  local function ask_version(done)
    local ask = vim.list_extend({ command[1], unpack(config.get().deno, 2) }, { "--version" })
    local on_answer = vim.schedule_wrap(function(answer)
      done(M.version_problem(answer.stdout or ""))
    end)
    return (pcall(vim.system, ask, { timeout = 2000 }, on_answer))
  end
  process.channel = vim.fn.jobstart(command, {
    rpc = true,
    env = { MALLOC_ARENA_MAX = "1", DENO_NO_UPDATE_CHECK = "1" },
    on_stderr = function(_, lines)
      for _, line in ipairs(lines) do
        line = line:gsub("\27%[[%d;]*m", ""):gsub("%c", "")
        if line:find("^Download") and not is_fetching then
          is_fetching = true
          on.on_fetching()
          -- One that is too old would say so only when everything is there.
          ask_version(function(problem)
            if problem then
              on.on_exit(process, "Cannot start: " .. problem)
              vim.fn.jobstop(process.channel)
            end
          end)
        end
        if line ~= "" then
          table.insert(output, line)
        end
        if #output > KEPT then
          table.remove(output, 1)
        end
      end
    end,
    on_exit = function(_, code)
      local text = M.offline(table.concat(output, "\n")) or "The supervisor stopped " .. M.ending(code, output)
      local started = code == 1
        and ask_version(function(problem)
          on.on_exit(process, problem and "Cannot start: " .. problem or text)
        end)
      if not started then
        on.on_exit(process, text)
      end
    end,
  })
  return process
end

return M
