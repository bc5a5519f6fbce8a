--- The files to review, from the engine. Reports to it what the user has kept, undone or typed.
local api = vim.api
local client = require("agent.client")
local codec = require("agent.reload.codec")
local find = require("agent.reload.find")
local merge = require("agent.reload.merge")
local say = require("agent.ui.say")
local track = require("agent.review.track")

local M = {}

--- See ReviewFile in protocol/requests.ts.
---@class agent.review.File
---@field path string
---@field kind "created"|"modified"|"deleted"|"renamed"
---@field from? string
---@field sessionId? string  of the last write, once the engine has listed the file
---@field opaque boolean
---@field added integer
---@field removed integer
---@field baseline? string
---@field after? string
---@field chat integer  its chat, for requests

---@class agent.review.Chat  what client.request needs
---@field id integer
---@field place fun(self): table

local files = {} ---@type table<string, agent.review.File>
local waiting = 0
--- Number of reports to the engine.
local sent = 0

--- The chat with this number, else the current one.
---@type fun(id?: integer): agent.review.Chat
M.chat_of = function()
  error("no chats yet")
end

---@param chat? integer
---@param name string
---@param params table
---@param done fun(result?: table, problem?: string)
function M.request(chat, name, params, done)
  waiting = waiting + 1
  sent = sent + (name:find("^review_") and 1 or 0)
  client.request(M.chat_of(chat), name, params, function(result, problem)
    waiting = waiting - 1
    done(result, problem)
  end)
end

--- Shows a problem, if there is one.
---@param _? table
---@param problem? string
function M.complain(_, problem)
  if problem then
    say.error(problem)
  end
end

--- Waits before exit, for half a second at most, until the engine has the last report.
function M.settle()
  if waiting > 0 then
    vim.wait(500, function()
      return waiting == 0
    end, 5)
  end
end

---@param buf integer
---@return string
function M.path_of(buf)
  return find.origin(buf)
end

---@param path string
---@return agent.review.File?
function M.get(path)
  return files[path]
end

--- Files to review, by path.
---@return agent.review.File[]
function M.list()
  local list = vim.tbl_values(files)
  table.sort(list, function(a, b)
    return a.path < b.path
  end)
  return list
end

---@param path string
function M.forget(path)
  files[path] = nil
end

--- The texts of a file: without the buffer's extra line, or as lines ended by newlines.
---@param text? string
---@param buf? integer
---@return string[]
function M.lines(text, buf)
  if not text then
    return {}
  elseif buf then
    return codec.parse_for_merge(text, codec.of_buffer(buf)).lines
  end
  return (codec.split(codec.strip_bom(text), text:find("\r\n", 1, true) and "dos" or "unix"))
end

--- Shows the hunks of a file in a buffer without review.
---@param file agent.review.File
---@param buf integer
local function show(file, buf)
  if file.opaque or file.kind == "deleted" or track.get(buf) then
    return
  end
  local after, baseline = M.lines(file.after, buf), M.lines(file.baseline, buf)
  track.start(buf, merge.merge3(after, baseline, track.lines_of(buf)).lines)
end

---@param list agent.review.File[]
---@param chat integer
---@param texts boolean whether the list has texts
local function take(list, chat, texts)
  for _, file in ipairs(list) do
    for _, buf in ipairs(texts and find.buffers(file.path) or {}) do
      show(file, buf)
    end
    -- Texts are large and soon outdated.
    file = vim.tbl_extend("force", file, { chat = chat })
    file.baseline, file.after = nil, nil
    files[file.path] = file
  end
end

---@class agent.review.Refresh
---@field chat? integer
---@field texts? boolean  with texts, loaded buffers show hunks
---@field done? fun(files: agent.review.File[])
---@field failed? fun(problem: string)

--- Requests all files to review.
---@param options agent.review.Refresh
function M.refresh(options)
  local texts = options.texts == true
  local sent_before = sent
  local chat = M.chat_of(options.chat).id
  M.request(chat, "review", { texts = texts }, function(result, problem)
    if not result then
      return options.failed and options.failed(problem --[[@as string]])
    end
    if sent ~= sent_before then
      -- The answer may be older than the last report.
      return M.refresh(options)
    end
    for path, file in pairs(files) do
      if file.chat == chat then
        files[path] = nil
      end
    end
    take(result.files, chat, texts)
    M.drop_settled()
    if options.done then
      options.done(result.files)
    end
  end)
end

local due = {} ---@type table<integer, boolean>

--- The same, once for several events.
---@param chat integer
---@param texts boolean
function M.refresh_soon(chat, texts)
  if due[chat] == nil then
    vim.schedule(function()
      local with_texts = due[chat]
      due[chat] = nil
      M.refresh({ chat = chat, texts = with_texts })
    end)
  end
  due[chat] = due[chat] or texts
end

--- Ends the review in buffers of files that the engine no longer lists: a turn was undone, or another Neovim has kept
--- the file. Unsaved text keeps its hunks.
function M.drop_settled()
  for _, it in ipairs(track.all()) do
    if #it.hunks > 0 and it.on_disk and not vim.bo[it.buf].modified and not files[M.path_of(it.buf)] then
      track.drop(it.buf)
    end
  end
end

--- Called after a buffer was read.
---@param buf integer
function M.buffer_read(buf)
  local file = files[M.path_of(buf)]
  if not file or vim.bo[buf].buftype ~= "" then
    return
  end
  M.request(file.chat, "review", { path = file.path, texts = true }, function(result)
    if result and api.nvim_buf_is_loaded(buf) then
      if #result.files == 0 then
        files[file.path] = nil
      end
      take(result.files, file.chat, true)
    end
  end)
end

--- Called after the agent has changed a file.
---@param update { chat: integer, path: string, kind: string, from?: string }
function M.file_modified(update)
  local before = files[update.from or update.path]
  if update.from then
    files[update.from] = nil
  end
  local was_created = before ~= nil and before.kind == "created"
  if update.kind == "deleted" and was_created then
    files[update.path] = nil
    return
  end
  local kind = was_created and "created"
    or before and before.kind == "renamed" and update.kind ~= "deleted" and "renamed"
    or update.kind
  files[update.path] = {
    path = update.path,
    kind = kind,
    from = before and before.from or update.from,
    opaque = false,
    added = 0,
    removed = 0,
    chat = update.chat,
  }
end

--- Reports the baseline of the buffer's text. If the text is not on disk, it reports the baseline of the text on disk.
---@param it agent.review.Tracked
function M.tell(it)
  local path = M.path_of(it.buf)
  local is_saved = not vim.bo[it.buf].modified
  if is_saved then
    it.on_disk = track.baseline(it)
  end
  if not it.on_disk then
    return
  end
  local file = files[path]
  local format = codec.of_buffer(it.buf).format
  format.fixendofline = false
  local created = file and file.kind == "created" and #it.on_disk == 0
  local settled = is_saved and #it.hunks == 0
  M.request(file and file.chat, "review_update", {
    path = path,
    baseline = not created and codec.join({ lines = it.on_disk, format = format }) or nil,
    settled = settled,
  }, M.complain)
  if settled then
    files[path] = nil
  end
end

return M
