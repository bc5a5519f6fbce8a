-- Highlight groups: all `default` and linked to standard groups, so that they follow any colour scheme. Colours that
-- would be unreadable are corrected, and soft backgrounds are computed.
local readable = require("agent.ui.readable")

local M = {}

--- A group: its name, the group that it links to, and its use. Backgrounds stand before the groups that need them.
---@class agent.HighlightGroup
---@field [1] string
---@field [2] string|false
---@field [3] string
---@field tint? number  share of the text's colour in its background, if the link has none
---@field keeps_hue? true  the tint is that of its own text
---@field on? string[]  groups on whose backgrounds it is drawn, besides its own or that of windows
---@field with? string  group whose background it has
---@field weight? string[]
---@field has_code? true  code is drawn on it

---@type agent.HighlightGroup[]
M.groups = {
  { "AgentUserLine", false, "background of your messages", tint = 0.1 },
  { "AgentCodeBlock", false, "background of code blocks", tint = 0.05 },
  { "AgentNormal", "NormalFloat", "text of floating windows", on = { "AgentUserLine", "AgentCodeBlock" } },
  { "AgentBorder", "FloatBorder", "the chat's borders", with = "AgentNormal" },
  { "AgentTitle", "FloatTitle", "window titles" },
  { "AgentHint", "Comment", "keys at the border; `@@` lines", on = { "AgentUserLine" } },
  { "AgentUser", "Title", "your messages", on = { "AgentUserLine" } },
  { "AgentThought", "Comment", "thoughts" },
  { "AgentTool", "Comment", "a tool call's line" },
  { "AgentToolRunning", "DiagnosticInfo", "its sign while running" },
  { "AgentToolDone", "DiagnosticOk", "its sign when done" },
  { "AgentToolFailed", "DiagnosticError", "its sign when failed" },
  { "AgentToolWaiting", "DiagnosticWarn", "its sign when waiting or stopped" },
  { "AgentWaiting", "DiagnosticWarn", "what waits for you", weight = { "bold" }, tint = 0.2, keeps_hue = true },
  { "AgentWaitingBorder", "DiagnosticWarn", "borders of floats that wait for you", with = "AgentNormal" },
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
  { "AgentDiffAdd", "DiffAdd", "added lines in approvals and reviews", has_code = true },
  {
    "AgentDiffDelete",
    "DiffDelete",
    "removed lines in approvals and reviews",
    tint = 0.15,
    keeps_hue = true,
    has_code = true,
  },
  { "AgentComment", "DiagnosticInfo", "unsent review comments" },
}

--- Groups that look like windows if the scheme's floats differ too much from its windows.
local PLAIN = { AgentBorder = "Normal", AgentNormal = "Normal" }

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

--- True if tree-sitter's colours are readable on added lines. Among a terminal's few colours one may be both: a string
--- and the background are green.
---@return boolean
function M.keeps_syntax()
  return vim.o.termguicolors
end

local is_defined = false

--- Sets some of the groups.
---@param first integer
---@param last integer
local function define(first, last)
  -- Its name among tree-sitter's captures.
  vim.api.nvim_set_hl(0, "@agent.code", { link = "AgentCode", default = true })
  local base = readable.base(is_ours("AgentNormal", "NormalFloat") and "NormalFloat" or "AgentNormal")
  for _, group in ipairs(vim.list_slice(M.groups, first, last)) do
    local name, link = group[1], group[2]
    if link then
      vim.api.nvim_set_hl(0, name, { link = link, default = true })
    end
    if is_ours(name, link) then
      local source = base.is_plain and PLAIN[name] or link
      local highlight = readable.attributes(group, source, base) or source ~= link and { link = source } or nil
      if highlight or changed[name] then
        vim.api.nvim_set_hl(0, name, highlight or { link = link })
        changed[name] = highlight and vim.api.nvim_get_hl(0, { name = name })
      end
    end
  end
  is_defined = is_defined or last >= #M.groups
end

--- Sets all groups, but never one that somebody else has set.
function M.define()
  define(1, #M.groups)
end

--- Sets all groups at the first call. The autocommands below set them again.
function M.ensure()
  if not is_defined then
    M.define()
  end
end

--- Groups of one step.
local STEP = 8

--- The same in steps.
---@return agent.Step[]
function M.steps()
  local steps = {}
  for first = 1, #M.groups, STEP do
    table.insert(steps, function()
      if not is_defined then
        define(first, first + STEP - 1)
      end
    end)
  end
  return steps
end

local group = vim.api.nvim_create_augroup("agent.highlights", {})

---@param event string
---@param pattern? string[]
local function define_after(event, pattern)
  vim.api.nvim_create_autocmd(event, {
    group = group,
    pattern = pattern,
    callback = function()
      M.define()
    end,
  })
end

define_after("ColorScheme")
define_after("OptionSet", { "background", "termguicolors" })

return M
