--- The state of a buffer until it is written or read again.
local api = vim.api
local codec = require("agent.reload.codec")

local M = {}

---@class agent.reload.State
---@field diverged? true     the file holds something that the buffer's text does not account for
---@field deleted_tick? integer  changedtick at which the file was found deleted, if nothing was unsaved

local states = {} ---@type table<integer, agent.reload.State>

---@param buf integer
---@return agent.reload.State
local function state(buf)
  states[buf] = states[buf] or {}
  return states[buf]
end

---@param buf integer
function M.clear(buf)
  states[buf] = nil
  if api.nvim_buf_is_valid(buf) and vim.b[buf].agent_deleted then
    vim.b[buf].agent_deleted = nil
  end
end

--- Until the buffer is written or read, `:write` must keep its warning.
---@param buf integer
function M.set_diverged(buf)
  state(buf).diverged = true
end

---@param buf integer
---@return boolean
function M.is_diverged(buf)
  return states[buf] ~= nil and states[buf].diverged == true
end

--- Call this after the buffer was marked as modified.
---@param buf integer
---@param was_modified boolean
function M.set_deleted(buf, was_modified)
  vim.b[buf].agent_deleted = true
  state(buf).deleted_tick = not was_modified and api.nvim_buf_get_changedtick(buf) or nil
end

--- True if the buffer has unsaved text of the user. A buffer that is only modified because its file was
--- deleted has none.
---@param buf integer
---@return boolean
function M.has_unsaved(buf)
  if not vim.bo[buf].modified then
    return false
  end
  local tick = states[buf] and states[buf].deleted_tick
  return tick ~= api.nvim_buf_get_changedtick(buf)
end

--- Characters of the largest text that is stored.
local LARGEST_KEPT = 1000000

--- Buffer → the time of Neovim's last write, in milliseconds since 1970, and the written text if it is not
--- large.
local written = {} ---@type table<integer, { time: number, text?: string }>

--- True if Neovim has written the file of this buffer since then.
---@param buf integer
---@param time number?  milliseconds since 1970
---@return boolean
function M.was_written(buf, time)
  return time ~= nil and written[buf] ~= nil and written[buf].time >= time
end

--- The buffers that Neovim has written since then, with the last written text in UTF-8. Large texts are
--- omitted.
---@param time number  milliseconds since 1970
---@return table<integer, string>
function M.written_since(time)
  local texts = {}
  for buf, write in pairs(written) do
    texts[buf] = write.time >= time and write.text or nil
  end
  return texts
end

local group = api.nvim_create_augroup("agent.reload", { clear = true })

api.nvim_create_autocmd({ "BufWritePost", "BufReadPost", "BufUnload" }, {
  group = group,
  desc = "agent: forget what was known about the file",
  callback = function(event)
    -- Writing a copy under another name changes nothing.
    if event.event ~= "BufWritePost" or not vim.bo[event.buf].modified then
      M.clear(event.buf)
    end
    if event.event == "BufWritePost" then
      local seconds, microseconds = vim.uv.gettimeofday()
      local size = api.nvim_buf_get_offset(event.buf, api.nvim_buf_line_count(event.buf))
      written[event.buf] = {
        time = seconds * 1000 + microseconds / 1000,
        text = size <= LARGEST_KEPT and codec.join(codec.of_buffer(event.buf)) or nil,
      }
    elseif event.event == "BufUnload" then
      written[event.buf] = nil
    end
  end,
})

api.nvim_create_autocmd("FileChangedShellPost", {
  group = group,
  desc = "agent: the user kept the buffer although the file changed",
  callback = function(event)
    if api.nvim_buf_is_loaded(event.buf) and vim.bo[event.buf].modified then
      M.set_diverged(event.buf)
    end
  end,
})

return M
