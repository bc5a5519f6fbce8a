-- Side questions: answered in a small window, and in no session.
local border = require("agent.ui.border")
local client = require("agent.client")
local on_border = require("agent.ui.on_border")
local say = require("agent.ui.say")
local scratch = require("agent.ui.scratch")

local M = {}

---@param buffer integer
---@param window integer
---@param text string
local function show(buffer, window, text)
  if not (vim.api.nvim_buf_is_valid(buffer) and vim.api.nvim_win_is_valid(window)) then
    return
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
  vim.bo[buffer].modifiable = false
  local rows = vim.api.nvim_win_text_height(window, {}).all
  vim.api.nvim_win_set_height(window, math.max(1, math.min(rows, math.floor(vim.o.lines / 2))))
end

---@class agent.AsideWindow
---@field buffer integer
---@field window integer
---@field text string
---@field stop? fun()  stops a running answer

---@param it agent.AsideWindow
local function show_keys(it)
  if vim.api.nvim_win_is_valid(it.window) then
    local keys = it.stop and " <C-c> stop  q close " or " q close "
    vim.api.nvim_win_set_config(it.window, { footer = on_border(keys, "AgentHint"), footer_pos = "right" })
  end
end

--- Opens a small window at the top right, with the cursor in it.
---@param title string
---@return agent.AsideWindow
local function open(title)
  vim.cmd.stopinsert()
  local buffer = scratch("answer")
  require("agent.deep").set_filetype(buffer, "markdown")
  -- Without Neovim's parser the text stays plain.
  pcall(function()
    require("agent.markdown.highlight").start(buffer, assert(vim.treesitter.get_parser(buffer)), true)
  end)
  local width = math.max(10, math.min(80, vim.o.columns - 4))
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    anchor = "NE",
    row = 1,
    col = vim.o.columns - 1,
    width = width,
    height = 1,
    border = border(),
    style = "minimal",
    zindex = 65,
    title = on_border((" %s "):format(require("agent.ui.format").cut(title, width - 2)), "AgentTitle"),
  })
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
  require("agent.ui.prose").style(window)
  vim.wo[window][0].conceallevel, vim.wo[window][0].concealcursor = 2, "nv"
  local it = { buffer = buffer, window = window, text = "" }
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, function()
      pcall(vim.api.nvim_win_close, window, true)
    end, { buffer = buffer, nowait = true, desc = "Agent: close the answer" })
  end
  vim.keymap.set("n", "<C-c>", function()
    if it.stop then
      it.stop()
    end
  end, { buffer = buffer, nowait = true, desc = "Agent: stop the answer" })
  -- The window was closed, so the answer stops.
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      if it.stop then
        it.stop()
      end
    end,
  })
  show(buffer, window, "…")
  return it
end

---@param chat agent.Chat
---@param action { text: string, staged: boolean }
---@param done fun(text?: string, problem?: string)
---@param more? fun(text: string)
---@return fun() stop
local function ask(chat, action, done, more)
  local where = { type = "aside", chat = chat.id, session = chat.timeline.session }
  local request = client.ask(vim.tbl_extend("error", where, action, chat:place()), function(update, problem)
    done(update and update.result and update.result.text, problem or update and update.error)
  end, more or function() end)
  return function()
    client.send({ type = "aside_stop", chat = chat.id, request = request })
  end
end

--- Shows the answer in a window as it comes.
---@param chat agent.Chat
---@param action { text: string, staged: boolean }
---@param title string
---@param clean? fun(text: string): string
local function ask_in_window(chat, action, title, clean)
  local it = open(title)
  local is_stopped = false
  local function fill(text)
    it.text = text
    show(it.buffer, it.window, text)
  end
  local stop = ask(chat, action, function(text, problem)
    it.stop = nil
    text = text and (clean or vim.trim)(text) or problem or ""
    fill(is_stopped and vim.trim(text .. "\n\n(stopped)") or text)
    show_keys(it)
  end, function(more)
    fill(it.text .. more)
  end)
  it.stop = function()
    it.stop, is_stopped = nil, true
    stop()
    show_keys(it)
  end
  show_keys(it)
end

--- Asks with the context of the session, which does not keep the question.
---@param chat agent.Chat
---@param question string
function M.btw(chat, question)
  require("agent.ui.highlights").define()
  chat.phases:act("btw", function(opened)
    ask_in_window(opened, { text = question, staged = false }, question)
  end, "/btw " .. question)
end

--- The commit message buffer of git: the current one, else a visible one.
---@return integer?
local function commit_buffer()
  local buffers = { vim.api.nvim_get_current_buf() }
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    table.insert(buffers, vim.api.nvim_win_get_buf(window))
  end
  return vim.iter(buffers):find(function(buffer)
    return vim.bo[buffer].filetype == "gitcommit" and vim.bo[buffer].modifiable
  end)
end

--- Inserts it above the text of git and of the user.
---@param buffer integer
---@param text string
local function insert(buffer, text)
  local lines = vim.split(text, "\n")
  local first = vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] or ""
  if first ~= "" and not vim.startswith(first, "#") then
    table.insert(lines, "")
  end
  vim.api.nvim_buf_set_lines(buffer, 0, first == "" and 1 or 0, false, vim.list_extend(lines, first == "" and { "" } or {}))
end

--- Without a fence around it.
---@param text string
---@return string
local function unfenced(text)
  return vim.trim((text:gsub("^```[^\n]*\n", ""):gsub("\n```%s*$", "")))
end

---@param chat agent.Chat
---@param text string
local function write_message(chat, text)
  local buffer = commit_buffer()
  local action = { text = text, staged = true }
  if not buffer then
    return ask_in_window(chat, action, "Commit message", unfenced)
  end
  say.info("writing the message …")
  ask(chat, action, function(answer, problem)
    if not answer then
      return say.error(problem or "no message came")
    elseif vim.api.nvim_buf_is_valid(buffer) then
      insert(buffer, unfenced(answer))
      say.info("the message is there: look at it before you commit")
    end
  end)
end

--- Writes a message for the staged changes into the commit's buffer, else into a window. It never commits.
---@param chat agent.Chat
---@param words? string  what matters
function M.commit(chat, words)
  require("agent.ui.highlights").define()
  local text = vim.trim("/commit " .. (words or ""))
  chat.phases:act("commit", function(opened)
    write_message(opened, text)
  end, text)
end

return M
