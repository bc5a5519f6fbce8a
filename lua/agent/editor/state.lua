-- What Neovim has open, for the supervisor: it need not ask about what is not.
local find = require("agent.reload.find")

local M = {}

--- Of these one fires whenever a buffer comes to show a file, or no longer does; the text of one that was loaded
--- without events is unsaved only once it is modified.
local EVENTS =
  { "BufReadPost", "BufNewFile", "BufFilePost", "BufModifiedSet", "BufUnload", "LspAttach", "LspDetach" }

---@class agent.EditorState
---@field files string[]    the last part of each loaded buffer's path, as it is named and where links lead
---@field servers boolean   a language server runs

---@type agent.EditorState?
local current
---@type fun()[]
local listeners = {}

---@return agent.EditorState
local function look()
  local names = {} ---@type table<string, true>
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if find.is_file_buffer(buf) then
      names[vim.fs.basename(vim.api.nvim_buf_get_name(buf))] = true
      names[vim.fs.basename(find.origin(buf))] = true
    end
  end
  local files = vim.tbl_keys(names)
  table.sort(files)
  return { files = files, servers = #require("agent.server").others() > 0 }
end

--- Something has happened since `current` was looked up.
local is_old = true

local function follow()
  local before = current
  if before ~= M.get() then
    for _, listener in ipairs(listeners) do
      listener()
    end
  end
end

local notify = vim.schedule_wrap(follow)

local function watch()
  local group = vim.api.nvim_create_augroup("agent_editor_state", {})
  local on = { group = group, callback = function()
    is_old = true
    notify()
  end }
  vim.api.nvim_create_autocmd(EVENTS, on)
  vim.api.nvim_create_autocmd("OptionSet", vim.tbl_extend("error", on, { pattern = "buftype" }))
end

--- The same table as long as nothing has changed.
---@return agent.EditorState
function M.get()
  if not current then
    watch()
  end
  if is_old then
    is_old = false
    local state = look()
    current = vim.deep_equal(current, state) and current or state
  end
  return current --[[@as agent.EditorState]]
end

---@param listener fun()
function M.on_change(listener)
  table.insert(listeners, listener)
end

return M
