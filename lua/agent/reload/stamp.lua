--- Neovim's knowledge of the file behind a buffer: time stamps, flags and undo file.
---
--- Neovim stores two times of a file. `b_mtime` is for `:checktime` and its automatic forms (W11, W12,
--- 'autoread'), `b_mtime_read` is for `:write` ("changed since reading it"). A FileChangedShell autocommand
--- that chooses nothing renews only the first one. Both are renewed, together with the size, the mode, the
--- flags behind E13 and W13 and the undo states that count as unmodified, when a BufWriteCmd autocommand has
--- "written" the buffer (`buf_write_do_autocmds` in bufwrite.c).
local api = vim.api
local disk = require("agent.reload.disk")
local quiet = require("agent.reload.quiet")
local version = require("agent.reload.version")

local M = {}

--- Runs `fn` without the options that could suppress an autocommand or open a dialog.
---@param fn fun()
local function with_options(fn)
  local wanted = { eventignore = "", eventignorewin = "", write = true, confirm = false }
  local saved = {}
  for name, value in pairs(wanted) do
    if vim.o[name] ~= value then
      saved[name] = vim.o[name]
      api.nvim_set_option_value(name, value, { scope = name == "eventignorewin" and "local" or nil })
    end
  end
  local ok, err = pcall(fn)
  for name, value in pairs(saved) do
    api.nvim_set_option_value(name, value, { scope = name == "eventignorewin" and "local" or nil })
  end
  if not ok then
    error(err, 0)
  end
end

--- Marks the buffer as written to the current file on disk, without writing it. Undo and redo to any other
--- state then count as modifications.
---@param buf integer
---@param keep_modified boolean  the buffer stays modified
---@return boolean renewed  false while autocommands cannot run
local function take_stamp(buf, keep_modified)
  local renewed = false
  local autocmd = api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    desc = "agent: take the buffer for written",
    callback = function()
      renewed = true
      vim.cmd("noautocmd setlocal nomodified")
    end,
  })
  local ok = pcall(api.nvim_buf_call, buf, function()
    with_options(function()
      local was_modified = vim.bo.modified
      -- If the autocommand does not run, a buffer of this type is refused (E676) instead of written. Undo
      -- states only change for a modified buffer.
      vim.cmd("noautocmd setlocal buftype=acwrite modified")
      pcall(vim.cmd, "lockmarks silent! write!")
      vim.cmd("noautocmd setlocal buftype=")
      local is_modified = keep_modified or (was_modified and not renewed)
      vim.cmd("noautocmd setlocal " .. (is_modified and "modified" or "nomodified"))
    end)
  end)
  api.nvim_del_autocmd(autocmd)
  return ok and renewed
end

--- Makes `:write` fail (E13) until the stamp is taken again.
---@param buf integer
local function forbid(buf)
  quiet.run(buf, function()
    vim.cmd.file({
      args = { api.nvim_buf_get_name(buf) },
      magic = { file = false, bar = false },
      mods = { keepalt = true, silent = true },
    })
  end)
end

--- "locked": autocommands cannot run; try again later. "stale": the file has another version by now.
---@alias agent.reload.Renewed "renewed"|"locked"|"stale"

--- Marks the buffer as written to this version of its file. The buffer's text must be based on it.
---@param buf integer
---@param keep_modified boolean  the buffer stays modified
---@param stat uv.fs_stat.result
---@return agent.reload.Renewed
function M.renew(buf, keep_modified, stat)
  -- Neovim takes the stamp by name, which may lead elsewhere by now.
  local function is_current()
    return disk.same(vim.uv.fs_stat(api.nvim_buf_get_name(buf)), stat)
  end
  if not is_current() then
    return "stale"
  elseif not take_stamp(buf, keep_modified) then
    return "locked"
  elseif not is_current() then
    -- Neovim may have stamped the newer version, and would no longer warn about it.
    forbid(buf)
    return "stale"
  end
  version.set(buf, stat)
  return "renewed"
end

--- Marks the buffer as unmodified. The stamp stays: `:write` warns if the file has changed since.
---@param buf integer
function M.set_unmodified(buf)
  quiet.run(buf, function()
    quiet.set({ modified = false })
  end)
end

---@param event string
---@param buf integer
---@return boolean  an autocommand of someone else would run for this buffer
local function has_autocmd(event, buf)
  local name = api.nvim_buf_get_name(buf)
  local tail = vim.fs.basename(name)
  for _, autocmd in ipairs(api.nvim_get_autocmds({ event = event })) do
    if autocmd.buflocal then
      if autocmd.buffer == buf then
        return true
      end
    elseif autocmd.pattern then
      local subject = autocmd.pattern:find("/", 1, true) and name or tail
      local ok, regex = pcall(vim.regex, vim.fn.glob2regpat(autocmd.pattern))
      if ok and regex:match_str(subject) then
        return true
      end
    end
  end
  return false
end

--- True if a plugin writes the buffer's text, so that it may differ from the file's.
---@param buf integer
---@return boolean
function M.has_writer(buf)
  return has_autocmd("BufWriteCmd", buf)
end

--- True if the file differs from Neovim's last version. Shows no message, and neither will Neovim (W12) until
--- the file changes again, but `:write` still asks. Unknown if the user has FileChangedShell autocommands,
--- which do not run here.
---@param buf integer  a modified buffer
---@return "same"|"changed"|"unknown"
function M.hush(buf)
  -- Within an autocommand no other would run, so Neovim would prompt.
  if has_autocmd("FileChangedShell", buf) or vim.fn.state("x") ~= "" then
    return "unknown"
  end
  local changed = false
  local autocmd = api.nvim_create_autocmd("FileChangedShell", {
    buffer = buf,
    desc = "agent: no dialog",
    callback = function()
      changed = true
      vim.v.fcs_choice = ""
    end,
  })
  local ok = pcall(with_options, function()
    vim.cmd(("silent! checktime %d"):format(buf))
  end)
  api.nvim_del_autocmd(autocmd)
  return changed and "changed" or ok and "same" or "unknown"
end

--- Lets Neovim notice that the file is gone without its message (E211), so that it detects when the file
--- returns. Marks the buffer as modified, because its text exists nowhere else.
---@param buf integer
function M.deleted(buf)
  quiet.run(buf, function()
    vim.cmd("setlocal modified")
    -- Only a missing file is silent; one that has returned would open a dialog.
    if not vim.uv.fs_stat(api.nvim_buf_get_name(buf)) then
      vim.cmd(("silent! checktime %d"):format(buf))
    end
  end)
end

--- Makes `:write` fail (E13) instead of silently replacing a file that Neovim never read. For the buffer of a
--- new file, an older time stamp would not achieve this.
---@param buf integer
function M.guard(buf)
  take_stamp(buf, true) -- takes back "new file", which would bring W13
  forbid(buf)
end

--- Writes the undo file for the current text, as `:write` would.
---@param buf integer
function M.write_undo(buf)
  local name = api.nvim_buf_get_name(buf)
  if not vim.bo[buf].undofile or name == "" then
    return
  end
  local path = vim.fn.undofile(name)
  if path ~= "" then
    quiet.run(buf, function()
      vim.cmd.wundo({
        args = { path },
        bang = true,
        magic = { file = false, bar = false },
        mods = { emsg_silent = true },
      })
    end)
  end
end

return M
