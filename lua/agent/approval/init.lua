-- Approvals: they show a call with its place, reason and diff, and wait for an answer. Nothing else waits for it.
local chats = require("agent.approval.chats")
local client = require("agent.client")
local config = require("agent.config")
local content = require("agent.approval.content")
local edit = require("agent.approval.edit")
local events = require("agent.events")
local keys = require("agent.approval.keys")
local offers = require("agent.approval.offers")
local queue = require("agent.approval.queue")
local say = require("agent.ui.say")
local select_list = require("agent.approval.select")
local typed_text = require("agent.approval.typed")
local window = require("agent.approval.window")

local M = {}

---@return boolean
local function has_list()
  return config.get().ui.approval == "select"
end

--- Shows the answers with vim.ui.select.
---@param by_itself? boolean
local function list(by_itself)
  local function run(key)
    keys.run(key, M)
  end
  select_list.open(run, window.focus, by_itself)
end

local function show()
  local is_for_user = window.show(function(buffer)
    keys.map(buffer, M)
  end, not has_list())
  if is_for_user and has_list() then
    -- Later: a list may wait for a key.
    vim.schedule(function()
      list(true)
    end)
  end
end

--- Shows the next one after the first has closed.
local function next_one()
  edit.close()
  window.close()
  show()
end

--- Fields of an allowing answer; nil if it cannot be allowed, which is reported.
---@param approval agent.Approval
---@return table?
local function yes(approval)
  local kind = content.kind(approval)
  if kind.answer ~= "allow" then
    return say.warn("this can only be rejected")
  end
  local choice = not kind.choice and {} or kind.choice(approval)
  return choice or say.warn("nothing is selected; r discards")
end

---@param option "allow_once"|"allow_session"|"allow_always"|"reject"
---@param more? { reason?: string, rule?: string }
---@return boolean answered
local function answer(option, more)
  local approval = queue.first()
  if not approval then
    return false
  end
  local choice = option == "reject" and {} or yes(approval)
  if not choice then
    return true
  end
  if approval.judging then
    say.warn("the edited command is still being checked")
    return true
  end
  if option == "allow_session" and approval.scope == "request" then
    say.warn("each of these is asked about; answer once")
    return true
  end
  local action = { type = "answer", request = approval.request, option = option, command = approval.edited }
  client.send(vim.tbl_extend("error", action, choice, more or {}))
  queue.remove(approval.request)
  next_one()
  offers.refresh()
  return true
end

--- Goes to the float, or opens the list. False if no approval is pending.
---@return boolean
function M.focus()
  if not queue.first() then
    return false
  end
  show()
  if has_list() then
    list()
  else
    window.focus()
  end
  return true
end

M.choose, M.leave = window.choose, window.leave

--- Compares the files, with rows the one of the cursor first.
function M.diff()
  local first = queue.first()
  if first then
    content.open_diff(first, vim.fn.line("."))
  end
end

--- A digit chooses a suggested answer. In a list it is a count.
---@param digit string
function M.choose_answer(digit)
  local options = (queue.first() or {}).options
  local chosen = options and options[tonumber(digit)]
  if chosen then
    M.answer_question(chosen)
  elseif not options then
    vim.api.nvim_feedkeys((vim.v.count > 0 and vim.v.count or "") .. digit, "ni", false)
  end
end

--- Stops the turn that asks.
function M.stop()
  local first = queue.first()
  local chat = first and chats.get(first.chat)
  if chat then
    chat:stop()
  elseif first then
    client.send({ type = "cancel", chat = first.chat })
  end
end

--- Shows the next pending approval.
function M.next()
  queue.rotate()
  next_one()
  M.focus()
end

---@param scope? "session"|"always"
---@return boolean answered
function M.approve(scope)
  local first = queue.first()
  if first and content.kind(first).answer == "text" then
    return M.type_answer()
  end
  if scope == "always" then
    return M.always()
  end
  return answer(scope == "session" and "allow_session" or "allow_once")
end

--- Asks for a line of text, and clears the command line afterwards.
---@param options table as for vim.ui.input
---@param on_text fun(text?: string)
local function prompt(options, on_text)
  vim.ui.input(options, function(text)
    vim.api.nvim_echo({ { "" } }, false, {})
    on_text(text)
  end)
end

--- Answers the pending question; nil declines it.
---@param text? string
function M.answer_question(text)
  local question = queue.first()
  if question then
    client.send({ type = "answer_question", request = question.request, answer = text })
    queue.remove(question.request)
    next_one()
  end
end

---@return boolean
function M.type_answer()
  local question = queue.first()
  prompt({ prompt = "Answer: " }, function(text)
    if text and vim.trim(text) ~= "" and queue.first() == question then
      M.answer_question(text)
    end
  end)
  return true
end

--- Declines a question. False if no question is pending.
---@return boolean
function M.decline()
  local first = queue.first()
  if not (first and content.kind(first).answer == "text") then
    return false
  end
  M.answer_question(nil)
  return true
end

--- Asks for a rule, with the smallest one that would have answered as default.
---@return boolean
function M.always()
  local approval = queue.first()
  if not approval then
    return false
  end
  if not approval.suggestion then
    say.warn("no rule can allow this; answer once")
    return true
  end
  if not yes(approval) then
    return true
  end
  prompt({ prompt = "Always allow: ", default = approval.suggestion }, function(rule)
    if rule and rule ~= "" and queue.first() == approval then
      answer("allow_always", { rule = rule })
    end
  end)
  return true
end

--- Edits the command. The gate checks it again, and the approval waits for an answer to exactly this text.
---@return boolean
function M.edit()
  local approval = queue.first()
  if not approval or approval.kind ~= "command" then
    return false
  end
  local text = approval.edited or approval.command
  window.disarm()
  edit.open(text, window.window(), function(typed)
    if queue.first() ~= approval then
      return
    end
    if typed and typed ~= text then
      approval.judging, approval.sent = true, typed
      client.send({ type = "edit_command", request = approval.request, command = typed })
    end
    window.come_back()
  end)
  return true
end

--- Rejects without a reason, or declines a question.
function M.reject_now()
  if not M.decline() then
    answer("reject")
  end
end

--- Rejects, and asks for a reason if there is none. An empty reason is no reason.
---@param reason? string
---@return boolean
function M.reject(reason)
  if M.decline() then
    return true
  end
  local approval = queue.first()
  if not approval or reason then
    return answer("reject", { reason = reason })
  end
  prompt({ prompt = "Reason: " }, function(typed)
    if typed and queue.first() == approval then
      answer("reject", typed ~= "" and { reason = typed } or nil)
    end
  end)
  return true
end

--- Rejects with the text of the input as the reason, or answers a question with it.
function M.use_typed()
  local approval, chat = queue.first(), typed_text.chat()
  if not approval then
    return say.info("nothing is waiting for an answer")
  elseif not chat then
    return say.info("nothing is typed: this key rejects with the text of the input")
  end
  local text = vim.trim(chat.input:text())
  if content.kind(approval).answer == "text" then
    M.answer_question(text)
  else
    answer("reject", { reason = text })
  end
  if queue.first() ~= approval then
    chat:forget_typed()
  end
end

--- Called once, by the starter.
---@param all agent.ApprovalChats
function M.connect(all)
  chats.get, chats.current, chats.make_room = all.get, all.current, all.make_room
end

M.refit = window.refit

---@return integer
function M.count()
  return queue.count()
end

--- Columns of a title in a message.
local LONGEST = 40

--- Names the pending approval of a chat, for a message.
---@param chat integer
---@return string?
function M.name(chat)
  local approval = queue.of(chat)
  local title = approval and require("agent.ui.format").cut(approval.title, LONGEST)
  return title and ('the approval of "%s"'):format(title)
end

---@param update agent.Approval
local function requested(update)
  queue.add(update)
  events.emit("AgentApprovalRequested", {
    chat = update.chat,
    request = update.request,
    title = update.title,
    reason = update.reason,
  })
  show()
end

--- The gate has checked an edited command, which the approval now shows.
---@param update table
local function rejudged(update)
  local old = queue.replace(update.approval)
  if old then
    update.approval.edited = update.approval.is_edited and old.sent or nil
    window.redraw()
  end
end

---@param update table
local function closed(update)
  events.emit("AgentApprovalAnswered", { chat = update.chat, request = update.request, answer = update.answer })
  if queue.remove(update.request) then
    next_one()
  end
end

vim.api.nvim_create_autocmd("TabEnter", {
  group = vim.api.nvim_create_augroup("agent.approval.tab", {}),
  callback = vim.schedule_wrap(function()
    -- It would hide the diff that was opened from it.
    if not vim.t.agent_diff then
      show()
    end
  end),
})

client.listen(function(batch)
  for _, update in ipairs(batch) do
    if update.type == "approval" then
      requested(update)
    elseif update.type == "approval_rejudged" then
      rejudged(update)
    elseif update.type == "approval_closed" then
      closed(update)
    elseif update.type == "host_lost" then
      for _, approval in ipairs(queue.take(update.chats)) do
        events.emit("AgentApprovalAnswered", { chat = approval.chat, request = approval.request, answer = "cancelled" })
      end
      next_one()
    end
  end
  -- New lines in the chat may need the room.
  window.refit()
  offers.refresh()
end)

offers.start(M.approve, M.reject)

return M
