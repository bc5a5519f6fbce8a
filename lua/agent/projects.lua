-- The project of the current window. headless/project_root.ts finds the same folder without Neovim.
local config = require("agent.config")
local schema = require("agent.config.schema")
local find = require("agent.reload.find")

local M = {}

--- Known projects of folders. Each action checks again.
---@type table<string, string|false>
local known = {}

--- The project of each tab page, and the working folder at the time of the choice.
---@type table<integer, { root: string, cwd: string }>
local tabs = {}

--- The home folder and "/" are no projects, even if they contain a repository: dotfiles often do.
---@param folder string
---@return boolean
local function can_be_project(folder)
  local real = find.real(folder)
  local home = vim.env.HOME or vim.env.USERPROFILE
  return real ~= vim.fs.dirname(real) and real ~= (home and find.real(home))
end

---@param folder string
---@return string? root real path
local function look(folder)
  for _, names in ipairs(schema.get().root_markers) do
    for _, marker in ipairs(vim.fs.find(names, { upward = true, path = folder, limit = math.huge })) do
      local root = vim.fs.dirname(marker)
      if can_be_project(root) then
        return find.real(root)
      end
    end
  end
end

--- The project of a folder.
---@param folder string
---@return string? root real path
local function project_of(folder)
  if known[folder] == nil then
    known[folder] = look(folder) or false
  end
  return known[folder] or nil
end

--- A project may have appeared or disappeared.
function M.refresh()
  known = {}
end

--- The worktree of a folder, see worktree_place.ts.
---@param folder string real path
---@return string? root
function M.worktree(folder)
  local all = vim.fs.joinpath(find.real(config.get().state_dir), "worktrees")
  -- A working folder that was deleted has no name, and vim.fs would ask for it.
  local relative = folder ~= "" and vim.fs.relpath(all, folder)
  local name = relative and relative:match("^[^/]+/[^/]+")
  return name and vim.fs.joinpath(all, name)
end

--- The project of a file; nil if an option names one for all files.
---@param path string
---@return string? root real path
function M.of_file(path)
  return not config.get().root and project_of(vim.fs.dirname(path)) or nil
end

---@param window integer
---@return string
local function cwd_of(window)
  local tab, number = unpack(vim.fn.win_id2tabwin(window == 0 and vim.api.nvim_get_current_win() or window))
  return vim.fn.getcwd(number, tab)
end

--- The project of the current window. The working folder decides. If that is in no project, the file decides, except
--- in a tab page that already has a project.
---@param window? integer default: the current one
---@return string? root real path; nil in the home folder and in "/"
function M.here(window)
  window = window or 0
  local cwd = cwd_of(window)
  local chosen = M.worktree(find.real(cwd)) or config.get().root
  if chosen then
    return find.real(vim.fs.abspath(vim.fs.normalize(chosen)))
  end
  -- There the working folder is only that of the file.
  local found = not vim.o.autochdir and project_of(cwd)
  if found then
    return found
  end
  local tab = tabs[vim.api.nvim_win_get_tabpage(window)]
  if tab and (vim.o.autochdir or tab.cwd == cwd) then
    return tab.root
  end
  local buffer = vim.api.nvim_win_get_buf(window)
  local name = vim.api.nvim_buf_get_name(buffer)
  local is_file = vim.bo[buffer].buftype == "" and name ~= ""
  return is_file and M.of_file(name) or project_of(cwd) or can_be_project(cwd) and find.real(cwd) or nil
end

--- Makes this the project of the current tab page, until its working folder changes.
---@param root? string
function M.enter(root)
  tabs[vim.api.nvim_get_current_tabpage()] = root and { root = root, cwd = cwd_of(0) }
end

--- The place of an action, see protocol/actions.ts.
---@param window? integer
---@return { root: string }
function M.place(window)
  return { root = M.here(window) or cwd_of(window or 0) }
end

--- The shortest name that differs from the others.
---@param root string
---@param others string[] roots
---@return string
function M.name(root, others)
  local name = vim.fs.basename(root)
  local is_twice = vim.iter(others):any(function(other)
    return other ~= root and vim.fs.basename(other) == name
  end)
  return is_twice and vim.fs.joinpath(vim.fs.basename(vim.fs.dirname(root)), name) or name
end

vim.api.nvim_create_autocmd("TabClosed", {
  group = vim.api.nvim_create_augroup("agent.projects", {}),
  callback = function()
    for tab in pairs(tabs) do
      tabs[tab] = vim.api.nvim_tabpage_is_valid(tab) and tabs[tab] or nil
    end
  end,
})

return M
