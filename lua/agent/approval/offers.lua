-- Code actions in all files while an approval is pending: approve or reject this one.
local content = require("agent.approval.content")
local find = require("agent.reload.find")
local format = require("agent.ui.format")
local queue = require("agent.approval.queue")
local say = require("agent.ui.say")
local server = require("agent.server")

local M = {}

local LONGEST = 60

---@param request integer
---@param run fun()
---@return fun()
local function if_first(request, run)
  return function()
    local first = queue.first()
    if first and first.request == request then
      run()
    else
      say.info("that is no longer waiting for an answer")
    end
  end
end

--- Offers the code actions from here on.
---@param approve fun()
---@param reject fun()
function M.start(approve, reject)
  server.offer({
    holds = function(buffer)
      return queue.count() > 0 and find.is_file_buffer(buffer)
    end,
    offers = function()
      local first = queue.first()
      if not first or content.kind(first).answer ~= "allow" then
        return {}
      end
      local title = format.one_line(first.title or "")
      if vim.fn.strchars(title) > LONGEST then
        title = vim.fn.strcharpart(title, 0, LONGEST - 1) .. "…"
      end
      local function offer(word, run)
        return { title = ("Agent: %s: %s"):format(word, title), kind = "agent.approval", run = if_first(first.request, run) }
      end
      return {
        offer("approve", approve),
        offer("reject", reject),
      }
    end,
  })
end

local had = false

--- Called when an approval opens or closes.
function M.refresh()
  local has = queue.count() > 0
  if has ~= had then
    had = has
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      server.refresh(buffer)
    end
  end
end

return M
