-- Highlight groups: all `default` and linked to standard groups, so that they follow any colour scheme. Colours that
-- would be unreadable are corrected, and soft backgrounds are computed.
local colours = require("agent.ui.colours")

local M = {}

--- A group: its name, the group that it links to, and its use. Backgrounds stand before the groups that need them.
---@class agent.HighlightGroup
---@field [1] string
---@field [2] string|false
---@field [3] string
---@field tint? number  share of the text's colour in its background
---@field on? string[]  groups on whose backgrounds it is drawn, besides its own or that of windows
---@field with? string  group whose background it has
---@field weight? string[]

---@type agent.HighlightGroup[]
M.groups = {
  { "AgentUserLine", false, "background of your messages", tint = 0.1 },
  { "AgentCodeBlock", false, "background of code blocks", tint = 0.05 },
  { "AgentNormal", "NormalFloat", "text of floating windows", on = { "AgentUserLine", "AgentCodeBlock" } },
  { "AgentBorder", "FloatBorder", "the chat's borders" },
  { "AgentTitle", "FloatTitle", "window titles" },
  { "AgentHint", "Comment", "keys at the border; `@@` lines", on = { "AgentUserLine" } },
  { "AgentUser", "Title", "your messages", on = { "AgentUserLine" } },
  { "AgentThought", "Comment", "thoughts" },
  { "AgentTool", "Comment", "a tool call's line" },
  { "AgentToolRunning", "DiagnosticInfo", "its sign while running" },
  { "AgentToolDone", "DiagnosticOk", "its sign when done" },
  { "AgentToolFailed", "DiagnosticError", "its sign when failed" },
  { "AgentToolWaiting", "DiagnosticWarn", "its sign when waiting or stopped; the approval's border" },
  { "AgentWaiting", "DiagnosticWarn", "what waits for you", weight = { "bold" } },
  { "AgentNotice", "DiagnosticInfo", "information in the transcript" },
  { "AgentWarning", "DiagnosticWarn", "warnings; the reason of an approval" },
  { "AgentError", "DiagnosticError", "errors" },
  { "AgentHeading1", "Title", "headings of an answer", weight = { "bold", "underline" } },
  { "AgentHeading2", false, "their second level", weight = { "bold" } },
  { "AgentHeading3", "Comment", "all further levels", weight = { "bold" } },
  { "AgentBullet", "@markup.list", "bullets of lists" },
  { "AgentQuote", "Comment", "quotes, and the bar beside them" },
  { "AgentTable", "Comment", "lines of tables" },
  { "AgentCode", "@markup.raw", "code in a line", tint = 0.08 },
  { "AgentCodeLabel", "Comment", "the language of a code block", with = "AgentCodeBlock" },
  { "AgentAdded", "Added", "count of added lines" },
  { "AgentRemoved", "Removed", "count of removed lines" },
  { "AgentDiffAdd", "DiffAdd", "added lines in approvals and reviews" },
  { "AgentDiffDelete", "DiffDelete", "removed lines in approvals and reviews" },
  { "AgentComment", "DiagnosticInfo", "unsent review comments" },
}

--- Groups that look like windows if the scheme's floats differ too much from its windows.
local PLAIN = { AgentBorder = "Normal", AgentNormal = "Normal" }

--- The least contrast of text, and that of dim text by its link. Source: WCAG 2.2, 1.4.3 and 1.4.11.
local TEXT = 4.5
local DIM = { Comment = 3, FloatBorder = 3 }

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
---@return integer? value  nil: there is none
local function soft(base, tint)
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
    local value = value_of(colours.mix(base.backgrounds[1], base.fg, tint * share), fits)
    if value then
      return value
    end
  end
end

--- Makes text readable on all backgrounds on which it is drawn.
---@param highlight table
---@param group agent.HighlightGroup
---@param base agent.BaseColours
---@return boolean was_unreadable
local function correct(highlight, group, base)
  local own, bg = colour(highlight, "fg"), colour(highlight, "bg")
  local fg, other = own or base.fg, not own and bg and base.float_fg
  local style = is_true and highlight or highlight.cterm or {}
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
    return false
  end
  if style.reverse then
    highlight[attribute("fg")], highlight[attribute("bg")] = highlight[attribute("bg")], highlight[attribute("fg")]
    style.reverse = nil
  end
  local better = colours.readable(fg, backgrounds, least)
  highlight[attribute("fg")] = value_of(better, is_readable) or value_of(better, function()
    return true
  end)
  return true
end

--- The attributes of a group that cannot be its link alone.
---@param group agent.HighlightGroup
---@param base agent.BaseColours
---@param is_plain boolean
---@return table? highlight
local function computed(group, base, is_plain)
  local name, link = group[1], group[2]
  local source = is_plain and PLAIN[name] or link
  local highlight = source and look(source) or {}
  if not link and group.tint then
    return { [attribute("bg")] = soft(base, group.tint) }
  end
  local bg = group.tint and soft(base, group.tint) or group.with and look(group.with)[attribute("bg")]
  highlight[attribute("bg")] = highlight[attribute("bg")] or bg
  for _, weight in ipairs(group.weight or {}) do
    highlight.cterm = highlight.cterm or {}
    highlight[weight], highlight.cterm[weight] = true, true
  end
  local is_own = correct(highlight, group, base) or bg or group.weight
  return is_own and highlight or source ~= link and { link = source } or nil
end

--- Attributes that replaced links.
---@type table<string, table>
local changed = {}

--- False if somebody else has set the group.
---@param name string
---@param link string|false
---@return boolean
local function is_ours(name, link)
  local now = vim.api.nvim_get_hl(0, { name = name })
  return vim.tbl_isempty(now) or now.link == link or changed[name] ~= nil and vim.deep_equal(now, changed[name])
end

--- The colours of text and background in windows and in the agent's floats.
---@return agent.BaseColours
---@return boolean is_plain the agent's floats look like windows
local function base_colours()
  local is_dark = vim.o.background == "dark"
  local normal, float = look("Normal"), look(is_ours("AgentNormal", "NormalFloat") and "NormalFloat" or "AgentNormal")
  local fg = colour(normal, "fg") or (is_dark and 0xffffff or 0)
  local bg = colour(normal, "bg") or (is_dark and 0 or 0xffffff)
  local float_bg = colour(float, "bg") or bg
  if colours.contrast(float_bg, bg) > MOST then
    return { fg = fg, float_fg = fg, backgrounds = { bg } }, true
  end
  return { fg = fg, float_fg = colour(float, "fg") or fg, backgrounds = { bg, float_bg } }, false
end

--- True if tree-sitter's colours are readable on added lines. Among a terminal's few colours one may be both: a string
--- and the background are green.
---@return boolean
function M.keeps_syntax()
  return vim.o.termguicolors
end

--- Sets all groups, but never one that somebody else has set.
function M.define()
  is_true = vim.o.termguicolors
  local base, is_plain = base_colours()
  for _, group in ipairs(M.groups) do
    local name, link = group[1], group[2]
    if link then
      vim.api.nvim_set_hl(0, name, { link = link, default = true })
    end
    if is_ours(name, link) then
      local highlight = computed(group, base, is_plain)
      if highlight or changed[name] then
        vim.api.nvim_set_hl(0, name, highlight or { link = link })
        changed[name] = highlight and vim.api.nvim_get_hl(0, { name = name })
      end
    end
  end
end

return M
