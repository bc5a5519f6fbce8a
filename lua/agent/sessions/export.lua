-- An exported session: a file, or a buffer to read and copy from.
local say = require("agent.say")

local M = {}

---@param path string absolute
---@param text string
---@param overwrite boolean
function M.write(path, text, overwrite)
  -- "wx": a file that has come meanwhile is not overwritten.
  local file, problem = vim.uv.fs_open(path, overwrite and "w" or "wx", 420)
  local written = file and vim.uv.fs_write(file, text, 0)
  if file then
    vim.uv.fs_close(file)
  end
  if written ~= #text then
    local reason = problem or "only a part was written"
    return say.error(("cannot write %s: %s"):format(path, reason))
  end
  say.info(("written to %s"):format(vim.fn.fnamemodify(path, ":~:.")))
end

---@param text string
---@param format "markdown"|"json"
function M.show(text, format)
  local buffer = vim.api.nvim_create_buf(true, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((text:gsub("\n$", "")), "\n"))
  vim.bo[buffer].modeline = false
  vim.bo[buffer].filetype = format
  vim.cmd("tab sbuffer " .. buffer)
end

return M
