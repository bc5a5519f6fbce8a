-- Pure: the phase of a chat, and the effect of each action in it. Only this table decides which actions wait.
local M = {}

---@alias agent.Phase "opening"|"ready"|"running"|"stopping"|"closing"

---@alias agent.Verdict
---| "now"      do it
---| "hold"     do it once the chat is open, after the actions held before
---| "queue"    send it; the supervisor runs it after the turn
---| "steer"    send it into the turn
---| "stop"     stop the turn
---| "give_up"  cancel the opening; held messages return to the input
---| "back"     put its text into the input
---| "refuse"   report the reason in one line
---| "nothing"

---@type agent.Phase[]
M.PHASES = { "opening", "ready", "running", "stopping", "closing" }

--- The verdict of each kind of action, by phase.
---@type table<string, agent.Verdict[]>
local RULES = {
  --          opening    ready      running  stopping   closing
  message = { "hold", "now", "queue", "queue", "back" },
  steering = { "hold", "now", "steer", "queue", "back" },
  aside = { "hold", "now", "now", "now", "back" },
  choice = { "hold", "now", "now", "now", "refuse" },
  stop = { "give_up", "nothing", "stop", "nothing", "nothing" },
  change = { "refuse", "now", "now", "now", "refuse" },
  rewind = { "refuse", "now", "refuse", "refuse", "refuse" },
  other = { "now", "now", "now", "now", "now" },
}

--- The kind of each action. The phase does not matter to "other" actions: they concern the screen, other chats or the
--- project.
---@type table<string, string>
M.KINDS = {
  send = "message",
  explain = "message",
  fix = "message",
  tests = "message",
  docs = "message",
  remember = "message",
  steer = "steering",
  btw = "aside",
  commit = "aside",
  mode = "choice",
  effort = "choice",
  model = "choice",
  options = "choice",
  provider = "choice",
  permissions = "choice",
  stop = "stop",
  start = "change",
  fork = "change",
  handoff = "change",
  undo = "change",
  redo = "change",
  restore = "change",
  compact = "change",
  rename = "change",
  archive = "change",
  delete = "change",
  export = "change",
  changes = "change",
  pause = "change",
  tools = "change",
  agents = "change",
  jobs = "change",
  mcp = "change",
  skills = "change",
  hooks = "change",
  index = "other",
  context = "change",
  trace = "change",
  rewind = "rewind",
  open = "other",
  toggle = "other",
  new = "other",
  worktree = "other",
  chats = "other",
  sessions = "other",
  resume = "other",
  edit = "other",
  queue = "other",
  paste = "other",
  approval = "other",
  approve = "other",
  reject = "other",
  review = "other",
  keep = "other",
  why = "other",
  rules = "other",
  log = "other",
  usage = "other",
  login = "choice",
  logout = "other",
  tutor = "other",
  config = "other",
  health = "other",
}

--- The phase by the state of the turn.
---@type table<string, agent.Phase>
local PHASE_OF = {
  idle = "ready",
  starting = "running",
  working = "running",
  waiting = "running",
  retrying = "running",
  folding = "running",
  stopping = "stopping",
}

---@param timeline agent.Timeline
---@return agent.Phase
function M.phase(timeline)
  if timeline.is_closing then
    return "closing"
  end
  local phase = PHASE_OF[timeline.state]
  return phase == "ready" and #timeline.openings > 0 and "opening" or phase
end

--- The state that the user reads.
---@param timeline agent.Timeline
---@return string
function M.display(timeline)
  local phase = M.phase(timeline)
  return (phase == "opening" or phase == "closing") and phase or timeline.state
end

---@param action string
---@param timeline agent.Timeline
---@return agent.Verdict
function M.verdict(action, timeline)
  local rule = RULES[M.KINDS[action]]
  return rule[vim.fn.index(M.PHASES, M.phase(timeline)) + 1]
end

--- The error message by phase.
local REFUSALS = {
  opening = "Cannot %s: the chat is opening. Wait, or use :Agent stop.",
  running = "Cannot %s: a turn is running. Stop it first.",
  stopping = "Cannot %s: a turn is stopping. Wait a moment.",
  closing = "Cannot %s: the chat is being closed. Open another one.",
}

--- Actions that the engine refuses during a turn, and the message while that turn waits for the user.
local REVERTS = { undo = true, redo = true, restore = true, rewind = true }
local WAITING = "Cannot %s: %s is waiting. Answer it with :Agent approval, or use :Agent stop."

--- The states of a running turn, without one that waits for the user.
local BUSY = { starting = true, working = true, retrying = true, stopping = true }

--- The error message of an action that the phase or a pending approval refuses.
---@param action string
---@param timeline agent.Timeline
---@param approval? string  names the pending one
---@param task? string      what a key does, such as "undo this call"; never during a turn
---@return string? line
function M.refusal(action, timeline, approval, task)
  local is_in_turn = task and BUSY[timeline.state]
  task = task or ("run :Agent %s"):format(action)
  if REVERTS[action] and timeline.state == "waiting" and not timeline.asks_alone then
    return WAITING:format(task, approval or "an approval")
  end
  if is_in_turn or M.verdict(action, timeline) == "refuse" then
    return REFUSALS[M.phase(timeline)]:format(task)
  end
end

return M
