-- Computes attributes of highlight groups so that text is readable.
local colours = require("agent.ui.colours")

local M = {}

--- The least contrast of text, and that of dim text by its link. Source: WCAG 2.2, 1.4.3 and 1.4.11.
local TEXT = 4.5
local DIM = { Comment = 3, FloatBorder = 3 }

--- Groups of what is drawn on changed lines: code and keys. The least contrast of each is that of dim text, or if it has
--- less on windows, most of that.
local ON_CHANGES = {
  "AgentHint",
  "Comment",
  "Constant",
  "String",
  "Identifier",
  "Function",
  "Statement",
  "PreProc",
  "Type",
  "Special",
}
local MOST_OF = 0.8

--- The share of the text's colour in dim text if the scheme has no colour for it.
local DIMNESS = 0.6

--- The contrast of a soft background on the one around it.
local SOFTEST, HARDEST = 1.1, 2
--- Changes of its tint if it is too near to a background.
local SHARES = { 1, 0.75, 0.5, 1.5, 2, 3, 4 }

--- The most contrast between the backgrounds of floats and windows.
local MOST = 1.5

---@class agent.BaseColours
---@field fg integer of windows
---@field float_fg integer
---@field backgrounds integer[] of windows and of floats
---@field is_plain boolean  the agent's floats look like windows

---@param name string
---@return vim.api.keyset.get_hl_info
local function look(name)
  local highlight = vim.api.nvim_get_hl(0, { name = name, link = false })
  highlight.default = nil
  return highlight
end

--- 'termguicolors' as of the last definition.
local is_true = true

---@param key "fg"|"bg"
---@return string
local function attribute(key)
  return is_true and key or "cterm" .. key
end

---@param highlight table
---@param key "fg"|"bg"
---@return integer?
local function colour(highlight, key)
  local value = highlight[attribute(key)]
  return value and (is_true and value or colours.of_terminal(value))
end

--- The table that holds `reverse`.
---@param highlight table
---@return table
local function style_of(highlight)
  return is_true and highlight or highlight.cterm or {}
end

--- The attribute's value for a colour, or for the nearest one that the terminal has and that fits.
---@param wanted integer
---@param fits fun(colour: integer): boolean
---@return integer?
local function value_of(wanted, fits)
  if is_true then
    return fits(wanted) and wanted or nil
  end
  return colours.nearest(wanted, tonumber(vim.api.nvim_eval("&t_Co")) or 256, fits)
end

--- A background between that of windows and the text. It differs from all backgrounds, and the text is readable on it.
---@param base agent.BaseColours
---@param tint number  share of the text's colour
---@param text integer
---@return integer? value  nil: there is none
local function soft(base, tint, text)
  local function fits(found)
    for _, background in ipairs(base.backgrounds) do
      local contrast = colours.contrast(found, background)
      if contrast < SOFTEST or contrast > HARDEST then
        return false
      end
    end
    return colours.contrast(base.fg, found) >= TEXT
  end
  for _, share in ipairs(SHARES) do
    local value = value_of(colours.mix(base.backgrounds[1], text, tint * share), fits)
    if value then
      return value
    end
  end
end

--- Without such limits.
local function any()
  return true
end

--- True if the scheme's colours of code are readable on this background.
---@param background integer
---@param page integer
---@return boolean
local function shows_code(background, page)
  return vim.iter(ON_CHANGES):all(function(name)
    local fg = colour(look(name), "fg")
    local least = fg and math.min(DIM.Comment, MOST_OF * colours.contrast(fg, page))
    return not fg or colours.contrast(fg, background) >= least
  end)
end

--- Makes a background weaker until code is readable on it. A few colours have no weaker one.
---@param highlight table
---@param page integer
local function weaken(highlight, page)
  local bg = highlight[highlight.reverse and "fg" or "bg"]
  if not is_true or not bg or not highlight.reverse and shows_code(bg, page) then
    return
  end
  local weaker
  for tenth = 10, 1, -1 do
    weaker = colours.mix(page, bg, tenth / 10)
    if shows_code(weaker, page) then
      break
    end
  end
  highlight.bg, highlight.fg, highlight.reverse = weaker, nil, nil
end

--- Makes dim text dim if the scheme has no colour for it.
---@param highlight table
---@param base agent.BaseColours
local function dim(highlight, base)
  local fg = colour(highlight, "fg")
  if not fg or fg == base.fg or fg == base.float_fg then
    highlight[attribute("fg")] = value_of(colours.mix(base.backgrounds[1], base.fg, DIMNESS), any)
  end
end

--- Makes text readable on all backgrounds on which it is drawn.
---@param highlight table
---@param group agent.HighlightGroup
---@param base agent.BaseColours
local function correct(highlight, group, base)
  local own, bg = colour(highlight, "fg"), colour(highlight, "bg")
  local fg, other = own or base.fg, not own and bg and base.float_fg
  local style = style_of(highlight)
  if style.reverse then
    fg, bg = bg or base.backgrounds[1], fg
  end
  local backgrounds = bg and { bg } or vim.list_slice(base.backgrounds)
  for _, name in ipairs(group.on or {}) do
    table.insert(backgrounds, colour(look(name), "bg"))
  end
  local least = DIM[group[2]] or TEXT
  local function is_readable(text)
    return colours.least_contrast(text, backgrounds) >= least
  end
  if is_readable(fg) and (not other or is_readable(other)) then
    return
  end
  if style.reverse then
    highlight[attribute("fg")], highlight[attribute("bg")] = highlight[attribute("bg")], highlight[attribute("fg")]
    style.reverse = nil
  end
  local better = colours.readable(fg, backgrounds, least)
  highlight[attribute("fg")] = value_of(better, is_readable) or value_of(better, any)
end

--- The colours of text and background now.
---@param float string  group of floats
---@return agent.BaseColours
function M.base(float)
  is_true = vim.o.termguicolors
  local is_dark = vim.o.background == "dark"
  local normal, other = look("Normal"), look(float)
  local fg = colour(normal, "fg") or (is_dark and 0xffffff or 0)
  local bg = colour(normal, "bg") or (is_dark and 0 or 0xffffff)
  local float_bg = colour(other, "bg") or bg
  if colours.contrast(float_bg, bg) > MOST then
    return { fg = fg, float_fg = fg, backgrounds = { bg }, is_plain = true }
  end
  return { fg = fg, float_fg = colour(other, "fg") or fg, backgrounds = { bg, float_bg }, is_plain = false }
end

--- True if text of a group of code can be read on lines of one of the agent's groups.
---@param name string
---@param line? string  default: lines without a group
---@return boolean
function M.is_readable(name, line)
  local base, highlight, below = M.base("AgentNormal"), look(name), line and look(line) or {}
  if highlight.reverse or below.reverse then
    return true
  end
  local bg = colour(highlight, "bg") or colour(below, "bg")
  local fg = colour(highlight, "fg") or colour(below, "fg") or base.fg
  return colours.least_contrast(fg, bg and { bg } or base.backgrounds) >= DIM.Comment
end

--- The attributes of a group that cannot be its link alone.
---@param group agent.HighlightGroup
---@param link string|false
---@param base agent.BaseColours
---@return table? highlight
function M.attributes(group, link, base)
  local highlight = link and look(link) or {}
  local bg = attribute("bg")
  if group.with then
    highlight[bg] = look(group.with)[bg]
  elseif group.tint and not highlight[bg] and not style_of(highlight).reverse then
    highlight[bg] = soft(base, group.tint, group.keeps_hue and colour(highlight, "fg") or base.fg)
  end
  for _, weight in ipairs(group.weight or {}) do
    highlight.cterm = highlight.cterm or {}
    highlight[weight], highlight.cterm[weight] = true, true
  end
  if link == "Comment" then
    dim(highlight, base)
  end
  if group.has_code then
    weaken(highlight, base.backgrounds[1])
  end
  if link or group.weight then
    correct(highlight, group, base)
  end
  return not (link and vim.deep_equal(highlight, look(link))) and highlight or nil
end

return M
