--- The buffer of a file for its language servers. A file that is not open is loaded into a hidden, unlisted buffer,
--- and unloaded after a while without questions.
local api = vim.api
local codec = require("agent.reload.codec")
local disk = require("agent.reload.disk")
local find = require("agent.reload.find")
local state = require("agent.reload.state")

local M = {}

--- Time after which an unused buffer is unloaded. Milliseconds.
M.idle_ms = 60000

---@class agent.lsp.Hidden
---@field used integer     uv.now() of the last use
---@field existed boolean  the buffer existed before, unloaded

---@type table<integer, agent.lsp.Hidden>
local hidden = {}
local timer ---@type uv.uv_timer_t?
local group = api.nvim_create_augroup("agent.editor.lsp", {})

--- Makes it an ordinary buffer.
---@param buf integer
local function give_to_user(buf)
  hidden[buf] = nil
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].swapfile = vim.go.swapfile
  end
end

---@param buf integer
---@return boolean
local function is_users(buf)
  return vim.bo[buf].buflisted or state.has_unsaved(buf) or #vim.fn.win_findbuf(buf) > 0
end

---@param buf integer
---@param entry agent.lsp.Hidden
local function unload(buf, entry)
  hidden[buf] = nil
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  if is_users(buf) then
    return give_to_user(buf)
  end
  pcall(api.nvim_buf_delete, buf, { force = true, unload = entry.existed })
end

--- Unloads idle buffers.
function M.sweep()
  timer = nil
  local now, next_due = vim.uv.now(), nil ---@type integer, integer?
  for buf, entry in pairs(hidden) do
    local due = entry.used + M.idle_ms
    if due <= now then
      unload(buf, entry)
    else
      next_due = math.min(next_due or due, due)
    end
  end
  if next_due then
    timer = vim.defer_fn(M.sweep, next_due - now)
  end
end

---@param buf integer
local function touch(buf)
  local entry = hidden[buf]
  if entry then
    entry.used = vim.uv.now()
    timer = timer or vim.defer_fn(M.sweep, M.idle_ms)
  end
end

--- Loads without autocommands: linters and language servers run programs of the project for an opened file, and the
--- user has not opened this one. `:silent!`, so that messages do not wait for a key.
---@param buf integer
local function read(buf)
  local modelines = vim.o.modelines
  vim.o.modelines = 0
  pcall(vim.cmd, ("silent! noautocmd call bufload(%d)"):format(buf))
  vim.o.modelines = modelines
end

--- Sets Neovim's own options for the filetype, not the user's: comment strings depend on them.
---@param buf integer
---@param filetype string
local function set_filetype(buf, filetype)
  local ignored = vim.o.eventignore
  vim.o.eventignore = "all"
  pcall(function()
    vim.bo[buf].filetype = filetype
    for _, ending in ipairs({ "vim", "lua" }) do
      local script = vim.fs.joinpath(vim.env.VIMRUNTIME, "ftplugin", ("%s.%s"):format(filetype, ending))
      if vim.uv.fs_stat(script) then
        api.nvim_buf_call(buf, function()
          vim.cmd.source(vim.fn.fnameescape(script))
        end)
      end
    end
  end)
  vim.o.eventignore = ignored
end

--- Language servers attach by filetype, which may not be detected yet.
---@param buf integer
---@param path string
local function detect_filetype(buf, path)
  if vim.bo[buf].filetype == "" then
    local filetype = vim.filetype.match({ buf = buf, filename = path })
    if filetype then
      set_filetype(buf, filetype)
    end
  end
end

---@param path string
---@return integer? buf
local function load(path)
  local existed = vim.fn.bufexists(path) == 1
  -- By the name that the user would use: the statusline shows it once the file is opened.
  local buf = vim.fn.bufadd(vim.fn.fnamemodify(path, ":."))
  -- Without a swap file Neovim does not ask about an existing one.
  vim.bo[buf].swapfile = false
  hidden[buf] = { used = vim.uv.now(), existed = existed }
  read(buf)
  if not api.nvim_buf_is_loaded(buf) then
    hidden[buf] = nil
    return nil
  end
  find.set_origin(buf, path)
  -- Neovim reads by name: a folder may have become a link for that moment.
  if not disk.shows(path, codec.of_buffer(buf)) then
    unload(buf, hidden[buf])
    return nil
  end
  detect_filetype(buf, path)
  api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    buffer = buf,
    once = true,
    desc = "agent: the user has opened a file that was loaded for its language server",
    nested = true,
    callback = function()
      give_to_user(buf)
      -- Settings that were left out when it was read.
      api.nvim_exec_autocmds("BufReadPost", { buffer = buf })
    end,
  })
  return buf
end

---@param path string absolute
---@return integer? buf
---@return string? reason one sentence without a buffer
function M.open(path)
  local buf = find.buffers(path)[1]
  if buf then
    touch(buf)
    return buf
  end
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return nil, "The file does not exist."
  elseif stat.type ~= "file" then
    return nil, "It is not a regular file."
  elseif stat.size > disk.LARGEST then
    return nil, "The file is too large to be loaded for its language server."
  end
  buf = load(path)
  if not buf then
    return nil, "The file cannot be loaded in Neovim."
  end
  touch(buf)
  return buf
end

--- Called before the file is removed: unlike a user's buffer, a hidden buffer must not keep its text.
---@param path string
function M.drop(path)
  for _, buf in ipairs(find.buffers(path)) do
    local entry = hidden[buf]
    if entry then
      unload(buf, entry)
    end
  end
end

--- Loaded here and not otherwise used.
---@param buf integer
---@return boolean
function M.is_hidden(buf)
  return hidden[buf] ~= nil
end

--- Buffers that were loaded here and are not otherwise used.
---@return integer[]
function M.hidden()
  return vim.tbl_keys(hidden)
end

return M
