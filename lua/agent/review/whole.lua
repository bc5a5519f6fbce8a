--- Keeps or undoes whole files: those without hunks or buffers.
local client = require("agent.client")
local files = require("agent.review.files")

local M = {}

--- Keeps a file without a buffer.
---@param file agent.review.File
function M.keep(file)
  files.forget(file.path)
  files.request(file.chat, "review_update", { path = file.path, settled = true }, files.complain)
end

--- Updates the buffers. The engine reports nothing if the session's chat is closed.
---@param file agent.review.File
---@param restored { path: string, from?: string, outcome: string }
local function follow(file, restored)
  if restored.outcome == "unchanged" then
    return
  end
  client.receive({
    {
      type = "file_modified",
      chat = files.chat_of(file.chat).id,
      path = restored.path,
      from = restored.from,
      kind = restored.from and "renamed" or vim.uv.fs_stat(restored.path) and "modified" or "deleted",
    },
  })
end

--- Reports a file that was left alone.
---@param file agent.review.File
---@param restored? { outcome: string, text?: string }  nil: of a file that is not shown
---@return boolean undone
local function is_undone(file, restored)
  if not restored then
    files.refresh_soon(file.chat, true)
    return false
  elseif restored.outcome ~= "conflict" and restored.outcome ~= "skipped" then
    return true
  end
  local name, reason = vim.fn.fnamemodify(file.path, ":~:."), restored.text or restored.outcome
  -- The text of a conflict shows both sides.
  reason = reason:find("\n") and "the same lines were changed since" or reason
  files.complain(nil, ("%s was left alone: %s"):format(name, reason))
  return false
end

--- Lets the engine undo whole files, those of a session at once.
---@param waiting agent.review.File[]
---@param done fun(undone: table<string, true>) by path
function M.undo(waiting, done)
  local by_chat, undone = {}, {} ---@type table<integer, agent.review.File[]>, table<string, true>
  for _, file in ipairs(waiting) do
    by_chat[file.chat] = by_chat[file.chat] or {}
    table.insert(by_chat[file.chat], file)
  end
  local open = vim.tbl_count(by_chat)
  if open == 0 then
    return done(undone)
  end
  for chat, group in pairs(by_chat) do
    local paths = vim.tbl_map(function(file)
      return file.path
    end, group)
    files.request(chat, "review_revert", { paths = paths }, function(result, problem)
      files.complain(nil, problem)
      for _, file in ipairs(result and group or {}) do
        local restored = vim.iter(result.files):find(function(one)
          return one.path == file.path or one.from == file.path
        end)
        if is_undone(file, restored) then
          undone[file.path] = true
          files.forget(file.path)
          follow(file, restored)
        end
      end
      open = open - 1
      if open == 0 then
        done(undone)
      end
    end)
  end
end

return M
