-- The keys of the chat's own buffers. No other buffer gets any.
local M = {}

---@class agent.Key
---@field keys string
---@field modes string
---@field where "both"|"transcript"|"input"
---@field action string  method of the chat, see chat/init.lua
---@field doc string

---@type agent.Key[]
M.keys = {
  { keys = "<CR>", modes = "n", where = "input", action = "submit", doc = "send" },
  { keys = "<C-s>", modes = "ni", where = "input", action = "submit", doc = "send" },
  { keys = "<C-p>", modes = "ni", where = "input", action = "earlier", doc = "earlier message" },
  { keys = "<C-n>", modes = "ni", where = "input", action = "later", doc = "later message" },
  { keys = "<C-c>", modes = "ni", where = "both", action = "stop", doc = "stop the turn" },
  { keys = "q", modes = "n", where = "both", action = "hide", doc = "hide the chat; the turn goes on" },
  { keys = "<Tab>", modes = "n", where = "both", action = "tab", doc = "go to what waits, else open or close a block" },
  { keys = "<CR>", modes = "n", where = "transcript", action = "enter", doc = "open the file, or open or close a block" },
  { keys = "gf", modes = "n", where = "transcript", action = "goto_file", doc = "open the file" },
  { keys = "]]", modes = "n", where = "transcript", action = "next_turn", doc = "next message of yours" },
  { keys = "[[", modes = "n", where = "transcript", action = "previous_turn", doc = "previous message of yours" },
  { keys = "gy", modes = "n", where = "transcript", action = "yank_code", doc = "yank the code block" },
  { keys = "i", modes = "n", where = "transcript", action = "focus_input", doc = "go to the input" },
  { keys = "g?", modes = "n", where = "both", action = "show_keys", doc = "show these keys" },
}

---@param chat agent.Chat
function M.map(chat)
  local buffers = { transcript = { chat.transcript }, input = { chat.input.buffer } }
  buffers.both = { chat.transcript, chat.input.buffer }
  for _, key in ipairs(M.keys) do
    for _, buffer in ipairs(buffers[key.where]) do
      vim.keymap.set(vim.split(key.modes, ""), key.keys, function()
        chat[key.action](chat)
      end, { buffer = buffer, desc = "Agent: " .. key.doc, nowait = true })
    end
  end
end

--- Lines that explain the keys.
---@return string[]
function M.explained()
  local lines = {}
  for _, key in ipairs(M.keys) do
    local where = key.where == "both" and "" or (" (%s)"):format(key.where)
    table.insert(lines, ("%-8s %s%s"):format(key.keys, key.doc, where))
  end
  return lines
end

return M
