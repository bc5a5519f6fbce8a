-- The supervisor in a process of our own.
local config = require("agent.config")

---@class agent.Process
---@field channel integer
local Process = {}
Process.__index = Process

local M = {}

--- How many lines of stderr are kept.
local KEPT = 20

--- The folder of main.ts and standalone.ts.
---@return string
function M.scripts()
  local here = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))
  return vim.fs.normalize(vim.fn.fnamemodify(vim.fs.joinpath(here, "../../../denops/agent"), ":p"))
end

--- The program on the PATH, but not in a folder of the project: a tool may have written it, and what Neovim starts runs
--- outside of every sandbox. nil if there is none; what the user has named by a path is taken as it is.
---@param program string
---@return string?
local function outside_of_project(program)
  if program:find("[/\\]") or vim.fn.has("win32") == 1 then
    return vim.fn.executable(program) == 1 and program or nil
  end
  local home = vim.uv.fs_realpath(vim.uv.os_homedir() or "/")
  local roots = vim.tbl_map(vim.uv.fs_realpath, { vim.fn.getcwd(), vim.fs.root(0, ".git") })
  for folder in vim.gsplit(vim.env.PATH or "", ":", { plain = true }) do
    local path = vim.startswith(folder, "/") and vim.uv.fs_realpath(vim.fs.joinpath(folder, program))
    local is_inside = path
      and vim.iter(roots):any(function(root)
        -- Neither is ever a project.
        return root ~= "/" and root ~= home and vim.startswith(path, root .. "/")
      end)
    if path and not is_inside and vim.fn.executable(path) == 1 then
      return vim.fs.joinpath(folder, program)
    end
  end
end

--- Deno's own words for a module that it can neither find in its cache nor fetch.
local OFFLINE = { "Failed loading http", "error sending request", "could not find .* in the cache", "dns error" }

--- What to run where there is a network.
---@return string
local function fetch_command()
  local command = vim.list_extend({ unpack(config.get().deno) }, { "cache", "--frozen" })
  for _, script in ipairs({ "standalone.ts", "supervisor/supervisor.ts", "engine/main.ts" }) do
    table.insert(command, vim.fs.joinpath(M.scripts(), script))
  end
  return table.concat(command, " ")
end

--- How the process ended: its code or signal, and the line that tells what went wrong.
---@param code integer
---@param said string[]
---@return string
local function ending(code, said)
  local how = ("exit code %d"):format(code)
  for name, number in pairs(vim.uv.constants) do
    if code - 128 == number and name:find("^SIG") then
      how = "signal " .. name
    end
  end
  local telling = said[#said]
  for _, line in ipairs(said) do
    if line:lower():find("error") then
      telling = line
      break
    end
  end
  return telling and ("(%s): %s"):format(how, telling) or ("(%s)."):format(how)
end

--- Closes the connection; the process ends by itself.
function Process:stop()
  pcall(vim.fn.chanclose, self.channel)
end

--- nil and why there is none.
---@param on { on_fetching: fun(), on_exit: fun(process: agent.Process, how: string) }
---@return agent.Process?
---@return string? problem
function M.start(on)
  local folder = M.scripts()
  local wanted = config.get().deno
  local program = outside_of_project(wanted[1])
  if not program then
    local name = wanted[1] == "deno" and "Deno" or wanted[1]
    return nil, ("%s was not found. Install Deno (https://deno.com), or set the option deno."):format(name)
  end
  local command = vim.list_extend({ program, unpack(wanted, 2) }, {
    "run",
    "-A",
    "--no-prompt",
    "--frozen",
    "--config=" .. vim.fs.normalize(vim.fs.joinpath(folder, "../../deno.json")),
    vim.fs.joinpath(folder, "standalone.ts"),
  })
  local process = setmetatable({}, Process)
  --- The last lines of its stderr.
  local said = {} ---@type string[]
  local is_fetching = false
  process.channel = vim.fn.jobstart(command, {
    rpc = true,
    on_stderr = function(_, lines)
      for _, line in ipairs(lines) do
        line = line:gsub("\27%[[%d;]*m", ""):gsub("%c", "")
        if line:find("^Download") and not is_fetching then
          is_fetching = true
          on.on_fetching()
        end
        if line ~= "" then
          table.insert(said, line)
        end
        if #said > KEPT then
          table.remove(said, 1)
        end
      end
    end,
    on_exit = function(_, code)
      local text = table.concat(said, "\n")
      local is_offline = vim.iter(OFFLINE):any(function(pattern)
        return text:find(pattern) ~= nil
      end)
      if is_offline then
        on.on_exit(process, "Cannot fetch the plugin's dependencies. Run this once when online: " .. fetch_command())
      else
        on.on_exit(process, "The supervisor stopped " .. ending(code, said))
      end
    end,
  })
  return process
end

return M
