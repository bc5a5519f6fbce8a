--- The agent's changes of a file as a diff of two windows, in a tab page.
local api = vim.api
local comments = require("agent.review.comments")
local files = require("agent.review.files")
local keys = require("agent.review.keys")
local scratch = require("agent.ui.scratch")
local track = require("agent.review.track")

local M = {}

--- The kept text, read-only.
---@param it agent.review.Tracked
---@return integer buf
local function baseline_buffer(it)
  local buf = scratch()
  api.nvim_buf_set_lines(buf, 0, -1, true, track.baseline(it))
  vim.bo[buf].modifiable = false
  local name = ("agent://baseline/%s"):format(vim.fn.fnamemodify(files.path_of(it.buf), ":~:."))
  pcall(api.nvim_buf_set_name, buf, name)
  require("agent.deep").set_filetype(buf, vim.bo[it.buf].filetype)
  comments.show_before(buf, files.path_of(it.buf))
  keys.map(buf, "comment")
  return buf
end

--- Baseline left, buffer right. `q` in the left window closes the tab page; so does `:tabclose`.
---@param it agent.review.Tracked
function M.open(it)
  local row = api.nvim_win_get_cursor(0)[1]
  vim.cmd("tab split")
  local right = api.nvim_get_current_win()
  api.nvim_win_set_buf(right, it.buf)
  local baseline = baseline_buffer(it)
  vim.cmd("leftabove vertical split")
  local left = api.nvim_get_current_win()
  api.nvim_win_set_buf(left, baseline)
  for _, win in ipairs({ left, right }) do
    api.nvim_win_call(win, vim.cmd.diffthis)
  end
  require("agent.ui.page").closes(baseline, "the diff")
  api.nvim_create_autocmd("BufWipeout", {
    buffer = baseline,
    once = true,
    callback = function()
      -- The left window was closed alone: the other one leaves diff mode.
      vim.schedule(function()
        if api.nvim_win_is_valid(right) then
          api.nvim_win_call(right, function()
            vim.cmd("diffoff")
          end)
        end
      end)
    end,
  })
  api.nvim_set_current_win(right)
  pcall(api.nvim_win_set_cursor, right, { row, 0 })
end

return M
