-- Lists the skills, to read, approve or open one, or to switch it off.
local client = require("agent.client")
local format = require("agent.ui.format")
local say = require("agent.ui.say")

local M = {}

---@class agent.Skill see ShownSkill in protocol/results/skills.ts
---@field name string
---@field label string
---@field path string
---@field state "on"|"off"|"new"|"changed"|"replaced"
---@field listed integer
---@field whole integer
---@field text string
---@field hidden boolean

local STATES = {
  on = "on",
  off = "off",
  new = "needs your approval",
  changed = "has changed: needs your approval",
  replaced = "replaced by another of this name",
}

---@param chat agent.Chat
---@param change? { label: string, to: "approve"|"on"|"off" }
---@param show fun(skills: agent.Skill[], problems: string[])
local function ask(chat, change, show)
  local action = { type = "skills", chat = chat.id, session = chat.timeline.session, change = change }
  client.ask(vim.tbl_extend("error", action, chat:place()), function(update, problem)
    if not update then
      return say.error(problem)
    end
    show(update.skills, update.problems)
  end)
end

---@param skill agent.Skill
---@return string
local function price(skill)
  return ("%s tokens, %s to read"):format(format.count(skill.listed), format.count(skill.whole))
end

---@param skill agent.Skill|string a problem
---@return string
local function label(skill)
  if type(skill) == "string" then
    return skill
  end
  return table.concat({ skill.name, STATES[skill.state], price(skill), skill.label }, " · ")
end

---@param skill agent.Skill
local function read(skill)
  local lines = { "# " .. label(skill), "" }
  if skill.hidden then
    vim.list_extend(lines, { ("/%s calls the prompt of this name."):format(skill.name), "" })
  end
  vim.list_extend(lines, vim.split(skill.text, "\n"))
  require("agent.ui.page").open(lines, "the skill")
end

---@class agent.SkillChoice
---@field text string
---@field to? "approve"|"on"|"off"
---@field run? fun(skill: agent.Skill)

---@param skill agent.Skill
---@return agent.SkillChoice[]
local function choices(skill)
  local list = { { text = "Read it", run = read } } ---@type agent.SkillChoice[]
  if skill.state == "new" or skill.state == "changed" then
    table.insert(list, 1, { text = "Approve it: shows its text first", to = "approve" })
  end
  local is_off = skill.state == "off"
  table.insert(list, { text = is_off and "Switch it on" or "Switch it off", to = is_off and "on" or "off" })
  table.insert(list, {
    text = "Open its file",
    run = function(one)
      vim.cmd.split({ args = { vim.fn.fnameescape(one.path) } })
    end,
  })
  return list
end

--- Lists them; the chosen one is read or changed.
---@param chat agent.Chat
function M.choose(chat)
  ask(chat, nil, function(skills, problems)
    -- A menu covers messages, so that the problems are rows of it.
    local rows = vim.list_extend(skills, problems)
    if #rows == 0 then
      return say.info("this project has no skills, and neither have you; see :help agent-skills")
    end
    vim.ui.select(rows, { prompt = "Skills", format_item = label }, function(skill)
      if not skill then
        return
      elseif type(skill) == "string" then
        return say.warn(skill)
      end
      local options = {
        prompt = label(skill),
        format_item = function(choice)
          return choice.text
        end,
      }
      vim.ui.select(choices(skill), options, function(choice)
        if not choice then
          return
        elseif choice.run then
          return choice.run(skill)
        end
        ask(chat, { label = skill.label, to = choice.to }, function(now)
          local changed = vim.iter(now):find(function(one)
            return one.label == skill.label
          end)
          say.info(changed and label(changed) or skill.label .. " is gone")
        end)
      end)
    end)
  end)
end

return M
