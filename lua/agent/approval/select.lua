-- Shows the answers with vim.ui.select, below the content of the approval.
local content = require("agent.approval.content")
local format = require("agent.ui.format")
local queue = require("agent.approval.queue")
local say = require("agent.ui.say")
local scratch = require("agent.ui.scratch")

local M = {}

---@class agent.Answer
---@field label string
---@field run fun()

--- By the key with the same action in the window.
local LABELS = {
  a = "Allow once",
  s = "Allow for this session",
  A = "Always allow, by a rule",
  r = "Reject",
  R = "Reject with a reason",
  d = "Show the diff",
  e = "Edit the command",
}

---@type table<string, table<string, string>>
local LABELS_OF = {
  effects = { a = "Keep what is chosen", r = "Discard the changes", s = "Keep such changes for this session" },
  question = { a = "Type an answer", r = "No answer" },
}

--- Milliseconds after it opens automatically in which a choice does not count: the key was meant for another window.
local EARLY = 400

--- Rows of the screen for the prompt, besides the answers.
local ROOM = 4

---@param approval agent.Approval
---@param run fun(key: string)
---@param look fun() goes to the window
---@return agent.Answer[]
local function answers(approval, run, look)
  local list, own = {}, LABELS_OF[approval.kind] or {}
  for number, option in ipairs(approval.kind == "question" and approval.options or {}) do
    if number <= 9 then
      table.insert(list, {
        label = format.one_line(option),
        run = function()
          run(tostring(number))
        end,
      })
    end
  end
  for _, word in ipairs(content.kind(approval).keys(approval)) do
    local key = word:match("^%S+")
    local label = own[key] or word == "a approve" and "Approve" or LABELS[key]
    if label then
      table.insert(list, {
        label = label,
        run = function()
          run(key)
        end,
      })
    end
  end
  return vim.list_extend(list, { { label = "Look at it in its window", run = look } })
end

--- Neovim's own list covers the end of the screen, so its prompt contains as much of the text as fits.
---@param lines string[]
---@param title string
---@param count integer of the answers
---@return string
local function prompt(lines, title, count)
  local source = debug.getinfo(vim.ui.select, "S").source
  if not source:find("vim/ui.lua", 1, true) then
    return ("%s: %s"):format(title, format.one_line(lines[1]))
  end
  local most = math.max(2, vim.o.lines - count - ROOM)
  local preview = vim.list_slice(lines, 1, most)
  table.insert(preview, #lines > most and ("… %d more lines in its window"):format(#lines - most) or nil)
  return ("%s\n%s\n"):format(title, table.concat(preview, "\n"))
end

---@param lines string[]
---@return { buf: integer }
local function preview(lines)
  local buffer = scratch()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(table.concat(lines, "\n"), "\n"))
  return { buf = buffer }
end

--- Asks for an answer to the first pending approval alone. Without a choice the approval stays.
---@param run fun(key: string) runs the action of a key
---@param look fun() goes to the window
---@param by_itself? boolean opened automatically
function M.open(run, look, by_itself)
  local approval = queue.first()
  if not approval then
    return
  end
  local list, kind, since = answers(approval, run, look), content.kind(approval), vim.uv.now()
  local lines = kind.lines(approval)
  vim.ui.select(list, {
    prompt = prompt(lines, kind.title or "Approval", #list),
    kind = "agent.approval",
    format_item = function(answer)
      return answer.label
    end,
    preview_item = function()
      return preview(lines)
    end,
  }, function(answer)
    if not answer then
      return
    elseif queue.first() ~= approval then
      say.info("that is no longer waiting for an answer")
    elseif by_itself and vim.uv.now() - since < EARLY then
      vim.schedule(function()
        M.open(run, look)
      end)
    else
      answer.run()
    end
  end)
end

return M
