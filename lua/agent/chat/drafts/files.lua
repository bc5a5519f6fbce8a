-- Unsent messages on disk: one file per chat in the state folder, which several Neovims share. A running Neovim locks
-- a file of its own. Drafts of one that has ended belong to the first that renames their file. The code runs in
-- coroutines: Neovim waits for the disk only when it exits.
local config = require("agent.config")

local M = {}

--- Seconds after which a draft is deleted: 30 days.
local OLDEST = 30 * 24 * 60 * 60
--- Bytes of the largest draft that is kept.
local MOST = 4 * 1024 * 1024

--- Random name of this Neovim.
---@type string
local me = vim.uv.random(8):gsub(".", function(byte)
  return ("%02x"):format(byte:byte())
end)

---@class agent.DraftFile
---@field wanted? string   content that the file should have; nil removes it
---@field written? string  what it holds
---@field busy? boolean
---@field is_left? boolean another chat may take the file once it is written
---@field done fun()[]     called once the file has the wanted content

--- Files of this Neovim, by number. Another chat may take a file that is not listed.
---@type table<integer, agent.DraftFile>
local files = {}
local last = 0
---@type integer? descriptor
local lock
local is_exiting = false
--- Reports once why drafts are not kept.
---@type fun(problem: string)?
local report

--- Coroutines cannot read options.
---@type string
local folder

local function find_folder()
  folder = vim.fs.joinpath(config.get().state_dir, "drafts")
end

---@param name string
---@return string
local function path_of(name)
  return vim.fs.joinpath(folder, name)
end

---@param number integer
---@return string
local function name_of(number)
  return ("%s-%d.json"):format(me, number)
end

--- Calls a function of libuv; the coroutine continues when it is done.
---@param call string
---@param ... any
---@return any result
---@return string? problem
local function await(call, ...)
  local run = vim.uv["fs_" .. call]
  if is_exiting then
    return run(...)
  end
  local thread = coroutine.running()
  local arguments = { ... }
  table.insert(arguments, function(problem, result)
    assert(coroutine.resume(thread, result, problem))
  end)
  run(unpack(arguments))
  return coroutine.yield()
end

--- Opening a pipe must not wait for its other end.
local READ = vim.uv.constants.O_RDONLY + (vim.uv.constants.O_NONBLOCK or 0)

---@type fun(descriptor: integer, operation: integer): integer
local flock
local EXCLUSIVE, SHARED, AT_ONCE = 2, 1, 4
do
  -- Without LuaJIT, or without this call, no drafts are kept.
  local has_flock, found = pcall(function()
    local ffi = require("ffi")
    ffi.cdef("int flock(int fd, int operation);")
    return ffi.C.flock
  end)
  flock = has_flock and found or function()
    return -1
  end
end

--- Attempts to take a lock that another Neovim holds while it looks.
local TRIES = 100

--- Locks the file that shows other Neovims that this one lives.
---@return string? problem
local function take_lock()
  if lock then
    return
  end
  for _ = 1, TRIES do
    local opened, problem = await("open", path_of(me .. ".lock"), "w", tonumber("600", 8))
    if not opened then
      return problem
    elseif not lock and flock(opened, EXCLUSIVE + AT_ONCE) == 0 then
      lock = opened
    else
      await("close", opened)
    end
    if lock then
      return
    end
  end
  return "no lock"
end

---@param path string
---@param text string
---@return string? problem
local function write(path, text)
  local problem = take_lock()
  local file, size
  if not problem then
    file, problem = await("open", path .. "~", "w", tonumber("600", 8))
  end
  if file then
    size, problem = await("write", file, text)
    await("close", file)
    problem = not problem and size < #text and "the disk is full" or problem
  end
  if file and not problem then
    problem = select(2, await("rename", path .. "~", path))
  end
  local taken = lock
  -- If the folder is gone, the next attempt makes it again. Another chat may have seen it first.
  if problem and taken and not await("stat", path_of(me .. ".lock")) and lock == taken then
    lock = nil
    await("close", taken)
  end
  return problem
end

---@param problem string
local function tell(problem)
  if report then
    report(problem)
    report = nil
  end
end

--- Writes the wanted content, which may change meanwhile.
---@param number integer
local function update(number)
  local file = files[number]
  file.busy = true
  while file.written ~= file.wanted do
    local wanted = file.wanted
    local problem
    if wanted then
      problem = write(path_of(name_of(number)), wanted)
    else
      await("unlink", path_of(name_of(number)))
    end
    file.written = wanted
    if problem then
      tell(problem)
    end
  end
  file.busy = false
  local done = file.done
  file.done = {}
  for _, callback in ipairs(done) do
    if is_exiting then
      callback()
    else
      vim.schedule(callback)
    end
  end
end

--- Allots another file of this Neovim; nothing is written yet.
---@return integer number
function M.new()
  last = last + 1
  files[last] = { done = {} }
  return last
end

--- Writes a file, or removes it. Returns at once.
---@param number integer
---@param value? table  nil removes it
---@param done? fun()
function M.write(number, value, done)
  if is_exiting then
    -- The supervisor ends too, and returns its messages into buffers that are already empty.
    return
  end
  find_folder()
  if value and not lock then
    -- If this fails, writing fails too and reports it.
    pcall(vim.fn.mkdir, folder, "p", "0700")
  end
  local file = files[number]
  file.wanted = value and vim.json.encode(value)
  if file.wanted and #file.wanted > MOST then
    file.wanted = nil
    tell("it is larger than 4 MB")
  end
  table.insert(file.done, done)
  if not file.busy then
    coroutine.wrap(update)(number)
  end
end

--- Releases the file for other chats.
---@param number integer
function M.release(number)
  files[number] = nil
end

--- Writes a file for the next chat that takes one, or removes it. Returns at once.
---@param number integer
---@param value? table  nil removes it
function M.leave(number, value)
  files[number].is_left = true
  M.write(number, value, function()
    M.release(number)
  end)
end

--- Waits for the files that chats have left and that are still being written.
local function wait_for_left()
  local thread = coroutine.running()
  local function continue()
    assert(coroutine.resume(thread))
  end
  for _, file in ipairs(vim.tbl_values(files)) do
    if file.is_left then
      if file.busy then
        table.insert(file.done, continue)
      else
        -- Its release is scheduled.
        vim.schedule(continue)
      end
      coroutine.yield()
    end
  end
end

---@param name string of a Neovim
---@return boolean
local function is_alive(name)
  if name == me then
    return true
  end
  local file, problem = await("open", path_of(name .. ".lock"), READ, 0)
  if not file then
    return not (problem or ""):find("^ENOENT")
  end
  local is_free = flock(file, SHARED + AT_ONCE) == 0
  await("close", file)
  return not is_free
end

---@param name string
---@return string?
local function read(name)
  local file = await("open", path_of(name), READ, 0)
  if not file then
    return nil
  end
  local text = await("read", file, MOST, 0)
  await("close", file)
  return text
end

--- A draft of a removed worktree belongs to its project, see worktree_place.ts.
---@param root string
---@return string root
local function project_of(root)
  if await("stat", root) then
    return root
  end
  local file = await("open", vim.fs.joinpath(vim.fs.dirname(root), ".origin"), READ, 0)
  local origin = file and await("read", file, 4096, 0)
  if file then
    await("close", file)
  end
  return origin or root
end

---@class agent.Draft
---@field root string
---@field session? string
---@field title? string
---@field time integer       of the user's last change, seconds since 1970
---@field is_exact? boolean  written at exit: nothing was sent afterwards
---@field messages agent.DraftMessage[]
---@field was? string[]      ids of the messages that it contains

---@class agent.DraftMessage
---@field id string
---@field text string
---@field given? agent.Attachment[]  selected lines
---@field is_sent? boolean      the log may have it

--- Throws unless the value is a draft: another program or version may have written the file.
---@param draft any
local function check(draft)
  vim.validate("root", draft.root, "string")
  vim.validate("time", draft.time, "number")
  vim.validate("session", draft.session, "string", true)
  vim.validate("title", draft.title, "string", true)
  vim.validate("was", draft.was, "table", true)
  vim.validate("messages", draft.messages, "table")
  for _, message in ipairs(draft.messages) do
    vim.validate("id", message.id, "string")
    vim.validate("text", message.text, "string")
    vim.validate("given", message.given, "table", true)
    for _, attachment in ipairs(message.given or {}) do
      vim.validate("text", attachment.text, "string")
      vim.validate("label", attachment.label, "string", attachment.type == "file")
      vim.validate("path", attachment.path, "string", attachment.type == "text")
      vim.validate("first", attachment.first, "number", attachment.type == "text")
      vim.validate("last", attachment.last, "number", attachment.type == "text")
    end
  end
end

---@param time integer
---@return boolean
local function is_recent(time)
  return os.time() - time <= OLDEST
end

--- Drafts without a chat, the newest first. Deletes old ones.
---@return { name: string, draft: agent.Draft }[]
local function list()
  local found, taken, alive = {}, {}, {}
  local entries = await("scandir", folder)
  while entries do
    local name = vim.uv.fs_scandir_next(entries)
    if not name then
      break
    end
    local owner, number, kind = name:match("^(%x+)%-?(%d*)%.(%l+~?)$")
    if owner and alive[owner] == nil then
      alive[owner] = is_alive(owner)
    end
    local is_free = owner and (not alive[owner] or owner == me and kind == "json" and not files[tonumber(number)])
    local text = is_free and kind == "json" and read(name)
    local is_json, draft = pcall(vim.json.decode, text or "", { luanil = { object = true } })
    local is_read = is_json and pcall(check, draft)
    if is_read and is_recent(draft.time) then
      draft.root = project_of(draft.root)
      table.insert(found, { name = name, draft = draft })
      for _, id in ipairs(draft.was or {}) do
        taken[id] = true
      end
    elseif is_free then
      local stat = await("stat", path_of(name))
      if is_read or stat and not is_recent(stat.mtime.sec) then
        await("unlink", path_of(name))
      end
    end
  end
  -- A Neovim that was killed may leave a draft and the drafts that it contains.
  found = vim.tbl_filter(function(one)
    one.draft.messages = vim.tbl_filter(function(message)
      return not taken[message.id]
    end, one.draft.messages)
    if #one.draft.messages == 0 then
      await("unlink", path_of(one.name))
    end
    return #one.draft.messages > 0
  end, found)
  table.sort(found, function(a, b)
    return a.draft.time > b.draft.time
  end)
  return found
end

--- Takes the newest wanted draft.
---@param is_wanted fun(draft: agent.Draft): boolean
---@param done fun(draft?: agent.Draft, number: integer, others: integer)  without arguments if no draft is wanted
function M.take(is_wanted, done)
  find_folder()
  done = vim.schedule_wrap(done)
  coroutine.wrap(function()
    wait_for_left()
    local wanted = vim.tbl_filter(function(one)
      return is_wanted(one.draft)
    end, list())
    -- Without the lock the taken file would look free.
    local has_lock = wanted[1] and not take_lock()
    for index, one in ipairs(has_lock and wanted or {}) do
      local number = M.new()
      if await("rename", path_of(one.name), path_of(name_of(number))) then
        files[number].written, files[number].wanted = "", ""
        return done(one.draft, number, #wanted - index)
      end
      files[number] = nil
    end
    done()
  end)()
end

--- Writes all files at once. Later drafts are not written.
function M.finish()
  -- Runs only callbacks of the disk: scheduled functions of others may fail now, and Neovim would wait for a key.
  vim.wait(1000, function()
    return not vim.iter(vim.tbl_values(files)):any(function(file)
      return file.busy
    end)
  end, 1, true)
  is_exiting = true
  for number, file in pairs(files) do
    file.busy = false
    update(number)
  end
  if lock then
    vim.uv.fs_unlink(path_of(me .. ".lock"))
  end
end

---@param callback fun(problem: string)
function M.on_problem(callback)
  report = vim.schedule_wrap(callback)
end

return M
