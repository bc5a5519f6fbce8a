-- The approval float: what is asked, where, why, with the diff. It waits; nothing else does.
local client = require("agent.client")
local config = require("agent.config")
local events = require("agent.events")

local M = {}

---@class agent.FileDiff
---@field path? string
---@field before? string
---@field after? string

---@class agent.Approval: agent.FileDiff
---@field chat integer
---@field request integer
---@field title string
---@field reason string
---@field others? agent.FileDiff[]  where one call changes several files

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

local diff = vim.text and vim.text.diff or vim.diff

local FOOTER = " a once  s session  r reject  R with reason  d diff "

---@return boolean
local function is_open()
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

---@return boolean
local function is_focused()
  return is_open() and vim.api.nvim_get_current_win() == window
end

--- The files that would change; none where no diff is shown.
---@param approval agent.Approval
---@return agent.FileDiff[]
local function files(approval)
  return approval.after and vim.list_extend({ approval }, approval.others or {}) or {}
end

--- Lines and the highlight group of each.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
local function content(approval)
  local lines = { approval.title, approval.reason }
  local groups = { "AgentTitle", "AgentWarning" }
  local changed = files(approval)
  for _, file in ipairs(changed) do
    if #changed > 1 then
      table.insert(lines, ("── %s ──"):format(vim.fn.fnamemodify(file.path, ":~:.")))
      groups[#lines] = "AgentHint"
    end
    local text = diff(file.before or "", file.after, { result_type = "unified", ctxlen = 3 })
    for _, line in ipairs(vim.split(text, "\n", { trimempty = true })) do
      if not line:find("^\\ No newline") then
        table.insert(lines, line)
        groups[#lines] = line:find("^%+") and "AgentDiffAdd"
          or line:find("^%-") and "AgentDiffDelete"
          or line:find("^@@") and "AgentHint"
          or nil
      end
    end
  end
  return lines, groups
end

---@param line_count integer
---@return table
local function place(line_count)
  local free = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  local title = #queue > 1 and (" Approval 1 of %d "):format(#queue) or " Approval "
  local armed = is_focused() and vim.uv.now() >= armed_at
  local hint = is_focused() and (armed and FOOTER or " … ") or " <Tab> in the chat, or :Agent approval, to answer "
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
    title = { { title, "AgentTitle" } },
    footer = { { hint, "AgentHint" } },
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

---@param option "allow_once"|"allow_session"|"reject"
---@param reason? string
---@return boolean answered
local function answer(option, reason)
  local approval = queue[1]
  if not approval then
    return false
  end
  client.send({ type = "answer", request = approval.request, option = option, reason = reason })
  table.remove(queue, 1)
  close()
  show()
  return true
end

--- The two versions side by side in a tab of their own.
---@param file agent.FileDiff
local function open_tab(file)
  vim.cmd("tab split")
  for index, text in ipairs({ file.before or "", file.after }) do
    if index == 2 then
      vim.cmd("rightbelow vsplit")
    end
    local scratch = vim.api.nvim_create_buf(false, true)
    vim.bo[scratch].bufhidden = "wipe"
    vim.bo[scratch].modeline = false
    vim.api.nvim_buf_set_lines(scratch, 0, -1, false, vim.split(text, "\n"))
    vim.bo[scratch].modifiable = false
    vim.api.nvim_win_set_buf(0, scratch)
    vim.bo[scratch].filetype = vim.filetype.match({ filename = file.path or "" }) or ""
    vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = scratch, desc = "Agent: close the diff" })
    vim.cmd.diffthis()
  end
end

local function open_diff()
  for _, file in ipairs(queue[1] and files(queue[1]) or {}) do
    open_tab(file)
  end
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
    answer("allow_once")
  end, "allow once")
  map("s", function()
    answer("allow_session")
  end, "allow for this session")
  map("r", function()
    answer("reject")
  end, "reject")
  map("R", function()
    M.reject()
  end, "reject with a reason")
  map("d", open_diff, "open the diff in a tab")
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
  local lines, groups = content(approval)
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

---@param scope? string "session" allows it for the session
---@return boolean answered
function M.approve(scope)
  return answer(scope == "session" and "allow_session" or "allow_once")
end

--- Rejects; without a reason one is asked for, and leaving that empty rejects without one.
---@param reason? string
---@return boolean
function M.reject(reason)
  local approval = queue[1]
  if not approval or reason then
    return answer("reject", reason)
  end
  vim.ui.input({ prompt = "Reason: " }, function(typed)
    if typed and queue[1] == approval then
      answer("reject", typed ~= "" and typed or nil)
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
    title = update.title,
    reason = update.reason,
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
    if update.type == "approval" then
      requested(update)
    elseif update.type == "approval_closed" then
      closed(update)
    elseif update.type == "host_lost" then
      queue = {}
      close()
    end
  end
end)

local group = vim.api.nvim_create_augroup("agent.approval", {})
vim.api.nvim_create_autocmd({ "VimResized", "WinEnter" }, { group = group, callback = refit })

return M
