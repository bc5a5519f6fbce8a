-- Lines below the rows of a table whose cells need more lines than their source. All windows on a buffer share them, so
-- such tables are drawn only while these windows have one width.
local M = {}

local namespace = vim.api.nvim_create_namespace("agent.markdown.below")

--- The views with such lines and their columns, by buffer.
---@type table<integer, { width: integer, views: agent.TableView[] }>
local placed = {}

--- True if all windows on a buffer draw and have the same columns.
---@param buffer integer
---@return boolean
function M.can_place(buffer)
  local width
  for _, win in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(win)[1]
    local columns = info.width - info.textoff
    if vim.wo[win].conceallevel == 0 or width and width ~= columns then
      return false
    end
    width = columns
  end
  return true
end

--- True if a buffer has lines that were made for another width.
---@param buffer integer
---@param width? integer  nil: for any
---@return boolean
function M.is_stale(buffer, width)
  return placed[buffer] ~= nil and placed[buffer].width ~= width
end

--- Removes the lines of a buffer.
---@param buffer integer
function M.clear(buffer)
  for _, view in ipairs(placed[buffer] and placed[buffer].views or {}) do
    view.is_placed = nil
  end
  placed[buffer] = nil
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    vim.api.nvim__redraw({ buf = buffer, valid = false })
  end
end

---@param buffer integer
---@param view agent.TableView
---@param width integer its columns
---@param row integer of the table's first line
function M.place(buffer, view, width, row)
  if M.is_stale(buffer, width) then
    M.clear(buffer)
  end
  view.is_placed = true
  placed[buffer] = placed[buffer] or { width = width, views = {} }
  table.insert(placed[buffer].views, view)
  for at, lines in ipairs(view.rows) do
    local rest = vim.list_slice(lines, #view.starts[at] + 1)
    if #rest > 0 then
      local options = { virt_lines = rest, invalidate = true, undo_restore = false }
      vim.api.nvim_buf_set_extmark(buffer, namespace, row + at - 1, 0, options)
    end
  end
end

return M
