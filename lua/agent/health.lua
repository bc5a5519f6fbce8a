-- :checkhealth agent
local M = {}

local health = vim.health

--- The supervisor's present host, whatever the option says.
local function check_host()
  health.start("agent: host")
  local host = require("agent.client").host()
  if host == "denops" then
    health.ok("The supervisor runs in denops.vim's server")
  elseif host == "standalone" then
    local why = not vim.g.loaded_denops and "denops.vim is not installed"
      or vim.v.vim_did_enter == 0 and "denops.vim's server starts after Neovim"
      or "denops.vim's server is not running, or the option host rules it out"
    health.ok(("The supervisor runs in a process of its own: %s"):format(why))
  else
    health.warn("The supervisor is not running")
  end
end

local NEEDED_FOR = {
  ripgrep = "the agent cannot search",
  git = "the agent sees no changes, branches and ignored files, and has no worktrees",
}

---@param config table
---@param report? table
local function check_programs(config, report)
  health.start("agent: programs")
  for _, program in ipairs(report and report.programs or {}) do
    if program.found then
      health.ok(("%s: %s"):format(program.name, program.found))
    else
      health.warn(("%s was not found: %s"):format(program.name, NEEDED_FOR[program.name]), {
        ("Install %s, and see that it is on the PATH of Neovim"):format(program.name),
      })
    end
  end
  health.ok("Neovim " .. tostring(vim.version()))
  local deno = config.deno[1]
  local found = require("agent.host.program").find(deno)
  if found then
    local ran, answer = pcall(function()
      local command = vim.list_extend({ found, unpack(config.deno, 2) }, { "--version" })
      return vim.system(command):wait(2000)
    end)
    local problem = ran and require("agent.host.process").version_problem(answer.stdout or "")
    if problem then
      health.error("Deno is too old: " .. problem)
    else
      health.ok("Deno: " .. found)
    end
  else
    health.error("Deno was not found: " .. deno, { "Install it from https://deno.com, or set the option deno" })
  end
  if pcall(vim.treesitter.language.add, "markdown") then
    health.ok("tree-sitter parser for markdown found")
  else
    health.warn("No tree-sitter parser for markdown: the chat has no colours")
  end
end

--- The language servers of the project's buffers, which the model's tools may use.
---@param report table
local function check_servers(report)
  health.start("agent: language servers")
  local roots = vim.split(report.root, ", ", { plain = true, trimempty = true })
  local buffers = {} ---@type table<string, integer>
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.uv.fs_realpath(vim.api.nvim_buf_get_name(buffer)) or ""
    local inside = vim.iter(roots):any(function(root)
      return vim.startswith(path, root .. "/")
    end)
    for _, server in ipairs(inside and require("agent.server").others({ bufnr = buffer }) or {}) do
      buffers[server.name] = (buffers[server.name] or 0) + 1
    end
  end
  local names = vim.tbl_keys(buffers)
  table.sort(names)
  for _, name in ipairs(names) do
    health.ok(("%s is attached to %d %s"):format(name, buffers[name], buffers[name] == 1 and "buffer" or "buffers"))
  end
  if #names == 0 then
    health.info("None is attached to a buffer of the project: the model's tools for symbols find nothing")
  end
end

--- Advice for a problem that begins with an option, or with a part of one: "providers.work.wire: …", "ui.width must …",
--- "unknown option providers.work.base_ur, …".
---@param problem string
---@return string
local function help_of(problem)
  local name = problem:gsub("^unknown option ", ""):match("^[^%s:,]+") ---@type string?
  while name and not require("agent.config.schema").get().by_name[name] do
    name = name:match("^(.*)%.")
  end
  return name and "See :help agent-option-" .. name or "See :help agent-options"
end

--- True if Neovim has found the same problem of a provider.
---@param problem string of the supervisor: "providers.work: unknown option base_ur. …"
---@param problems string[] of Neovim: "unknown option providers.work.base_ur, …"
---@return boolean
local function is_known(problem, problems)
  local path = problem:match("^providers%.[^:]+")
  return path ~= nil and vim.iter(problems):any(function(own)
    return own:find(path, 1, true) ~= nil
  end)
end

--- The first section: mistakes here explain those below.
---@param report? table
local function check_options(report)
  health.start("agent: options")
  local config = require("agent.config")
  local problems, renamed = config.current_problems(), config.renamed()
  for _, problem in ipairs(problems) do
    health.error(problem, { help_of(problem) })
  end
  for _, line in ipairs(renamed) do
    health.warn(line, { "See :help agent-options" })
  end
  local reported = vim.tbl_filter(function(problem)
    return not is_known(problem, problems)
  end, report and report.options or {})
  for _, problem in ipairs(reported) do
    local rules_help = problem:find("Not a rule") and "See :help agent-rule-patterns"
    health.error("Invalid option " .. problem, { help_of(problem), rules_help })
  end
  if #problems == 0 and #renamed == 0 and #reported == 0 then
    health.ok("No mistakes found")
  end
end

--- Whether the plugin's modules are loaded as bundles, see agents/bundle.ts.
---@param report table
local function show_bundles(report)
  local folder = require("agent.config.scripts")()
  local command = ("Run in %s: deno task bundle"):format(vim.fs.normalize(vim.fs.joinpath(folder, "../..")))
  local function is_bundle(part)
    return vim.endswith(part, "denops/agent/dist/engine/main.js")
  end
  if vim.iter(report.engine_deno):any(is_bundle) then
    health.ok("The plugin's modules are bundled")
  elseif vim.uv.fs_stat(vim.fs.joinpath(folder, "dist")) then
    health.warn("The plugin's modules have changed since they were bundled, so the bundles are not used", { command })
  else
    health.info("The plugin's modules are not bundled. Optional, for a faster start: " .. command)
  end
end

---@param report table see HealthReport in protocol/ui.ts
local function show_project(report)
  health.start("agent: supervisor and engine")
  for _, problem in ipairs(report.problems) do
    health.error(problem)
  end
  health.ok("Deno " .. report.deno)
  show_bundles(report)
  for _, row in ipairs({ "root", "provider", "address", "model", "key" }) do
    if report[row] ~= "" then
      health.ok(("%s: %s"):format(row, report[row]))
    end
  end
  if report.check then
    local tell = { ok = health.ok, error = health.error, unknown = health.warn }
    tell[report.check.state](report.check.text, report.check.state == "error" and { "See :help agent-providers" } or nil)
  end
  for _, provider in ipairs(report.providers) do
    (provider.ready and health.ok or health.warn)(("provider %s: %s"):format(provider.name, provider.text))
  end
  for _, engine in ipairs(report.engines) do
    health.ok("running engine: " .. engine)
  end
end

---@param heading string
---@param lines string[]
local function list(heading, lines)
  if #lines > 0 then
    health.info(heading .. "\n" .. table.concat(lines, "\n"))
  end
end

--- The advice without the operating system's sandbox.
---@param sandbox string of the engine, in words
---@return string
local function sandbox_advice(sandbox)
  return sandbox:find("switched off", 1, true) and 'Set the option sandbox to "auto".'
    or sandbox:find("--disable-userns", 1, true) and "Update bubblewrap to 0.8 or later."
    or sandbox:find("does not work here", 1, true) and "Allow user namespaces, see :help agent-troubleshooting"
    or "On Linux install bubblewrap."
end

---@param report table
local function show_engine_sandbox(report)
  health.start("agent: sandbox of the engine")
  if report.sandbox:find("^bubblewrap") then
    health.ok(report.sandbox)
  elseif report.sandbox ~= "" then
    health.warn(report.sandbox, {
      "Without the operating system's sandbox, only the tools' own check stops symbolic links out of the project.",
      sandbox_advice(report.sandbox),
    })
  else
    health.warn("Unknown: see the errors of this report")
  end
  list("Deno is started with exactly:", report.engine_deno)
  list("Around it, exactly:", report.engine_sandbox)
end

local LEVELS = { bubblewrap = "bubblewrap", seatbelt = "Seatbelt (sandbox-exec)" }

---@param commands? table see CommandsReport in protocol/ui.ts
---@param sandbox string of the engine, in words
local function show_commands(commands, sandbox)
  health.start("agent: sandbox of commands")
  if not commands then
    health.warn("Unknown: see the errors of this report")
    return
  end
  if LEVELS[commands.level] then
    health.ok(LEVELS[commands.level])
  else
    local holds = sandbox:find("^bubblewrap") ~= nil
    health.warn("None: each command asks, whatever the rules say", {
      holds and "Install bash." or sandbox_advice(sandbox),
    })
  end
  if commands.rehearses == "" then
    health.ok("Commands run over an overlay of the project: what they change is shown before it is kept")
  elseif LEVELS[commands.level] then
    health.info("No overlay: commands that write ask first, and work on the files themselves: " .. commands.rehearses)
  end
  list("A command that looks (access look) is started in the project's root with exactly:", commands.args)
  health.start("agent: hidden from commands")
  list("These folders are empty for commands:", commands.masked_folders)
  list("These files cannot be read by commands:", commands.masked_files)
  if #commands.masked_folders == 0 and #commands.masked_files == 0 then
    health.info("Nothing")
  end
end

---@param report table see HealthReport in protocol/ui.ts
local function show_agents(report)
  health.start("agent: other agents")
  local agents, commands = report.agents or { known = {}, absent = {} }, report.commands
  for _, agent in ipairs(agents.known) do
    (agent.ready and health.ok or health.warn)(("%s: %s"):format(agent.name, agent.text))
  end
  if #agents.known > 0 and commands then
    if commands.rehearses == "" then
      health.ok("They run over an overlay of the project: their changes are judged before they are kept")
    elseif commands.level == "bubblewrap" then
      health.info("No overlay, so they work on a copy of the project: " .. commands.rehearses)
    else
      health.warn("No sandbox for them, so none of them starts here: " .. commands.rehearses)
    end
  end
  if #agents.absent > 0 then
    local names = table.concat(agents.absent, ", ")
    health.info(("Not installed: %s. See :help agent-other-agents"):format(names))
  end
end

---@param profiles string[]
local function show_programs(profiles)
  health.start("agent: profiles of programs")
  list("Each runs under one of these profiles, see :help agent-programs", profiles)
end

--- The supervisor's report. A health check waits for it, like every health check.
---@return table? report
---@return string? problem
local function ask()
  -- The supervisor's current host, regardless of the option.
  local before = vim.fn.tabpagenr("#")
  local is_alone = before > 0 and #vim.api.nvim_tabpage_list_wins(0) == 1
  local window = is_alone and vim.api.nvim_tabpage_get_win(vim.api.nvim_list_tabpages()[before])
  local place = require("agent.projects").place(window or 0)
  local client = require("agent.client")
  local report, problem
  client.ask(vim.tbl_extend("error", { type = "health" }, place), function(update, why)
    report, problem = update and update.report, why
  end)
  client.hurry()
  vim.wait(15000, function()
    return report ~= nil or problem ~= nil
  end, 20)
  return report, problem
end

function M.check()
  local too_old = require("agent.too_old").problem()
  if too_old then
    health.start("agent: programs")
    return health.error(too_old, { "Get it from https://github.com/neovim/neovim/releases" })
  end
  local options = require("agent.config").get()
  local report, problem = ask()
  check_options(report)
  if report then
    show_project(report)
    show_engine_sandbox(report)
    show_commands(report.commands, report.sandbox)
    show_agents(report)
    show_programs(report.profiles)
  else
    health.start("agent: supervisor and engine")
    health.error(problem or "The supervisor does not answer", { "Look at :messages", "Try: deno --version" })
  end
  check_programs(options, report)
  if report then
    check_servers(report)
  end
  check_host()
end

return M
