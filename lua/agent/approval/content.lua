-- The content of an approval and its possible answers, by kind.
local effects = require("agent.approval.effects")
local format = require("agent.ui.format")
local say = require("agent.ui.say")

local M = {}

---@class agent.FileDiff
---@field path? string
---@field before? string
---@field after? string

---@class agent.Approval  see ApprovalUpdate in protocol/ui.ts; its other fields are those of its kind
---@field kind string
---@field chat integer
---@field request integer
---@field tool string
---@field title string
---@field reason string
---@field agent? string       title of the sub-agent that asks
---@field suggestion? string  the rule that "always" writes
---@field scope? "request"|"stored"
---@field edited? string      the exact command after the user's edit
---@field sent? string        an edited command that the gate checks
---@field judging? boolean    true until it is checked; no answer counts before
---@field chosen? table<integer, boolean>  rows that the user has selected or deselected

--- By level of a command, see protocol/commands.ts.
local LEVELS = {
  look = "look: changes nothing",
  try = "try: changes nothing, drops what it writes",
  write = "write: changes files of the project",
  git = "git: changes files and the repository",
}

--- Names what the command may change. Without an access nothing limits it.
---@param access? string
---@param hosts? string  the hosts that it reaches without the network
---@return string
local function sandbox_of(access, hosts)
  local level = LEVELS[(access or ""):match("^%a+")]
  local network = M.has_network(access) and "with the network" or hosts and "with some hosts" or "no network"
  return level and ("%s, %s"):format(level, network) or "no sandbox: changes anything"
end

---@param access? string
---@return boolean
function M.has_network(access)
  return not access or access:find("+network", 1, true) ~= nil
end

--- The whole command, the reason for the question, what the command may change, and its folder.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
local function command_lines(approval)
  local lines, groups = {}, {}
  local function add(line, group)
    table.insert(lines, line)
    groups[#lines] = group
  end
  -- On a small screen the other lines may need a scroll. The prefix keeps a line of the command from imitating them.
  for _, line in ipairs(vim.split(approval.command, "\n")) do
    add("$ " .. line, "AgentTitle")
  end
  add(format.one_line(approval.reason), "AgentWarning")
  local level = ("%s · severity: %s"):format(sandbox_of(approval.access, approval.hosts), approval.severity)
  add(level, M.has_network(approval.access) and "AgentWarning" or "AgentHint")
  if approval.hosts then
    add("hosts: " .. format.one_line(approval.hosts), "AgentWarning")
  end
  -- A folder can have any name, even the label of the root's row.
  local is_root = approval.folder == "."
  local folder = is_root and "in the project's root" or "in ./" .. format.one_line(approval.folder)
  add(folder .. (approval.is_edited and " · edited by you" or ""), is_root and "AgentHint" or "AgentWarning")
  if approval.activation then
    add(format.one_line(approval.activation), "AgentWarning")
  end
  return lines, groups
end

--- The question with its suggested answers.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
local function question_lines(approval)
  local lines = vim.split(approval.question, "\n")
  for number, option in ipairs(approval.options) do
    table.insert(lines, ("  %d  %s"):format(number, format.one_line(option)))
  end
  return lines, { "AgentTitle" }
end

--- The call, the reason for the question, and details.
---@param approval agent.Approval
---@param more? string
---@return string[] lines
---@return table<integer, string> groups
local function titled(approval, more)
  local lines = more and vim.split(more, "\n") or {}
  local title, reason = format.one_line(approval.title), format.one_line(approval.reason)
  return vim.list_extend({ title, reason }, lines), { "AgentTitle", "AgentWarning" }
end

--- Lines of the float that are the diff of a file.
---@class agent.ApprovalDiff
---@field path string
---@field first integer
---@field last integer

--- The files that would change, each as a diff.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
---@return nil marks
---@return agent.ApprovalDiff[] diffs
local function file_lines(approval)
  local lines, groups = titled(approval)
  local diffs = {}
  for _, file in ipairs(approval.files) do
    if #approval.files > 1 then
      table.insert(lines, ("── %s ──"):format(format.one_line(file.path)))
      groups[#lines] = "AgentHint"
    end
    local first = #lines + 1
    local text = vim.text.diff(file.before or "", file.after, { result_type = "unified", ctxlen = 3 })
    for _, line in ipairs(vim.split(text, "\n", { trimempty = true })) do
      if not line:find("^\\ No newline") then
        table.insert(lines, line)
        groups[#lines] = line:find("^%+") and "AgentDiffAdd"
          or line:find("^%-") and "AgentDiffDelete"
          or line:find("^@@") and "AgentHint"
          or nil
      end
    end
    table.insert(diffs, file.path and { path = file.path, first = first, last = #lines })
  end
  if approval.left_out > 0 then
    table.insert(lines, ("%d more, too large to show"):format(approval.left_out))
    groups[#lines] = "AgentWarning"
  end
  return lines, groups, nil, diffs
end

---@param approval agent.Approval
---@param own? string the key of this kind alone
---@return string[]
local function allow_keys(approval, own)
  local keys = { approval.scope == "stored" and "a approve" or "a once" }
  table.insert(keys, approval.kind ~= "other" and not approval.scope and "s session" or nil)
  vim.list_extend(keys, approval.suggestion and { "A always" } or {})
  return vim.list_extend(keys, { "r reject", "R with reason", own })
end

--- Returns the lines, the highlight group of each line, those of parts of it, and the diffs among the lines.
---@alias agent.ApprovalLines
---| fun(approval: agent.Approval): string[], table<integer, string>, table<integer, agent.Mark[]>?, agent.ApprovalDiff[]?

---@class agent.ApprovalKind
---@field title? string  of the window; default: "Approval"
---@field lines agent.ApprovalLines
---@field keys fun(approval: agent.Approval): string[]
---@field answer "allow"|"text"|"none"  possible answer besides a rejection
---@field files? fun(approval: agent.Approval, line: integer): agent.FileDiff[], integer?
---   the files to compare, and the one of this line
---@field toggle? fun(approval: agent.Approval, line: integer): string[]?  selects the row of the line, or returns a problem
---@field choice? fun(approval: agent.Approval): table?  further fields of an allowing answer; nil if nothing is selected

--- As in protocol/ui.ts.
---@type table<string, agent.ApprovalKind>
M.KINDS = {
  file = {
    answer = "allow",
    lines = file_lines,
    files = function(approval)
      return approval.files
    end,
    keys = function(approval)
      return allow_keys(approval, #approval.files > 0 and "d diff" or nil)
    end,
  },
  command = {
    answer = "allow",
    lines = command_lines,
    keys = function(approval)
      return allow_keys(approval, "e edit")
    end,
  },
  effects = {
    title = "Changes",
    answer = "allow",
    lines = effects.lines,
    keys = effects.keys,
    files = effects.files,
    toggle = effects.toggle,
    choice = effects.choice,
  },
  other = {
    answer = "allow",
    keys = function(approval)
      return allow_keys(approval)
    end,
    lines = function(approval)
      return titled(approval, approval.detail)
    end,
  },
  question = {
    title = "Question",
    answer = "text",
    lines = question_lines,
    keys = function(approval)
      local count = math.min(9, #approval.options)
      local choose = count > 0 and { ("1-%d choose"):format(count) } or {}
      return vim.list_extend(choose, { "a type an answer", "r no answer" })
    end,
  },
}

--- Unknown kinds show nothing, so they can only be rejected.
---@type agent.ApprovalKind
local UNKNOWN = {
  answer = "none",
  lines = function(approval)
    return titled(approval, "Unknown request. Reject it.")
  end,
  keys = function()
    return { "r reject", "R with reason" }
  end,
}

---@param approval agent.Approval
---@return agent.ApprovalKind
function M.kind(approval)
  return M.KINDS[approval.kind] or UNKNOWN
end

--- Opens the files that can be compared, the one at this line first.
---@param approval agent.Approval
---@param line integer of the float
function M.open_diff(approval, line)
  local kind = M.kind(approval)
  if not kind.files then
    return
  end
  local files, at = kind.files(approval, line)
  if #files == 0 then
    return say.info("no text to compare")
  end
  require("agent.approval.diff").open(files, at or 1)
end

return M
