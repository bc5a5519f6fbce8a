-- `:Agent tutor`: lessons in a tab page, with a scratch project, a scripted model and a supervisor of their own. Ending the
-- tutor removes all of it. The caller passes the views, which this room cannot require.
local client = require("agent.client")
local config = require("agent.config")
local lessons = require("agent.tutor.lessons")
local page = require("agent.tutor.page")
local projects = require("agent.tutor.project")
local models = require("agent.tutor.model")
local say = require("agent.ui.say")
local traces = require("agent.tutor.traces")

local M = {}

---@class agent.TutorViews
---@field chats table
---@field waiting fun(): integer            approvals
---@field review_keys fun(): table<string, string>
---@field hunks fun(buffer: integer): integer
---@field swap_history fun(messages: string[]): string[]

---@class agent.Tutor
---@field views agent.TutorViews
---@field project agent.TutorProject
---@field model agent.TutorModel
---@field own? table        its host's configuration
---@field tab? integer       the tab page with the lessons
---@field tabs table<integer, "lessons"|"other">  that one, and tab pages opened from it
---@field page? agent.TutorPage
---@field text? string     text on the page
---@field prepared? boolean  the model has the lesson's script
---@field lesson integer    number; past the last one at the end
---@field seen agent.TutorSeen
---@field talk? agent.Chat  chat of the lesson's turns
---@field is_here boolean   one of its tab pages is current
---@field host? agent.Host  the inactive one: the user's if is_here, else the tutor's
---@field before agent.TutorBefore
---@field history string[]  the inactive message history, like `host`

---@type agent.Tutor?
local tutor

local group = vim.api.nvim_create_augroup("agent.tutor", {})

--- The file in the lessons.
local FILE = "greet.lua"

local ENDED = "The tutor has ended."

--- Options while one of its tab pages is current: its project, its host's visible options, and a layout that does not hide
--- the lesson.
---@return table<string, any>
local function options()
  local layout = config.get().ui.layout
  local hides = layout == "tab" or layout == "current"
  local own = { provider = tutor.own.provider, model = tutor.own.model, mode = tutor.own.mode }
  return vim.tbl_extend("error", own, { ui = { layout = hides and "float" or layout }, root = tutor.project.root })
end

--- From now on commands use the tutor's host and project.
local function enter()
  if not tutor.is_here then
    tutor.is_here, tutor.host = true, client.use(tutor.host)
    tutor.history = tutor.views.swap_history(tutor.history)
    config.lay_over(options())
  end
end

local function leave()
  if tutor.is_here then
    tutor.is_here, tutor.host = false, client.use(tutor.host)
    tutor.history = tutor.views.swap_history(tutor.history)
    config.lay_over({})
  end
end

--- The tutor's chats.
---@return agent.Chat[]
local function own_chats()
  local ids = tutor.own and client.chats_with(tutor.own) or {}
  return vim.tbl_filter(function(chat)
    return ids[chat.id] ~= nil or chat.timeline.root == tutor.project.root
  end, tutor.views.chats.list())
end

--- Buffers of the scratch project, and the page's buffer.
---@return table<integer, true>
local function own_buffers()
  local own = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    own[buffer] = projects.has(tutor.project, vim.api.nvim_buf_get_name(buffer)) or nil
  end
  if tutor.page then
    own[tutor.page.buffer] = true
  end
  return own
end

---@param name string
---@return string
local function path(name)
  return vim.fs.joinpath(tutor.project.root, name)
end

---@return agent.TutorSeen
local function nothing_seen()
  return {
    turns = 0,
    running = false,
    waiting = 0,
    answered = 0,
    steered = false,
    left = false,
    hunks = function(name)
      local buffer = vim.fn.bufnr("^" .. vim.fn.fnameescape(path(name)) .. "$")
      return buffer > 0 and tutor.views.hunks(buffer) or 0
    end,
    read = function(name)
      return projects.read(tutor.project, name)
    end,
  }
end

--- The first unfinished step; nil at the end of the lesson.
---@return agent.LessonStep?
local function step()
  local lesson = lessons.list[tutor.lesson]
  return vim.iter(lesson and lesson.steps or {}):find(function(one)
    return not one.done(tutor.seen)
  end)
end

--- Shows the file below the lesson.
local function show_file()
  local file = vim.fn.bufadd(path(FILE))
  local windows = vim.api.nvim_tabpage_list_wins(tutor.tab)
  local is_visible = vim.iter(windows):any(function(window)
    return vim.api.nvim_win_get_buf(window) == file
  end)
  if not is_visible then
    local window = vim.api.nvim_open_win(file, false, { split = "below", win = tutor.page.window })
    vim.bo[file].buflisted = true
    vim.wo[window].winfixheight = false
  end
end

--- Shows the current step on the page.
local function show()
  local lesson = lessons.list[tutor.lesson]
  local now = step()
  local title = lesson and ("Lesson %d of %d: %s"):format(tutor.lesson, #lessons.list, lesson.title) or "The end"
  local keys = tutor.views.review_keys()
  local text = (now and now.text or lessons.ending):gsub("{(%l+)}", function(name)
    return keys[name] or ":Agent review " .. name
  end)
  local is_late = lesson ~= nil and not tutor.prepared
  if is_late or tutor.text == title .. text or not tutor.page:is_open() then
    return
  end
  tutor.text = title .. text
  tutor.page:show(title, { text = text, note = now and now.note })
  tutor.views.chats.fit()
  if not lesson and vim.api.nvim_get_current_tabpage() == tutor.tab then
    -- To the page, after keys that are fed already, such as those that start Insert mode in a chat.
    vim.api.nvim_feedkeys(vim.keycode(("<C-\\><C-n><Cmd>call win_gotoid(%d)<CR>"):format(tutor.page.window)), "n", false)
  end
end

---@param number integer
local function begin(number)
  tutor.lesson = number
  tutor.seen = nothing_seen()
  tutor.talk = nil
  local lesson = lessons.list[number]
  if not lesson then
    return show()
  end
  -- Show the page only when the model has the script, so that a fast user gets this lesson's answer.
  tutor.prepared = false
  tutor.model:tell({ play = lesson.script }, vim.schedule_wrap(function()
    -- The user may have closed the tab page meanwhile.
    local is_there = tutor and tutor.page and vim.api.nvim_tabpage_is_valid(tutor.tab)
    if is_there and tutor.lesson == number then
      tutor.prepared = true
      show_file()
      show()
    end
  end))
end

--- Checks the lesson's progress.
local look = vim.schedule_wrap(function()
  if not (tutor and tutor.page) then
    return
  end
  local seen = tutor.seen
  local chat = tutor.is_here and tutor.views.chats.current() or seen.chat
  seen.chat = chat
  seen.waiting = tutor.views.waiting()
  seen.running = chat ~= nil and chat.timeline.state ~= "idle"
  seen.left = seen.left or (tutor.talk ~= nil and chat ~= tutor.talk)
  local steers = chat and vim.iter(chat.timeline.blocks):any(function(block)
    return block.status == "steering" or block.status == "queued"
  end)
  if steers and not seen.steered then
    seen.steered = true
    tutor.model:tell({ release = "steered" })
  end
  if lessons.list[tutor.lesson] and not step() then
    return begin(tutor.lesson + 1)
  end
  show()
end)

---@param batch table[]
local function hear(batch)
  if not (tutor and tutor.page) then
    return
  end
  local ids = client.chats_with(tutor.own)
  for _, update in ipairs(batch) do
    local is_ours = update.chat and ids[update.chat]
    if is_ours and update.type == "turn_done" and update.reason == "end_turn" then
      tutor.seen.turns = tutor.seen.turns + 1
      tutor.talk = tutor.views.chats.get(update.chat)
    elseif is_ours and update.type == "approval_closed" and update.answer ~= "cancelled" then
      tutor.seen.answered = tutor.seen.answered + 1
    end
  end
  look()
end
client.listen(hear)

--- Ends the tutor and removes everything of it.
local function quit()
  if not tutor then
    return
  end
  vim.api.nvim_clear_autocmds({ group = group })
  local it, own, chats = tutor, own_buffers(), own_chats()
  traces.stop_servers(it.before, own)
  for _, chat in ipairs(chats) do
    chat.is_quiet = true
  end
  if it.own then
    client.close_own(it.own, ENDED)
  end
  leave()
  for _, chat in ipairs(chats) do
    it.views.chats.close(chat)
  end
  it.model:stop()
  tutor = nil
  traces.remove(it.before, it.project, it.tabs, own)
  projects.remove(it.project)
end

--- Deferred: Neovim cannot close a window while it closes another.
local quit_soon = vim.schedule_wrap(quit)

---@param event string|string[]
---@param callback fun(event: table)
---@param extra? table
local function on(event, callback, extra)
  local settings = vim.tbl_extend("error", { group = group, callback = callback }, extra or {})
  vim.api.nvim_create_autocmd(event, settings)
end

local function watch()
  on({ "BufWipeout", "BufUnload" }, quit_soon, { buffer = tutor.page.buffer })
  on("WinClosed", quit_soon, { pattern = tostring(tutor.page.window) })
  on("VimLeavePre", quit)
  local left ---@type integer
  on("TabLeave", function()
    left = vim.api.nvim_get_current_tabpage()
    leave()
  end)
  on("TabNew", function()
    tutor.tabs[vim.api.nvim_get_current_tabpage()] = tutor.tabs[left] and "other"
  end)
  on("TabEnter", function()
    if tutor.tabs[vim.api.nvim_get_current_tabpage()] then
      enter()
    end
  end)
  on({ "VimResized", "WinResized" }, vim.schedule_wrap(function()
    if tutor and tutor.page and tutor.page:is_open() and tutor.page:fit() then
      tutor.views.chats.fit()
    end
  end))
  on({ "TextChanged", "TextChangedI", "CmdlineLeave", "BufEnter" }, look)
  on({ "BufReadPre", "BufNewFile" }, function(event)
    if projects.has(tutor.project, event.file) then
      vim.bo[event.buf].swapfile, vim.bo[event.buf].undofile = false, false
    end
  end)
end

--- Called when the model is ready: opens the tab page with the lesson above the file.
---@param url string
local function open(url)
  local project = tutor.project
  local own = config.over_defaults({
    provider = "tutor",
    model = "scripted-model",
    providers = { tutor = { wire = "openai_chat", base_url = url } },
    sessions = { title = false },
    state_dir = project.state,
    deno = config.get().deno,
    sandbox = config.get().sandbox,
  })
  tutor.own = config.for_supervisor(own)
  tutor.own.config_dir = project.config
  vim.cmd.stopinsert()
  vim.cmd.tabnew()
  local blank = vim.api.nvim_get_current_buf()
  tutor.tab = vim.api.nvim_get_current_tabpage()
  tutor.tabs = { [tutor.tab] = "lessons" }
  -- Silent: Neovim would print the folder after a typed key.
  vim.cmd.tcd({ vim.fn.fnameescape(project.root), mods = { silent = true } })
  tutor.page = page.open()
  watch()
  vim.t.agent_above = tutor.page.window
  vim.cmd.edit(vim.fn.fnameescape(path(FILE)))
  if vim.api.nvim_buf_is_valid(blank) and vim.api.nvim_buf_get_name(blank) == "" then
    pcall(vim.api.nvim_buf_delete, blank, {})
  end
  tutor.host = client.open_own(tutor.own)
  enter()
  client.start({ root = project.root })
  begin(1)
end

---@param views agent.TutorViews
local function start(views)
  local it = { views = views, project = projects.make(), lesson = 0, before = traces.note() }
  it.tabs, it.is_here, it.history = {}, false, {}
  local problem
  it.model, problem = models.start(it.project.folder, {
    ready = vim.schedule_wrap(function(url)
      if tutor == it and vim.fn.getcmdwintype() ~= "" then
        quit()
        say.error("close the command-line window first")
      elseif tutor == it then
        open(url)
      end
    end),
    ended = function(how)
      if tutor == it then
        quit()
        say.error("the tutor's model stopped " .. how)
      end
    end,
  })
  if not it.model then
    projects.remove(it.project)
    return say.error(problem)
  end
  tutor = it
end

--- Skips to the next lesson and stops a running turn.
local function go_on()
  for _, chat in ipairs(own_chats()) do
    chat:stop()
  end
  begin(math.min(tutor.lesson + 1, #lessons.list + 1))
end

---@param word? "next"|"quit"
---@param views agent.TutorViews
function M.run(word, views)
  if not tutor and not word then
    return start(views)
  elseif not tutor then
    return say.info("the tutor is not open: :Agent tutor opens it")
  elseif word == "quit" then
    return quit()
  elseif tutor.page then
    vim.api.nvim_set_current_tabpage(tutor.tab)
    if word == "next" then
      go_on()
    end
  end
end

return M
