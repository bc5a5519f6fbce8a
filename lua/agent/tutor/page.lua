-- The window with the lessons, at the top of its tab page.
local no_insert = require("agent.ui.no_insert")
local scratch = require("agent.ui.scratch")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.tutor")

--- Rows of text on the smallest screen.
local LEAST = 2

local OPTIONS = {
  wrap = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  foldenable = false,
  list = false,
  spell = false,
  cursorline = false,
  colorcolumn = "",
  statuscolumn = "",
  conceallevel = 0,
  scrolloff = 0,
  fillchars = "eob: ,lastline:…",
  winfixheight = true,
  winfixbuf = true,
}

---@class agent.TutorPage
---@field window integer
---@field buffer integer
---@field text string
---@field note? string
---@field size? string  of the window and the screen at the last fit
local Page = {}
Page.__index = Page

--- The lines, and the positions of text to type.
---@param text string
---@return string[] lines
---@return { row: integer, from: integer, to: integer }[] typed  in bytes
local function parts(text)
  local lines, typed = {}, {}
  for line in vim.gsplit(text, "\n") do
    local plain = ""
    for index, part in ipairs(vim.split(line, "`")) do
      if index % 2 == 0 then
        table.insert(typed, { row = #lines, from = #plain, to = #plain + #part })
      end
      plain = plain .. part
    end
    table.insert(lines, plain)
  end
  return lines, typed
end

--- Writes the text.
---@param text string
---@return integer rows
function Page:write(text)
  local lines, typed = parts(text)
  vim.bo[self.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, false, lines)
  vim.bo[self.buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(self.buffer, namespace, 0, -1)
  for _, at in ipairs(typed) do
    vim.api.nvim_buf_set_extmark(self.buffer, namespace, at.row, at.from, { end_col = at.to, hl_group = "AgentUser" })
  end
  vim.api.nvim_win_set_cursor(self.window, { 1, 0 })
  return vim.api.nvim_win_text_height(self.window, {}).all
end

---@param title string
---@param step { text: string, note?: string } see lessons.lua
function Page:show(title, step)
  vim.wo[self.window].winbar = ("%%#AgentTitle# %s "):format(title)
  self.text, self.note, self.size = step.text, step.note, nil
  self:fit()
end

--- Makes the window as tall as its text, up to a third of the screen. The note needs room for all of it.
---@return boolean changed  the width or the screen has changed
function Page:fit()
  local size = ("%d %d"):format(vim.api.nvim_win_get_width(self.window), vim.o.lines)
  if size == self.size then
    return false
  end
  self.size = size
  local most = math.max(LEAST, math.floor(vim.o.lines / 3) - 3)
  local rows = self:write(self.note and self.text .. "\n" .. self.note or self.text)
  if rows > most then
    rows = self:write(self.text)
  end
  vim.api.nvim_win_set_height(self.window, math.min(rows, most) + 1)
  return true
end

---@return boolean
function Page:is_open()
  return vim.api.nvim_win_is_valid(self.window)
end

--- Resets the page's options in the current window, which was split from it.
function M.unstyle()
  for name in pairs(OPTIONS) do
    vim.cmd.setlocal(name .. "<")
  end
  vim.cmd("setlocal winbar< statusline<")
end

--- Opens the page above the current window.
---@return agent.TutorPage
function M.open()
  local buffer = scratch("tutor")
  vim.bo[buffer].undolevels = -1
  no_insert(buffer)
  local window = vim.api.nvim_open_win(buffer, false, { split = "above", win = -1, height = LEAST + 1 })
  vim.wo[window].statusline = " :Agent tutor next  :Agent tutor quit"
  for name, value in pairs(OPTIONS) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
  return setmetatable({ window = window, buffer = buffer, text = "" }, Page)
end

return M
