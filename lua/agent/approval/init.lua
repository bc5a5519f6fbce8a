-- The approval float: what is asked, where, why, with the diff. It waits; nothing else does.
local client = require("agent.client")
local config = require("agent.config")
local content = require("agent.approval.content")
local events = require("agent.events")

local M = {}

--- Those that wait, the oldest first; the first is shown.
---@type agent.Approval[]
local queue = {}
---@type integer?
local window
---@type integer?
local buffer
--- Window to go back to.
---@type integer?
local back
--- Keys count from this time on (milliseconds of uv.now): one that was meant for another window is no answer.
local armed_at = 0
local ARM_MS = 400

local namespace = vim.api.nvim_create_namespace("agent.approval")

---@return boolean
local function is_open()
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

---@return boolean
local function is_focused()
  return is_open() and vim.api.nvim_get_current_win() == window
end

--- What kind it is, how many wait, and the chat that it is from if that is not the one in view.
---@return string
local function title()
  local approval = queue[1]
  local text = approval and approval.question and "Question" or "Approval"
  if #queue > 1 then
    text = ("%s 1 of %d"):format(text, #queue)
  end
  local chats = package.loaded["agent.chat"]
  local chat = chats and chats.current()
  if approval and chat and chat.id ~= approval.chat then
    text = ("%s · chat %d"):format(text, approval.chat)
  end
  return (" %s "):format(text)
end

--- The keys, once they count; before that, how to get there.
---@return string
local function hint()
  if not is_focused() then
    return " <Tab> in the chat, or :Agent approval, to answer "
  end
  local armed = vim.uv.now() >= armed_at
  return armed and queue[1] and content.keys(queue[1]) or " … "
end

---@param line_count integer
---@return table
local function place(line_count)
  local free = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  return {
    relative = "editor",
    anchor = "SW",
    row = free,
    col = 0,
    width = math.max(20, math.min(100, vim.o.columns - 2)),
    height = math.max(1, math.min(line_count, math.floor(free * 0.5))),
    border = "rounded",
    style = "minimal",
    zindex = 60,
    title = { { title(), "AgentTitle" } },
    footer = { { hint(), "AgentHint" } },
    footer_pos = "right",
  }
end

local function close()
  local was_focused = is_focused()
  if is_open() then
    vim.api.nvim_win_close(window, true)
  end
  window, buffer = nil, nil
  if was_focused and back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
end

local function refit()
  if is_open() and buffer then
    vim.api.nvim_win_set_config(window, place(vim.api.nvim_buf_line_count(buffer)))
  end
end

--- Shows the keys once they count.
local function arm()
  armed_at = vim.uv.now() + ARM_MS
  refit()
  vim.defer_fn(refit, ARM_MS + 10)
end

--- True if the user does nothing in the chat at this moment but watch it.
---@return boolean
local function may_take_focus()
  local wanted = config.get().approval_focus
  if wanted ~= "auto" then
    return wanted == "always"
  end
  local filetype = vim.bo.filetype
  if vim.api.nvim_get_mode().mode ~= "n" or not (filetype == "agent" or filetype == "agent-input") then
    return false
  end
  return filetype == "agent" or vim.trim(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false))) == ""
end

local show

---@param option "allow_once"|"allow_session"|"allow_always"|"reject"
---@param more? { reason?: string, rule?: string, command?: string }
---@return boolean answered
local function answer(option, more)
  local approval = queue[1]
  if not approval then
    return false
  end
  local action = { type = "answer", request = approval.request, option = option }
  client.send(vim.tbl_extend("error", action, more or {}))
  table.remove(queue, 1)
  close()
  show()
  return true
end

---@param run fun()
---@return fun()
local function when_armed(run)
  return function()
    if vim.uv.now() >= armed_at then
      run()
    end
  end
end

local function map_keys()
  local function map(key, run, doc)
    vim.keymap.set("n", key, when_armed(run), { buffer = buffer, nowait = true, desc = "Agent: " .. doc })
  end
  map("a", function()
    M.approve()
  end, "allow once, or type an answer")
  map("s", function()
    M.approve("session")
  end, "allow for this session")
  map("r", function()
    if not M.decline() then
      answer("reject")
    end
  end, "reject")
  map("R", function()
    M.reject()
  end, "reject with a reason")
  for number = 1, 9 do
    map(tostring(number), function()
      local options = queue[1] and queue[1].options
      if options and options[number] then
        M.answer_question(options[number])
      end
    end, "choose this answer")
  end
  map("A", function()
    M.always()
  end, "always allow, by a rule")
  map("e", function()
    M.edit()
  end, "edit the command")
  map("d", function()
    content.open_diff(queue[1])
  end, "open the diff in a tab")
  map("<Tab>", function()
    table.insert(queue, table.remove(queue, 1))
    close()
    show()
    M.focus()
  end, "next one that waits")
  for _, key in ipairs({ "<Esc>", "q" }) do
    vim.keymap.set("n", key, function()
      M.leave()
    end, { buffer = buffer, nowait = true, desc = "Agent: leave it waiting" })
  end
  vim.keymap.set("n", "<C-c>", function()
    require("agent.client").send({ type = "cancel", chat = queue[1] and queue[1].chat })
  end, { buffer = buffer, nowait = true, desc = "Agent: stop the turn" })
end

function show()
  local approval = queue[1]
  if not approval then
    return
  end
  if is_open() then
    return refit()
  end
  buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modeline = false
  local lines, groups = content.lines(approval)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  for row, name in pairs(groups) do
    vim.api.nvim_buf_set_extmark(buffer, namespace, row - 1, 0, { line_hl_group = name })
  end
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = "agent-approval"
  map_keys()
  local takes_focus = may_take_focus()
  local from = vim.api.nvim_get_current_win()
  window = vim.api.nvim_open_win(buffer, false, place(#lines))
  vim.wo[window].wrap = true
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentToolWaiting"
  if takes_focus then
    back = from
    vim.api.nvim_set_current_win(window)
    arm()
  end
end

--- Goes to the float. False if nothing waits.
---@return boolean
function M.focus()
  if not queue[1] then
    return false
  end
  show()
  if not is_focused() then
    back = vim.api.nvim_get_current_win()
    vim.cmd.stopinsert()
    vim.api.nvim_set_current_win(window)
  end
  -- Asked for by the user: the next key is meant.
  armed_at = 0
  refit()
  return true
end

--- Goes back and leaves it waiting.
function M.leave()
  if back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
  refit()
end

---@param scope? "session"|"always"
---@return boolean answered
function M.approve(scope)
  if queue[1] and queue[1].question then
    return M.type_answer()
  end
  if scope == "always" then
    return M.always()
  end
  return answer(scope == "session" and "allow_session" or "allow_once")
end

--- Answers the question that waits; nil leaves it without an answer.
---@param text? string
function M.answer_question(text)
  client.send({ type = "answer_question", request = queue[1].request, answer = text })
  table.remove(queue, 1)
  close()
  show()
end

---@return boolean
function M.type_answer()
  local question = queue[1]
  vim.ui.input({ prompt = "Answer: " }, function(text)
    if text and vim.trim(text) ~= "" and queue[1] == question then
      M.answer_question(text)
    end
  end)
  return true
end

--- Leaves a question without an answer. False if it is no question that waits.
---@return boolean
function M.decline()
  if not (queue[1] and queue[1].question) then
    return false
  end
  M.answer_question(nil)
  return true
end

--- Proposes the smallest rule that would have answered, to be edited.
---@return boolean
function M.always()
  local approval = queue[1]
  if not approval then
    return false
  end
  if not approval.suggestion then
    vim.notify("agent: no rule can answer for this one", vim.log.levels.WARN)
    return true
  end
  vim.ui.input({ prompt = "Always allow: ", default = approval.suggestion }, function(rule)
    if rule and rule ~= "" and queue[1] == approval then
      answer("allow_always", { rule = rule })
    end
  end)
  return true
end

--- Edits the command; what is then run is exactly what was edited.
---@return boolean
function M.edit()
  local approval = queue[1]
  if not approval or not approval.command then
    return false
  end
  vim.ui.input({ prompt = "Run: ", default = approval.command }, function(command)
    if command and vim.trim(command) ~= "" and queue[1] == approval then
      answer("allow_once", command ~= approval.command and { command = command } or nil)
    end
  end)
  return true
end

--- Rejects; without a reason one is asked for, and leaving that empty rejects without one.
---@param reason? string
---@return boolean
function M.reject(reason)
  if M.decline() then
    return true
  end
  local approval = queue[1]
  if not approval or reason then
    return answer("reject", { reason = reason })
  end
  vim.ui.input({ prompt = "Reason: " }, function(typed)
    if typed and queue[1] == approval then
      answer("reject", typed ~= "" and { reason = typed } or nil)
    end
  end)
  return true
end

---@return integer
function M.count()
  return #queue
end

---@param update agent.Approval
local function requested(update)
  table.insert(queue, update)
  events.emit("AgentApprovalRequested", {
    chat = update.chat,
    request = update.request,
    title = update.title or update.question,
    reason = update.reason or "the agent asks",
  })
  show()
end

---@param update table
local function closed(update)
  events.emit("AgentApprovalAnswered", { chat = update.chat, request = update.request, answer = update.answer })
  for index, approval in ipairs(queue) do
    if approval.request == update.request then
      table.remove(queue, index)
      if index == 1 then
        close()
        show()
      end
      return
    end
  end
end

client.listen(function(batch)
  for _, update in ipairs(batch) do
    if update.type == "approval" or update.type == "question" then
      requested(update)
    elseif update.type == "approval_closed" then
      closed(update)
    elseif update.type == "host_lost" then
      for _, approval in ipairs(queue) do
        events.emit("AgentApprovalAnswered", { chat = approval.chat, request = approval.request, answer = "cancelled" })
      end
      queue = {}
      close()
    end
  end
end)

local group = vim.api.nvim_create_augroup("agent.approval", {})
vim.api.nvim_create_autocmd({ "VimResized", "WinEnter" }, { group = group, callback = refit })

return M
