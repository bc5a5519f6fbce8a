--- Messages for the user, in one line: the file, what happened, and what to do.
local M = {}

---@param path string
---@return string
local function label(path)
  return vim.fn.fnamemodify(path, ":~:.")
end

--- A template begins with the file's name.
---@param template string
---@return fun(path: string, ...: any): string
local function notice(template)
  return function(path, ...)
    return (template:format(label(path), ...):gsub("\n.*", ""))
  end
end

M.failed = notice("%s changed on disk, but its buffer could not follow: %s")
M.locked = notice("%s changed on disk, but Neovim did not let its buffer follow in time: `:checktime` reads it")
M.not_encoded = notice("%s changed on disk and is not %s any more: its buffer was left alone")
M.foreign_writer = notice("%s changed on disk, but a plugin writes its buffer (BufWriteCmd): it was left alone")
M.unknown_base = notice(
  "%s changed on disk while it has unsaved changes, and its earlier text is unknown: nothing was merged, "
    .. "`:write!` would overwrite the file"
)
M.deleted = notice("%s was deleted; its buffer keeps the text: `:write` brings the file back, `:bwipeout!` drops it")

local conflict = notice(
  "%s: your unsaved text was kept in %d %s the agent changed too; `:write!` would overwrite the agent's version"
)

---@param path string
---@param count integer  conflicting places
---@return string
function M.conflict(path, count)
  return conflict(path, count, count == 1 and "place" or "places")
end

return M
