-- The two windows of the chat, the transcript and below it the input. They never take the cursor by themselves.
local config = require("agent.config")

local M = {}

---@class agent.Windows
---@field transcript integer
---@field input integer
---@field back integer   window that was current before

local HINT = " <CR> send  <C-c> stop  q hide  g? keys "

--- Shares of the screen where the user names no size.
local FLOAT, SPLIT = 0.8, 0.4

--- A share of the whole, or an absolute size, kept within what fits.
---@param size number
---@param whole integer
---@return integer
local function fit(size, whole)
  local wanted = size <= 1 and math.floor(whole * size) or math.floor(size)
  return math.max(10, math.min(wanted, whole - 2))
end

--- Places of the two floats: transcript above, input below, both with a border.
---@return table transcript
---@return table input
local function float_places()
  local options = config.get()
  local lines = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  local width = fit(options.width or FLOAT, vim.o.columns)
  local height = math.max(8, fit(options.height or FLOAT, lines))
  local input_height = math.min(options.input_height, math.max(1, height - 7))
  local row = math.max(0, math.floor((lines - height) / 2))
  local column = math.max(0, math.floor((vim.o.columns - width) / 2) - 1)
  local shared = { relative = "editor", col = column, width = width, border = "rounded", style = "minimal", zindex = 45 }
  local transcript = vim.tbl_extend("error", shared, {
    row = row,
    height = math.max(1, height - input_height - 4),
    title = { { " Agent ", "AgentTitle" } },
  })
  local input = vim.tbl_extend("error", shared, {
    row = row + transcript.height + 2,
    height = input_height,
    footer = { { HINT, "AgentHint" } },
    footer_pos = "right",
  })
  return transcript, input
end

---@param window integer
---@param wrap boolean
local function style(window, wrap)
  local options = {
    wrap = wrap,
    linebreak = wrap,
    smoothscroll = wrap,
    breakindent = wrap,
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    foldenable = false,
    list = false,
    spell = false,
    cursorline = false,
    conceallevel = 0,
    statuscolumn = "",
    colorcolumn = "",
    fillchars = "eob: ",
    winfixbuf = true,
  }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
end

local SPLITS = {
  right = { split = "right", vertical = true },
  left = { split = "left", vertical = true },
  bottom = { split = "below", vertical = false },
}

---@param buffer integer
---@return integer window
local function open_split(buffer)
  local options = config.get()
  if options.layout == "tab" then
    vim.cmd("tab split")
    vim.api.nvim_win_set_buf(0, buffer)
    return vim.api.nvim_get_current_win()
  end
  if options.layout == "current" then
    vim.api.nvim_win_set_buf(0, buffer)
    return vim.api.nvim_get_current_win()
  end
  local split = SPLITS[options.layout]
  local size = split.vertical and { width = fit(options.width or SPLIT, vim.o.columns) }
    or { height = fit(options.height or SPLIT, vim.o.lines) }
  return vim.api.nvim_open_win(buffer, false, vim.tbl_extend("error", { split = split.split, win = -1 }, size))
end

---@param transcript integer buffer
---@param input integer buffer
---@return agent.Windows
function M.open(transcript, input)
  local back = vim.api.nvim_get_current_win()
  ---@type agent.Windows
  local windows
  if config.get().layout == "float" then
    local above, below = float_places()
    windows = {
      back = back,
      transcript = vim.api.nvim_open_win(transcript, false, above),
      input = vim.api.nvim_open_win(input, false, below),
    }
  else
    local window = open_split(transcript)
    local below = { split = "below", win = window, height = config.get().input_height + 1 }
    windows = { back = back, transcript = window, input = vim.api.nvim_open_win(input, false, below) }
    vim.wo[windows.input].winfixheight = true
    vim.wo[windows.input].winbar = HINT
  end
  style(windows.transcript, true)
  style(windows.input, true)
  local colours = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
  if config.get().layout == "float" then
    vim.wo[windows.transcript].winhighlight = colours
    vim.wo[windows.input].winhighlight = colours
  end
  return windows
end

--- After the screen has changed its size.
---@param windows agent.Windows
function M.fit(windows)
  if config.get().layout ~= "float" then
    return
  end
  local above, below = float_places()
  if vim.api.nvim_win_is_valid(windows.transcript) then
    vim.api.nvim_win_set_config(windows.transcript, above)
  end
  if vim.api.nvim_win_is_valid(windows.input) then
    vim.api.nvim_win_set_config(windows.input, below)
  end
end

---@param windows agent.Windows
---@return boolean
function M.is_open(windows)
  return vim.api.nvim_win_is_valid(windows.transcript) and vim.api.nvim_win_is_valid(windows.input)
end

---@param windows agent.Windows
function M.close(windows)
  for _, window in ipairs({ windows.input, windows.transcript }) do
    if vim.api.nvim_win_is_valid(window) then
      vim.wo[window].winfixbuf = false
      -- The last window of all cannot be closed.
      if not pcall(vim.api.nvim_win_close, window, true) then
        vim.api.nvim_win_call(window, function()
          vim.cmd.enew()
        end)
      end
    end
  end
  if vim.api.nvim_win_is_valid(windows.back) then
    vim.api.nvim_set_current_win(windows.back)
  end
end

return M
