--- Versions of the files behind buffers: the version of each buffer, and the number of Neovim's writes.
local api = vim.api
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local find = require("agent.reload.find")

local M = {}

--- Buffer → the version of its file that its text is based on, if that is certain.
local known = {} ---@type table<integer, uv.fs_stat.result>

---@param buf integer
---@param stat uv.fs_stat.result
function M.set(buf, stat)
  known[buf] = stat
end

---@param buf integer
---@param stat uv.fs_stat.result?
---@return boolean
function M.is(buf, stat)
  return known[buf] ~= nil and disk.same(known[buf], stat)
end

local writes = {} ---@type table<integer, integer>

--- Number of Neovim's writes of a buffer's file. Text that was read before the last one is outdated, even if
--- the file's times are too coarse to show that.
---@param buf integer
---@return integer
function M.writes(buf)
  return writes[buf] or 0
end

---@param buf integer
function M.count_write(buf)
  writes[buf] = M.writes(buf) + 1
end

--- Bytes. Comparing a larger file would slow down `:write`.
local LARGEST = 1000000

--- The version that `:write` created, unless another program has written the file since.
---@param buf integer
---@return uv.fs_stat.result?
local function own_version(buf)
  local snapshot = disk.snapshot(find.origin(buf), LARGEST)
  return snapshot and snapshot.bytes == codec.encode(codec.of_buffer(buf)) and snapshot.stat or nil
end

local group = api.nvim_create_augroup("agent.reload.version", {})

api.nvim_create_autocmd("BufWritePost", {
  group = group,
  desc = "agent: which version of its file a buffer stands for",
  callback = function(event)
    M.count_write(event.buf)
    known[event.buf] = own_version(event.buf)
  end,
})

api.nvim_create_autocmd({ "BufReadPost", "BufFilePost", "BufUnload" }, {
  group = group,
  desc = "agent: which version of its file a buffer stands for",
  callback = function(event)
    known[event.buf] = nil
  end,
})

return M
