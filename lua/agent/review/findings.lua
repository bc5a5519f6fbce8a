-- What a review has found, in the quickfix list: the lines of a fenced block `findings` in the last answer.
local M = {}

local TYPES = { high = "E", medium = "W", low = "I" }

--- More than anybody goes through.
local MOST = 500
--- Bytes of a line; what is more of it is left out.
local LONGEST = 1000

--- Pure: `path:line: text`, a line each; other lines are no findings.
---@param text string of an answer
---@param root string
---@return table[]? items of the quickfix list; nil if there is no such block
function M.read(text, root)
  local block = ("\n" .. text):match("\n```+findings[^\n]*\n(.-)\n?```")
  if not block then
    return nil
  end
  local items = {}
  for line in vim.gsplit(block, "\n") do
    local path, number, rest = line:sub(1, LONGEST):match("^[%s*-]*`?([^`:]+):(%d+)`?[%d:–-]*%s+(.+)$")
    if path and #items < MOST then
      local confidence = rest:lower():match("^%W*(%l+)")
      local filename = vim.startswith(path, "/") and path or vim.fs.joinpath(root, path)
      local item = { filename = filename, lnum = tonumber(number), text = rest, type = TYPES[confidence] or "" }
      table.insert(items, item)
    end
  end
  return items
end

--- At the end of a turn.
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
