--- Files by their real paths: a folder that becomes a link meanwhile leads nowhere.
local codec = require("agent.reload.codec")
local texts = require("agent.reload.texts")
local uv = vim.uv

local M = {}

--- Nothing waits for the other end of a pipe. Windows has neither flag.
local READ = bit.bor(uv.constants.O_RDONLY, uv.constants.O_NONBLOCK or 0)

--- Linux names the file of a handle. Elsewhere the path is looked at again, which is not as safe.
local HANDLES = uv.fs_stat("/proc/self/fd") and "/proc/self/fd/%d" or nil

---@param fd integer
---@param path string  real path
---@return boolean
local function is_at(fd, path)
  if HANDLES then
    return uv.fs_readlink(HANDLES:format(fd)) == path
  end
  local opened, named = uv.fs_fstat(fd), uv.fs_lstat(path)
  local real = uv.fs_realpath(path)
  return opened ~= nil
    and named ~= nil
    and opened.ino == named.ino
    and opened.dev == named.dev
    and real ~= nil
    and vim.fs.normalize(real, { expand_env = false }) == path
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

--- Opens a regular file and calls `use` with a name that leads to this file only.
---@generic Result
---@param path string  real path
---@param use fun(name: string, stat: uv.fs_stat.result, fd: integer): Result?
---@return Result? result  nothing if there is no such file
---@return string? error
function M.with(path, use)
  local fd, problem = uv.fs_open(path, READ, 0)
  if not fd then
    return nil, problem
  end
  local stat, reason = check(fd, path)
  local ok, result = true, nil ---@type boolean, any
  if stat then
    ok, result = pcall(use, HANDLES and HANDLES:format(fd) or path, stat, fd)
  end
  uv.fs_close(fd)
  if not ok then
    error(result, 0)
  end
  return result, reason
end

--- Creates an empty file if there is none. Nothing is created behind a link.
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

--- All bytes of a file, at once.
---@param path string  real path
---@return string? bytes
---@return string? error
function M.bytes(path)
  return M.with(path, function(_, stat, fd)
    return uv.fs_read(fd, stat.size, 0)
  end)
end

--- Does the file hold exactly this text, under no other name? A hard link may lie anywhere.
---@param path string  real path
---@param text agent.reload.Text
---@param most integer  bytes; a larger file is not read
---@return boolean
function M.shows(path, text, most)
  return M.with(path, function(_, stat, fd)
    local bytes = stat.nlink == 1 and stat.size <= most and uv.fs_read(fd, stat.size, 0)
    local decoded, encoding, bomb = codec.decode(bytes or "", text)
    local on_disk = decoded and codec.parse(decoded, text, encoding --[[@as string]], bomb == true)
    return bytes and on_disk and texts.same(on_disk, text)
  end) or false
end

---@class agent.reload.Snapshot
---@field bytes string
---@field stat uv.fs_stat.result  of the file that was read

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

--- Is it the same version of the same file?
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
