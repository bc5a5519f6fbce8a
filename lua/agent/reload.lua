--- Buffers follow files. The engine changes files on disk and says so; loaded buffers then take over what
--- changed, line by line, as one undo step. No file is ever read again with `:edit!`, and text that the
--- user has not saved is never lost.
local find = require("agent.reload.find")
local follow = require("agent.reload.follow")
local notice = require("agent.reload.notice")
local queue = require("agent.reload.queue")
local rename = require("agent.reload.rename")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")
local unsaved = require("agent.reload.unsaved")

local M = {}

---@class agent.FileModified
---@field path string        absolute
---@field kind "created"|"modified"|"deleted"|"renamed"
---@field from? string       old absolute path of a rename
---@field before? string     whole text before the write, in UTF-8 with its own line endings; nil if there was none, or
---                          if it is too large or binary
---@field after? string      whole text after; nil: it is read from disk
---@field since? number      milliseconds since 1970; what Neovim has written since need not be in `before`

---@alias agent.reload.Action "none"|"reloaded"|"merged"|"conflict"|"deleted"|"renamed"

---@class agent.reload.Result
---@field buffer? integer  nothing if no buffer of the file is loaded
---@field action agent.reload.Action
---@field notice? string   one line for the user: what happened and what to do

---@param results agent.reload.Result[]
---@return agent.reload.Result
local function most_telling(results)
  local best = results[1] or { action = "none" }
  for _, result in ipairs(results) do
    if result.action == "conflict" or (best.action == "none" and result.action ~= "none") then
      best = result
    end
  end
  return best
end

---@param bufs integer[]
---@param event agent.FileModified
---@param done fun(result: agent.reload.Result)
local function follow_all(bufs, event, done)
  local results = {} ---@type agent.reload.Result[]
  if #bufs == 0 then
    return done({ action = "none" })
  end
  for _, buf in ipairs(bufs) do
    follow.follow(buf, event, function(result)
      results[#results + 1] = result
      if #results == #bufs then
        done(most_telling(results))
      end
    end)
  end
end

---@param bufs integer[]
---@param path string
---@param done fun(result: agent.reload.Result)
local function delete_all(bufs, path, done)
  for _, buf in ipairs(bufs) do
    local had_unsaved = state.has_unsaved(buf)
    stamp.deleted(buf)
    state.set_deleted(buf, had_unsaved)
  end
  if #bufs == 0 then
    return done({ action = "none" })
  end
  done({ buffer = bufs[1], action = "deleted", notice = notice.deleted(path) })
end

--- A rename as the buffers of the new name see it: a file has come into being.
---@param event agent.FileModified
---@return agent.FileModified
local function as_created(event)
  return { path = event.path, kind = "created", after = event.after }
end

---@param event agent.FileModified
---@param done fun(result: agent.reload.Result)
local function rename_all(event, done)
  local sources = find.buffers(event.from)
  local targets = vim.tbl_filter(function(buf)
    return not vim.list_contains(sources, buf)
  end, find.buffers(event.path))
  local buf = sources[1]
  if not buf then
    return follow_all(targets, as_created(event), done)
  elseif #targets > 0 or rename.rename(buf, event.path) then
    -- Both names are open: for the new one its file has come into being, the old one has lost its file.
    return follow_all(targets, as_created(event), function()
      delete_all(sources, event.from --[[@as string]], done)
    end)
  end
  -- The rename may have come with a change, and the time stamps are due in any case.
  follow_all({ buf }, event, function(result)
    done({ buffer = buf, action = "renamed", notice = result.notice })
  end)
end

---@param event agent.FileModified
---@param done fun(result: agent.reload.Result)
local function handle(event, done)
  if event.kind == "renamed" and event.from then
    return rename_all(event, done)
  end
  local bufs = find.buffers(event.path)
  if event.kind == "deleted" and not vim.uv.fs_stat(event.path) then
    return delete_all(bufs, event.path, done)
  end
  follow_all(bufs, event, done)
end

--- A file was changed on disk. Events of one file take effect in the order of the calls. `done` is called
--- once: before this returns, where the event brings the text and Neovim allows the change, later
--- otherwise.
---@param event agent.FileModified
---@param done? fun(result: agent.reload.Result)
function M.file_modified(event, done)
  vim.validate("event", event, "table")
  vim.validate("event.path", event.path, "string")
  vim.validate("event.kind", event.kind, "string")
  vim.validate("done", done, "function", true)
  if vim.in_fast_event() then
    return vim.schedule(function()
      M.file_modified(event, done)
    end)
  end
  queue.push({ event.path, event.from }, function(finish)
    local ok, err = xpcall(handle, debug.traceback, event, function(result)
      local is_called, reason = true, nil ---@type boolean, any
      if done then
        is_called, reason = xpcall(done, debug.traceback, result)
      end
      finish()
      if not is_called then
        error(reason, 0)
      end
    end)
    if not ok then
      finish()
      error(err, 0)
    end
  end)
end

--- A tool wants to write a file: a three-way merge puts its changes into the buffer that shows the file, as one undo
--- step, and a buffer without unsaved changes is written. On a conflict nothing is changed.
---@param args agent.reload.WriteUnsaved
---@return agent.reload.WriteUnsavedResult
function M.write_unsaved(args)
  vim.validate("args", args, "table")
  vim.validate("args.path", args.path, "string")
  vim.validate("args.base", args.base, "string")
  vim.validate("args.text", args.text, "string")
  vim.validate("args.save", args.save, "boolean", true)
  return unsaved.write(args)
end

--- The files that Neovim has written since a time, with what it wrote last, in UTF-8.
---@param since number  milliseconds since 1970
---@return { path: string, text: string }[]
function M.written_since(since)
  local files = {}
  for buf, text in pairs(state.written_since(since)) do
    table.insert(files, { path = find.origin(buf), text = text })
  end
  return files
end

--- The unsaved text of the file's buffer, so that tools work on what the user sees. Nothing if the file
--- is not open or has no unsaved changes.
---@param path string  absolute
---@return string?
function M.unsaved_text(path)
  vim.validate("path", path, "string")
  return unsaved.text(path)
end

return M
