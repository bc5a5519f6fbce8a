-- Answers the engine's questions about buffers, and updates buffers after its writes.
local client = require("agent.client")
local config = require("agent.config")
local events = require("agent.events")
local find = require("agent.reload.find")

local M = {}

---@alias agent.editor.Reply fun(ok: boolean, result: table|string) called once: the answer, or the error

---@type table<string, fun(params: table, reply: agent.editor.Reply)>
local answers = {}

--- Bytes of the largest unsaved text: a larger one would delay typing.
local LARGEST_UNSAVED = 5 * 1024 * 1024

function answers.unsaved_text(params, reply)
  for _, buf in ipairs(find.buffers(params.path)) do
    local size = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
    if vim.bo[buf].modified and size > LARGEST_UNSAVED then
      return reply(false, ("its unsaved text is too large (%d MB); save it first"):format(size / 1024 / 1024))
    end
  end
  reply(true, { text = require("agent.reload").unsaved_text(params.path) })
end

function answers.write_unsaved(params, reply)
  local result = require("agent.reload").write_unsaved({
    path = params.path,
    base = params.base,
    text = params.text,
    save = config.get().files.save_unsaved,
  })
  if result.conflict then
    return reply(true, { status = "conflict", text = result.conflict })
  end
  if not result.written then
    return reply(true, { status = "not_open" })
  end
  reply(true, { status = "merged", before = result.before, text = result.text, saved = result.saved == true })
end

function answers.written_since(params, reply)
  reply(true, { files = require("agent.reload").written_since(params.since) })
end

function answers.editor_view(params, reply)
  reply(true, require("agent.editor.view").get(params.roots))
end

function answers.lsp(params, reply)
  require("agent.editor.lsp").answer(params, reply)
end

---@param question { request: integer, method: string, params: table }
local function answer(question)
  ---@type agent.editor.Reply
  local function reply(ok, result)
    if ok then
      -- An empty Lua table is a list in MessagePack.
      result = next(result) and result or vim.empty_dict()
      client.send({ type = "reply", request = question.request, result = result })
    else
      client.send({ type = "reply", request = question.request, error = tostring(result) })
    end
  end
  local ok, problem = pcall(answers[question.method], question.params, reply)
  if not ok then
    reply(false, problem --[[@as string]])
  end
end

--- The chat with a notice that this file was deleted.
local deleted = {} ---@type table<string, integer>

--- The notices about a change of a file.
---@param update table
---@param result agent.reload.Result
---@return table[] updates
local function notices_of(update, result)
  local notices, chat = {}, deleted[update.path]
  if chat and result.action ~= "deleted" then
    -- The file is back.
    table.insert(notices, { type = "notice_over", chat = chat, path = update.path })
    deleted[update.path] = nil
  end
  if result.notice then
    local path = result.action == "deleted" and (update.from or update.path) or nil
    local notice = { type = "notice", chat = update.chat, severity = "warning", text = result.notice, path = path }
    table.insert(notices, notice)
    deleted[path or ""] = path and update.chat
  end
  return notices
end

---@param update table
local function follow(update)
  if update.kind == "deleted" or update.kind == "renamed" then
    require("agent.editor.lsp").drop(update.from or update.path)
  end
  require("agent.reload").file_modified(update, function(result)
    local notices = notices_of(update, result)
    if #notices > 0 then
      client.receive(notices)
    end
    events.emit("AgentFileModified", { chat = update.chat, path = update.path, kind = update.kind })
  end)
end

client.follow_editor(require("agent.editor.state"))

client.listen(function(batch)
  for _, update in ipairs(batch) do
    if update.type == "ask_editor" then
      answer(update)
    elseif update.type == "spool" then
      require("agent.reload.spool").follow(update)
    elseif update.type == "file_modified" then
      follow(update)
    end
  end
end)

return M
