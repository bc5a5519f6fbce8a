-- Functions of the chats that approvals call. The starter connects them.

---@class agent.ApprovalChats
---@field get fun(id: integer): agent.Chat?
---@field current fun(): agent.Chat?
---@field make_room fun(rows: integer): agent.Room?  room beside a visible chat; 0 rows give it back
local function none() end

return { get = none, current = none, make_room = none }
