-- A code action on diagnostics that lets the agent fix them.
local find = require("agent.reload.find")
local server = require("agent.server")

local M = {}

---@param buffer integer
---@param range lsp.Range
---@return vim.Diagnostic[]
local function within(buffer, range)
  return vim.tbl_filter(function(one)
    return one.lnum <= range["end"].line and (one.end_lnum or one.lnum) >= range.start.line
  end, vim.diagnostic.get(buffer))
end

---@param run fun(text?: string, options: agent.ActionOptions) the action
---@param buffer integer
---@param found vim.Diagnostic[]
local function ask(run, buffer, found)
  local first, last = math.huge, 0
  for _, one in ipairs(found) do
    first, last = math.min(first, one.lnum + 1), math.max(last, (one.end_lnum or one.lnum) + 1)
  end
  run(nil, { context = require("agent.context.attachment").selection(buffer, first, last) })
end

--- Offers the code action from here on.
---@param run fun(text?: string, options: agent.ActionOptions) the action `fix`
function M.offer(run)
  server.offer({
    holds = function(buffer)
      -- Neovim loads the module with the first diagnostic.
      local diagnostic = package.loaded["vim.diagnostic"]
      return diagnostic ~= nil and find.is_file_buffer(buffer) and next(diagnostic.count(buffer)) ~= nil
    end,
    offers = function(buffer, range)
      local found = within(buffer, range)
      if #found == 0 then
        return {}
      end
      local title = #found == 1 and "Agent: fix this" or ("Agent: fix these %d"):format(#found)
      return {
        {
          title = title,
          kind = "quickfix",
          run = function()
            ask(run, buffer, found)
          end,
        },
      }
    end,
  })

  vim.api.nvim_create_autocmd("DiagnosticChanged", {
    group = vim.api.nvim_create_augroup("agent.fix", {}),
    desc = "agent: offer to fix",
    callback = vim.schedule_wrap(function(event)
      server.refresh(event.buf)
    end),
  })

  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    server.refresh(buffer)
  end
end

return M
