-- A float to read in, above all windows, until a key closes it.
local border = require("agent.ui.border")
local on_border = require("agent.ui.on_border")
local prose = require("agent.ui.prose")
local scratch = require("agent.ui.scratch")

local M = {}

--- Also wraps a line with columns below its second column.
local LIST = prose.LIST .. [[\|^\S\+\s\{2,}]]

---@param window integer
---@return boolean
local function has_more_below(window)
  return vim.fn.line("w$", window) < vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window))
end

--- Opens it in the middle of the screen, as tall as its lines. The title counts the lines out of sight.
---@param window integer
---@param title string
local function fit(window, title)
  local width = vim.api.nvim_win_get_width(window)
  local rows = vim.api.nvim_win_text_height(window, { max_height = vim.o.lines }).all
  local height = math.max(1, math.min(rows, vim.o.lines - 4))
  vim.api.nvim_win_set_config(window, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    height = height,
  })
  local text = (has_more_below(window) and " %s · more below: <C-d> " or " %s "):format(title)
  vim.api.nvim_win_set_config(window, { title = on_border(text, "AgentTitle") })
end

---@param lines string[]
---@param title string
---@param footer string
---@param closing? string[] keys that close it, besides q, <Esc> and <CR>
---@return integer buffer
---@return fun() close
function M.open(lines, title, footer, closing)
  local buffer = scratch((title:lower():gsub(" ", "-")))
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  local widest = vim.api.nvim_strwidth(footer)
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    row = 0,
    col = 0,
    width = math.max(1, math.min(widest, vim.o.columns - 2)),
    height = 1,
    border = border(),
    style = "minimal",
    zindex = 70,
    footer = on_border(footer, "AgentHint"),
    footer_pos = "right",
  })
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
  prose.style(window, LIST)
  fit(window, title)
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, key in ipairs(vim.list_extend({ "q", "<Esc>", "<CR>" }, closing or {})) do
    vim.keymap.set("n", key, close, { buffer = buffer, nowait = true, desc = "Agent: close " .. title:lower() })
  end
  vim.api.nvim_create_autocmd({ "WinScrolled", "VimResized" }, {
    callback = function(event)
      if not vim.api.nvim_win_is_valid(window) then
        return true
      elseif event.event == "VimResized" or tonumber(event.match) == window then
        fit(window, title)
      end
    end,
  })
  vim.api.nvim_create_autocmd("WinLeave", { buffer = buffer, once = true, callback = vim.schedule_wrap(close) })
  return buffer, close
end

return M
