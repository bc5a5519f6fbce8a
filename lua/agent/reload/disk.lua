--- Reads a file without blocking.
local uv = vim.uv

local M = {}

---@class agent.reload.Snapshot
---@field bytes string
---@field stat uv.fs_stat.result  of the file that was read

--- Calls back once, on the main loop.
---@param path string
---@param done fun(snapshot?: agent.reload.Snapshot, error?: string)
function M.read(path, done)
  local finish = vim.schedule_wrap(done)
  uv.fs_open(path, "r", 438, function(open_error, fd)
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
    uv.fs_fstat(fd, function(stat_error, stat)
      if not stat then
        return close(nil, stat_error)
      elseif stat.type ~= "file" then
        return close(nil, "not a regular file")
      end
      uv.fs_read(fd, stat.size, 0, function(read_error, bytes)
        close(bytes and { bytes = bytes, stat = stat }, read_error)
      end)
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
