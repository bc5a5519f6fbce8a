-- The current chat, for the completion of arguments. The starter connects it.
return {
  ---@type fun(): agent.Chat?
  chat = function() end,
}
