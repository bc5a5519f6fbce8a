-- Answers the engine's questions about buffers, and lets buffers follow the files that it changes.
local client = require("agent.client")
local config = require("agent.config")
local events = require("agent.events")
local reload = require("agent.reload")

local M = {}

---@type table<string, fun(question: table): table>
local answers = {}

function answers.unsaved_text(question)
  return { text = reload.unsaved_text(question.path) }
end

function answers.write_unsaved(question)
  local result = reload.write_unsaved({
    path = question.path,
    base = question.base,
    text = question.text,
    save = config.get().save_unsaved,
  })
  if result.conflict then
    return { status = "conflict", text = result.conflict }
  end
  if not result.written then
    return { status = "not_open" }
  end
  return { status = "merged", text = result.text, saved = result.saved == true }
end

---@param question table
local function answer(question)
  local ok, result = pcall(answers[question.method], question)
  if ok then
    -- An empty Lua table is a list to MessagePack.
    result = next(result) and result or vim.empty_dict()
    client.send({ type = "reply", request = question.request, result = result })
  else
    client.send({ type = "reply", request = question.request, error = tostring(result) })
  end
end

---@param update table
local function follow(update)
  reload.file_modified(update, function(result)
    if result.notice then
      client.receive({ { type = "notice", chat = update.chat, severity = "warning", text = result.notice } })
    end
    events.emit("AgentFileModified", { chat = update.chat, path = update.path, kind = update.kind })
  end)
end

client.listen(function(batch)
  for _, update in ipairs(batch) do
    if update.type == "ask_editor" then
      answer(update)
    elseif update.type == "file_modified" then
      follow(update)
    end
  end
end)

return M
