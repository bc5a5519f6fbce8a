-- What a chat says of itself in one line: winbar, statusline, lists. Methods of the chat.
local config = require("agent.config")
local format = require("agent.format")
local pulse = require("agent.chat.pulse")
local window = require("agent.chat.window")

---@class agent.Chat
local M = {}

local STATES = {
  idle = "ready",
  starting = "starting",
  working = "working",
  waiting = "waiting for you",
  retrying = "retrying",
  stopping = "stopping",
  folding = "making room",
}

--- In words, without a sign of life.
---@return string
function M:state()
  return self.paused == "paused" and self.paused or STATES[self.timeline.state]
end

--- Model, tokens and state, for the winbar and statuslines.
---@return string
function M:status()
  local line = self.timeline
  local parts = { line.model or config.get().model or "agent" }
  local mode = line.mode or config.get().mode
  if mode ~= "agent" then
    table.insert(parts, 1, mode)
  end
  if self.worktree then
    table.insert(parts, 1, vim.fs.basename(self.worktree))
  end
  local effort = require("agent.effort").current(self)
  if effort ~= "default" then
    table.insert(parts, "effort " .. effort)
  end
  if line.used and line.size then
    table.insert(parts, ("%s of %s tokens"):format(format.count(line.used), format.count(line.size)))
  end
  if line.cost then
    table.insert(parts, format.money(line.cost))
  end
  if (line.running or 0) > 0 then
    table.insert(parts, ("%d running"):format(line.running))
  end
  if self.paused ~= "paused" then
    table.insert(parts, pulse.state(self, STATES[line.state]))
  end
  table.insert(parts, self.paused)
  return table.concat(parts, " · ")
end

--- One line for a list of chats: number, state, title or first message.
---@return string
function M:label()
  local line = self.timeline
  local first = vim.iter(line.blocks):find(function(block)
    return block.kind == "user"
  end)
  local text = line.title and line.title ~= "" and line.title
    or first and vim.trim(first.text):gsub("%s*\n.*", " …")
    or "(empty)"
  local tree = self.worktree and vim.fs.basename(self.worktree) .. ": " or ""
  return ("%d  %s  %s"):format(self.id, STATES[line.state], vim.fn.strcharpart(tree .. text, 0, 60))
end

--- The step of the plan, or the title, as far as there is room for it beside the rest.
---@param room integer columns
---@return string
function M:short_title(room)
  local title = self:plan_line() or self.timeline.title or ""
  if vim.api.nvim_strwidth(title) <= room then
    return title
  end
  if room < 8 then
    -- How far the plan is has always room.
    return self:plan_line() and title:match("^%d+/%d+") or ""
  end
  return vim.fn.strcharpart(title, 0, room - 1) .. "…"
end

function M:show_state()
  if not self.windows or not vim.api.nvim_win_is_valid(self.windows.transcript) then
    return
  end
  local status = self:status()
  local room = vim.api.nvim_win_get_width(self.windows.transcript) - vim.api.nvim_strwidth(status) - 4
  local title = self:short_title(room)
  -- Where there is too little room the state is left, and how far the plan is.
  local text = " " .. (title == "" and "" or title .. " · "):gsub("%%", "%%%%") .. "%<" .. status:gsub("%%", "%%%%")
  window.set_winbar(self.windows.transcript, text)
  self:show_waiting()
end

return M
