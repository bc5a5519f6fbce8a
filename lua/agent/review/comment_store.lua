--- Unsent comments, each in a file of its own in the state folder: several Neovims share them without overwriting each
--- other's.
local config = require("agent.config")

local M = {}

---@return string
local function folder()
  return vim.fs.joinpath(config.get().state_dir, "comments")
end

---@param id string
---@return string
local function file_of(id)
  return vim.fs.joinpath(folder(), id .. ".json")
end

local last = 0

---@return string id unique, and sorted by time
function M.new_id()
  last = last + 1
  return ("%d-%d-%d"):format(os.time(), vim.uv.os_getpid(), last)
end

--- The stored part of a comment.
local FIELDS = { "path", "folder", "side", "text", "first", "last", "quoted" }

---@param comment agent.review.Comment
---@return string? problem
function M.write(comment)
  local kept = {}
  for _, field in ipairs(FIELDS) do
    kept[field] = comment[field]
  end
  local path = file_of(comment.id)
  vim.fn.mkdir(folder(), "p", "0700")
  local file, problem = vim.uv.fs_open(path .. "~", "w", tonumber("600", 8))
  if file then
    local size
    size, problem = vim.uv.fs_write(file, vim.json.encode(kept))
    vim.uv.fs_close(file)
    if size then
      problem = select(2, vim.uv.fs_rename(path .. "~", path))
    end
  end
  comment.is_kept = problem == nil
  return problem
end

---@param id string
function M.remove(id)
  vim.uv.fs_unlink(file_of(id))
end

---@param value any
---@return agent.review.Comment?
local function checked(value)
  local is_one = type(value) == "table"
    and type(value.text) == "string"
    and type(value.folder) == "string"
    and (value.path == nil or type(value.path) == "string")
    and (value.side == "file" or value.side == "before" or value.side == "deleted")
    and type(value.first) == "number"
    and type(value.last) == "number"
    and vim.islist(value.quoted)
    and vim.iter(value.quoted):all(function(line)
      return type(line) == "string"
    end)
  return is_one and value or nil
end

--- Stored comments by id. Unreadable files are left alone.
---@param known table<string, any> ids to skip
---@return table<string, agent.review.Comment|true> comments true: skipped
function M.list(known)
  local found = {}
  for name in vim.fs.dir(folder()) do
    local id = name:match("^([%d-]+)%.json$")
    if id and known[id] then
      found[id] = true
    elseif id then
      local is_read, lines = pcall(vim.fn.readfile, file_of(id))
      local is_json, value = pcall(vim.json.decode, is_read and table.concat(lines, "\n") or "", {
        luanil = { object = true },
      })
      found[id] = is_json and checked(value) or nil
    end
  end
  return found
end

return M
