-- :checkhealth agent
local M = {}

local health = vim.health

--- Where the supervisor runs now, whatever was wished for.
local function check_host()
  local host = require("agent.client").host()
  if host == "denops" then
    health.ok("The supervisor runs in denops.vim's server")
  elseif host == "standalone" then
    local why = vim.g.loaded_denops and "denops.vim's server does not run, or the option host says so"
      or "denops.vim is not installed"
    health.ok(("The supervisor runs in a process of its own: %s"):format(why))
  else
    health.warn("The supervisor does not run")
  end
end

---@param config table
local function check_programs(config)
  health.start("agent: programs")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.11 or newer is needed")
  end
  local deno = config.deno[1]
  if vim.fn.executable(deno) == 1 then
    health.ok("Deno: " .. vim.fn.exepath(deno))
  else
    health.error("Deno is not found: " .. deno, { "Install it from https://deno.com, or set the option deno" })
  end
  check_host()
  if pcall(vim.treesitter.language.add, "markdown") then
    health.ok("The tree-sitter parser for markdown is there")
  else
    health.warn("There is no tree-sitter parser for markdown: the chat is shown without colours")
  end
end

local function check_options()
  health.start("agent: options")
  local problems = require("agent.config").current_problems()
  for _, problem in ipairs(problems) do
    health.error(problem, { "See :help agent-options" })
  end
  if #problems == 0 then
    health.ok("No mistakes found")
  end
end

---@param report table see HealthReport in protocol/ui.ts
local function show(report)
  health.start("agent: supervisor and engine")
  for _, problem in ipairs(report.problems) do
    health.error(problem)
  end
  health.ok("Deno " .. report.deno)
  for _, row in ipairs({ "root", "provider", "address", "model", "key" }) do
    if report[row] ~= "" then
      health.ok(("%s: %s"):format(row, report[row]))
    end
  end
  for _, engine in ipairs(report.engines) do
    health.ok("running engine: " .. engine)
  end
  health.start("agent: sandbox")
  if report.sandbox:find("^bubblewrap") then
    health.ok(report.sandbox)
  elseif report.sandbox ~= "" then
    health.warn(report.sandbox, {
      "Without an operating system's sandbox a symbolic link inside the project is the tools' own check alone.",
      "On Linux install bubblewrap.",
    })
  end
  if #report.grants > 0 then
    health.info("The engine is started with exactly:\n" .. table.concat(report.grants, "\n"))
  end
end

--- What the supervisor says of itself. A health check is asked for and waited for, as all of them are.
---@param options table
---@return table? report
---@return string? problem
local function ask(options)
  local name = vim.api.nvim_buf_get_name(vim.fn.bufnr("#"))
  local cwd = vim.fn.getcwd()
  local place = { folder = name ~= "" and vim.fs.dirname(name) or cwd, cwd = cwd, root = options.root }
  local report, problem
  require("agent.client").ask(vim.tbl_extend("error", { type = "health" }, place), function(update, why)
    report, problem = update and update.report, why
  end)
  vim.wait(15000, function()
    return report ~= nil or problem ~= nil
  end, 20)
  return report, problem
end

function M.check()
  local options = require("agent.config").get()
  local report, problem = ask(options)
  check_programs(options)
  check_options()
  if report then
    show(report)
  else
    health.start("agent: supervisor and engine")
    health.error(problem or "The supervisor does not answer", { "Look at :messages", "Try: deno --version" })
  end
end

return M
