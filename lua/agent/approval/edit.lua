-- A small buffer above the approval to edit its command. It runs nothing: the gate checks the new text, and the
-- approval waits for an answer again.
local border = require("agent.ui.border")
local hint = require("agent.ui.hint")
local on_border = require("agent.ui.on_border")
local say = require("agent.ui.say")
local scratch = require("agent.ui.scratch")

local M = {}

---@type integer?
local window

--- Rows at the top of the screen that it may always use.
local ROOM = 8

--- Options that keep the text uncut.
local KEYS = { "<CR>/:w use this text", "(nothing runs yet)", "q cancel" }

--- Fits the text between the top of the screen and the approval.
---@param buffer integer
---@param below? integer the approval's window
---@return table config
---@return string winbar
local function place(buffer, below)
  local at = below and vim.api.nvim_win_get_config(below) or {}
  local width = at.width or math.max(20, math.min(100, vim.o.columns - 2))
  local row = math.max(at.row or vim.o.lines, ROOM)
  local footer, winbar = hint.footer(KEYS, width)
  local height = winbar == "" and 0 or 1
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return {
    relative = "editor",
    anchor = "SW",
    row = row,
    col = at.col or 0,
    width = width,
    height = math.max(1, math.min(height, row - 2)),
    border = border(),
    style = "minimal",
    zindex = 70,
    title = on_border(" Edit the command ", "AgentTitle"),
    footer = on_border(footer, "AgentHint"),
    footer_pos = "right",
  },
    winbar
end

---@param buffer integer
---@param below? integer
local function fit(buffer, below)
  if window and vim.api.nvim_win_is_valid(window) then
    local config, winbar = place(buffer, below)
    vim.wo[window].winbar = winbar
    vim.api.nvim_win_set_config(window, config)
  end
end

--- Closes without a change.
function M.close()
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
  window = nil
end

---@param text string
---@return integer buffer
local function new_buffer(text)
  local buffer = scratch("command")
  vim.bo[buffer].buftype = "acwrite"
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(text, "\n"))
  -- Undo stops at the proposed text.
  vim.bo[buffer].undolevels = vim.bo[buffer].undolevels
  vim.bo[buffer].modified = false
  vim.bo[buffer].filetype = "agent-command"
  pcall(vim.treesitter.start, buffer, "bash")
  return buffer
end

---@param text string
---@param below? integer the window above which it opens
---@param done fun(text?: string) nil: cancelled
function M.open(text, below, done)
  M.close()
  local buffer = new_buffer(text)
  window = vim.api.nvim_open_win(buffer, true, (place(buffer, below)))
  vim.wo[window].wrap = true
  vim.wo[window].winhighlight =
    "NormalFloat:AgentNormal,FloatBorder:AgentWaitingBorder,WinBar:AgentHint,WinBarNC:AgentHint"
  fit(buffer, below)
  local taken ---@type string?

  local function accept()
    local typed = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
    if vim.trim(typed) == "" then
      return say.warn("the command is empty")
    end
    taken = typed
    vim.bo[buffer].modified = false
    -- Later: `:wq` closes the window itself, and would then close the one below.
    vim.schedule(M.close)
  end

  local function map(modes, key, run, doc)
    vim.keymap.set(modes, key, run, { buffer = buffer, nowait = true, desc = "Agent: " .. doc })
  end
  map("n", "<CR>", accept, "use the edited command")
  map({ "n", "i" }, "<C-s>", accept, "use the edited command")
  for _, key in ipairs({ "q", "<Esc>" }) do
    map("n", key, M.close, "cancel editing")
  end
  vim.api.nvim_create_autocmd("BufWriteCmd", { buffer = buffer, callback = accept })
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    buffer = buffer,
    callback = function()
      fit(buffer, below)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    once = true,
    callback = function()
      vim.schedule(function()
        done(taken)
      end)
    end,
  })
end

return M
