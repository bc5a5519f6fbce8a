--- Finds the buffers of a file. Compares names after resolving links, never as patterns.
local api = vim.api
local uv = vim.uv

local M = {}

local HAS_BACKSLASHES = vim.fn.has("win32") == 1

--- The absolute path without links, also for a missing file.
---@param path string  absolute
---@param depth? integer
---@return string
function M.real(path, depth)
  local real = uv.fs_realpath(path)
  if real then
    return HAS_BACKSLASHES and vim.fs.normalize(real, { expand_env = false }) or real
  end
  depth = depth or 0
  local parent, tail = vim.fs.dirname(path), vim.fs.basename(path)
  if depth > 40 or not parent or parent == path or tail == "" then
    return vim.fs.normalize(path, { expand_env = false })
  end
  local target = uv.fs_readlink(path)
  if target then
    local absolute = vim.startswith(target, "/") or target:find("^%a:[/\\]")
    return M.real(absolute and target or vim.fs.joinpath(parent, target), depth + 1)
  end
  return vim.fs.joinpath(M.real(parent, depth + 1), tail)
end

--- True if the path leads into one of the folders, after resolving links.
---@param path string  absolute
---@param folders string[]  absolute, without links
---@return boolean
function M.is_inside(path, folders)
  local real = M.real(path)
  return vim.iter(folders):any(function(folder)
    folder = vim.fs.normalize(folder, { expand_env = false }):gsub("/$", "")
    return vim.startswith(real, folder .. "/")
  end)
end

--- True for a loaded buffer of an ordinary file.
---@param buf integer
---@return boolean
function M.is_file_buffer(buf)
  if not (api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "") then
    return false
  end
  local name = api.nvim_buf_get_name(buf)
  return name ~= "" and not name:find("^%a[%w+.-]+://")
end

--- The real path of each buffer's file when Neovim last read or wrote it. Links may have changed since.
---@type table<integer, string>
local origins = {}

---@param buf integer
---@param path? string  where its name leads by default
function M.set_origin(buf, path)
  origins[buf] = M.is_file_buffer(buf) and (path or M.real(api.nvim_buf_get_name(buf))) or nil
end

--- The real path of the file that a loaded buffer shows.
---@param buf integer  0 is the current one
---@return string
function M.origin(buf)
  buf = buf == 0 and api.nvim_get_current_buf() or buf
  if not origins[buf] then
    M.set_origin(buf)
  end
  return origins[buf] or M.real(api.nvim_buf_get_name(buf))
end

api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufWritePost", "BufFilePost" }, {
  group = api.nvim_create_augroup("agent.reload.find", {}),
  desc = "agent: which file a buffer shows",
  callback = function(args)
    M.set_origin(args.buf)
  end,
})
api.nvim_create_autocmd("BufUnload", {
  group = "agent.reload.find",
  desc = "agent: which file a buffer shows",
  callback = function(args)
    origins[args.buf] = nil
  end,
})

-- Before an engine runs, which could change links.
for _, buf in ipairs(api.nvim_list_bufs()) do
  M.set_origin(buf)
end

--- Loaded buffers of the file. Several exist if a file was opened under two names before it was created or
--- replaced.
---@param path string  real path: where it leads now is not looked at
---@return integer[]
function M.buffers(path)
  return vim.tbl_filter(function(buf)
    return M.is_file_buffer(buf) and M.origin(buf) == path
  end, api.nvim_list_bufs())
end

return M
