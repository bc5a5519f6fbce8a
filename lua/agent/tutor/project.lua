-- The tutor's scratch project, in a temporary folder.
local M = {}

local ATTEMPTS = 50
local RETRY_MS = 100

---@type table<string, string>
local FILES = {
  ["greet.lua"] = [[
-- Greets everybody on the list.
local M = {}

function M.greet(name)
  return "hey " .. name
end

function M.all()
  for name in io.lines("guests.txt") do
    print(M.greet(name))
  end
end

M.all()

return M
]],
  ["guests.txt"] = "Zoe\nAda\nLinus\nAda\n",
  ["README.md"] = "# Party\n\nSays hey to everybody in guests.txt.\n",
}

---@class agent.TutorProject
---@field folder string  contains the others
---@field root string    of the project
---@field state string
---@field config string  replaces Neovim's configuration folder

---@return agent.TutorProject
function M.make()
  local folder = vim.fs.normalize(vim.fn.tempname())
  vim.fn.mkdir(folder, "p", tonumber("700", 8))
  -- Engines use real paths.
  folder = assert(vim.uv.fs_realpath(folder))
  local project = { folder = folder }
  for name, part in pairs({ root = "party", state = "state", config = "config" }) do
    project[name] = vim.fs.joinpath(folder, part)
    vim.fn.mkdir(project[name])
  end
  for name, text in pairs(FILES) do
    local file = assert(io.open(vim.fs.joinpath(project.root, name), "w"))
    file:write(text)
    file:close()
  end
  return project
end

--- A file's text on disk.
---@param project agent.TutorProject
---@param name string
---@return string
function M.read(project, name)
  local file = io.open(vim.fs.joinpath(project.root, name))
  local text = file and file:read("*a") or ""
  if file then
    file:close()
  end
  return text
end

--- Whether a path is inside the tutor's folder.
---@param project agent.TutorProject
---@param path string
---@return boolean
function M.has(project, path)
  return vim.startswith(vim.fs.normalize(path), project.folder .. "/")
end

--- Removes the folder. The supervisor, which ends meanwhile, may add files: then it tries again. Neovim removes at its
-- end what is left.
---@param project agent.TutorProject
---@param attempts? integer
function M.remove(project, attempts)
  local left = (attempts or ATTEMPTS) - 1
  -- vim.fn.delete() would report a folder that disappears meanwhile as an error.
  local removed = pcall(vim.fs.rm, project.folder, { recursive = true, force = true })
  if not removed and left > 0 then
    vim.defer_fn(function()
      M.remove(project, left)
    end, RETRY_MS)
  end
end

return M
