-- The lines that go along with the next message: each a name above the input, which opens. Methods of the chat.
local followed = require("agent.chat.followed")
local given = require("agent.context.given")
local say = require("agent.ui.say")
local timeline = require("agent.timeline")

---@class agent.Chat
---@field selections? agent.Given[]  lines that go along with the next message, in the order of the selecting
---@field sent_with? table<string, agent.Given[]>  messages that may come back → lines that went along with them
local M = {}

--- These lines go along with the next message; the same ones only once.
---@param selection agent.Given
function M:select(selection)
  local label = given.label(selection)
  followed.follow(selection)
  followed.refresh(self.selections or {})
  self.selections = vim.tbl_filter(function(one)
    return given.label(one) ~= label
  end, self.selections or {})
  table.insert(self.selections, selection)
  self:show_attached()
end

--- They are on their way.
---@param text string of the message
function M:selection_sent(text)
  local texts = vim.tbl_map(function(block)
    return block.text
  end, timeline.waiting(self.timeline))
  table.insert(texts, (timeline.unstored(self.timeline)))
  local kept = {}
  for _, waits in ipairs(texts) do
    kept[waits] = self.sent_with and self.sent_with[waits]
  end
  kept[text] = self.selections
  for sent, selections in pairs(self.sent_with or {}) do
    vim.iter(kept[sent] and {} or selections):each(followed.forget)
  end
  self.sent_with, self.selections = kept, nil
  self:show_attached()
end

--- Messages that were taken back have their lines again.
---@param texts string[]
function M:selection_unsent(texts)
  for _, text in ipairs(texts) do
    for _, selection in ipairs(self.sent_with and self.sent_with[text] or {}) do
      self:select(selection)
    end
  end
end

--- Takes one out, the newest unless told.
---@param label? string see given.label
function M:drop_selection(label)
  local selections = self.selections or {}
  local at = #selections
  for index, one in ipairs(selections) do
    at = given.label(one) == label and index or at
  end
  local dropped = table.remove(selections, at)
  if not dropped then
    return say.info("no lines are selected")
  end
  followed.forget(dropped)
  self:show_attached()
end

--- Text of a markdown block, whatever fences it has itself.
---@param selection agent.Given
---@return string[]
local function fenced(selection)
  local fence = "```"
  while selection.text:find(fence, 1, true) do
    fence = fence .. "`"
  end
  local language = selection.path and vim.filetype.match({ filename = selection.path }) or ""
  local lines = { fence .. language }
  vim.list_extend(lines, vim.split(selection.text, "\n"))
  table.insert(lines, fence)
  return lines
end

--- Shows their text in a window over the chat; `x` takes the one at the cursor out.
function M:show_selections()
  local selections = self.selections or {}
  if #selections == 0 then
    return say.info("no lines are selected")
  end
  followed.refresh(selections)
  local lines, owners = {}, {}
  for _, selection in ipairs(selections) do
    table.insert(lines, "# " .. self:selection_label(selection))
    vim.list_extend(lines, fenced(selection))
    for row = #owners + 1, #lines do
      owners[row] = given.label(selection)
    end
  end
  local keys = require("agent.ui.hint").footer({ "x take out", "q close" }, vim.o.columns)
  local buffer, close = require("agent.ui.popup").open(lines, "Goes along", keys)
  if not require("agent.deep").has_deep(lines) then
    pcall(vim.treesitter.start, buffer, "markdown")
  end
  vim.keymap.set("n", "x", function()
    local label = owners[vim.api.nvim_win_get_cursor(0)[1]]
    close()
    self:drop_selection(label)
    if self.selections[1] then
      self:show_selections()
    end
  end, { buffer = buffer, nowait = true, desc = "Agent: take these lines out" })
end

return M
