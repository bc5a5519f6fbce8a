-- Fills the quickfix list from a fenced block `findings` in the last answer.
local M = {}

--- By severity.
local TYPES = { high = "E", medium = "W", low = "I" }

--- A finding with less confidence has no type.
local LEAST_CONFIDENCE = 8

--- Most findings in the list.
local MOST = 500
--- Bytes of a line; the rest is cut.
local LONGEST = 1000

--- Pure: reads lines of the form `path:line: text`; others are ignored.
---@param text string
---@param root string
---@return table[] items of the quickfix list
function M.lines(text, root)
  local items = {}
  for line in vim.gsplit(text, "\n") do
    local path, number, rest = line:sub(1, LONGEST):match("^[%s*-]*`?([^`:]+):(%d+)`?[%d:–-]*%s+(.+)$")
    if path and #items < MOST then
      local severity, confidence = rest:lower():match("^%W*(%l+)"), tonumber(rest:match("(%d+)/10"))
      local is_sure = not confidence or confidence >= LEAST_CONFIDENCE
      local filename = vim.startswith(path, "/") and path or vim.fs.joinpath(root, path)
      local item = { filename = filename, lnum = tonumber(number), text = rest, type = is_sure and TYPES[severity] or "" }
      table.insert(items, item)
    end
  end
  return items
end

--- Pure.
---@param text string of an answer
---@param root string
---@return table[]? items of the quickfix list; nil without a block `findings`
function M.read(text, root)
  local block = ("\n" .. text):match("^.*\n```+findings[^\n]*\n(.-)\n?```")
  return block and M.lines(block, root)
end

--- Called at the end of a turn.
---@param chat agent.Chat
function M.take(chat)
  local root = chat.timeline.root
  for index = #chat.timeline.blocks, 1, -1 do
    local block = chat.timeline.blocks[index]
    if block.kind == "user" or not root then
      return
    end
    local items = block.kind == "text" and M.read(block.text, root)
    if items then
      if #items > 0 then
        vim.fn.setqflist({}, " ", { title = "Agent: findings", items = items })
        local what = #items == 1 and "finding is" or "findings are"
        local text = ("%d %s in the quickfix list, see :copen."):format(#items, what)
        chat:apply({ { type = "notice", severity = "info", text = text } })
      end
      return
    end
  end
end

return M
