-- Shows rules that would have given the user's repeated answers, each with a dry run, and adds the chosen ones.
local client = require("agent.client")
local format = require("agent.ui.format")
local page = require("agent.ui.page")
local say = require("agent.ui.say")

local M = {}

---@class agent.DryRun see DryRun in policy/proposals/propose.ts
---@field answered integer
---@field others integer
---@field examples { text: string, count: integer, note: string, danger?: string }[]
---@field conflict? string

---@class agent.RuleForm
---@field rules string[]
---@field project agent.DryRun
---@field all agent.DryRun

---@class agent.RuleProposal: agent.RuleForm
---@field verdict "allow"|"deny"
---@field answers integer
---@field wider? agent.RuleForm
---@field is_wide? boolean  the view shows the wider form

---@alias agent.ProposalAnswer { days: integer, proposals: agent.RuleProposal[] }

local namespace = vim.api.nvim_create_namespace("agent.rule_proposals")

local KEYS = { "a add", "A for all projects", "x never", "w wider" }

local VERBS = {
  allow = { user = "allowed", rule = "allowed" },
  deny = { user = "rejected", rule = "denied" },
}

local NOWHERE = "nowhere"
local PLACES = { project = "in this project", ["all projects"] = "in all projects" }

---@param proposal agent.RuleProposal
---@return agent.RuleForm
local function form_of(proposal)
  return proposal.is_wide and proposal.wider or proposal
end

---@param proposal agent.RuleProposal
---@return string
local function name_of(proposal)
  return table.concat(form_of(proposal).rules, ", ")
end

---@param run agent.DryRun
---@param verb { user: string, rule: string }
---@return string
local function summary(run, verb)
  local others = run.others == 0 and "nothing else" or format.plural(run.others, "other request")
  return ("%s that you %s, and %s"):format(format.plural(run.answered, "request"), verb.user, others)
end

---@param example { text: string, count: integer, note: string, danger?: string }
---@return table[] chunks
local function example_line(example)
  local times = example.count > 1 and (" ×%d"):format(example.count) or ""
  local chunks = { { "  - " }, { format.one_line(example.text) .. times } }
  if example.danger then
    table.insert(chunks, { "  ! " .. format.one_line(example.danger), "AgentWarning" })
  end
  if example.note ~= "" then
    table.insert(chunks, { ("  (%s)"):format(format.one_line(example.note)), "AgentHint" })
  end
  return chunks
end

---@param proposal agent.RuleProposal
---@param days integer
---@param add fun(text: string|table, group?: string)
local function add_block(proposal, days, add)
  local form, verb = form_of(proposal), VERBS[proposal.verdict]
  add(("%s %s"):format(proposal.verdict, format.one_line(name_of(proposal))), "AgentTitle")
  add(("  You %s it %s."):format(verb.user, format.plural(proposal.answers, "time")))
  add(("  In the last %d days it would have %s %s."):format(days, verb.rule, summary(form.project, verb)))
  for _, example in ipairs(form.project.examples) do
    add(example_line(example))
  end
  if form.all.conflict then
    local text = ("  Not for all projects: in another one it contradicts your answer to %s."):format(form.all.conflict)
    add(format.one_line(text), "AgentWarning")
  elseif form.all.answered + form.all.others > form.project.answered + form.project.others then
    add(("  In all projects: %s."):format(summary(form.all, verb)))
  end
  if proposal.wider then
    local other = proposal.is_wide and table.concat(proposal.rules, ", ") or table.concat(proposal.wider.rules, ", ")
    local word = proposal.is_wide and "Narrower" or "Wider"
    add(("  %s, with w: %s"):format(word, format.one_line(other)), "AgentHint")
  end
  add("")
end

--- The lines of the view, their highlights, and the proposal of each line.
---@param answer agent.ProposalAnswer
---@return string[] lines
---@return table<integer, table[]> spans by line, see ui/page.lua
---@return table<integer, agent.RuleProposal> proposals by line
function M.lines(answer)
  local lines, spans, add_line = page.lines()
  local at = {}
  if #answer.proposals == 0 then
    add_line("No more proposals.", "AgentHint")
    return lines, spans, at
  end
  add_line("These rules would have given your answers. Nothing is added unless you say so.", "AgentHint")
  add_line("")
  for _, proposal in ipairs(answer.proposals) do
    add_block(proposal, answer.days, function(text, group)
      add_line(text, group)
      at[#lines] = proposal
    end)
  end
  return lines, spans, at
end

---@param place table chat, session and project
---@param choice? { rules: string[], verdict: string, to: string }
---@param done fun(answer?: agent.ProposalAnswer)  nil if it failed; the user knows
local function ask(place, choice, done)
  client.ask(vim.tbl_extend("error", { type = "rule_proposals", choice = choice }, place), function(update, problem)
    problem = problem or update and update.error
    if problem then
      say.error(problem)
    end
    done(not problem and update and update.result or nil)
  end)
end

---@class agent.ProposalView
---@field buffer integer
---@field place table  the rules are for this project, even if the chat opens another one
---@field answer agent.ProposalAnswer
---@field at table<integer, agent.RuleProposal>
---@field is_busy boolean  a choice is on its way

---@param view agent.ProposalView
local function draw(view)
  local lines, spans, at = M.lines(view.answer)
  view.at = at
  vim.bo[view.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(view.buffer, 0, -1, false, lines)
  vim.bo[view.buffer].modifiable = false
  page.highlight(view.buffer, namespace, lines, spans)
end

--- Puts the cursor on the rule of a block, the last one if it is too far.
---@param view agent.ProposalView
---@param number integer from 1
local function go_to(view, number)
  local proposal = view.answer.proposals[math.min(number, #view.answer.proposals)]
  for line = 1, vim.api.nvim_buf_line_count(view.buffer) do
    if proposal and view.at[line] == proposal then
      for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
        vim.api.nvim_win_set_cursor(window, { line, 0 })
      end
      return
    end
  end
end

---@param view agent.ProposalView
---@return agent.RuleProposal?
---@return integer number
local function current(view)
  local proposal = view.at[vim.api.nvim_win_get_cursor(0)[1]]
  if not proposal then
    say.info("no proposal is on this line")
  end
  return proposal, vim.fn.index(view.answer.proposals, proposal) + 1
end

---@param verdict "allow"|"deny"
---@param name string
---@param to string
local function tell(verdict, name, to)
  if to == NOWHERE then
    return say.info(("not proposed again: %s; :Agent rules takes it back"):format(name))
  end
  say.info(("always %s %s: %s"):format(VERBS[verdict].rule, PLACES[to], name))
end

---@param view agent.ProposalView
---@param to "project"|"all projects"|"nowhere"
local function choose(view, to)
  local proposal, number = current(view)
  if not proposal or view.is_busy then
    return
  end
  local form, name = form_of(proposal), name_of(proposal)
  if to == "all projects" and form.all.conflict then
    local reason = "in another one it contradicts your answer to " .. format.one_line(form.all.conflict)
    return say.warn(("cannot add it for all projects: %s. Press a to add it for this one."):format(reason))
  end
  view.is_busy = true
  ask(view.place, { rules = form.rules, verdict = proposal.verdict, to = to }, function(answer)
    view.is_busy = false
    if not answer then
      return
    end
    tell(proposal.verdict, name, to)
    if vim.api.nvim_buf_is_valid(view.buffer) then
      view.answer = answer
      draw(view)
      go_to(view, number)
    end
  end)
end

---@param view agent.ProposalView
local function widen(view)
  local proposal, number = current(view)
  if not proposal then
    return
  elseif not proposal.wider then
    return say.info("this proposal has no wider rule")
  end
  proposal.is_wide = not proposal.is_wide
  draw(view)
  go_to(view, number)
end

---@param place table
---@param answer agent.ProposalAnswer
local function show(place, answer)
  require("agent.ui.highlights").define()
  local buffer = page.open({}, "the proposals", KEYS)
  local view = { buffer = buffer, place = place, answer = answer, at = {}, is_busy = false }
  local function key(lhs, doc, run)
    vim.keymap.set("n", lhs, run, { buffer = view.buffer, nowait = true, desc = "Agent: " .. doc })
  end
  key("a", "add this rule for the project", function()
    choose(view, "project")
  end)
  key("A", "add this rule for all projects", function()
    choose(view, "all projects")
  end)
  key("x", "do not propose this rule again", function()
    choose(view, NOWHERE)
  end)
  key("w", "show the wider rule, or the narrower one again", function()
    widen(view)
  end)
  draw(view)
  go_to(view, 1)
end

---@param chat agent.Chat
function M.open(chat)
  local place = vim.tbl_extend("error", { chat = chat.id, session = chat.timeline.session }, chat:place())
  ask(place, nil, function(answer)
    if not answer then
      return
    elseif #answer.proposals == 0 then
      return say.info("no proposals: a rule needs three equal answers that no other answer contradicts")
    end
    show(place, answer)
  end)
end

return M
