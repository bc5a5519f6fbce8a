-- Hands the work of a session over to another agent: composes its first message, which the user edits and sends.
local client = require("agent.client")
local say = require("agent.ui.say")

local M = {}

local QUESTION = "Another coding agent takes this work over and knows nothing of this session. Write what it needs: "
  .. "the goal, what is done, what was decided and why, what failed, and what is left. Name files by their paths. "
  .. "Answer with the text alone."

--- Milliseconds until the last turns replace the summary.
local LONGEST_WAIT = 60000
--- Characters of the summary or of all turns, and of one text of a turn.
local LONGEST, LONGEST_TEXT = 8000, 2000
local MOST_FILES = 100

---@param text string
---@param most integer
---@return string
local function cut(text, most)
  text = vim.trim(text)
  return vim.fn.strchars(text) > most and vim.fn.strcharpart(text, 0, most) .. " …" or text
end

--- The texts of the last turns, as many as fit.
---@param timeline agent.Timeline
---@return string
local function last_turns(timeline)
  local parts, room = {}, LONGEST
  for _, block in vim.iter(timeline.blocks):rev():enumerate() do
    local who = block.kind == "text" and "Agent" or block.kind == "user" and block.turn and "User"
    local text = who and block.text ~= "" and ("%s: %s"):format(who, cut(block.text, LONGEST_TEXT))
    if text then
      room = room - vim.fn.strchars(text)
      if room < 0 then
        break
      end
      table.insert(parts, 1, text)
    end
  end
  return table.concat(parts, "\n\n")
end

---@param chat agent.Chat
---@param files table[] see TurnFile in protocol/requests.ts
---@return string
local function list(chat, files)
  local lines = vim.tbl_map(function(file)
    local path = vim.fs.relpath(chat.timeline.root or "", file.path) or file.path
    return ("- %s (%s, +%d −%d)"):format(path, file.kind, file.added, file.removed)
  end, vim.list_slice(files, 1, MOST_FILES))
  if #files > MOST_FILES then
    table.insert(lines, ("- and %d more"):format(#files - MOST_FILES))
  end
  return table.concat(lines, "\n")
end

---@param chat agent.Chat
---@param words string
---@param summary? string
---@param files table[]
---@return string
local function message(chat, words, summary, files)
  local line = chat.timeline
  local parts = { words == "" and "Continue this work." or words }
  local function add(title, text)
    if text and text ~= "" then
      table.insert(parts, ("%s\n\n%s"):format(title, text))
    end
  end
  table.insert(parts, ("It was begun in another session%s."):format(line.title and (': "%s"'):format(line.title) or ""))
  add("Summary:", summary and cut(summary, LONGEST))
  add("Its last turns:", not summary and last_turns(line) or nil)
  local plan = vim.iter(line.blocks):rev():find(function(block)
    return block.kind == "plan"
  end)
  add("The plan:", plan and plan.text)
  add("Files that it has changed, which are as it left them unless they were edited since:", list(chat, files))
  return table.concat(parts, "\n\n")
end

--- A summary by the session's own model; nil without one.
---@param chat agent.Chat
---@param done fun(summary?: string)
local function summarise(chat, done)
  local is_over = false
  local function finish(text)
    if not is_over then
      is_over = true
      done(text and vim.trim(text) ~= "" and text or nil)
    end
  end
  local action = { type = "aside", chat = chat.id, session = chat.timeline.session, text = QUESTION, staged = false }
  local request = client.ask(vim.tbl_extend("error", action, chat:place()), function(update)
    finish(update and update.result and update.result.text)
  end, function() end)
  vim.defer_fn(function()
    if not is_over then
      finish()
      client.send({ type = "aside_stop", chat = chat.id, request = request })
    end
  end, LONGEST_WAIT)
end

--- Opens a chat with the agent and puts the message into its input. Nothing is sent.
---@param chats agent.Chats
---@param argument? string  the agent, and what it is to do
function M.run(chats, argument)
  local agent, words = (argument or ""):match("^(%S+)%s*(.*)$")
  local chat = chats.get()
  local session = chat.timeline.session
  if not agent then
    return say.error("name an agent: :Agent handoff claude")
  elseif not session then
    return say.info("nothing to hand over yet: :Agent new " .. agent .. " starts a chat with it")
  end
  -- The chat opens at once: later the user may be typing elsewhere.
  local other = chats.new(chat.timeline.root)
  other:change_agent(agent)
  other:show()
  -- In the chat, because other messages would hide it.
  local waiting = "The session is being summarised. Its message comes into the input, for you to edit and send."
  other:apply({ { type = "notice", severity = "info", text = waiting } })
  summarise(chat, function(summary)
    client.request(chat, "changes", { sessionId = session }, function(result)
      if other.is_closed then
        return
      end
      local input = other.input
      local was_empty = input:is_empty()
      -- Others have written most of it.
      input:add(message(chat, words, summary, result and result.files or {}), true)
      local window = vim.fn.win_findbuf(input.buffer)[1]
      if was_empty and window then
        -- The user's own words are in the first line.
        vim.api.nvim_win_set_cursor(window, { 1, #vim.api.nvim_buf_get_lines(input.buffer, 0, 1, false)[1] })
      end
    end)
  end)
end

return M
