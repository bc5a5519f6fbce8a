-- Lines that go along with the next message are the same lines after an edit above them, or in them.
local find = require("agent.reload.find")
local given = require("agent.context.given")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.selection")

---@class agent.Followed
---@field buffer integer
---@field id integer    of the extmark over the lines
---@field path string

---@type table<agent.Given, agent.Followed>
local followed = setmetatable({}, { __mode = "k" })

--- From here on, for as long as the buffer is loaded and if the lines are there.
---@param selection agent.Given
function M.follow(selection)
  local buffer = selection.path and not followed[selection] and find.buffers(selection.path)[1]
  if not buffer or given.selection(buffer, selection.first, selection.last).text ~= selection.text then
    return
  end
  local id = vim.api.nvim_buf_set_extmark(buffer, namespace, selection.first - 1, 0, {
    end_row = selection.last,
    end_col = 0,
    invalidate = true,
    strict = false,
  })
  followed[selection] = { buffer = buffer, id = id, path = selection.path }
end

---@param selection agent.Given
function M.forget(selection)
  local at = followed[selection]
  if at and vim.api.nvim_buf_is_valid(at.buffer) then
    vim.api.nvim_buf_del_extmark(at.buffer, namespace, at.id)
  end
  followed[selection] = nil
end

--- Where the lines are, and what they are, at this moment. Lines that are deleted go along as the text that they were.
---@param selections agent.Given[] changed in place
function M.refresh(selections)
  for _, selection in ipairs(selections) do
    local at = followed[selection]
    local is_there = at and vim.api.nvim_buf_is_loaded(at.buffer)
    local row, _, mark = unpack(is_there and vim.api.nvim_buf_get_extmark_by_id(at.buffer, namespace, at.id, {
      details = true,
    }) or {})
    if mark and mark.invalid then
      if selection.path then
        selection.label = given.label(selection, vim.fn.fnamemodify(selection.path, ":.")) .. ", deleted"
        selection.type, selection.path, selection.first, selection.last = "text", nil, nil, nil
      end
    elseif mark then
      local last = mark.end_col == 0 and mark.end_row > row and mark.end_row or mark.end_row + 1
      local now = given.selection(at.buffer, row + 1, last)
      selection.type, selection.path, selection.label = now.type, now.path, now.label
      selection.first, selection.last, selection.text = now.first, now.last, now.text
    end
  end
end

return M
