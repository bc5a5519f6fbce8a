-- What a user does with the files that turns have changed: undo, redo, restore. The chat is given by init.lua.
local client = require("agent.client")
local preview = require("agent.checkpoints.preview")

local M = {}

---@class agent.RestoredFile see protocol/requests.ts
---@field path string
---@field from? string
---@field outcome "restored"|"merged"|"conflict"|"unchanged"|"skipped"
---@field text? string  both sides of a conflict, or why nothing was done

---@param chat agent.Chat
---@param name string
---@param params table
---@param done fun(result: table)
local function ask(chat, name, params, done)
  local session = chat.timeline.session
  if not session then
    return vim.notify("agent: this conversation has changed no file yet")
  end
  params = vim.tbl_extend("error", params, { sessionId = session })
  client.request(chat, name, params, function(result, problem)
    if result then
      done(result)
    else
      vim.notify("agent: " .. problem, vim.log.levels.ERROR)
    end
  end)
end

local OUTCOMES = { "restored", "merged", "unchanged", "skipped", "conflict" }

--- "2 files restored, 1 merged".
---@param files agent.RestoredFile[]
---@return string
local function summary(files)
  local counts = {}
  for _, file in ipairs(files) do
    counts[file.outcome] = (counts[file.outcome] or 0) + 1
  end
  local parts = {}
  for _, outcome in ipairs(OUTCOMES) do
    local count = counts[outcome]
    if count then
      local unit = #parts > 0 and "" or (count == 1 and "file " or "files ")
      local word = outcome == "conflict" and "in conflict" or outcome
      table.insert(parts, ("%d %s%s"):format(count, unit, word))
    end
  end
  return #parts > 0 and table.concat(parts, ", ") or "no file was changed"
end

--- What could not be taken back, with both sides, for the quickfix list.
---@param files agent.RestoredFile[]
---@return table[]
local function problems(files)
  local items = {}
  for _, file in ipairs(files) do
    if file.outcome == "conflict" or file.outcome == "skipped" then
      local lines = vim.split(file.text or "", "\n")
      local both = #lines > 1
      local text = both and "the same lines were changed since; nothing was written" or lines[1]
      local line = tonumber((file.text or ""):match("line (%d+)")) or 1
      table.insert(items, { filename = file.path, lnum = line, text = text, type = "W" })
      for _, one in ipairs(both and lines or {}) do
        table.insert(items, { text = one })
      end
    end
  end
  return items
end

--- One line, and the quickfix list where something was left as it is.
---@param title string
---@param result { files: agent.RestoredFile[] }
local function tell(title, result)
  local items = problems(result.files)
  local level = #items > 0 and vim.log.levels.WARN or vim.log.levels.INFO
  vim.notify(("agent: %s: %s"):format(title, summary(result.files)), level)
  if #items > 0 then
    vim.fn.setqflist({}, " ", { title = "Agent: not taken back", items = items })
    vim.cmd("botright copen")
  end
end

---@param chat agent.Chat
---@param turn? integer  the newest that stands, unless told
function M.undo(chat, turn)
  ask(chat, "undo", { turn = turn }, function(result)
    tell(("Undid turn %d"):format(result.turn), result)
  end)
end

---@param chat agent.Chat
function M.redo(chat)
  ask(chat, "redo", {}, function(result)
    tell(("Redid turn %d"):format(result.turn), result)
  end)
end

--- Shows what would be done, and does it when the user says so.
---@param chat agent.Chat
---@param turn integer
local function show_preview(chat, turn)
  ask(chat, "restore_preview", { turn = turn }, function(result)
    preview.show(turn, result.files, chat.timeline.root, function()
      ask(chat, "restore", { turn = turn }, function(restored)
        tell(("Back before turn %d"):format(turn), restored)
      end)
    end)
  end)
end

---@param row table see CheckpointTurn in protocol/requests.ts
---@return string
local function label(row)
  local count = #row.files
  local when = os.date("%d %b %H:%M", math.floor(row.time / 1000))
  local files = ("%d %s"):format(count, count == 1 and "file" or "files")
  local undone = row.undone and " (undone)" or ""
  local text = vim.fn.strcharpart(row.text:gsub("%c", " "), 0, 60)
  return ("%3d  %s  %s%s  %s"):format(row.turn, when, files, undone, text)
end

--- Chooses a turn; after a preview the files become what they were before it.
---@param chat agent.Chat
---@param turn? integer
function M.restore(chat, turn)
  if turn then
    return show_preview(chat, turn)
  end
  ask(chat, "checkpoints", {}, function(result)
    if #result.turns == 0 then
      return vim.notify("agent: this conversation has changed no file yet")
    end
    vim.ui.select(result.turns, {
      prompt = "Go back before turn",
      format_item = label,
    }, function(row)
      if row then
        show_preview(chat, row.turn)
      end
    end)
  end)
end

--- The files that the conversation has changed, in the quickfix list.
---@param chat agent.Chat
function M.changes(chat)
  ask(chat, "changes", {}, function(result)
    if #result.files == 0 then
      return vim.notify("agent: no file is changed")
    end
    local items = vim.tbl_map(function(file)
      local counts = file.opaque and "binary" or ("+%d −%d"):format(file.added, file.removed)
      return { filename = file.path, lnum = 1, text = ("%s  %s"):format(file.kind, counts) }
    end, result.files)
    vim.fn.setqflist({}, " ", { title = "Agent: changed files", items = items })
    vim.cmd("botright copen")
  end)
end

return M
