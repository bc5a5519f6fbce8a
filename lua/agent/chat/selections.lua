-- The lines that go along with the next message: each a name above the input, which opens.
local followed = require("agent.chat.followed")
local given = require("agent.context.given")
local say = require("agent.ui.say")
local timeline = require("agent.timeline")

---@class agent.Selections
---@field chat agent.Chat
---@field all agent.Given[]  of the next message, in the order of the selecting
---@field by_message table<string, agent.Given[]>  those of messages that may come back
local Selections = {}
Selections.__index = Selections

---@param chat agent.Chat
---@return agent.Selections
function Selections.new(chat)
  return setmetatable({ chat = chat, all = {}, by_message = {} }, Selections)
end

--- These lines go along with the next message; the same ones only once.
---@param selection agent.Given
function Selections:add(selection)
  local label = given.label(selection)
  followed.follow(selection)
  followed.refresh(self.all)
  self.all = vim.tbl_filter(function(one)
    return given.label(one) ~= label
  end, self.all)
  table.insert(self.all, selection)
  self.chat.attachments:show()
end

--- They are on their way.
---@param text string of the message
function Selections:keep_for(text)
  local texts = vim.tbl_map(function(block)
    return block.text
  end, timeline.waiting(self.chat.timeline))
  table.insert(texts, (timeline.unstored(self.chat.timeline)))
  local kept = {}
  for _, waits in ipairs(texts) do
    kept[waits] = self.by_message[waits]
  end
  kept[text] = self.all
  for sent, selections in pairs(self.by_message) do
    vim.iter(kept[sent] and {} or selections):each(followed.forget)
  end
  self.by_message, self.all = kept, {}
  self.chat.attachments:show()
end

--- Messages that were taken back have their lines again.
---@param texts string[]
function Selections:bring_back(texts)
  for _, text in ipairs(texts) do
    for _, selection in ipairs(self.by_message[text] or {}) do
      self:add(selection)
    end
  end
end

--- Takes one out, the newest unless told.
---@param label? string see given.label
function Selections:drop(label)
  local selections = self.all
  local at = #selections
  for index, one in ipairs(selections) do
    at = given.label(one) == label and index or at
  end
  local dropped = table.remove(selections, at)
  if not dropped then
    return say.info("no lines are selected")
  end
  followed.forget(dropped)
  self.chat.attachments:show()
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
function Selections:show()
  local selections = self.all
  if #selections == 0 then
    return say.info("no lines are selected")
  end
  followed.refresh(selections)
  local lines, owners = {}, {}
  for _, selection in ipairs(selections) do
    table.insert(lines, "# " .. self.chat.attachments:label_of(selection))
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
    self:drop(label)
    if self.all[1] then
      self:show()
    end
  end, { buffer = buffer, nowait = true, desc = "Agent: take these lines out" })
end

return Selections
