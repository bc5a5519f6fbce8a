-- Copies files before Neovim writes them, while an agent's turn runs over an overlay: if the agent and the user have
-- changed the same file, the copy is the base of their merge.
local api, uv = vim.api, vim.uv

local M = {}

--- Bytes of the largest file: a larger one would delay |:write|.
local LARGEST = 5 * 1024 * 1024

--- The roots of a project by its active folder for copies.
local active = {} ---@type table<string, string[]>

---@param update { folder: string, active: boolean, roots: string[] }
function M.follow(update)
  active[update.folder] = update.active and update.roots or nil
end

---@param path string
---@param roots string[]
---@return boolean
local function is_inside(path, roots)
  return vim.iter(roots):any(function(root)
    return vim.startswith(path, root .. "/")
  end)
end

--- The first copy of a turn stays: an older base is always a correct one.
---@param path string real path
local function copy(path)
  local stat = uv.fs_stat(path)
  if not stat or stat.type ~= "file" or stat.size > LARGEST then
    return
  end
  for folder, roots in pairs(active) do
    if is_inside(path, roots) then
      uv.fs_copyfile(path, folder .. "/" .. vim.fn.sha256(path), { excl = true })
    end
  end
end

api.nvim_create_autocmd({ "BufWritePre", "FileWritePre", "FileAppendPre" }, {
  group = api.nvim_create_augroup("agent.reload.spool", {}),
  desc = "agent: a copy of the file, for merges with an agent's turn",
  callback = function(event)
    local path = next(active) and uv.fs_realpath(event.match)
    if path then
      copy(path)
    end
  end,
})

return M
