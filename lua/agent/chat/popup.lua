-- A few lines above everything, until a key closes them. Not echoed: that would wait for <CR>.
local M = {}

---@param lines string[]
---@param title string
---@param key string that has opened it, and closes it too
function M.open(lines, title, key)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  local widths = vim.tbl_map(vim.fn.strdisplaywidth, lines)
  local width = math.min(math.max(unpack(widths)), vim.o.columns - 2)
  local height = math.min(#lines, math.max(1, vim.o.lines - 4))
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    width = width,
    height = height,
    border = "rounded",
    style = "minimal",
    zindex = 70,
    title = { { (" %s "):format(title), "AgentTitle" } },
    footer = { { " q close ", "AgentHint" } },
    footer_pos = "right",
  })
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, closing in ipairs({ "q", "<Esc>", "<CR>", key }) do
    vim.keymap.set("n", closing, close, { buffer = buffer, nowait = true, desc = "Agent: close this window" })
  end
  vim.api.nvim_create_autocmd("WinLeave", { buffer = buffer, once = true, callback = vim.schedule_wrap(close) })
end

return M
