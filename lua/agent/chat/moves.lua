-- Moves between the two windows of a chat, and scrolls the transcript from the input.
local window = require("agent.chat.window")

---@class agent.Moves
---@field chat agent.Chat
local Moves = {}
Moves.__index = Moves

---@param chat agent.Chat
---@return agent.Moves
function Moves.new(chat)
  return setmetatable({ chat = chat }, Moves)
end

--- Neovim's window commands skip floats. Splits may have other neighbours.
---@param chat agent.Chat
---@param target "transcript"|"input"
---@param direction "j"|"k"
local function go(chat, target, direction)
  local windows = chat.windows
  local win = windows and windows[target]
  local is_float = vim.api.nvim_win_get_config(0).relative ~= ""
  if is_float and win and vim.api.nvim_win_is_valid(win) then
    vim.api.nvim_set_current_win(win)
  else
    vim.cmd.wincmd({ direction, count = vim.v.count1 })
  end
end

function Moves:to_transcript()
  go(self.chat, "transcript", "k")
end

function Moves:to_input()
  go(self.chat, "input", "j")
end

--- Scrolls the transcript; the cursor stays in the input.
---@param chat agent.Chat
---@param keys string
local function scroll(chat, keys)
  local windows = chat.windows
  if windows and vim.api.nvim_win_is_valid(windows.transcript) then
    vim.api.nvim_win_call(windows.transcript, function()
      -- At an end of the text it would beep.
      pcall(vim.cmd, "silent! normal! " .. vim.keycode(keys))
    end)
    window.show_end(windows.transcript)
  end
end

function Moves:page_up()
  scroll(self.chat, "<C-b>")
end

function Moves:page_down()
  scroll(self.chat, "<C-f>")
end

function Moves:half_page_up()
  scroll(self.chat, "<C-u>")
end

function Moves:half_page_down()
  scroll(self.chat, "<C-d>")
end

return Moves
