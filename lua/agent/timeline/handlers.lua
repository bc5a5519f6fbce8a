-- Applies each kind of update to a timeline, in place. `changed` gets the indexes of blocks to draw.
local append = require("agent.timeline.append")
local files = require("agent.timeline.files")
local backlog = require("agent.timeline.backlog")
local lines = require("agent.timeline.lines")
local runs = require("agent.timeline.runs")
local states = require("agent.timeline.states")
local waiting = require("agent.timeline.waiting")

--- The block of a call, at the top or under another call.
---@param timeline agent.Timeline
---@param id? string
---@return agent.Block?
local function block_of(timeline, id)
  return id and (timeline.nested[id] or timeline.blocks[timeline.tools[id]])
end

--- Depth of nested calls; deeper calls are shown at the top.
local MOST_NESTED = 5

--- The block of the parent call of an update.
---@param timeline agent.Timeline
---@param update table
---@return agent.Block?
local function above_of(timeline, update)
  local block = block_of(timeline, update.parent)
  return block and (block.depth or 0) < MOST_NESTED and block or nil
end

--- The newest text or thought of a message among these blocks.
---@param blocks agent.Block[]
---@param kind string
---@param message string
---@return integer? index
local function find_message(blocks, kind, message)
  for index = #blocks, 1, -1 do
    if blocks[index].kind == kind and blocks[index].id == message then
      return index
    end
  end
end

---@param timeline agent.Timeline
---@param above agent.Block a call
---@param block agent.Block to add under it
local function add_under(timeline, above, block)
  above.children = above.children or {}
  table.insert(above.children, block)
  if block.kind == "tool" then
    block.depth = (above.depth or 0) + 1
    timeline.nested[block.id] = block
  end
end

---@param timeline agent.Timeline
---@param changed table<integer, true>
local function draw_retry(timeline, changed)
  local retry = timeline.retry
  local when = retry.left > 0 and ("in %d s"):format(retry.left) or "now"
  local words = "%s Retrying %s, attempt %d of %d; <C-c> stops."
  local text = words:format(retry.reason, when, retry.attempt + 1, retry.tries)
  timeline.blocks[retry.index].text = text
  changed[retry.index] = true
end

--- Ends the countdown; the reason stays on screen.
---@param timeline agent.Timeline
---@param changed table<integer, true>
---@param outcome string
local function end_retry(timeline, changed, outcome)
  local retry = timeline.retry
  if retry then
    timeline.blocks[retry.index].text = retry.reason .. outcome
    timeline.retry, changed[retry.index] = nil, true
  end
end

--- The model has begun to answer.
---@param timeline agent.Timeline
---@param changed table<integer, true>
local function at_work(timeline, changed)
  if timeline.state ~= "idle" and timeline.state ~= "stopping" then
    timeline.state = timeline.approvals > 0 and "waiting" or "working"
  end
  end_retry(timeline, changed, " Retried.")
end

---@param timeline agent.Timeline
---@return integer? index of the user's newest message that does not wait
local function last_sent(timeline)
  for index = #timeline.blocks, 1, -1 do
    local block = timeline.blocks[index]
    if block.kind == "user" and block.status == "sent" then
      return index
    end
  end
end

---@type table<string, fun(timeline: agent.Timeline, update: table, changed: table<integer, true>)>
local on = {}

function on.submitted(timeline, update, changed)
  local is_ready = states.phase(timeline) == "ready"
  local status = is_ready and "sent" or "queued"
  append.block(timeline, { kind = "user", text = update.text, status = status, id = update.id }, changed)
  if is_ready then
    timeline.state = "starting"
  end
end

--- The user has pressed the key; the turn ends later.
function on.stopping(timeline)
  timeline.state = "stopping"
end

--- Makes room in the model's context window, between turns.
function on.folding(timeline)
  if timeline.state == "idle" then
    timeline.state, timeline.is_folding = "folding", true
  end
end

function on.folded(timeline)
  if timeline.is_folding then
    timeline.state, timeline.is_folding = "idle", nil
  end
end

function on.unsent(timeline, update, changed)
  local unstored = update.unstored and last_sent(timeline)
  -- A message that was sent after the stop is still on its way.
  local texts = vim.list_slice(update.texts)
  for index, block in ipairs(timeline.blocks) do
    local is_queued = block.status == "queued" and not block.backlog_item
    local waits = is_queued or update.with_steering and block.status == "steering"
    local at = (waits or index == unstored) and vim.iter(ipairs(texts)):find(function(_, text)
      return text == block.text
    end)
    if at then
      table.remove(texts, at)
      block.status = "stopped"
      changed[index] = true
    end
  end
end

function on.turn_started(timeline, update, changed)
  timeline.state, timeline.is_folding, timeline.asks_alone = "working", nil, nil
  local has_waited = update.id
    and vim.iter(timeline.blocks):any(function(block)
      return block.status == "queued" and block.id == update.id
    end)
  for _, block in ipairs(timeline.blocks) do
    if block.status == "sent" and has_waited then
      -- It was sent between two turns, and another one goes first.
      block.status = "queued"
    elseif block.status == "sent" then
      -- The first message that did not wait starts.
      return
    end
  end
  local status = "sent"
  for index = 1, #timeline.blocks do
    local block = timeline.blocks[index]
    if block.status == "queued" and not block.backlog_item then
      -- It moves behind the last answer, and the other waiting messages behind it.
      timeline.blocks[index] = { kind = "moved", text = "" }
      block.status, status = status, "queued"
      changed[index] = true
      append.block(timeline, block, changed)
    end
  end
end

--- A message of the user in a stored part, or one that has steered a turn. Some agents also repeat the message that
--- was sent.
function on.user(timeline, update, changed)
  local steering = not update.turn and waiting.remove(timeline, changed, { status = "steering" })
  if steering then
    steering.status, steering.attachments = "steered", update.given
    return append.block(timeline, steering, changed)
  end
  local sent = timeline.blocks[last_sent(timeline)]
  if sent and sent.text == update.text and not update.turn then
    return
  end
  local block = { kind = "user", text = update.text, status = "sent", turn = update.turn, attachments = update.given }
  append.block(timeline, block, changed)
end

--- The engine has stored the message and begun its turn.
function on.turn(timeline, update, changed)
  local index = last_sent(timeline)
  local block = index and timeline.blocks[index]
  if block then
    block.turn, block.attachments = update.turn, update.given
    changed[index] = true
  end
end

local function text_piece(timeline, update, changed)
  at_work(timeline, changed)
  local above = above_of(timeline, update)
  if above then
    local at = find_message(above.children or {}, update.type, update.message)
    if at then
      above.children[at].text = above.children[at].text .. update.text
    else
      add_under(timeline, above, { kind = update.type, id = update.message, text = update.text, status = "open" })
    end
    changed[timeline.tools[update.parent]] = true
    return
  end
  local index = append.open_block(timeline, update)
  if index then
    timeline.blocks[index].text = timeline.blocks[index].text .. update.text
  else
    -- Providers often begin with empty lines.
    local text = update.text:gsub("^%s*\n", "")
    index = append.block(timeline, { kind = update.type, id = update.message, text = text, status = "open" }, changed)
  end
  changed[index] = true
end

on.text = text_piece
on.thought = text_piece

function on.thought_done(timeline, update, changed)
  local above = above_of(timeline, update)
  local blocks = above and (above.children or {}) or timeline.blocks
  local index = find_message(blocks, "thought", update.message)
  if index then
    blocks[index].status, blocks[index].seconds = "done", update.milliseconds / 1000
    changed[above and timeline.tools[update.parent] or index] = true
  end
end

--- Turns a text into a thought, or a thought into a text.
function on.retold(timeline, update, changed)
  local above = above_of(timeline, update)
  local blocks = above and (above.children or {}) or timeline.blocks
  local index = find_message(blocks, update.was, update.message)
  if not index then
    return
  end
  if update.was == "text" then
    blocks[index].kind = "thought"
  elseif above then
    table.remove(blocks, index)
  else
    blocks[index].kind, blocks[index].text = "moved", ""
  end
  changed[above and timeline.tools[update.parent] or index] = true
end

--- Final states of a call.
local ENDED = { completed = true, failed = true, stopped = true }

--- Fields of a call that an update replaces.
local TOOL_FIELDS = { "title", "summary", "lines", "draft", "output", "is_diff", "locations", "added", "removed" }

function on.tool(timeline, update, changed)
  at_work(timeline, changed)
  local block = block_of(timeline, update.id)
  if not block and update.approvals and not update.title then
    -- The supervisor asked for itself.
    return
  end
  if not block then
    block = { kind = "tool", id = update.id, text = "", title = "", status = "pending" }
    local above = above_of(timeline, update)
    if above then
      add_under(timeline, above, block)
    end
    timeline.tools[update.id] = above and timeline.tools[update.parent] or append.block(timeline, block, changed)
  end
  for _, field in ipairs(TOOL_FIELDS) do
    if update[field] ~= nil then
      block[field] = update[field]
    end
  end
  if update.approvals then
    block.approvals = vim.list_extend(block.approvals or {}, update.approvals)
  end
  -- Output of a command may come after it was stopped.
  local is_late = update.status == "in_progress" and ENDED[block.status]
  -- It pauses until the answer.
  local waits = block.status == "waiting" and not ENDED[update.status]
  if update.status and not is_late and not waits then
    block.status = update.status
  end
  block.what = update.kind or block.what
  local index = timeline.tools[update.id]
  changed[index] = true
  runs.fold(timeline, index, changed, block)
end

function on.approval(timeline, update, changed)
  timeline.approvals = timeline.approvals + 1
  timeline.asks_alone = timeline.asks_alone or timeline.state == "idle" or nil
  timeline.state = "waiting"
  local block = block_of(timeline, update.tool)
  if block then
    block.status = "waiting"
    timeline.requests[update.request], changed[timeline.tools[update.tool]] = update.tool, true
    runs.fold(timeline, timeline.tools[update.tool], changed, block)
  end
end

function on.approval_closed(timeline, update, changed)
  timeline.approvals = math.max(0, timeline.approvals - 1)
  local tool = timeline.requests[update.request]
  local block = block_of(timeline, tool)
  timeline.requests[update.request] = nil
  if block and block.status == "waiting" then
    block.status, changed[timeline.tools[tool]] = "in_progress", true
  end
  if timeline.approvals > 0 then
    return
  end
  if timeline.asks_alone then
    timeline.state, timeline.asks_alone = "idle", nil
  elseif timeline.state == "waiting" then
    timeline.state = "working"
  end
end

function on.retry(timeline, update, changed)
  timeline.state = "retrying"
  -- The next attempt repeats the answer from the beginning.
  append.end_text(timeline, changed)
  local last = timeline.retry and timeline.retry.index == #timeline.blocks
  local index = last and timeline.retry.index
    or append.block(timeline, { kind = "notice", severity = "warning", text = "" }, changed)
  timeline.retry = {
    index = index,
    reason = update.reason,
    left = math.ceil(update.wait_ms / 1000),
    attempt = update.attempt,
    tries = update.tries,
  }
  draw_retry(timeline, changed)
end

--- A second of the countdown is over.
function on.second(timeline, _, changed)
  if timeline.retry and timeline.retry.left > 0 then
    timeline.retry.left = timeline.retry.left - 1
    draw_retry(timeline, changed)
  end
end

--- The plan is one block, at the place of its last change.
function on.plan(timeline, update, changed)
  local text = table.concat(lines.plan_lines(update.steps), "\n")
  timeline.steps = update.steps
  local last = timeline.blocks[#timeline.blocks]
  if last and last.kind == "plan" then
    last.text = text
  else
    append.block(timeline, { kind = "plan", text = text }, changed)
  end
  changed[#timeline.blocks] = true
end

--- The number of commands in the background.
function on.running(timeline, update)
  timeline.running = update.count
end

function on.usage(timeline, update)
  timeline.used, timeline.size = update.used, update.size
  timeline.cost = update.cost or timeline.cost
end

--- Another provider or agent has other commands.
---@param timeline agent.Timeline
---@param provider? string
local function forget_commands(timeline, provider)
  if provider and provider ~= timeline.provider then
    timeline.commands = nil
  end
end

function on.ready(timeline, update)
  forget_commands(timeline, update.provider)
  for _, field in ipairs({ "root", "provider", "model", "agent", "sandbox", "session" }) do
    timeline[field] = update[field]
  end
end

function on.agent_state(timeline, update)
  forget_commands(timeline, update.provider)
  for _, field in ipairs({ "provider", "model", "mode", "modes", "commands", "options" }) do
    timeline[field] = update[field] or timeline[field]
  end
  for _, field in ipairs({ "permission", "refusal", "untrusted" }) do
    timeline[field] = update[field] or timeline[field]
  end
  for _, field in ipairs({ "has_tools", "mode_has_tools", "agent" }) do
    if update[field] ~= nil then
      timeline[field] = update[field]
    end
  end
end

--- The blocks so far are outdated.
function on.continued_elsewhere(timeline)
  timeline.outdated = #timeline.blocks
end

function on.title(timeline, update)
  timeline.title = update.title
end

function on.notice(timeline, update, changed)
  local notice = { kind = "notice", severity = update.severity, text = update.text, path = update.path }
  append.block(timeline, notice, changed)
end

--- Notices about this file, or with this text, do not hold any more.
function on.notice_over(timeline, update, changed)
  for index, block in ipairs(timeline.blocks) do
    local is_meant = block.text == update.text or update.path and block.path == update.path
    if block.kind == "notice" and is_meant then
      timeline.blocks[index], changed[index] = { kind = "moved", text = "" }, true
    end
  end
end

local ENDINGS = {
  cancelled = { "info", "Stopped." },
  interrupted = { "warning", 'Interrupted before its end. Send "continue" to go on.' },
  max_turn_requests = { "warning", 'Stopped at the limit of steps. Send "continue" to go on.' },
  max_tokens = { "warning", "Stopped at the model's output limit. Ask for less at a time." },
  refusal = { "warning", "The model refused to answer. Rephrase the message, or choose another model." },
}

--- Closes a block and the blocks under it.
---@param block agent.Block
---@return boolean changed
local function settle_block(block)
  local changed = false
  for _, child in ipairs(block.children or {}) do
    changed = settle_block(child) or changed
  end
  if block.kind == "tool" and not ENDED[block.status] then
    block.status, block.summary = "stopped", "stopped"
    return true
  elseif block.status == "open" and block.kind == "text" then
    append.close_text(block)
    return true
  elseif block.status == "open" then
    block.status = "done"
    return true
  end
  return changed
end

--- Closes all open blocks. Some agents do not close them at the end of a turn.
---@param timeline agent.Timeline
---@param changed table<integer, true>
local function settle(timeline, changed)
  for index = #timeline.blocks, 1, -1 do
    local block = timeline.blocks[index]
    if block.kind == "user" and block.status == "sent" then
      block.status = "done"
      break
    end
    changed[index] = settle_block(block) or changed[index]
    local open = runs.open(block)
    for _, call in ipairs(open) do
      settle_block(call)
    end
    if open[1] then
      runs.fold(timeline, index, changed, open[1])
    end
  end
end

function on.turn_done(timeline, update, changed)
  timeline.state, timeline.approvals = "idle", 0
  local retry = timeline.retry
  end_retry(timeline, changed, "")
  settle(timeline, changed)
  local ending = update.error and { "error", update.error } or ENDINGS[update.reason]
  if not ending then
    return
  end
  -- A retried failure is one failure, in one line.
  local is_last = update.error and retry and retry.index == #timeline.blocks
  local index = is_last and retry.index or append.block(timeline, { kind = "notice", text = "" }, changed)
  timeline.blocks[index].severity, timeline.blocks[index].text = ending[1], ending[2]
  changed[index] = true
end

files.handle(on, append.block, append.last_block, block_of)
backlog.handle(on, append.block)
return waiting.handle(on, append.block)
