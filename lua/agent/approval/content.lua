-- What an approval shows: its lines, its keys, its diff.
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
---@field left_out? integer    files whose diffs are too large to be shown
---@field command? string     what would be run
---@field folder? string      where, relative to the project
---@field access? string     what it may change: "look", "write", "git", each with or without "+network"
---@field severity? string   of the command
---@field is_edited? boolean  the command is the user's, not the model's
---@field edited? string      that text, exactly
---@field sent? string        a text that is being judged
---@field judging? boolean    until then nothing is answered
---@field question? string    the agent asks something instead
---@field options? string[]   answers to choose from
---@field suggestion? string  the rule that "always" would write

local diff = vim.text and vim.text.diff or vim.diff

--- The keys that this approval offers.
---@param approval agent.Approval
---@return string[]
function M.keys(approval)
  if approval.question then
    local count = math.min(9, #(approval.options or {}))
    local choose = count > 0 and { ("1-%d choose"):format(count) } or {}
    return vim.list_extend(choose, { "a type an answer", "r no answer" })
  end
  local parts = { "a once", "s session" }
  if approval.suggestion then
    table.insert(parts, "A always")
  end
  table.insert(parts, "r reject")
  table.insert(parts, "R with reason")
  table.insert(parts, approval.command and "e edit" or approval.after and "d diff" or nil)
  return parts
end

--- The supervisor has made one line of it; a float that cannot be drawn would be one that nobody can answer.
---@param text string
---@return string
local function one_line(text)
  return (text:gsub("%c", " "))
end

local LEVELS = {
  look = "look: changes nothing",
  write = "write: changes files of the project",
  git = "git: changes files and the repository",
}

--- What the command may change, in words; without an access nothing holds it.
---@param access? string
---@return string
local function held(access)
  local level = LEVELS[(access or ""):match("^%a+")]
  return level and level .. (M.has_network(access) and ", with the network" or ", no network")
    or "no sandbox: changes anything"
end

---@param access? string
---@return boolean
function M.has_network(access)
  return not access or access:find("+network", 1, true) ~= nil
end

--- The whole command, where it runs, and what it may change.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
local function command_content(approval)
  local lines, groups = { one_line(approval.reason) }, { "AgentWarning" }
  local is_root = approval.folder == "."
  local severity = approval.severity and (" · severity: %s"):format(approval.severity) or ""
  table.insert(lines, held(approval.access) .. severity)
  groups[2] = M.has_network(approval.access) and "AgentWarning" or "AgentHint"
  -- A folder can have any name, that of the root's row among them.
  local edited = approval.is_edited and " · edited by you" or ""
  table.insert(lines, (is_root and "in the project's root" or "in ./" .. one_line(approval.folder)) .. edited)
  groups[3] = is_root and "AgentHint" or "AgentWarning"
  for _, line in ipairs(vim.split(approval.command, "\n")) do
    table.insert(lines, "$ " .. line)
    groups[#lines] = "AgentTitle"
  end
  return lines, groups
end

--- The question, and the answers to choose from.
---@param approval agent.Approval
---@return string[] lines
---@return table<integer, string> groups
local function question_content(approval)
  local lines, groups = vim.split(approval.question, "\n"), { "AgentTitle" }
  for number, option in ipairs(approval.options or {}) do
    table.insert(lines, ("  %d  %s"):format(number, one_line(option)))
  end
  return lines, groups
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
function M.lines(approval)
  if approval.question then
    return question_content(approval)
  elseif approval.command then
    return command_content(approval)
  end
  local lines = { one_line(approval.title), one_line(approval.reason) }
  local groups = { "AgentTitle", "AgentWarning" }
  local changed = files(approval)
  for _, file in ipairs(changed) do
    if #changed > 1 then
      table.insert(lines, ("── %s ──"):format(one_line(file.path)))
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
  if approval.left_out then
    table.insert(lines, ("%d more, too large to show"):format(approval.left_out))
    groups[#lines] = "AgentWarning"
  end
  return lines, groups
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

---@param approval agent.Approval?
function M.open_diff(approval)
  for _, file in ipairs(approval and files(approval) or {}) do
    open_tab(file)
  end
end

return M
