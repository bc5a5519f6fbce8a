-- The text of the input as an answer: the reason of a rejection, or the answer to a question.
local chats = require("agent.approval.chats")
local content = require("agent.approval.content")
local queue = require("agent.approval.queue")

local M = {}

--- The chat of the first approval, if its input has text.
---@return agent.Chat?
function M.chat()
  local approval = queue.first()
  local chat = approval and chats.get(approval.chat)
  return chat and not chat.input:is_empty() and chat or nil
end

--- A hint for the key that uses it.
---@return string?
function M.hint()
  if not M.chat() then
    return nil
  end
  local is_question = content.kind(assert(queue.first())).answer == "text"
  return is_question and "<M-r> answer with what you typed" or "<M-r> reject with what you typed"
end

return M
