-- The keys of the approval's window.
local window = require("agent.approval.window")

local M = {}

---@class agent.ApprovalKey
---@field keys string|string[]
---@field name? string    one of several keys, passed to the action
---@field action string   function of approval/init.lua
---@field with? string    its argument
---@field at_once? true   works before the window is armed, too
---@field doc string

---@type agent.ApprovalKey[]
M.keys = {
  { keys = "a", action = "approve", doc = "allow once, keep the chosen changes, or type an answer" },
  { keys = "s", action = "approve", with = "session", doc = "allow for this session" },
  { keys = "A", action = "always", doc = "always allow, with a rule" },
  { keys = "r", action = "reject_now", doc = "reject, or discard the changes" },
  { keys = "R", action = "reject", doc = "reject with a reason" },
  { keys = "e", action = "edit", doc = "edit the command" },
  { keys = "d", action = "diff", doc = "show the diffs in a tab" },
  { keys = "<Space>", action = "choose", doc = "choose the changes to keep" },
  { keys = vim.split("123456789", ""), name = "1 … 9", action = "choose_answer", doc = "choose this answer" },
  { keys = "<Tab>", action = "next", doc = "next pending request" },
  { keys = { "<Esc>", "q" }, action = "leave", at_once = true, doc = "leave it pending" },
  { keys = "<C-c>", action = "stop", at_once = true, doc = "stop the turn" },
}

--- Runs the action of a key.
---@param key string
---@param can table<string, fun(argument?: string)>
function M.run(key, can)
  for _, row in ipairs(M.keys) do
    if vim.list_contains(vim.iter({ row.keys }):flatten():totable(), key) then
      return can[row.action](row.with or row.name and key or nil)
    end
  end
end

---@param buffer integer
---@param can table<string, fun(argument?: string)>
function M.map(buffer, can)
  for _, row in ipairs(M.keys) do
    for _, key in ipairs(vim.iter({ row.keys }):flatten():totable()) do
      vim.keymap.set("n", key, function()
        if row.at_once or window.is_armed() then
          M.run(key, can)
        end
      end, { buffer = buffer, nowait = true, desc = "Agent: " .. row.doc })
    end
  end
end

return M
