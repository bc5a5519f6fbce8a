-- Writes the requests and answers of a session's last turn to a file.
local config = require("agent.config")
local export = require("agent.sessions.export")
local page = require("agent.ui.page")
local say = require("agent.ui.say")

local M = {}

--- Traces that are kept in the state folder.
local MOST_KEPT = 5

--- Access rights: the user's alone.
local OWN_FILE, OWN_FOLDER = 384, 448

--- A new file in the state folder, instead of the oldest one.
---@return string path
local function own_file()
  local folder = vim.fs.joinpath(config.get().state_dir, "traces")
  vim.fn.mkdir(folder, "p", OWN_FOLDER)
  local known = {}
  for name in vim.fs.dir(folder) do
    table.insert(known, name)
  end
  table.sort(known)
  for index = 1, #known - MOST_KEPT + 1 do
    vim.uv.fs_unlink(vim.fs.joinpath(folder, known[index]))
  end
  return vim.fs.joinpath(folder, ("%s.%03d.http"):format(os.date("%Y-%m-%d-%H%M%S"), vim.uv.now() % 1000))
end

--- Opens it in a tab page, which `q` closes. Its text is not the user's, so its modelines do not count.
---@param path string
local function open(path)
  local usual = vim.go.modeline
  vim.go.modeline = false
  -- Neovim's message about a file with a long name would wait for a key.
  local silent = { silent = true }
  local is_open, why = pcall(vim.cmd.tabedit, { args = { path }, magic = { file = false, bar = false }, mods = silent })
  vim.go.modeline = usual
  if not is_open then
    return say.error(tostring(why))
  end
  page.closes(vim.api.nvim_get_current_buf(), "the trace")
end

---@param chat agent.Chat
---@param file? string
---@param overwrite? boolean
function M.write(chat, file, overwrite)
  local session = chat.timeline.session
  if not session then
    return say.info("the chat is empty: after the first message this writes its requests and answers")
  end
  local path = file and vim.fn.fnamemodify(file, ":p")
  if path and vim.fn.isdirectory(path) == 1 then
    return say.error(("%s is a folder"):format(file))
  elseif path and (vim.uv.fs_lstat(path) or {}).type == "link" then
    return say.error(("cannot write %s: it is a link. Name another file"):format(file))
  elseif path and not overwrite and vim.uv.fs_lstat(path) then
    return say.error(("%s exists; :Agent! trace overwrites it"):format(file))
  end
  require("agent.client").request(chat, "trace", { sessionId = session }, function(result, problem)
    if not result then
      return say.error(problem)
    elseif result.text == "" then
      return say.info("no request since the session was opened here: send a message first")
    end
    path = path or own_file()
    local out = export.file(path, overwrite == true, OWN_FILE)
    if out and out.add(result.text) and out.done() then
      open(path)
    end
  end)
end

return M
