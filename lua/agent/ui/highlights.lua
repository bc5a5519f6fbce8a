-- Highlight groups: all `default` and linked to standard groups, so that they follow any colour scheme. Where a
-- scheme's colours are unreadable on its floats, they are corrected.
local M = {}

--- Each group, its link, and its use.
---@type { [1]: string, [2]: string, [3]: string }[]
M.groups = {
  { "AgentUser", "Title", "your messages" },
  { "AgentThought", "Comment", "thoughts" },
  { "AgentTool", "Comment", "a tool call's line" },
  { "AgentToolRunning", "DiagnosticInfo", "its sign while running" },
  { "AgentToolDone", "DiagnosticOk", "its sign when done" },
  { "AgentToolFailed", "DiagnosticError", "its sign when failed" },
  { "AgentToolWaiting", "DiagnosticWarn", "its sign when waiting or stopped; the approval's border" },
  { "AgentNotice", "DiagnosticInfo", "information in the transcript" },
  { "AgentWarning", "DiagnosticWarn", "warnings; the reason of an approval" },
  { "AgentError", "DiagnosticError", "errors" },
  { "AgentAdded", "Added", "count of added lines" },
  { "AgentRemoved", "Removed", "count of removed lines" },
  { "AgentDiffAdd", "DiffAdd", "added lines in approvals and reviews" },
  { "AgentDiffDelete", "DiffDelete", "removed lines in approvals and reviews" },
  { "AgentTitle", "FloatTitle", "window titles" },
  { "AgentComment", "DiagnosticInfo", "unsent review comments" },
  { "AgentHint", "Comment", "keys at the border; `@@` lines" },
  { "AgentBorder", "FloatBorder", "the chat's borders" },
  { "AgentNormal", "NormalFloat", "text of floating windows" },
}

--- Colours of floats if the scheme's floats differ too much from its windows.
local PLAIN = { AgentBorder = "Normal", AgentNormal = "Normal" }

--- Contrasts from 1 to 21: the least for text, and the most between the backgrounds of floats and windows.
--- Source: WCAG 2.2, "contrast ratio", 1.4.11.
local LEAST, MOST = 3, 1.5

--- Colours of xterm: 16, then a cube of 6 levels.
-- stylua: ignore
local BASIC = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
  0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff }
local LEVELS = { 0, 95, 135, 175, 215, 255 }

---@param red number
---@param green number
---@param blue number
---@return integer
local function rgb(red, green, blue)
  return math.floor(red) * 65536 + math.floor(green) * 256 + math.floor(blue)
end

---@param number integer of a terminal colour
---@return integer
local function of_terminal(number)
  if number < 16 then
    return BASIC[number + 1]
  elseif number > 231 then
    local grey = 8 + 10 * (number - 232)
    return rgb(grey, grey, grey)
  end
  local at = number - 16
  return rgb(LEVELS[math.floor(at / 36) + 1], LEVELS[math.floor(at / 6) % 6 + 1], LEVELS[at % 6 + 1])
end

---@param colour integer
---@return number[] red, green and blue, 0 to 255
local function channels(colour)
  return { math.floor(colour / 65536) % 256, math.floor(colour / 256) % 256, colour % 256 }
end

---@param colour integer
---@return number
local function luminance(colour)
  local parts = vim.tbl_map(function(channel)
    channel = channel / 255
    return channel <= 0.04045 and channel / 12.92 or ((channel + 0.055) / 1.055) ^ 2.4
  end, channels(colour))
  return 0.2126 * parts[1] + 0.7152 * parts[2] + 0.0722 * parts[3]
end

---@param one integer
---@param other integer
---@return number
local function contrast(one, other)
  local light, dark = luminance(one), luminance(other)
  if light < dark then
    light, dark = dark, light
  end
  return (light + 0.05) / (dark + 0.05)
end

---@param name string
---@return vim.api.keyset.get_hl_info
local function look(name)
  return vim.api.nvim_get_hl(0, { name = name, link = false })
end

---@param highlight table
---@param key "fg"|"bg"
---@return integer?
local function colour(highlight, key)
  if vim.o.termguicolors then
    return highlight[key]
  end
  local number = highlight["cterm" .. key]
  return number and of_terminal(number)
end

--- The same hue, lighter or darker, readable on this background; nil if it is readable already.
---@param highlight table
---@param base { fg: integer, bg: integer }
---@return table?
local function readable(highlight, base)
  local fg, bg = colour(highlight, "fg") or base.fg, colour(highlight, "bg") or base.bg
  local is_reversed = highlight.reverse or (highlight.cterm or {}).reverse
  if is_reversed or contrast(fg, bg) >= LEAST then
    return
  end
  local target = luminance(bg) > 0.18 and 0 or 255
  if not vim.o.termguicolors then
    return vim.tbl_extend("force", highlight, { ctermfg = target == 0 and 0 or 15 })
  end
  local parts, share = channels(fg), 0
  local better
  repeat
    share = share + 0.1
    local mixed = vim.tbl_map(function(channel)
      return channel + (target - channel) * math.min(1, share)
    end, parts)
    better = rgb(unpack(mixed))
  until share >= 1 or contrast(better, bg) >= LEAST
  return vim.tbl_extend("force", highlight, { fg = better })
end

--- True if tree-sitter's colours are readable on added lines. Among a terminal's few colours one may be both: a string
--- and the background are green.
---@return boolean
function M.keeps_syntax()
  return vim.o.termguicolors
end

--- Replacements of links.
---@type table<string, table>
local changed = {}

--- Replaces the link or the previous replacement, but never a colour of somebody else.
---@param name string
---@param link string
---@param highlight? table  nil: the link
local function replace(name, link, highlight)
  local now = vim.api.nvim_get_hl(0, { name = name })
  local is_ours = now.link == link or changed[name] ~= nil and vim.deep_equal(now, changed[name])
  if is_ours and (highlight or changed[name]) then
    vim.api.nvim_set_hl(0, name, highlight or { link = link })
    changed[name] = highlight and vim.api.nvim_get_hl(0, { name = name })
  end
end

--- The colours of text and background in the agent's floats.
---@return { fg: integer, bg: integer }
---@return boolean is_plain they are those of other windows
local function base_colours()
  local is_dark = vim.o.background == "dark"
  local normal, float = look("Normal"), look("NormalFloat")
  local fg = colour(normal, "fg") or (is_dark and 0xffffff or 0)
  local bg = colour(normal, "bg") or (is_dark and 0 or 0xffffff)
  local float_bg = colour(float, "bg") or bg
  if contrast(float_bg, bg) > MOST then
    return { fg = fg, bg = bg }, true
  end
  return { fg = colour(float, "fg") or fg, bg = float_bg }, false
end

function M.define()
  local base, is_plain = base_colours()
  for _, group in ipairs(M.groups) do
    local name, link = unpack(group)
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
    if PLAIN[name] then
      replace(name, link, is_plain and { link = PLAIN[name] } or nil)
    else
      replace(name, link, readable(look(link), base))
    end
  end
end

return M
