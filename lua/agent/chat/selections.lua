-- The selected lines of the next message. The line above the input names them, and a popup shows them.
local followed = require("agent.chat.followed")
local attachment = require("agent.context.attachment")
local say = require("agent.ui.say")
local terminals = require("agent.editor.terminals")
local timeline = require("agent.timeline")

---@class agent.Selections
---@field chat agent.Chat
---@field all agent.Attachment[]  of the next message, in the order of selection
---@field by_message table<string, agent.Attachment[]>  of sent messages that may return
local Selections = {}
Selections.__index = Selections

---@param chat agent.Chat
---@return agent.Selections
function Selections.new(chat)
  return setmetatable({ chat = chat, all = {}, by_message = {} }, Selections)
end

--- Adds lines to the next message, once.
---@param selection agent.Attachment
function Selections:add(selection)
  local label = attachment.label(selection)
  followed.follow(selection)
  followed.refresh(self.all)
  self.all = vim.tbl_filter(function(one)
    return attachment.label(one) ~= label
  end, self.all)
  table.insert(self.all, selection)
  self.chat.attachments:show()
end

--- Keeps the lines of a sent message, which may return.
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

--- Adds the lines of returned messages again.
---@param texts string[]
function Selections:bring_back(texts)
  for _, text in ipairs(texts) do
    for _, selection in ipairs(self.by_message[text] or {}) do
      self:add(selection)
    end
  end
end

--- Removes a selection, by default the newest. Without selections it dismisses a failed command.
---@param label? string see attachment.label
function Selections:drop(label)
  local selections = self.all
  if #selections == 0 and terminals.failed() then
    return terminals.dismiss()
  end
  local at = #selections
  for index, one in ipairs(selections) do
    at = attachment.label(one) == label and index or at
  end
  local dropped = table.remove(selections, at)
  if not dropped then
    return say.info("no lines are selected")
  end
  followed.forget(dropped)
  self.chat.attachments:show()
end

--- A markdown code block; its fence is longer than any fence in the text.
---@param selection agent.Attachment
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

--- Shows the selected lines in a popup; `x` removes those at the cursor.
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
      owners[row] = attachment.label(selection)
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
