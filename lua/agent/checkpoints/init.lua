-- Undoes, redoes and restores the files that turns have changed.
local client = require("agent.client")
local format = require("agent.ui.format")
local preview = require("agent.checkpoints.preview")

local say = require("agent.ui.say")

local M = {}

---@class agent.RestoredFile see protocol/requests.ts
---@field path string
---@field from? string
---@field outcome "restored"|"merged"|"conflict"|"unchanged"|"skipped"
---@field text? string  both sides of a conflict, or the reason of a skip

---@param chat agent.Chat
---@param name string
---@param params table
---@param done fun(result: table)
---@param failed? fun()
local function ask(chat, name, params, done, failed)
  local session = chat.timeline.session
  if not session then
    return say.info("this session has changed no file yet")
  end
  params = vim.tbl_extend("error", params, { sessionId = session })
  client.request(chat, name, params, function(result, problem)
    if result then
      return done(result)
    end
    say.error(problem)
    if failed then
      failed()
    end
  end)
end

---@param count integer
---@return string
local function files_of(count)
  return ("%d %s"):format(count, count == 1 and "file" or "files")
end

--- "2 files restored, 1 merged".
---@param counts table<string, integer> by outcome
---@return string
local function summary(counts)
  local parts = {}
  for _, outcome in ipairs({ "restored", "merged", "unchanged" }) do
    local count = counts[outcome]
    if count then
      table.insert(parts, ("%s %s"):format(#parts > 0 and count or files_of(count), outcome))
    end
  end
  return table.concat(parts, ", ")
end

--- "src/app.ts conflicts", "3 files skipped".
---@param names string[]
---@param verb string
---@param has_names boolean
---@return string?
local function left(names, verb, has_names)
  if #names == 0 then
    return nil
  end
  local who = (#names == 1 and has_names) and names[1] or files_of(#names)
  return ("%s %s%s"):format(who, verb, (verb == "conflict" and #names == 1) and "s" or "")
end

--- Files that were not restored, with both sides, for the quickfix list.
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

--- The list opens, and the focus stays: the user may be typing.
---@param title string
---@param items table[]
local function show_beside(title, items)
  vim.fn.setqflist({}, " ", { title = title, items = items })
  -- The command-line window cannot open other windows.
  if vim.fn.getcmdwintype() ~= "" then
    return
  end
  local window = vim.api.nvim_get_current_win()
  require("agent.ui.quickfix")()
  vim.api.nvim_set_current_win(window)
  -- Otherwise the list would clear the message.
  vim.cmd.redraw()
end

---@class agent.TakingWords
---@field done string  "undid turn 1"
---@field none string  "turn 1 not undone"
---@field again string  sub-command that tries the rest again

--- Marks the lists of changed files in the transcript, reports the result in one line, and lists files that were not
--- restored.
---@param chat agent.Chat
---@param words agent.TakingWords
---@param result table see TakenBack in protocol/requests.ts
---@param redone? table<string, true> paths
local function tell(chat, words, result, redone)
  if not chat.is_closed then
    chat:apply({ { type = "undone", turns = result.turns, calls = result.calls, redone = redone } })
  end
  -- The supervisor drops files that are not the project's any more.
  if #result.files == 0 then
    return say.warn(words.none .. ": the files are behind a link by now, or outside of the project")
  end
  local counts, names = {}, { conflict = {}, skipped = {} }
  for _, file in ipairs(result.files) do
    counts[file.outcome] = (counts[file.outcome] or 0) + 1
    if names[file.outcome] then
      table.insert(names[file.outcome], preview.short(chat.timeline.root, file.path))
    end
  end
  local done = summary(counts)
  if #names.conflict + #names.skipped == 0 then
    return say.info(("%s: %s"):format(words.done, done ~= "" and done or "no file was changed"))
  end
  local nothing = not counts.restored and not counts.merged
  local title = nothing and words.none or words.done .. " in part"
  local function text(has_names)
    local parts = {}
    table.insert(parts, left(names.conflict, "conflict", has_names))
    table.insert(parts, left(names.skipped, "skipped", has_names))
    return ("%s: %s (see quickfix)"):format(title, table.concat(parts, ", "))
  end
  show_beside(("Agent: not taken back; %s tries again"):format(words.again), problems(result.files))
  say.warn(say.fitting({ text(true), text(false), title .. " (see quickfix)", "see quickfix" }))
end

--- Columns of a call's title in a message.
local TITLE = 40

---@class agent.UndoneCall
---@field chat agent.Chat
---@field ids string[]  of the call and of the calls under it
---@field title string

---@param chat agent.Chat
---@param turn? integer  default: the newest that is not undone
---@param call? agent.UndoneCall  instead of a turn
function M.undo(chat, turn, call)
  ask(chat, "undo", { turn = turn, calls = call and call.ids }, function(result)
    local subject = call and format.cut(call.title, TITLE) or ("turn %d"):format(result.turn)
    tell(chat, {
      done = "undid " .. subject,
      none = subject .. " not undone",
      again = call and "gru on its line" or (":Agent undo %d"):format(result.turn),
    }, result)
  end)
end

---@param chat agent.Chat
function M.redo(chat)
  ask(chat, "redo", {}, function(result)
    local subject, redone = result.some and "the call" or ("turn %d"):format(result.turn), {}
    for _, file in ipairs(result.files) do
      if file.outcome == "restored" or file.outcome == "merged" then
        redone[file.path] = true
      end
    end
    tell(chat, {
      done = "redid " .. subject,
      none = subject .. " not redone",
      again = ":Agent redo",
    }, result, redone)
  end)
end

--- Shows a preview, and restores once the user agrees.
---@param chat agent.Chat
---@param turn integer
local function show_preview(chat, turn)
  ask(chat, "restore_preview", { turn = turn }, function(result)
    preview.show(turn, result.files, chat.timeline.root, function()
      ask(chat, "restore", { turn = turn }, function(restored)
        tell(chat, {
          done = ("back to before turn %d"):format(turn),
          none = ("not back to before turn %d"):format(turn),
          again = (":Agent restore %d"):format(turn),
        }, restored)
      end)
    end)
  end)
end

---@param row table see CheckpointTurn in protocol/requests.ts; or { before }, for the next page
---@return string
local function label(row)
  if row.before then
    return "… earlier turns"
  end
  local when = os.date("%d %b %H:%M", math.floor(row.time / 1000))
  local files = files_of(row.files)
  local undone = row.undone and " (undone)" or ""
  local text = vim.fn.strcharpart(row.text:gsub("%c", " "), 0, 60)
  return ("turn %d  %s  %s%s  %s"):format(row.turn, when, files, undone, text)
end

--- Chooses a turn, page by page.
---@param chat agent.Chat
---@param before? integer  shows turns before this one
local function choose(chat, before)
  ask(chat, "checkpoints", { before = before }, function(result)
    if #result.turns == 0 then
      return say.info("this session has changed no file yet")
    end
    local rows = result.turns
    if result.before then
      table.insert(rows, { before = result.before })
    end
    vim.ui.select(rows, {
      prompt = "Go back to before turn",
      format_item = label,
    }, function(row)
      if row and row.before then
        choose(chat, row.before)
      elseif row then
        show_preview(chat, row.turn)
      end
    end)
  end)
end

--- Chooses a turn, and restores the files from before it after a preview.
---@param chat agent.Chat
---@param turn? integer
function M.restore(chat, turn)
  if turn then
    return show_preview(chat, turn)
  end
  choose(chat)
end

--- Restores the files from before a turn. Asks first if somebody else has changed them since. Messages sent meanwhile
--- wait for the chat that continues.
---@param chat agent.Chat
---@param turn integer
---@param done fun(): agent.Chat opens the chat that continues
function M.rewind(chat, turn, done)
  local function restore()
    local opening = chat.phases:begin_opening(true)
    ask(chat, "restore", { turn = turn }, function(restored)
      tell(chat, {
        done = ("back to before turn %d"):format(turn),
        none = ("not back to before turn %d"):format(turn),
        again = (":Agent restore %d"):format(turn),
      }, restored)
      chat.phases:hand_over(done())
      chat.phases:end_opening(opening)
    end, function()
      chat.phases:end_opening(opening, true)
    end)
  end
  ask(chat, "restore_preview", { turn = turn }, function(result)
    local changed = vim.tbl_filter(function(file)
      return file.outcome ~= "restored" and file.outcome ~= "unchanged"
    end, result.files)
    if #result.files == 0 then
      return done()
    elseif #changed == 0 then
      return restore()
    end
    local choices = { "Leave everything as it is", "Go back; your changes stay where they can", "Look at the changes" }
    vim.ui.select(choices, {
      prompt = ("%s changed since"):format(files_of(#changed)),
    }, function(_, choice)
      if choice == 2 then
        restore()
      elseif choice == 3 then
        preview.show(turn, result.files, chat.timeline.root, restore)
      end
    end)
  end)
end

--- Lists the changed files of the session in the quickfix list.
---@param chat agent.Chat
function M.changes(chat)
  ask(chat, "changes", {}, function(result)
    if #result.files == 0 then
      return say.info("no file has changed")
    end
    local items = vim.tbl_map(function(file)
      local counts = file.opaque and "binary" or ("+%d −%d"):format(file.added, file.removed)
      return { filename = file.path, lnum = 1, text = ("%s  %s"):format(file.kind, counts) }
    end, result.files)
    vim.fn.setqflist({}, " ", { title = "Agent: changed files", items = items })
    require("agent.ui.quickfix")()
  end)
end

return M
