--- Writes a buffer without ever asking.
local api = vim.api
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local find = require("agent.reload.find")
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")
local version = require("agent.reload.version")

local M = {}

--- Does the file hold what Neovim last saw, so that writing overwrites nothing?
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

--- Writes the text to the file that the buffer was read from, by a handle: a folder that becomes a link at this moment
--- leads nowhere. Without autocommands, and without a backup: the engine keeps what was there before.
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

--- As `:write`: the user's formatters run. A file that changed on disk meanwhile is not written.
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

--- Without autocommands: exactly the text as it is, and nothing else, reaches the disk. A buffer that a plugin writes is
--- left alone.
---@param buf integer
---@return boolean saved
function M.save_exactly(buf)
  return not stamp.has_writer(buf) and is_safe(buf) and write(buf, vim.o.fsync)
end

--- The same over a file that was found to hold what the buffer held: nothing is looked at again. It is the engine that
--- waits until the disk has it.
---@param buf integer
---@return boolean saved
function M.save_over(buf)
  return write(buf, false)
end

return M
