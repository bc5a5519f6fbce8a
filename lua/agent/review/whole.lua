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

--- Lets the engine undo a whole file.
---@param file agent.review.File
---@param done fun(is_done: boolean)
function M.undo(file, done)
  files.request(file.chat, "review_revert", { path = file.path }, function(result, problem)
    if not result then
      files.complain(nil, problem)
      return done(false)
    end
    local restored = result.file
    if restored.outcome == "conflict" or restored.outcome == "skipped" then
      local name = vim.fn.fnamemodify(file.path, ":~:.")
      files.complain(nil, ("%s was left alone: %s"):format(name, restored.text or restored.outcome))
      return done(false)
    end
    files.forget(file.path)
    follow(file, restored)
    done(true)
  end)
end

return M
