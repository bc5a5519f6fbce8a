-- Follows the selected lines of the next message through edits.
local find = require("agent.reload.find")
local attachment = require("agent.context.attachment")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.selection")

---@class agent.Followed
---@field buffer integer
---@field id integer    of the extmark over the lines
---@field path string

---@type table<agent.Attachment, agent.Followed>
local followed = setmetatable({}, { __mode = "k" })

--- Follows the lines while their buffer is loaded.
---@param selection agent.Attachment
function M.follow(selection)
  local buffer = selection.path and not followed[selection] and find.buffers(selection.path)[1]
  if not buffer or attachment.selection(buffer, selection.first, selection.last).text ~= selection.text then
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

---@param selection agent.Attachment
function M.forget(selection)
  local at = followed[selection]
  if at and vim.api.nvim_buf_is_valid(at.buffer) then
    vim.api.nvim_buf_del_extmark(at.buffer, namespace, at.id)
  end
  followed[selection] = nil
end

--- Updates place and text of the lines. Deleted lines keep their last text.
---@param selections agent.Attachment[] changed in place
function M.refresh(selections)
  for _, selection in ipairs(selections) do
    local at = followed[selection]
    local is_there = at and vim.api.nvim_buf_is_loaded(at.buffer)
    local row, _, mark = unpack(is_there and vim.api.nvim_buf_get_extmark_by_id(at.buffer, namespace, at.id, {
      details = true,
    }) or {})
    if mark and mark.invalid then
      if selection.path then
        selection.label = attachment.label(selection, vim.fn.fnamemodify(selection.path, ":.")) .. ", deleted"
        selection.type, selection.path, selection.first, selection.last = "text", nil, nil, nil
      end
    elseif mark then
      local last = mark.end_col == 0 and mark.end_row > row and mark.end_row or mark.end_row + 1
      local now = attachment.selection(at.buffer, row + 1, last)
      selection.type, selection.path, selection.label = now.type, now.path, now.label
      selection.first, selection.last, selection.text = now.first, now.last, now.text
    end
  end
end

return M
