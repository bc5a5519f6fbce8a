-- The approvals and questions that wait, the oldest first; the first is shown.
local M = {}

---@type agent.Approval[]
local waiting = {}

---@return agent.Approval?
function M.first()
  return waiting[1]
end

---@return integer
function M.count()
  return #waiting
end

---@param approval agent.Approval
function M.add(approval)
  table.insert(waiting, approval)
end

--- Puts another one in the place of that with the same number.
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

--- The first one becomes the last.
function M.rotate()
  table.insert(waiting, table.remove(waiting, 1))
end

--- Takes out those of these chats.
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
