--- Replaces the text of a buffer: only the differences, as a separate undo step.
local api = vim.api
local deep = require("agent.deep")
local edits_of = require("agent.reload.edits")
local quiet = require("agent.reload.quiet")
local views_of = require("agent.reload.views")

local M = {}

--- Closes the open undo step (`u_sync`), so that the next change begins its own.
local function break_undo()
  vim.cmd("let &l:undolevels = &l:undolevels")
end

--- Called only by the key below. Insert mode saves lines for undo where the insertion began and relies on
--- nobody else closing that step; CTRL-G u restarts it at the cursor. The mode is checked here, when the keys
--- run, because in Normal mode the same keys would undo.
function M._resume_insert()
  if api.nvim_get_mode().mode:find("^[iR]") then
    api.nvim_feedkeys(vim.keycode("<C-g>u"), "ni", false)
  end
end

---@param buf integer
local function resume_insert(buf)
  local mode = api.nvim_get_mode()
  if mode.mode:find("^[iR]") and not mode.blocking and api.nvim_get_current_buf() == buf then
    local keys = vim.keycode("<Cmd>lua require('agent.reload.apply')._resume_insert()<CR>")
    api.nvim_feedkeys(keys, "ni", false)
  end
end

---@param edit agent.reload.Edit
local function make_edit(edit)
  if edit.scol then
    api.nvim_buf_set_text(0, edit.row, edit.scol, edit.row, edit.ecol, { edit.text })
  else
    api.nvim_buf_set_lines(0, edit.row, edit.row + edit.count, true, edit.lines)
  end
end

--- Options of the file that differ in the new text. Changing them counts as a modification.
---@param from agent.reload.Format
---@param to agent.reload.Format
---@return table<string, any>
local function changed_options(from, to)
  local options = {}
  for _, name in ipairs({ "fileformat", "endofline", "endoffile", "bomb", "fileencoding" }) do
    if from[name] ~= to[name] then
      options[name] = to[name]
    end
  end
  return options
end

---@param edits agent.reload.Edit[]
---@param options table<string, any>
local function change(edits, options)
  local saved = { readonly = vim.bo.readonly, modifiable = vim.bo.modifiable }
  quiet.set({ readonly = false, modifiable = true })
  local ok, err = pcall(function()
    if #edits > 0 then
      break_undo()
      for _, edit in ipairs(edits) do
        deep.stop(api.nvim_get_current_buf(), edit.lines)
      end
      for i = #edits, 1, -1 do
        make_edit(edits[i])
      end
      break_undo()
    end
    quiet.set(options)
  end)
  quiet.set(saved)
  if not ok then
    error(err, 0)
  end
end

--- True while Neovim forbids changes of text (E565, |textlock|). Neovim checks that before the arguments, so
--- an invalid call tests it without side effects.
---@return boolean
local function is_locked()
  local _, err = pcall(api.nvim_buf_set_lines, -1, 0, 0, true, {})
  return tostring(err):find("E565", 1, true) ~= nil
end

--- True in the middle of a command that remembers line numbers, such as an operator that waits for its
--- motion: it would act on moved lines.
---@param buf integer
---@return boolean
function M.is_operator_pending(buf)
  return api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode:find("^no") ~= nil
end

--- True if it is better to wait, because the user is in the middle of a command.
---@param buf integer
---@return boolean
function M.is_busy(buf)
  if api.nvim_get_current_buf() ~= buf then
    return false
  end
  local completing = vim.fn.pumvisible() == 1 or api.nvim_get_mode().mode:find("^[iR][cx]") ~= nil
  return completing or M.is_operator_pending(buf)
end

---@alias agent.reload.Applied "none"|"changed"|"locked"|"failed"

--- Set by the module that tracks the agent's changes. Called before a change, with the known lines of the
--- file and whether the buffer has unsaved text; the returned function is called afterwards.
---@type fun(buf: integer, before: string[]?, has_unsaved: boolean): fun(applied: agent.reload.Applied)
M.on_agent = function()
  return function() end
end

--- Turns the buffer's text `from` into `to`.
---@param buf integer
---@param from agent.reload.Text
---@param to agent.reload.Text
---@return agent.reload.Applied  "locked": Neovim forbids changes of text at the moment (E565)
---@return string? error         for "failed"
function M.apply(buf, from, to)
  local edits = edits_of.between(from.lines, to.lines)
  local options = changed_options(from.format, to.format)
  if #edits == 0 and next(options) == nil then
    return "none"
  end
  if is_locked() then
    return "locked"
  end
  local views = views_of.save(buf)
  local ok, err = quiet.run(buf, function()
    change(edits, options)
  end)
  if not ok then
    return "failed", err
  end
  if #edits > 0 then
    views_of.restore(views, edits)
    resume_insert(buf)
    if views.mode:find("^c") then
      -- The command line does not redraw the windows behind it.
      vim.cmd.redraw()
    end
  end
  return "changed"
end

--- The same for a change by the agent.
---@param buf integer
---@param from agent.reload.Text
---@param to agent.reload.Text
---@param before? string[]  lines of the file before
---@param has_unsaved boolean
---@return agent.reload.Applied
---@return string? error
function M.by_agent(buf, from, to, before, has_unsaved)
  local watching, after = xpcall(M.on_agent, debug.traceback, buf, before, has_unsaved)
  local applied, reason = M.apply(buf, from, to)
  local seen, problem = watching, after ---@type boolean, any
  if watching then
    seen, problem = xpcall(after, debug.traceback, applied)
  end
  if not seen then
    -- The change must succeed even if a listener fails.
    vim.schedule(function()
      require("agent.ui.say").bug(problem)
    end)
  end
  return applied, reason
end

return M
