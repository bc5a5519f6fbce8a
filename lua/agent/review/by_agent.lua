-- Another agent reviews the unreviewed changes. Its findings become comments.
local comments = require("agent.review.comments")
local files = require("agent.review.files")
local findings = require("agent.review.findings")
local say = require("agent.ui.say")

local M = {}

local MESSAGE = "Review the attached changes for mistakes and risks. Nobody has reviewed them yet, and the files have them "
  .. "already. Read what you need of the project. Change nothing: your changes are not kept. Write each finding in one line "
  .. "of this block, with the file's present line number:\n\n```findings\npath/of/file:12: what is wrong, and why\n```\n\n"
  .. "If you find nothing, say so."

--- Characters of all differences.
local LONGEST = 400000

--- The agent that reviews in a chat, and the files that it has got: only their lines get comments, because comments quote
--- them.
---@type table<integer, { agent: string, paths: table<string, true> }>
local reviews = {}

---@param file agent.review.File with its texts
---@param root string
---@return string
local function difference(file, root)
  local path = vim.fs.relpath(root, file.path) or file.path
  local from = file.from and (vim.fs.relpath(root, file.from) or file.from) or path
  local head = ("--- %s\n+++ %s (%s)\n"):format(from, path, file.kind)
  return head .. (file.opaque and "binary or too large\n" or vim.diff(file.baseline or "", file.after or ""))
end

---@param list agent.review.File[]
---@param root string
---@return string
local function differences(list, root)
  local parts, room = {}, LONGEST
  for _, file in ipairs(list) do
    local text = difference(file, root)
    room = room - #text
    table.insert(parts, room >= 0 and text or vim.split(text, "\n")[2] .. ": too long, read the file")
  end
  return table.concat(parts, "\n")
end

--- Opens a chat in which the agent reviews them; nothing that it changes is kept.
---@param chats agent.Chats
---@param agent string
function M.run(chats, agent)
  local root = chats.get():place().root
  files.refresh({
    texts = true,
    failed = say.error,
    done = function(list)
      if #list == 0 then
        return say.info("nothing to review")
      end
      local chat = chats.new(root)
      reviews[chat.id] = { agent = agent, paths = {} }
      for _, file in ipairs(list) do
        reviews[chat.id].paths[file.path] = true
      end
      chat:change_agent(agent)
      chat:change_mode("review")
      chat:open()
      local label = ("%d changed %s"):format(#list, #list == 1 and "file" or "files")
      chat.selections:add({ type = "text", label = label, text = differences(list, root) })
      chat:send(MESSAGE)
    end,
  })
end

--- Called at the end of a turn. The text of other findings is in the chat.
---@param chat agent.Chat
---@return boolean is_review
function M.take(chat)
  local review, root = reviews[chat.id], chat.timeline.root
  if not review or not root then
    return false
  end
  local answer = {}
  for _, block in vim.iter(chat.timeline.blocks):rev():enumerate() do
    if block.kind == "user" then
      break
    elseif block.kind == "text" then
      table.insert(answer, 1, block.text)
    end
  end
  local text = table.concat(answer, "\n")
  local count = 0
  for _, item in ipairs(findings.read(text, root) or findings.lines(text, root)) do
    local path = vim.fs.normalize(item.filename)
    local words = ("%s: %s"):format(review.agent, item.text)
    count = count + (review.paths[path] and comments.add(path, item.lnum, words) and 1 or 0)
  end
  if count > 0 then
    local what = count == 1 and "finding is a comment" or "findings are comments"
    local line = ("%d %s in the files. :Agent review comments lists, :Agent review send sends them."):format(count, what)
    chat:apply({ { type = "notice", severity = "info", text = line } })
  end
  return true
end

return M
