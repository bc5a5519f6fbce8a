--- Writes a buffer without ever asking.
local api = vim.api
local stamp = require("agent.reload.stamp")
local state = require("agent.reload.state")

local M = {}

--- Does the file hold what Neovim last saw, so that writing overwrites nothing?
---@param buf integer
---@return boolean
local function is_safe(buf)
  if state.is_diverged(buf) then
    return false
  end
  local seen = stamp.hush(buf)
  if seen == "changed" then
    state.set_diverged(buf)
  end
  return seen == "same"
end

---@param buf integer
---@param command string
---@return boolean saved
local function write(buf, command)
  if not is_safe(buf) then
    return false
  end
  local ok = pcall(api.nvim_buf_call, buf, function()
    local confirm = vim.o.confirm
    vim.o.confirm = false
    local written, err = pcall(vim.cmd, command)
    vim.o.confirm = confirm
    if not written then
      error(err, 0)
    end
  end)
  return ok and not vim.bo[buf].modified
end

--- `:write`, which may run the user's formatters. A file that changed on disk meanwhile is not written.
---@param buf integer
---@return boolean saved
function M.save(buf)
  return write(buf, "silent write")
end

--- The same without autocommands: exactly the text as it is, and nothing else, reaches the disk. A buffer that a
--- plugin writes is left alone.
---@param buf integer
---@return boolean saved
function M.save_exactly(buf)
  return not stamp.has_writer(buf) and write(buf, "silent noautocmd write")
end

--- The same over a file that was found to hold what the buffer held: nothing is looked at again, and no backup is
--- left. It is the engine that waits until the disk has it.
---@param buf integer
---@return boolean saved
function M.save_over(buf)
  local kept = {}
  for name, value in pairs({ backup = false, confirm = false, fsync = false, patchmode = "" }) do
    kept[name] = vim.o[name]
    vim.o[name] = value
  end
  local ok = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("lockmarks silent noautocmd write!")
  end)
  for name, value in pairs(kept) do
    vim.o[name] = value
  end
  return ok and not vim.bo[buf].modified
end

return M
