-- :checkhealth agent
local M = {}

local health = vim.health

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
  if vim.g.loaded_denops then
    health.ok("denops.vim is installed: the supervisor runs in its server")
  else
    health.ok("denops.vim is not installed: the supervisor runs in a process of its own")
  end
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
  for _, row in ipairs({ "root", "provider", "host", "model", "key" }) do
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

function M.check()
  local config = require("agent.config")
  local options = config.get()
  check_programs(options)
  check_options()
  local report
  local name = vim.api.nvim_buf_get_name(vim.fn.bufnr("#"))
  local cwd = vim.fn.getcwd()
  local place = { folder = name ~= "" and vim.fs.dirname(name) or cwd, cwd = cwd, root = options.root }
  require("agent.client").ask(vim.tbl_extend("error", { type = "health" }, place), function(update)
    report = update.report
  end)
  -- A health check is asked for and waited for, as all of them are.
  vim.wait(15000, function()
    return report ~= nil
  end, 20)
  if report then
    show(report)
  else
    health.error("The supervisor does not answer", { "Look at :messages", "Try: deno --version" })
  end
end

return M
