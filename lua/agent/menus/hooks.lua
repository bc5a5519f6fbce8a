-- Lists the hooks of the project and the user, to read, approve or refuse one.
local client = require("agent.client")
local say = require("agent.ui.say")

local M = {}

---@class agent.Hook see HookView in protocol/results/hooks.ts
---@field id string
---@field label string
---@field state "approved"|"not approved"|"changed"|"refused"|"unsupported"
---@field last string
---@field description string[]

---@param chat agent.Chat
---@param change? { id: string, approved: boolean }
---@param show fun(hooks: agent.Hook[])
local function ask(chat, change, show)
  local action = { type = "hooks", chat = chat.id, session = chat.timeline.session, change = change }
  client.ask(vim.tbl_extend("error", action, chat:place()), function(update, problem)
    if not update then
      return say.error(problem)
    end
    show(update.hooks)
  end)
end

---@param hook agent.Hook
---@return string
local function label(hook)
  local parts = { hook.label, hook.state }
  if hook.last ~= "" then
    table.insert(parts, hook.last)
  end
  return table.concat(parts, " · ")
end

---@class agent.HookChoice
---@field text string
---@field approved? boolean

---@param hook agent.Hook
---@return agent.HookChoice[]
local function choices(hook)
  local list = { { text = "Read what it runs" } } ---@type agent.HookChoice[]
  if hook.id ~= "" and hook.state ~= "approved" then
    table.insert(list, { text = "Approve it as it is now", approved = true })
  end
  if hook.id ~= "" and hook.state ~= "refused" then
    table.insert(list, { text = "Do not run it", approved = false })
  end
  return list
end

--- Lists them; the chosen one is read or changed.
---@param chat agent.Chat
function M.choose(chat)
  ask(chat, nil, function(hooks)
    if #hooks == 0 then
      return say.info("no hook is configured; see :help agent-hooks")
    end
    vim.ui.select(hooks, { prompt = "Hooks", format_item = label }, function(hook)
      if not hook then
        return
      end
      local options = {
        prompt = label(hook),
        format_item = function(choice)
          return choice.text
        end,
      }
      vim.ui.select(choices(hook), options, function(choice)
        if not choice then
          return
        elseif choice.approved == nil then
          local lines = vim.list_extend({ "# " .. label(hook), "" }, hook.description)
          return require("agent.ui.page").open(lines, "the hook")
        end
        ask(chat, { id = hook.id, approved = choice.approved }, function(now)
          local changed = vim.iter(now):find(function(one)
            return one.id == hook.id
          end)
          say.info(changed and label(changed) or hook.label .. " is no longer configured")
        end)
      end)
    end)
  end)
end

return M
