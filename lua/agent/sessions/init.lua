-- Actions on stored sessions.
local client = require("agent.client")
local cut = require("agent.ui.format").cut
local rows = require("agent.sessions.rows")
local say = require("agent.ui.say")

local M = {}

--- Columns of a title in a question of one line.
local LONGEST_TITLE = 60

---@class agent.ListedRow see protocol/sessions_file.ts
---@field sessionId string
---@field root string
---@field project string
---@field title string
---@field updated number  milliseconds since 1970
---@field turns integer
---@field archived boolean
---@field state string
---@field open boolean
---@field elsewhere boolean  open in another Neovim
---@field turn? integer      of a hit

---@class agent.SessionRow see protocol/requests.ts
---@field sessionId string
---@field title string
---@field updated number  milliseconds since 1970
---@field archived boolean
---@field turns integer
---@field files integer
---@field tokens integer
---@field open boolean    open in another Neovim

--- Sends a request to the engine of the project at `place`.
---@param chats table
---@param place table
---@param name string
---@param params table
---@param done fun(result?: table, problem?: string)
local function request(chats, place, name, params, done)
  local asker = {
    id = chats.get().id,
    place = function()
      return place
    end,
  }
  client.request(asker, name, params, done)
end

--- Sends a request to the engine of the project at `place`; shows the error if it fails.
---@param chats table
---@param place table
---@param name string
---@param params table
---@param done fun(result: table)
---@param failed? fun()
local function ask(chats, place, name, params, done, failed)
  request(chats, place, name, params, function(result, problem)
    if result then
      done(result)
    else
      say.error(problem)
      if failed then
        failed()
      end
    end
  end)
end

--- Shows a session: in its chat, else in the current chat if that is blank, else in a new one.
---@param chats table
---@param session agent.SessionRow
---@param place { root: string } its project
---@param begun? agent.Chat to open it in, unless another chat has it
---@return agent.Chat
function M.show(chats, session, place, begun)
  local chat = chats.of(session.sessionId)
  if not chat then
    local now = chats.get()
    chat = begun or now:is_blank(session.sessionId) and now.timeline.root == place.root and now or chats.new(place.root)
    chat:restore(session)
    if session.open then
      local text = "This session is open in another Neovim. Continue with a copy: use :Agent session fork."
      chat:apply({ { type = "notice", severity = "warning", text = text } })
    end
  end
  if not begun then
    chats.switch(chat)
  end
  return chat
end

--- Continues a stored session in the chat that was begun for it, where messages wait.
---@param chats table
---@param begun agent.Chat
---@param opening agent.Opening
---@param session agent.SessionRow
---@param place { root: string }
---@param before? agent.Chat the previous current chat, which may have a draft of this session
local function opened(chats, begun, opening, session, place, before)
  local was_visible, is_current = begun:is_visible(), chats.current() == begun
  local has_draft = before and not before.is_closed and before:is_blank(session.sessionId)
  local chat = M.show(chats, session, place, has_draft and before or begun)
  if chat == begun then
    begun.phases:end_opening(opening)
    begun.status:show()
    return
  end
  begun.phases:hand_over(chat)
  local typed = begun.input:take()
  if typed then
    chat.input:add(typed)
  end
  chats.close(begun)
  if is_current then
    chats.switch(chat)
  end
  if was_visible then
    chat:open()
  end
  if chat == before and not has_draft then
    say.info("this session is already open")
  end
end

--- Opens the chat's windows after the list has closed.
---@param chat agent.Chat
---@param stays_normal boolean
---@param turn? integer to go to
local function open(chat, stays_normal, turn)
  vim.schedule(function()
    chat:open()
    if turn then
      return chat.history:go_to_turn(turn)
    elseif not stays_normal then
      -- As if typed: Neovim delays Insert mode while the list is on the screen.
      vim.api.nvim_feedkeys(vim.keycode("<Cmd>startinsert<CR>"), "n", false)
    end
  end)
end

--- Renames a session; its chat shows the new title.
---@param chats table
---@param place table
---@param id string
---@param title string
---@param done? fun()
local function retitle(chats, place, id, title, done)
  ask(chats, place, "session_rename", { sessionId = id, title = title }, function(stored_as)
    local chat = chats.of(id)
    if chat then
      client.receive({ { type = "title", chat = chat.id, title = stored_as.title } })
    end
    if done then
      done()
    end
  end)
end

--- Deletes a session after the user agrees, and closes its chat.
---@param chats table
---@param place table
---@param id string
---@param title? string
---@param done? fun()
local function remove(chats, place, id, title, done)
  vim.ui.select({ "Keep it", "Delete it for good" }, {
    prompt = ("Delete %s?"):format(cut(rows.title(title), LONGEST_TITLE)),
  }, function(_, choice)
    if choice ~= 2 then
      return
    end
    local chat = chats.of(id)
    if chat then
      chat:stop()
      chat:apply({ { type = "closing" } })
    end
    ask(chats, place, "session_delete", { sessionId = id }, function()
      local open_chat = chats.of(id)
      if open_chat then
        chats.close(open_chat)
      end
      if done then
        return done()
      end
      say.info("the session is deleted")
    end, function()
      if chat and not chat.is_closed then
        chat:apply({ { type = "not_closing" } })
      end
    end)
  end)
end

--- Continues a copy of a session, in a chat that opens at once.
---@param chats table
---@param from { id: integer, place: fun(): table } chat for the request
---@param params table
---@param message? string for the input
---@return agent.Chat copy
local function open_copy(chats, from, params, message)
  local place = from:place()
  local copy, opening, before = chats.begin(true, place.root)
  if message then
    copy.input:add(message, true)
  end
  client.request(from, "session_fork", params, function(session, problem)
    if session and copy.phases:is_opening(opening) then
      opened(chats, copy, opening, session, place)
    elseif problem then
      chats.not_opened(copy, opening, problem, before)
    end
  end)
  return copy
end

--- The actions of the list.
---@param chats table
---@param found? boolean the rows are hits in this project
---@return agent.SessionActions
local function actions(chats, found)
  -- From before the list opened.
  local here, stays_normal = chats.get():place(), chats.stays_normal()
  local function of(row)
    return found and here or { root = row.root }
  end
  return {
    rows = function(done)
      local action = vim.tbl_extend("error", { type = "sessions", chat = chats.get().id }, here)
      client.ask(action, function(update, problem)
        if not update then
          return say.error(problem)
        end
        for _, row in ipairs(update.sessions) do
          local chat = chats.of(row.sessionId)
          row.elsewhere = row.open and not chat
          row.state = chat and chat.timeline.state ~= "idle" and row.state ~= "waiting" and "running" or row.state
        end
        done(update.sessions, update.root)
      end)
    end,
    ask = function(row, name, params, done)
      params.sessionId = row.sessionId
      ask(chats, of(row), name, params, done)
    end,
    read = function(row, from, done)
      local params = { sessionId = row.sessionId, format = "markdown", from = from }
      request(chats, of(row), "session_export", params, function(piece, problem)
        done(piece and piece.text, problem)
      end)
    end,
    open = function(row)
      local session = { sessionId = row.sessionId, title = row.title, open = row.elsewhere }
      open(M.show(chats, session, of(row)), stays_normal, row.turn)
    end,
    fork = function(row)
      local from = { id = chats.get().id }
      function from.place()
        return of(row)
      end
      open(open_copy(chats, from, { sessionId = row.sessionId }), stays_normal)
    end,
    rename = function(row, title, done)
      retitle(chats, of(row), row.sessionId, title, done)
    end,
    delete = function(row, done)
      remove(chats, of(row), row.sessionId, row.title, done)
    end,
  }
end

--- Shows the stored sessions in a window.
---@param chats table
function M.list(chats)
  local can = actions(chats)
  can.rows(function(rows_, root)
    if #rows_ == 0 then
      return say.info("this project has no sessions yet")
    end
    require("agent.sessions.list").open(rows_, root, can)
  end)
end

--- Continues the newest session of the project, or the newest one with the word in its title.
---@param chats table
---@param word? string
function M.resume(chats, word)
  local stays_normal = chats.stays_normal()
  local chat, opening, before = chats.begin()
  local place = chat:place()
  local function is_wanted(row)
    return not word or row.sessionId == word or row.title:lower():find(word:lower(), 1, true) ~= nil
  end
  local function name(what)
    opening.what = what
    chat.transcript:show_hint()
  end
  name(word and ("the newest session with %s"):format(word) or "the newest session")
  open(chat, stays_normal)
  -- The supervisor knows titles before the engine has started.
  client.ask(vim.tbl_extend("error", { type = "sessions", chat = chat.id }, place), function(update)
    local row = vim.iter(update and update.sessions or {}):find(function(row)
      return row.root == update.root and not row.archived and is_wanted(row)
    end)
    if row and chat.phases:is_opening(opening) then
      name(('"%s"'):format(rows.title(row.title)))
    end
  end)
  request(chats, place, "session_list", { archived = false }, function(result, problem)
    local row = result and vim.iter(result.sessions):find(is_wanted)
    if row and chat.phases:is_opening(opening) then
      return opened(chats, chat, opening, row, place, before)
    end
    local none = word and ("no session has %s in its title"):format(word) or "this project has no sessions yet"
    chats.not_opened(chat, opening, problem or none, before)
  end)
end

--- The current chat, if it has a stored session.
---@param chats table
---@return agent.Chat?
local function stored(chats)
  local chat = chats.get()
  if chat.timeline.session then
    return chat
  end
  say.error("the chat is empty: send a message first")
end

--- Continues a copy: of the whole session, up to the turn at the cursor, or before the message at the cursor. That
--- message comes into the input.
---@param chats table
function M.fork(chats)
  local chat = stored(chats)
  if not chat then
    return
  end
  local turn, message = chat.history:turn_at_cursor()
  M.fork_at(chats, chat, turn and (message and turn - 1 or turn), message)
end

--- Continues a copy of the session up to a turn.
---@param chats table
---@param chat agent.Chat
---@param last? integer nil: the whole session; 0: an empty one
---@param message? string for the input
---@return agent.Chat copy
function M.fork_at(chats, chat, last, message)
  local copy
  local stays_normal = chats.stays_normal()
  if last == 0 then
    -- The copy before the first message is empty.
    copy = chats.new(chat:place().root)
    copy.input:set(message or "", true)
  else
    copy = open_copy(chats, chat, { sessionId = chat.timeline.session, turn = last }, message)
  end
  -- A message that comes back is there to be changed.
  open(copy, stays_normal and not message)
  return copy
end

--- Renames the session; nil asks for the title.
---@param chats table
---@param title? string
function M.rename(chats, title)
  local chat = stored(chats)
  if not chat then
    return
  end
  if not title or vim.trim(title) == "" then
    return vim.ui.input({ prompt = "Title: ", default = chat.timeline.title }, function(text)
      if text and vim.trim(text) ~= "" then
        M.rename(chats, text)
      end
    end)
  end
  retitle(chats, chat:place(), chat.timeline.session, title)
end

--- Compacts the session, or undoes that. The chat reports the result.
---@param chats table
---@param focus? string "undo", or what the summary should keep
function M.compact(chats, focus)
  local chat = stored(chats)
  if not chat then
    return
  end
  local undo = focus == "undo"
  local params = { sessionId = chat.timeline.session, undo = undo, focus = not undo and focus or nil }
  if undo then
    return ask(chats, chat:place(), "compact", params, function() end)
  end
  chat:apply({ { type = "folding" } })
  local function done()
    chat:apply({ { type = "folded" } })
  end
  ask(chats, chat:place(), "compact", params, done, done)
end

--- Archives the session, or restores an archived one.
---@param chats table
function M.archive(chats)
  local chat = stored(chats)
  if not chat then
    return
  end
  local id = chat.timeline.session
  -- Another Neovim may have done it, so the list decides.
  ask(chats, chat:place(), "session_list", { archived = true }, function(result)
    local is_archived = vim.iter(result.sessions):any(function(row)
      return row.sessionId == id
    end)
    ask(chats, chat:place(), "session_archive", { sessionId = id, archived = not is_archived }, function()
      say.info(is_archived and "no longer archived" or "archived; :Agent session archive brings it back")
    end)
  end)
end

--- Deletes the session after the user agrees, and closes its chat.
---@param chats table
function M.delete(chats)
  local chat = stored(chats)
  if not chat then
    return
  end
  remove(chats, chat:place(), chat.timeline.session, chat.timeline.title)
end

--- Opens a session at one of its turns.
---@param chats table
---@param found { sessionId: string, title: string, turn: integer }
function M.go_to(chats, found)
  open(M.show(chats, found, chats.get():place()), true, found.turn)
end

--- Searches all sessions of the project.
---@param chats table
---@param words string
---@param quickfix boolean fills the quickfix list instead of opening a window
function M.search(chats, words, quickfix)
  local place = chats.get():place()
  ask(chats, place, "session_search", { query = words, limit = 100 }, function(result)
    if #result.hits == 0 then
      return say.info(("no session has %s"):format(words))
    end
    if quickfix then
      return require("agent.sessions.quickfix").fill(result.hits, words, chats.current(), function(hit)
        open(M.show(chats, hit, place), true, hit.turn)
      end)
    end
    require("agent.sessions.list").found(result.hits, words, actions(chats, true))
  end)
end

--- Ending of a file's name → format.
local FORMATS = { json = "json", replay = "recording" }

--- Exports the session in the format of the file's name, by default markdown; without a name into a new buffer.
---@param chats table
---@param file? string
---@param overwrite boolean
function M.export(chats, file, overwrite)
  local chat = stored(chats)
  if not chat then
    return
  end
  local path = file and vim.fn.fnamemodify(file, ":p")
  if path and vim.fn.isdirectory(path) == 1 then
    return say.error(("%s is a folder"):format(file))
  end
  local exists = path and vim.uv.fs_lstat(path) ~= nil
  if exists and not overwrite then
    return say.error(("%s exists; :Agent! session export overwrites it"):format(file))
  end
  local format = path and FORMATS[path:lower():match("%.(%w+)$")] or "markdown"
  local export = require("agent.sessions.export")
  local out = path and export.file(path, overwrite) or not path and export.buffer(format)
  if not out then
    return
  end
  local place, session = chat:place(), chat.timeline.session
  export.fill(out, function(from, add)
    local params = { sessionId = session, format = format, from = from }
    ask(chats, place, "session_export", params, add, out.cancel)
  end)
end

return M
