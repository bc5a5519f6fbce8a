-- The actions of the user: the rows of all rooms. Each is a sub-command of :Agent and a function of require("agent").
-- `deno task docs` makes the <Plug> maps and the help from these rows.

---@class agent.ActionOptions
---@field context? string|agent.Attachment  lines for the message
---@field bang? boolean
---@field range? { first: integer, last: integer }
---@field open? boolean     false leaves the chat hidden
---@field steer? boolean    sends the text into the running turn
---@field typed? boolean    the user has typed the argument here
---@field toggle? string    name of a tool

---@class agent.Action
---@field name string      sub-command of :Agent and function in require("agent")
---@field group? string    word before the name; the name alone works too, unlisted
---@field unlisted? boolean  another sub-command does the same
---@field plug? string     name of the <Plug> map
---@field args? string     arguments of the sub-command, as the help shows them
---@field words? string[]   all that its arguments can be
---@field takes? string     their form, see arguments.lua; other text is mostly a message that begins with the name
---@field is_strict? boolean  a single wrong word is refused; otherwise only a near miss of an argument
---@field plugs? { [1]: string, [2]: string }[]  further <Plug> maps, each with its argument
---@field answers? boolean  its text is an argument only while an approval is pending
---@field ranged? boolean   its text is an argument only with a range and without "!"
---@field doc string
---@field starts? "always"|"with_text"  starts the processes before it runs; or only with an argument
---@field run fun(chats: agent.Chats, argument?: string, options: agent.ActionOptions)

local M = {}

---@type agent.Action[]
local own = {
  {
    name = "tutor",
    args = "[next|quit]",
    words = { "next", "quit" },
    is_strict = true,
    doc = "Learn the plugin in seven short lessons, with a scratch project and a scripted model.",
    run = function(chats, word)
      require("agent.tutor").run(word, {
        chats = chats,
        waiting = require("agent.approval").count,
        swap_history = require("agent.chat.input").swap,
        review_keys = require("agent.review.keys").wanted,
        hunks = require("agent.review.track").count,
      })
    end,
  },
  {
    name = "config",
    args = "[export]",
    words = { "export" },
    is_strict = true,
    doc = "Write your options for programs that work without Neovim, see |agent-run|.",
    run = function(_, _, options)
      require("agent.menus.export_config")(options.bang == true)
    end,
  },
  {
    name = "health",
    doc = "Run :checkhealth agent.",
    run = function()
      vim.cmd.checkhealth("agent")
    end,
  },
}

---@type agent.Action[]
M.all = vim
  .iter({
    require("agent.chat.actions"),
    require("agent.sessions.actions"),
    require("agent.menus.actions"),
    require("agent.in_place.actions"),
    require("agent.approval.actions"),
    require("agent.checkpoints.actions"),
    require("agent.review.actions"),
    own,
  })
  :flatten(1)
  :totable()

---@param name string
---@return agent.Action?
function M.by_name(name)
  return vim.iter(M.all):find(function(row)
    return row.name == name
  end)
end

--- The sub-command that these words begin with, and the words after it.
---@param words string
---@return agent.Action?
---@return string rest
function M.read(words)
  local first, rest = words:match("^(%S+)%s*(.*)$")
  for _, row in ipairs(M.all) do
    local name, after = first, rest
    if row.group and row.group == first then
      name, after = rest:match("^(%S*)%s*(.*)$")
    end
    if row.name == name then
      return row, after
    end
  end
  return nil, ""
end

--- Letters of the shortest word or name that is a near miss, and of a name with two wrong letters: shorter ones
--- resemble words of messages.
local NEAR, TWO_WRONG = 5, 8

--- The name that a misspelt word means; nil if there is none.
---@param word string
---@return string?
function M.near(word)
  local best, least = nil, math.huge
  for _, row in ipairs(word:find("^%a+$") and M.all or {}) do
    local name = row.name
    local most = #name < TWO_WRONG and 1 or 2
    local is_near = math.max(#word, #name) >= NEAR and math.abs(#word - #name) <= most
    local wrong = is_near and require("agent.config.distance")(word:lower(), name) or math.huge
    if wrong < least and wrong <= most then
      best, least = name, wrong
    end
  end
  return best
end

--- The names that completion offers: of all sub-commands, or of those in a group.
---@param group? string
---@return string[]
function M.listed(group)
  local names = {}
  for _, row in ipairs(M.all) do
    local name = row.group == group and row.name or not group and row.group
    if name and not row.unlisted and not vim.list_contains(names, name) then
      table.insert(names, name)
    end
  end
  return names
end

return M
