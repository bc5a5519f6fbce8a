-- The state of the editor for the supervisor, which need not ask about files that are not open.
local find = require("agent.reload.find")

local M = {}

--- One of these fires whenever a buffer begins or stops to show a file. Text of a buffer that was loaded without
--- events is unsaved only once it is modified.
local EVENTS =
  { "BufReadPost", "BufNewFile", "BufFilePost", "BufModifiedSet", "BufUnload", "LspAttach", "LspDetach" }

---@class agent.EditorState
---@field files string[]    last part of each loaded buffer's path, as named and with links resolved
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

--- True after an event since the last look.
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

--- Returns the same table until something changes.
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
