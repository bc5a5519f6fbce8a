--- The agent's changes of a file as a diff of two windows, in a tab page.
local api = vim.api
local comments = require("agent.review.comments")
local files = require("agent.review.files")
local keys = require("agent.review.keys")
local page = require("agent.ui.page")
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

--- Maps `q` in the right window to close the diff. Other windows of its buffer keep the key.
---@param buf integer
---@param win integer
---@return fun() unmap
local function map_quit(buf, win)
  local group = api.nvim_create_augroup(("agent.review.diff.%d"):format(win), {})
  local is_mapped, before = false, nil ---@type boolean, table<string, any>|false|nil
  local function unmap()
    if is_mapped and api.nvim_buf_is_valid(buf) then
      api.nvim_buf_call(buf, function()
        pcall(vim.keymap.del, "n", "q", { buffer = buf })
        if before then
          vim.fn.mapset(before)
        end
      end)
    end
    is_mapped = false
  end
  local function map()
    if not is_mapped and api.nvim_get_current_win() == win and api.nvim_get_current_buf() == buf then
      is_mapped, before = true, keys.local_map("n", "q")
      page.closes(buf, "the diff")
    end
  end
  map()
  api.nvim_create_autocmd({ "WinEnter", "BufEnter" }, { group = group, callback = map })
  api.nvim_create_autocmd({ "WinLeave", "BufLeave" }, { group = group, callback = unmap })
  return function()
    unmap()
    api.nvim_del_augroup_by_id(group)
  end
end

--- Baseline left, buffer right. `q` closes the tab page; so does `:tabclose`.
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
  page.closes(baseline, "the diff")
  api.nvim_set_current_win(right)
  pcall(api.nvim_win_set_cursor, right, { row, 0 })
  local unmap = map_quit(it.buf, right)
  api.nvim_create_autocmd("BufWipeout", {
    buffer = baseline,
    once = true,
    callback = function()
      -- The left window was closed alone: the other one leaves diff mode.
      vim.schedule(function()
        unmap()
        if api.nvim_win_is_valid(right) then
          api.nvim_win_call(right, function()
            vim.cmd("diffoff")
          end)
        end
      end)
    end,
  })
end

return M
