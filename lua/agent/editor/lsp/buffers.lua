--- The buffer of a file, for its language servers. A file that is not open is loaded as a hidden, unlisted buffer
--- and unloaded again when nothing has asked about it for a while.
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
---@field existed boolean  the buffer was there before, unloaded

---@type table<integer, agent.lsp.Hidden>
local hidden = {}
local timer ---@type uv.uv_timer_t?
local group = api.nvim_create_augroup("agent.editor.lsp", {})

--- From now on it is a buffer like any other.
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

--- Unloads what is idle.
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

--- Without autocommands: linters and language servers run programs of the project for a file that is opened, and
--- nobody has opened this one. `:silent!`, so that the file's message does not stop at a prompt.
---@param buf integer
local function read(buf)
  local modelines = vim.o.modelines
  vim.o.modelines = 0
  pcall(vim.cmd, ("silent! noautocmd call bufload(%d)"):format(buf))
  vim.o.modelines = modelines
end

--- Neovim's own settings for the type of file, and not the user's: comments are told apart by them.
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

--- Language servers attach by file type; it may not have been looked for.
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
  -- By the name that the user would give: it is what the statusline shows once the file is opened.
  local buf = vim.fn.bufadd(vim.fn.fnamemodify(path, ":."))
  -- Without a swap file nothing asks about one that is there already.
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
      -- What was left out when it was read.
      api.nvim_exec_autocmds("BufReadPost", { buffer = buf })
    end,
  })
  return buf
end

---@param path string absolute
---@return integer? buf
---@return string? reason one sentence, if there is no buffer
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

--- The file is about to go: a buffer that nobody sees must not keep its text, as one that the user opened does.
---@param path string
function M.drop(path)
  for _, buf in ipairs(find.buffers(path)) do
    local entry = hidden[buf]
    if entry then
      unload(buf, entry)
    end
  end
end

--- Loaded here, and used by nobody else.
---@param buf integer
---@return boolean
function M.is_hidden(buf)
  return hidden[buf] ~= nil
end

--- Buffers that were loaded here and that nobody else uses.
---@return integer[]
function M.hidden()
  return vim.tbl_keys(hidden)
end

return M
