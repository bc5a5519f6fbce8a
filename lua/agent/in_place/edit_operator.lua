-- `<Plug>(AgentEditOperator)`: edits the lines of a motion in place; the dot repeats the edit elsewhere.
local M = {}

--- The text of the last edit; nil asks.
---@type string?
local wish
--- True while `teach` runs: nothing is edited.
local is_lesson = false
local is_running = false

--- Called by 'operatorfunc'.
function M.func()
  if is_lesson then
    return
  end
  local first, last = vim.api.nvim_buf_get_mark(0, "[")[1], vim.api.nvim_buf_get_mark(0, "]")[1]
  is_running = true
  vim.cmd.Agent({ args = { "edit", wish }, range = { first, last } })
end

--- True once for each motion: `:Agent edit` was called by the operator.
---@return boolean
function M.take_running()
  local was_running = is_running
  is_running = false
  return was_running
end

--- For a map with `expr`.
---@return string keys that wait for a motion
function M.start()
  wish = nil
  vim.o.operatorfunc = "v:lua.require'agent.in_place.edit_operator'.func"
  return "g@"
end

--- Makes the dot repeat this edit for another motion of the operator.
---@param wanted string
function M.remember(wanted)
  wish = wanted
end

--- Makes the dot repeat the edit of a command for as many lines, from the cursor on.
---@param wanted string
---@param count integer
function M.teach(wanted, count)
  -- Must not mix with typed keys and macros.
  if vim.fn.mode() ~= "n" or vim.fn.reg_executing() ~= "" then
    return
  end
  local view, folds = vim.fn.winsaveview(), vim.wo.foldenable
  local marks = { ["'["] = vim.fn.getpos("'["), ["']"] = vim.fn.getpos("']") }
  local from = math.min(vim.fn.line("."), vim.fn.line("$") - count + 1)
  M.start()
  wish, is_lesson, vim.wo.foldenable = wanted, true, false
  pcall(vim.api.nvim_win_set_cursor, 0, { math.max(from, 1), 0 })
  pcall(vim.cmd.normal, { ("g@%d_"):format(count), bang = true })
  is_lesson, vim.wo.foldenable = false, folds
  for mark, place in pairs(marks) do
    vim.fn.setpos(mark, place)
  end
  vim.fn.winrestview(view)
end

return M
