--- Accesses files by their real paths, so that a folder that is replaced by a link leads nowhere.
local codec = require("agent.reload.codec")
local texts = require("agent.reload.texts")
local uv = vim.uv

local M = {}

--- Opening a pipe must not block. Windows has no such flag.
local AT_ONCE = uv.constants.O_NONBLOCK or 0
local READ = bit.bor(uv.constants.O_RDONLY, AT_ONCE)
local WRITE = bit.bor(uv.constants.O_RDWR, AT_ONCE)

--- Bytes. A larger file is never read synchronously, because Neovim would wait too long.
M.LARGEST = 5 * 1024 * 1024

--- Linux knows the path of a handle. Elsewhere the path is checked again, which is less safe.
local HANDLES = uv.fs_stat("/proc/self/fd") and "/proc/self/fd/%d" or nil

---@param fd integer
---@param path string  real path
---@return boolean
local function is_at(fd, path)
  if HANDLES then
    return uv.fs_readlink(HANDLES:format(fd)) == path
  end
  local function is_real()
    local real = uv.fs_realpath(path)
    return real ~= nil and vim.fs.normalize(real, { expand_env = false }) == path
  end
  local opened, at_path = uv.fs_fstat(fd), is_real() and uv.fs_lstat(path) or nil
  return opened ~= nil and at_path ~= nil and opened.ino == at_path.ino and opened.dev == at_path.dev and is_real()
end

---@param fd integer
---@param path string  real path
---@return uv.fs_stat.result? stat
---@return string? error
local function check(fd, path)
  local stat, problem = uv.fs_fstat(fd)
  if not stat then
    return nil, problem
  elseif stat.type ~= "file" then
    return nil, "not a regular file"
  elseif not is_at(fd, path) then
    return nil, "its folder has become a link"
  end
  return stat
end

--- Opens a regular file and calls `use` with its handle.
---@generic Result
---@param path string  real path
---@param flags integer
---@param use fun(fd: integer, stat: uv.fs_stat.result): Result?, string?
---@return Result? result  nothing if there is no such file
---@return string? error
local function with(path, flags, use)
  local fd, problem = uv.fs_open(path, flags, 0)
  if not fd then
    return nil, problem
  end
  local stat, reason = check(fd, path)
  local result = nil ---@type any
  if stat then
    result, reason = use(fd, stat)
  end
  uv.fs_close(fd)
  return result, reason
end

--- Creates an empty file if it is missing. Never follows a link.
---@param path string  real path
function M.create(path)
  local folder = vim.fs.dirname(path)
  local fd = uv.fs_open(folder, uv.constants.O_RDONLY, 0)
  if fd and is_at(fd, folder) then
    local name = HANDLES and vim.fs.joinpath(HANDLES:format(fd), vim.fs.basename(path)) or path
    local file = uv.fs_open(name, "wx", 438)
    if file then
      uv.fs_close(file)
    end
  end
  if fd then
    uv.fs_close(fd)
  end
end

---@class agent.reload.Snapshot
---@field bytes string
---@field stat uv.fs_stat.result  the file just before it was read

--- Reads a file synchronously, unless it is large.
---@param path string  real path
---@param most? number  bytes
---@return agent.reload.Snapshot?
---@return string? error
function M.snapshot(path, most)
  return with(path, READ, function(fd, stat)
    if stat.size > (most or M.LARGEST) then
      return nil, "too large"
    end
    local bytes, problem = uv.fs_read(fd, stat.size, 0)
    return bytes and { bytes = bytes, stat = stat }, problem
  end)
end

--- All bytes of a file, read synchronously.
---@param path string  real path
---@return string? bytes
---@return string? error
function M.bytes(path)
  local snapshot, problem = M.snapshot(path, math.huge)
  return snapshot and snapshot.bytes, problem
end

--- Replaces the content of a file in place. Concurrent readers never see it empty.
---@param path string  real path
---@param bytes string
---@param sync boolean  waits until the disk has it
---@return uv.fs_stat.result? version  the file just after it was written
---@return string? error
function M.write(path, bytes, sync)
  return with(path, WRITE, function(fd)
    local at, reason = 0, nil ---@type integer?, string?
    while at and at < #bytes do
      local count
      count, reason = uv.fs_write(fd, bytes:sub(at + 1), at)
      at = count and at + count
    end
    if not at then
      return nil, reason
    end
    local ok
    ok, reason = uv.fs_ftruncate(fd, #bytes)
    if not ok or (sync and not uv.fs_fsync(fd)) then
      return nil, reason
    end
    return uv.fs_fstat(fd)
  end)
end

--- True if the file has exactly this text and no other name: a hard link may be anywhere.
---@param path string  real path
---@param text agent.reload.Text
---@return boolean  false for a large file
function M.shows(path, text)
  local snapshot = M.snapshot(path)
  if not snapshot or snapshot.stat.nlink ~= 1 then
    return false
  end
  local decoded, encoding, bomb = codec.decode(snapshot.bytes, text)
  local on_disk = decoded and codec.parse(decoded, text, encoding --[[@as string]], bomb == true)
  return on_disk ~= nil and texts.same(on_disk, text)
end

--- Reads a file without blocking. Calls back once, on the main loop.
---@param path string  real path
---@param done fun(snapshot?: agent.reload.Snapshot, error?: string)
function M.read(path, done)
  local finish = vim.schedule_wrap(done)
  uv.fs_open(path, READ, 0, function(open_error, fd)
    if not fd then
      return finish(nil, open_error)
    end
    ---@param snapshot? agent.reload.Snapshot
    ---@param reason? string
    local function close(snapshot, reason)
      uv.fs_close(fd, function()
        finish(snapshot, reason)
      end)
    end
    local stat, reason = check(fd, path)
    if not stat then
      return close(nil, reason)
    end
    uv.fs_read(fd, stat.size, 0, function(read_error, bytes)
      close(bytes and { bytes = bytes, stat = stat }, read_error)
    end)
  end)
end

--- True for the same version of the same file.
---@param a uv.fs_stat.result?
---@param b uv.fs_stat.result?
---@return boolean
function M.same(a, b)
  if not a or not b then
    return a == b
  end
  return a.ino == b.ino
    and a.dev == b.dev
    and a.size == b.size
    and a.mtime.sec == b.mtime.sec
    and a.mtime.nsec == b.mtime.nsec
end

return M
