--- Plays random commands on windows and buffers, and looks at the chat after each few of them.
--- Called with a seed, how many rounds, and a file for sessions; gives what went wrong, or "".
local seed, rounds, session = ...
local chats = require("agent.chat")
math.randomseed(seed)

--- Neovim's sign before it waits for a key: files leave the chat's windows.
local SETTLE = "doautocmd <nomodeline> SafeState"

local COMMANDS = {
  { "bdelete", "bdelete!", "bwipeout", "bwipeout!", "%bdelete", "%bdelete!", "%bwipeout!", "bunload!" },
  { "edit a.txt", "edit! b.txt", "buffer a.txt", "argedit a.txt" },
  { "edit b.txt | setlocal bufhidden=wipe", "setlocal winfixbuf" },
  { SETTLE, SETTLE, SETTLE .. " | " .. SETTLE, "edit a.txt | " .. SETTLE, "noautocmd edit b.txt" },
  { "edit", "edit!", "enew", "bnext", "bprevious", "sbnext", "ball", "unhide" },
  { "only", "only!", "close", "close!", "hide", "split", "vsplit", "new", "wincmd =", "resize 2" },
  { "wincmd w", "wincmd p", "wincmd k", "wincmd j", "wincmd x", "wincmd r", "wincmd T", "wincmd H" },
  { "tabnew", "tabclose", "tabonly", "tabnext", "tab split", "fclose!" },
  { "windo edit", "bufdo edit!", "setlocal nowinfixbuf", "diffthis", "diffoff!" },
  { "set nomodifiable", "setlocal nomodifiable", "set modifiable" },
  { "set columns=40", "set columns=120", "set lines=12", "set lines=30", "wall", "startinsert", "stopinsert" },
  { "Agent", "Agent toggle", "Agent queue", "Agent stop", "Agent pause" },
  { "mksession! " .. session, "source " .. session },
}

local function pick(list)
  return list[math.random(#list)]
end

--- What is no error of the chat's: Neovim says that a command cannot be done here.
local function strange()
  local told = vim.fn.execute("messages")
  vim.cmd("messages clear")
  return told:match("stack traceback.*") or told:match("agent/[%w_/]+%.lua:%d+.*")
end

--- A window of the chat that shows something else.
local function occupied()
  for _, chat in ipairs(chats.list()) do
    for _, where in ipairs(chat:is_open() and { "transcript", "input" } or {}) do
      local buffer = vim.api.nvim_win_get_buf(chat.windows[where])
      if buffer ~= chat[where].buffer then
        return ("the window of the %s shows %q"):format(where, vim.api.nvim_buf_get_name(buffer))
      end
    end
  end
end

local function problem(message)
  local chat = chats.current()
  local windows = chat.windows
  if not chat:is_visible() then
    return "is not in view"
  elseif vim.api.nvim_get_current_win() ~= windows.input then
    return "its input has not the cursor"
  elseif vim.api.nvim_win_get_buf(windows.transcript) ~= chat.transcript.buffer then
    return "the transcript is not in its window"
  elseif vim.api.nvim_win_get_buf(windows.input) ~= chat.input.buffer then
    return "the input is not in its window"
  elseif chat.input:text() ~= "a draft" then
    return "the draft is " .. vim.inspect(chat.input:text())
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(chat.transcript.buffer, 0, -1, false), "\n")
  if text ~= message then
    return "the transcript is " .. vim.inspect(text)
  end
end

vim.cmd("messages clear")
for round = 1, rounds do
  local played = {}
  for _ = 1, math.random(6) do
    local command = pick(pick(COMMANDS))
    table.insert(played, command)
    -- What cannot be done is an error of the command's own, unless the plugin is named in it.
    local done, why = pcall(vim.cmd, "silent " .. command)
    if not done and tostring(why):find("agent/[%w_/]+%.lua:") then
      return ("round %d, %s: %s"):format(round, table.concat(played, " | "), why)
    end
    local is_taken = done and command:sub(-#SETTLE) == SETTLE and occupied()
    if is_taken then
      return ("round %d, %s: %s"):format(round, table.concat(played, " | "), is_taken)
    end
    if math.random(2) == 1 then
      vim.wait(1)
    end
  end
  vim.wait(5)
  local opened, why = xpcall(vim.cmd, debug.traceback, "Agent")
  vim.cmd.stopinsert()
  vim.wait(5)
  local wrong = not opened and why or strange() or problem("Hello\n\nThe answer")
  if wrong then
    return ("round %d, %s: %s"):format(round, table.concat(played, " | "), wrong)
  end
end
return ""
