--- Writes a buffer without prompting.
local api = vim.api
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local find = require("agent.reload.find")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")
local version = require("agent.reload.version")

local M = {}

--- True if the file is the version that Neovim last saw, so that a write overwrites nothing.
---@param buf integer
---@return boolean
local function is_safe(buf)
  if state.is_diverged(buf) or vim.bo[buf].readonly then
    return false
  end
  local seen = stamp.hush(buf)
  if seen == "changed" then
    state.set_diverged(buf)
  end
  return seen == "same"
end

--- Writes the text through a handle to the file that the buffer was read from, so that a folder that is
--- replaced by a link leads nowhere. Without autocommands, and without a backup, because the engine keeps the
--- previous text.
---@param buf integer
---@param sync boolean
---@return boolean saved
local function write(buf, sync)
  local bytes = vim.o.write and codec.encode(codec.of_buffer(buf))
  if not bytes then
    return false
  end
  local path = find.origin(buf)
  disk.create(path)
  local saved = disk.write(path, bytes, sync)
  version.count_write(buf)
  if not saved or stamp.renew(buf, false, saved) ~= "renewed" then
    return false
  end
  stamp.write_undo(buf)
  return not vim.bo[buf].modified
end

--- As `:write`: the user's formatters run. A file that changed on disk is not written.
---@param buf integer
---@return boolean saved
function M.save(buf)
  if not is_safe(buf) then
    return false
  end
  local ready = pcall(api.nvim_exec_autocmds, "BufWritePre", { buffer = buf })
  local saved = ready and is_safe(buf) and write(buf, vim.o.fsync)
  if saved then
    pcall(api.nvim_exec_autocmds, "BufWritePost", { buffer = buf })
  end
  return saved and not vim.bo[buf].modified
end

--- Writes exactly the buffer's text, without autocommands. Skips a buffer that a plugin writes.
---@param buf integer
---@return boolean saved
function M.save_exactly(buf)
  return not stamp.has_writer(buf) and is_safe(buf) and write(buf, vim.o.fsync)
end

--- The same without further checks, over a file that matched the buffer. The engine waits for the disk.
---@param buf integer
---@return boolean saved
function M.save_over(buf)
  return write(buf, false)
end

return M
