-- Sub-commands about checkpoints.
local say = require("agent.ui.say")

--- Goes back to before a turn: restores the files, and opens a copy of the session with the turn's message in the
--- input.
---@param chats agent.Chats
---@param turn? string|integer nil asks
local function rewind(chats, turn)
  local chat = chats.get()
  local function back(row)
    require("agent.checkpoints").rewind(chat, row.turn, function()
      return require("agent.sessions").fork_at(chats, chat, row.turn - 1, row.text)
    end)
  end
  local rows = vim.iter(chat.timeline.blocks):rev():filter(function(block)
    return block.kind == "user" and block.turn ~= nil
  end)
  -- Turns that are still being read are not there yet.
  local is_reading = chat.history.is_reading and "the chat's turns are being read. Try again once they are shown"
  if turn then
    local row = rows:find(function(block)
      return block.turn == tonumber(turn)
    end)
    return row and back(row) or not row and say.error(is_reading or ("the chat shows no turn %s"):format(turn)) or nil
  end
  rows = rows:totable()
  if #rows == 0 then
    return say.info(is_reading or "nothing to go back to: nothing was said yet")
  end
  vim.ui.select(rows, {
    prompt = "Go back to before",
    format_item = function(block)
      return ("turn %d  %s"):format(block.turn, vim.fn.strcharpart(block.text:gsub("%c", " "), 0, 60))
    end,
  }, function(row)
    if row then
      back(row)
    end
  end)
end

---@type agent.Action[]
return {
  {
    name = "undo",
    plug = "AgentUndo",
    args = "[turn]",
    takes = "number",
    is_strict = true,
    doc = "Undo the file changes of the newest turn, or of this turn.",
    run = function(chats, turn)
      require("agent.checkpoints").undo(chats.get(), tonumber(turn))
    end,
  },
  {
    name = "redo",
    plug = "AgentRedo",
    doc = "Redo the last undo.",
    run = function(chats)
      require("agent.checkpoints").redo(chats.get())
    end,
  },
  {
    name = "restore",
    plug = "AgentRestore",
    args = "[turn]",
    takes = "number",
    is_strict = true,
    doc = "Restore all files to their state before a turn, after a preview.",
    run = function(chats, turn)
      require("agent.checkpoints").restore(chats.get(), tonumber(turn))
    end,
  },
  {
    name = "rewind",
    args = "[turn]",
    takes = "number",
    is_strict = true,
    doc = "Go back to before a message, with files and session.",
    run = rewind,
  },
  {
    name = "changes",
    plug = "AgentChanges",
    doc = "List the files that the session has changed.",
    run = function(chats)
      require("agent.checkpoints").changes(chats.get())
    end,
  },
}
