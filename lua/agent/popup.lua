-- A window to read in, over everything, until a key closes it.
local M = {}

---@param lines string[]
---@param title string
---@param footer string
---@param closing? string[] keys that close it beside q, <Esc> and <CR>
---@return integer buffer
---@return fun() close
function M.open(lines, title, footer, closing)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modeline = false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  local widest = vim.api.nvim_strwidth(footer)
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.max(1, math.min(widest, vim.o.columns - 2))
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
    footer = { { footer, "AgentHint" } },
    footer_pos = "right",
  })
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, key in ipairs(vim.list_extend({ "q", "<Esc>", "<CR>" }, closing or {})) do
    vim.keymap.set("n", key, close, { buffer = buffer, nowait = true, desc = "Agent: close " .. title:lower() })
  end
  vim.api.nvim_create_autocmd("WinLeave", { buffer = buffer, once = true, callback = vim.schedule_wrap(close) })
  return buffer, close
end

return M
