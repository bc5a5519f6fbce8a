-- Removes everything that the tutor leaves on the screen and in Neovim.
local page = require("agent.tutor.page")
local projects = require("agent.tutor.project")

local lsp = require("agent.ui.lsp")

local M = {}

---@class agent.TutorBefore
---@field window integer
---@field folder string             Neovim's own
---@field servers table<integer, true>  language servers

--- Records the state before the tutor starts.
---@return agent.TutorBefore
function M.note()
  local servers = {}
  for _, server in ipairs(lsp.clients()) do
    servers[server.id] = true
  end
  return { window = vim.api.nvim_get_current_win(), folder = vim.fn.getcwd(-1, -1), servers = servers }
end

--- Empties quickfix lists with files of the project. The lists stay, because Neovim numbers lists by position.
---@param own table<integer, true> buffers
local function empty_lists(own)
  for number = 1, vim.fn.getqflist({ nr = "$" }).nr do
    local list = vim.fn.getqflist({ nr = number, id = 0, items = 0 })
    local is_ours = vim.iter(list.items):any(function(item)
      return own[item.bufnr] ~= nil
    end)
    if is_ours then
      vim.fn.setqflist({}, "r", { id = list.id, items = {}, title = "" })
    end
  end
end

--- Whether a tab page shows something that is not the plugin's.
---@param tab integer
---@param own table<integer, true> buffers
---@return boolean
local function is_used(tab, own)
  return vim.iter(vim.api.nvim_tabpage_list_wins(tab)):any(function(window)
    local buffer = vim.api.nvim_win_get_buf(window)
    return vim.bo[buffer].buftype == "" and vim.api.nvim_buf_get_name(buffer) ~= "" and not own[buffer]
  end)
end

--- Closes a tab page; replaces the last one by an empty one.
---@param tab integer
local function close_tab(tab)
  if #vim.api.nvim_list_tabpages() == 1 then
    vim.cmd.tabnew()
    page.unstyle()
  end
  vim.cmd(("%dtabclose!"):format(vim.api.nvim_tabpage_get_number(tab)))
end

--- Moves all windows out of the project's folders.
---@param folder string Neovim's before
---@param project agent.TutorProject
local function leave_folder(folder, project)
  local function is_inside(...)
    return projects.has(project, vim.fn.getcwd(...) .. "/")
  end
  -- The user may have changed the folder meanwhile.
  local target = is_inside(-1, -1) and folder or vim.fn.getcwd(-1, -1)
  local function go_back()
    vim.cmd.cd({ vim.fn.fnameescape(target), mods = { silent = true } })
  end
  if target == folder then
    go_back()
  end
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local tab = vim.api.nvim_tabpage_get_number(vim.api.nvim_win_get_tabpage(window))
    if is_inside(vim.api.nvim_win_get_number(window), tab) then
      vim.api.nvim_win_call(window, go_back)
    end
  end
end

--- Stops language servers that the project started.
---@param before agent.TutorBefore
---@param own table<integer, true> buffers
function M.stop_servers(before, own)
  for _, server in ipairs(lsp.clients()) do
    local is_ours = vim.iter(pairs(server.attached_buffers)):all(function(buffer)
      return own[buffer] ~= nil
    end)
    if is_ours and not before.servers[server.id] then
      server:stop(true)
    end
  end
end

--- Closes the tab pages, except those with other files of the user, and goes back.
---@param before agent.TutorBefore
---@param project agent.TutorProject
---@param tabs table<integer, "lessons"|"other">
---@param own table<integer, true> buffers
function M.remove(before, project, tabs, own)
  local window = vim.api.nvim_get_current_win()
  for tab, kind in pairs(tabs) do
    if vim.api.nvim_tabpage_is_valid(tab) then
      if kind == "lessons" or not is_used(tab, own) then
        close_tab(tab)
      end
    end
  end
  leave_folder(before.folder, project)
  for _, back in ipairs({ before.window, window }) do
    if vim.api.nvim_win_is_valid(back) then
      vim.api.nvim_set_current_win(back)
    end
  end
  empty_lists(own)
  require("agent.ui.vim_syntax").close()
  for buffer in pairs(own) do
    pcall(vim.api.nvim_buf_delete, buffer, { force = true })
  end
end

return M
