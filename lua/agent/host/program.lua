-- Programs that Neovim starts for the plugin.
local M = {}

--- Finds the program on the PATH, but not in a folder of the project: a tool may have written it, and Neovim
--- would run it outside of every sandbox. Returns nil without one. A path from the user's options is used
--- unchanged.
---@param program string
---@return string?
function M.find(program)
  if program:find("[/\\]") or vim.fn.has("win32") == 1 then
    return vim.fn.executable(program) == 1 and program or nil
  end
  local home = vim.uv.fs_realpath(vim.uv.os_homedir() or "/")
  local roots = vim.tbl_map(vim.uv.fs_realpath, { vim.fn.getcwd(), vim.fs.root(0, ".git") })
  for folder in vim.gsplit(vim.env.PATH or "", ":", { plain = true }) do
    local path = vim.startswith(folder, "/") and vim.uv.fs_realpath(vim.fs.joinpath(folder, program))
    local is_inside = path
      and vim.iter(roots):any(function(root)
        -- These are never projects.
        return root ~= "/" and root ~= home and vim.startswith(path, root .. "/")
      end)
    if path and not is_inside and vim.fn.executable(path) == 1 then
      return vim.fs.joinpath(folder, program)
    end
  end
end

return M
