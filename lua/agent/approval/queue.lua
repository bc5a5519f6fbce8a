-- Pending approvals and questions, the oldest first. The first is shown.
local M = {}

---@type agent.Approval[]
local waiting = {}

---@return agent.Approval?
function M.first()
  return waiting[1]
end

--- The first one of a chat.
---@param chat integer
---@return agent.Approval?
function M.of(chat)
  return vim.iter(waiting):find(function(approval)
    return approval.chat == chat
  end)
end

---@return integer
function M.count()
  return #waiting
end

---@param approval agent.Approval
function M.add(approval)
  table.insert(waiting, approval)
end

--- Replaces the one with the same number.
---@param approval agent.Approval
---@return agent.Approval? old nil if there was none
function M.replace(approval)
  for index, old in ipairs(waiting) do
    if old.request == approval.request then
      waiting[index] = approval
      return old
    end
  end
end

---@param request integer
---@return boolean was_first
function M.remove(request)
  for index, approval in ipairs(waiting) do
    if approval.request == request then
      table.remove(waiting, index)
      return index == 1
    end
  end
  return false
end

--- Moves the first one to the end.
function M.rotate()
  table.insert(waiting, table.remove(waiting, 1))
end

--- Removes and returns those of these chats.
---@param chats integer[]
---@return agent.Approval[]
function M.take(chats)
  local taken, left = {}, {}
  for _, approval in ipairs(waiting) do
    table.insert(vim.list_contains(chats, approval.chat) and taken or left, approval)
  end
  waiting = left
  return taken
end

return M
