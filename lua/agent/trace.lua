-- Spans of time for AGENT_TRACE=FILE, next to those of the supervisor and the engine; see protocol/trace.ts. Use:
--   local since = trace.now and trace.now()
--   work()
--   if since then trace.span("work", since) end
local M = {}

local variable = vim.env.AGENT_TRACE
if not variable or variable == "" then
  return M
end

local path = vim.fs.normalize(vim.fn.fnamemodify(variable, ":p"))
-- The supervisor may have another folder.
vim.env.AGENT_TRACE = path

--- Milliseconds until spans are written.
local INTERVAL = 100

local pid = vim.uv.os_getpid()
local file, problem = vim.uv.fs_open(path, "a", 384)
if not file then
  require("agent.ui.say").error(("AGENT_TRACE: %s"):format(problem))
  return M
end
local lines = {} ---@type string[]

--- In one write, because others append too.
local function write()
  local text = table.concat(lines)
  lines = {}
  vim.uv.fs_write(file, text)
end

---@param event table
local function add(event)
  if #lines == 0 then
    vim.defer_fn(write, INTERVAL)
  end
  event.pid, event.tid = pid, 0
  table.insert(lines, vim.json.encode(event) .. ",\n")
end

--- Microseconds since 1970.
---@return number
function M.now()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1e6 + microseconds
end

---@param name string
---@param since number result of now() at the begin
function M.span(name, since)
  add({ name = name, ph = "X", ts = since, dur = M.now() - since })
end

if vim.uv.fs_fstat(file).size == 0 then
  vim.uv.fs_write(file, "[\n")
end
add({ name = "process_name", ph = "M", args = { name = "Neovim" } })

local painting
vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace("agent.trace"), {
  on_start = function()
    painting = M.now()
  end,
  on_end = function()
    M.span("paint", painting)
  end,
})
vim.api.nvim_create_autocmd("VimLeavePre", { callback = write })

return M
