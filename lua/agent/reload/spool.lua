-- Copies files before Neovim writes them, while an agent's turn runs over an overlay: if the agent and the user have
-- changed the same file, the copy is the base of their merge.
local api, uv = vim.api, vim.uv

local M = {}

--- Bytes of the largest file: a larger one would delay |:write|.
local LARGEST = 5 * 1024 * 1024

---@class agent.Spool
---@field folder string   for the copies
---@field since? number   milliseconds since 1970; nil: inactive
---@field roots string[]  of the project

--- By folder.
local active = {} ---@type table<string, agent.Spool>

---@param spool agent.Spool
function M.follow(spool)
  active[spool.folder] = spool.since and spool or nil
end

---@param path string
---@param roots string[]
---@return boolean
local function is_inside(path, roots)
  return vim.iter(roots):any(function(root)
    return vim.startswith(path, root .. "/")
  end)
end

--- Only a text from the beginning of the turn is a correct base: of a newer one, a merge would undo the changes.
---@param path string real path
local function copy(path)
  local stat = uv.fs_stat(path)
  if not stat or stat.type ~= "file" or stat.size > LARGEST then
    return
  end
  local changed = stat.ctime.sec * 1000 + stat.ctime.nsec / 1e6
  for folder, spool in pairs(active) do
    if changed < spool.since and is_inside(path, spool.roots) then
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
