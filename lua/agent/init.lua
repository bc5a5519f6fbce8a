-- The public API: each function is something that a user may do, see actions.lua.
local say = require("agent.ui.say")

local too_old = require("agent.too_old")
if too_old.problem() then
  return too_old.api()
end

local M = {}

--- Loads what listens to the supervisor, once.
---@return table chats
local function ready()
  require("agent.config").tell(say.error)
  require("agent.events").say = say.warn
  require("agent.editor")
  require("agent.in_place.fix")
  local chats = require("agent.chat")
  local class = require("agent.chat.chat")
  class.on_tab = require("agent.approval").focus
  class.on_typed = require("agent.approval").use_typed
  class.on_typing = require("agent.approval.window").refit
  require("agent.approval.typed").chat_of = chats.get
  class.on_done = function(chat)
    require("agent.review.findings").take(chat)
    require("agent.menus.modes").offer_start(chat)
  end
  require("agent.approval").beside(chats.make_room)
  require("agent.review").connect(function(id)
    local asked = id and chats.get(id) or chats.get()
    local place = asked:place()
    return {
      id = asked.id,
      place = function()
        return place
      end,
    }
  end)
  return chats
end

--- First of all, for the processes take longer than all that is drawn.
local function start()
  require("agent.client").start(require("agent.projects").place())
end

--- Sets options; see |agent-options|. Not needed for the defaults.
---@param options? table
function M.setup(options)
  vim.validate("options", options, "table", true)
  local config = require("agent.config")
  config.set(options)
  config.tell(say.error)
end

--- Opens a chat and goes to its input.
---@param chat agent.Chat
---@param extra? { context?: string|agent.Given }
local function show(chat, extra)
  chat:open()
  local context = extra and extra.context
  if type(context) == "string" then
    chat.input:add(context .. "\n")
  elseif context then
    chat:select(context)
  end
  -- Behind what stands there.
  vim.cmd("startinsert!")
end

--- Opens the chat and goes to its input.
---@param _? string
---@param extra? { context?: string|agent.Given }
function M.open(_, extra)
  start()
  show(ready().get(), extra)
end

--- Opens the chat, or hides it; a turn goes on. With a context it opens.
---@param _? string
---@param extra? { context?: string|agent.Given }
function M.toggle(_, extra)
  local chat = ready().get()
  if chat:is_visible() and not (extra and extra.context) then
    chat:hide()
  else
    M.open(nil, extra)
  end
end

--- Begins a new chat. The old one goes on in the background.
---@param where? string  "--worktree", and perhaps a name: in a worktree of the project, in a tab page of its own
---@param extra? { context?: string|agent.Given }
function M.new(where, extra)
  local name = where and where:match("^%-%-worktree%s*(.*)$")
  if name then
    start()
    return require("agent.worktrees").new(ready(), name, show)
  end
  start()
  show(ready().new(), extra)
end

--- Goes to a worktree of the project, merges what differs in it into the project, or removes it.
---@param what? string  nil chooses one to go to; "merge" or "remove", alone or with a name
function M.worktree(what)
  vim.validate("what", what, "string", true)
  start()
  local verb, name = (what or ""):match("^(%S+)%s*(.*)$")
  local worktrees = require("agent.worktrees")
  if not verb then
    return worktrees.choose(ready(), show)
  elseif verb ~= "merge" and verb ~= "remove" then
    return say.error('worktree takes nothing, or "merge" or "remove" and perhaps a name')
  end
  worktrees[verb](ready(), name)
end

--- Lists the chats of this Neovim; the chosen one is opened.
function M.chats()
  local chats = ready()
  vim.ui.select(chats.list(), {
    prompt = "Chats",
    format_item = function(chat)
      return chat:label()
    end,
  }, function(chat)
    if chat then
      require("agent.worktrees").go(chat.timeline.root)
      chats.switch(chat)
      -- Later: Neovim waits three seconds before it begins to insert while the list is on the screen.
      vim.schedule(function()
        show(chat)
      end)
    end
  end)
end

--- Lists the stored sessions of this project and of all; with words finds what was said in this project's, and with
--- `bang` fills the quickfix list with it.
---@param words? string
---@param extra? { bang?: boolean }
function M.sessions(words, extra)
  vim.validate("words", words, "string", true)
  local sessions = require("agent.sessions")
  if not words or vim.trim(words) == "" then
    return sessions.list(ready())
  end
  sessions.search(ready(), words, extra ~= nil and extra.bang == true)
end

--- Opens the newest session of the project, or the newest one with this word in its title.
---@param word? string
function M.resume(word)
  vim.validate("word", word, "string", true)
  require("agent.sessions").resume(ready(), word)
end

--- Goes on with a copy of the session; at a message of yours in the transcript from before it, to say it anew.
function M.fork()
  require("agent.sessions").fork(ready())
end

--- Gives the session another title, or asks for it.
---@param title? string
function M.rename(title)
  vim.validate("title", title, "string", true)
  require("agent.sessions").rename(ready(), title)
end

--- Makes room in the model's window: what is old is folded; "undo" takes the last fold back.
---@param focus? string what a summary is to keep
function M.compact(focus)
  vim.validate("focus", focus, "string", true)
  require("agent.sessions").compact(ready(), focus)
end

--- Writes a line into the project's rules for agents, after an approval; with `bang` into yours for all projects.
---@param text? string
---@param extra? { bang?: boolean }
function M.remember(text, extra)
  vim.validate("text", text, "string", true)
  text = vim.trim((text or ""):gsub("%s+", " "))
  local rest = text:match("^%-%-global%s+(.*)$")
  if (rest or text) == "" or text == "--global" then
    return say.error("nothing to remember: say what")
  end
  start()
  local chat = ready().get()
  chat:open()
  if rest or extra and extra.bang then
    local action = { type = "remember", chat = chat.id, text = rest or text, session = chat.timeline.session }
    return require("agent.client").send(vim.tbl_extend("error", action, chat:place()))
  end
  chat:send("Remember: " .. text, text)
end

--- Archives the session, or brings it back from there.
function M.archive()
  require("agent.sessions").archive(ready())
end

--- Deletes the session, after a question.
function M.delete()
  require("agent.sessions").delete(ready())
end

--- Writes the session to a file, as JSON or a recording if the name ends so, else as markdown; without a file into
--- a new buffer.
---@param file? string
---@param extra? { bang?: boolean } to overwrite
function M.export(file, extra)
  vim.validate("file", file, "string", true)
  require("agent.sessions").export(ready(), file, extra ~= nil and extra.bang == true)
end

--- Stops the turn of the current chat at once; at lines that are edited in place, that, and all of those if no turn runs.
function M.stop()
  local chat = ready().get()
  local in_place = require("agent.in_place")
  if in_place.stop() then
    return
  elseif chat:phase() == "ready" then
    in_place.stop_all()
  end
  chat:stop()
end

--- Sends the text, or what stands in the input; opens the chat unless told not to.
---@param text? string
---@param extra? { context?: string|agent.Given, open?: boolean, steer?: boolean } steer: into the turn that runs
function M.send(text, extra)
  vim.validate("text", text, "string", true)
  if text then
    start()
  end
  local chat = ready().get()
  local context = extra and extra.context
  if not text and not context then
    return chat:submit()
  end
  text = text or chat.input:take()
  if not text then
    return M.open(nil, extra)
  end
  if type(context) == "string" then
    text = text .. "\n\n" .. context
  elseif context then
    chat:select(context)
  end
  if not (extra and extra.open == false) then
    chat:open()
  end
  if extra and extra.steer then
    return chat:steer(text)
  end
  chat:send(text)
end

--- Lists the messages that wait; the chosen one comes back into the input.
function M.queue()
  ready().get():choose_waiting()
end

--- The turn stands still before its next step; again, and it goes on.
function M.pause()
  ready().get():pause()
end

--- Puts the image that is in the clipboard into the message, as a word that stands for it.
function M.paste()
  local chat = ready().get()
  require("agent.context.paste").image(function(base64)
    chat:open()
    chat.input:insert(require("agent.context.given").keep_image(base64) .. " ")
  end)
end

local function nothing_waits()
  say.info("nothing is waiting for an answer")
end

--- Goes to the approval that waits.
function M.approval()
  ready()
  if not require("agent.approval").focus() then
    nothing_waits()
  end
end

--- Allows what waits: once, with "session" for this session, with "always" by a rule that you may edit.
---@param scope? "session"|"always"
function M.approve(scope)
  ready()
  if scope and scope ~= "session" and scope ~= "always" then
    return say.error('approve takes nothing, "session" or "always"')
  end
  if not require("agent.approval").approve(scope) then
    nothing_waits()
  end
end

--- Rejects what waits; the agent is told the reason.
---@param reason? string
function M.reject(reason)
  ready()
  if require("agent.approval").count() == 0 then
    return nothing_waits()
  end
  require("agent.approval").reject(reason)
end

--- Takes back what the newest turn has done to files, or the turn with this number.
---@param turn? string|integer
function M.undo(turn)
  require("agent.checkpoints").undo(ready().get(), tonumber(turn))
end

--- Does again what was taken back last.
function M.redo()
  require("agent.checkpoints").redo(ready().get())
end

--- Lists the turns that have changed files; after a preview all files become what they were before the chosen one.
---@param turn? string|integer
function M.restore(turn)
  require("agent.checkpoints").restore(ready().get(), tonumber(turn))
end

--- Lists the files that the session has changed, in the quickfix list.
function M.changes()
  require("agent.checkpoints").changes(ready().get())
end

--- Lists the rules in force; choosing one removes it.
function M.rules()
  require("agent.answers").rules(ready().get())
end

--- Lists the tools of this session; choosing one switches it on or off.
---@param _? string
---@param extra? { toggle?: string }
function M.tools(_, extra)
  require("agent.answers").tools(ready().get(), extra and extra.toggle)
end

--- Lists the sub-agents of the session; the chosen one is opened, or stopped.
function M.agents()
  require("agent.menus.agents").choose(ready().get())
end

--- Lists the commands that run in the background; the output of the chosen one is shown, or it is stopped.
function M.jobs()
  require("agent.menus.jobs").choose(ready().get())
end

--- Chooses the mode of the next message and all after it, or asks for one.
---@param name? string
function M.mode(name)
  vim.validate("name", name, "string", true)
  require("agent.menus.modes").choose(ready().get(), name)
end

--- Chooses how much the model thinks before it answers, from the next message on, or asks for it.
---@param level? string
function M.effort(level)
  vim.validate("level", level, "string", true)
  require("agent.menus.effort").choose(ready().get(), level)
end

--- Chooses the model of the next request and all after it, or asks for one; "default" leaves it to the options.
---@param name? string
function M.model(name)
  vim.validate("name", name, "string", true)
  require("agent.menus.models").choose(ready().get(), name)
end

--- Goes on with another provider, or asks for one; "default" is the one of the options.
---@param words? string  a name, and perhaps a model of it
function M.provider(words)
  vim.validate("words", words, "string", true)
  require("agent.menus.models").choose_provider(ready().get(), words)
end

--- Hands the plan of the session to mode agent.
function M.start()
  require("agent.menus.modes").start(ready().get())
end

--- Shows every approval of this project, with the rule that gave it, newest last.
function M.log()
  require("agent.answers").log(ready().get())
end

--- Shows tokens, time and money of this session's turns, and of sessions, days and models.
function M.usage()
  require("agent.answers").usage(ready().get())
end

--- Shows what the next request would send, part by part.
function M.context()
  require("agent.answers").context(ready().get())
end

--- Lists what the agent has changed and you have not looked at yet, in the quickfix list; or does one of the
--- things that the keys in buffers with hunks do.
---@param what? string  one of the words of its row in actions.lua
---@param extra? { context?: agent.Given, bang?: boolean } lines that a comment is on; comments steer the turn
function M.review(what, extra)
  vim.validate("what", what, "string", true)
  local chats = ready()
  local verb, scope = (what or ""):match("^(%l+)%s*(%l*)$")
  if not verb then
    local chat = chats.get()
    chat:step_aside()
    return require("agent.review").list()
  end
  local review = require("agent.review")
  if what == "send" then
    return require("agent.review.comments").send(chats.get(), extra and extra.bang)
  end
  local given = extra and extra.context
  local range = given and given.first and given or nil
  if not review.run((scope == "" or scope == "hunk") and verb or verb .. "_" .. scope, range) then
    say.error(("unknown review action: %s"):format(what))
  end
end

--- Keeps the hunk at the cursor, those of the file, or all.
---@param scope? "hunk"|"file"|"all"
function M.keep(scope)
  M.review("keep " .. (scope or "hunk"))
end

--- Opens the chat at the turn that wrote the line at the cursor.
function M.why()
  local chats = ready()
  require("agent.review.why").ask(function(found)
    require("agent.sessions").go_to(chats, found)
  end)
end

--- Logs in at a provider, with a code that is typed on a page of its.
---@param provider? "copilot"
function M.login(provider)
  vim.validate("provider", provider, "string", true)
  require("agent.menus.login").login(ready().get(), provider or "copilot")
end

--- Forgets the login.
---@param provider? "copilot"
function M.logout(provider)
  vim.validate("provider", provider, "string", true)
  require("agent.menus.login").logout(ready().get(), provider or "copilot")
end

--- Teaches the plugin in seven lessons; "next" goes on to the next one, "quit" ends it.
---@param word? "next"|"quit"
function M.tutor(word)
  vim.validate("word", word, "string", true)
  require("agent.tutor").run(word, {
    chats = ready(),
    waiting = require("agent.approval").count,
    swap_history = require("agent.chat.input").swap,
    review_keys = require("agent.review.keys").wanted,
    hunks = function(buffer)
      local it = require("agent.review.track").get(buffer)
      return it and #it.hunks or 0
    end,
  })
end

function M.health()
  vim.cmd.checkhealth("agent")
end

for name, run in pairs(require("agent.short_ways")(ready, start)) do
  M[name] = run
end

require("agent.refusals")(M)

--- One line for a statusline: model, tokens, state; empty before the first use.
---@return string
function M.status()
  local chats = package.loaded["agent.chat"]
  local chat = chats and chats.current()
  if not chat then
    return ""
  end
  require("agent.chat.draw.pulse").watch()
  return chat:status()
end

return M
