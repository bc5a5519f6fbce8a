-- What the help says of the Lua part, from the tables that the code runs by. Read by docs.ts.
--
-- entries: of each group a regular expression of its tags, and each one's tag, heading and first paragraph (`doc`).
-- tables: the tag that stands before each, its head and its rows; `tags`: each row has a tag of its own.
-- maps: the <Plug> maps, for plugin/agent.lua.
local schema = require("agent.config.schema")
local actions = require("agent.actions")

--- A longer default stands in a code block of the entry.
local LONGEST_DEFAULT = 40

--- The first version of the plugin: what it has needs no word about its age.
local FIRST = "0.1.0"

local function option(it)
  local default = vim.inspect(it.default):gsub("vim.empty_dict%(%)", "{}")
  local told = #default > LONGEST_DEFAULT and "below" or default
  local choices = it.one_of and " One of " .. table.concat(vim.tbl_map(vim.json.encode, it.one_of), ", ") or ""
  choices = choices .. (it.one_of and it.max and (", or a number from %g to %g"):format(it.min, it.max) or "")
  choices = choices .. (it.one_of and "." or "")
  local since = it.since ~= FIRST and (" Since version %s."):format(it.since) or ""
  local name = it.name:gsub("%.%*", "[name]")
  return {
    tag = "agent-option-" .. it.name:gsub("%.%*", ""),
    heading = ("%-28s %s; default: %s"):format(name, it.type:gsub("|", " or "), told),
    doc = it.doc .. choices .. since,
  }
end

--- A sub-command as it is listed.
local function listed(it)
  return vim.trim(("%s %s"):format(it.group or "", it.name))
end

local function action(it)
  return {
    tag = ":Agent-" .. it.name,
    heading = (":Agent %s %s"):format(listed(it), it.args or ""):gsub(" $", ""),
    doc = it.doc,
  }
end

--- A function of the public API, with the names of its parameters; an unused one is nil.
local function api(name)
  local row = actions.by_name(name)
  local run = row and row.run or require("agent")[name]
  local parameters = {}
  -- The first parameter of an action are the chats.
  for at = row and 2 or 1, debug.getinfo(run, "u").nparams do
    local parameter = debug.getlocal(run, at)
    table.insert(parameters, parameter == "_" and "nil" or ("[{%s}]"):format(parameter))
  end
  return { tag = ("agent.%s()"):format(name), heading = ("%s(%s)"):format(name, table.concat(parameters, ", ")) }
end

local function event(it)
  return { tag = it[1], heading = it[1], doc = it[2] }
end

local shown_actions = vim.tbl_filter(function(it)
  return not it.unlisted
end, actions.all)
local arguments, shown, plugs, further, maps = {}, {}, {}, {}, {}
for _, it in ipairs(actions.all) do
  local shape = it.takes and require("agent.arguments").shapes[it.takes].doc
  if shape and not shown[it.args .. shape] then
    shown[it.args .. shape] = true
    table.insert(arguments, { it.args, shape })
  end
  if it.plug then
    table.insert(plugs, { ("<Plug>(%s)"):format(it.plug), ("|:Agent-%s|"):format(it.name) })
    local keys = ("v:lua.require'agent.command'.keys('%s')"):format(listed(it))
    table.insert(maps, ("noremap <expr> <silent> <Plug>(%s) %s"):format(it.plug, keys))
  end
  for _, plug in ipairs(it.plugs or {}) do
    local command = ("Agent %s %s"):format(it.name, plug[2])
    table.insert(further, { ("<Plug>(%s)"):format(plug[1]), ("`:%s`"):format(command) })
    table.insert(maps, ("nnoremap <Plug>(%s) <Cmd>%s<CR>"):format(plug[1], command))
  end
end
local functions = { "setup", "status" }
for _, row in ipairs(actions.all) do
  table.insert(functions, row.name)
end
table.sort(functions)

local function chat_key(it)
  return { it.keys, table.concat(vim.split(it.modes, ""), " "), it.where, it.doc }
end

local function approval_key(it)
  return { it.name or table.concat(vim.iter({ it.keys }):flatten():totable(), ", "), it.doc }
end

local function review_key(it)
  return { schema.default("review.keys")[it.name], it.name, it.doc }
end

local function list_key(it)
  return { it[1], it.doc }
end

local function highlight_group(it)
  return { it[1], it[2] or "none", it[3] }
end

local keymaps, list = require("agent.chat.keymaps"), require("agent.sessions.list")

return {
  entries = {
    { like = "^agent-option-", of = vim.tbl_map(option, schema.get().options) },
    { like = "^:Agent-(?!range$)", of = vim.tbl_map(action, shown_actions) },
    { like = [[^agent\.\w+\(\)$]], of = vim.tbl_map(api, functions) },
    { like = "^Agent[A-Z]", of = vim.tbl_map(event, require("agent.events").names) },
  },
  tables = {
    { tag = "agent-arguments", head = { "argument", "looks like" }, rows = arguments },
    { tag = "agent-plug", head = { "map", "sub-command" }, rows = plugs },
    { tag = "agent-review-plug", head = { "map", "command" }, rows = further },
    {
      tag = "agent-chat-keys",
      head = { "key", "modes", "where", "what it does" },
      rows = vim.tbl_map(chat_key, keymaps.keys),
    },
    {
      tag = "agent-approval-keys",
      head = { "key", "what it does" },
      rows = vim.tbl_map(approval_key, require("agent.approval.keys").keys),
    },
    {
      tag = "agent-review-keys",
      head = { "key", "name", "what it does" },
      rows = vim.tbl_map(review_key, require("agent.review.keys").actions),
    },
    { tag = "agent-sessions-list", head = { "key", "does" }, rows = vim.tbl_map(list_key, list.keys) },
    {
      tag = "agent-highlights",
      head = { "group", "links to", "used for" },
      rows = vim.tbl_map(highlight_group, require("agent.ui.highlights").groups),
      tags = "hl-",
    },
  },
  maps = maps,
}
