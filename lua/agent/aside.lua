-- Questions beside the turns: answered in a small window of their own, and in no session.
local border = require("agent.border")
local client = require("agent.client")
local say = require("agent.say")

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

--- A small window at the top right, with the cursor in it.
---@param title string
---@return fun(text: string) show
local function open(title)
  vim.cmd.stopinsert()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modeline = false
  vim.bo[buffer].filetype = "markdown"
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
    title = { { (" %s "):format(require("agent.format").cut(title, width - 2)), "AgentTitle" } },
    footer = { { " q close ", "AgentHint" } },
    footer_pos = "right",
  })
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentBorder"
  require("agent.prose").style(window)
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, function()
      pcall(vim.api.nvim_win_close, window, true)
    end, { buffer = buffer, nowait = true, desc = "Agent: close the answer" })
  end
  return function(text)
    show(buffer, window, text)
  end
end

---@param chat agent.Chat
---@param action { text: string, staged: boolean }
---@param done fun(text?: string, problem?: string)
local function ask(chat, action, done)
  local where = { type = "aside", chat = chat.id, session = chat.timeline.session }
  client.ask(vim.tbl_extend("error", where, action, chat:place()), function(update, problem)
    done(update and update.result and update.result.text, problem or update and update.error)
  end)
end

--- Asks from what the session knows; nothing of it is kept there.
---@param chat agent.Chat
---@param question string
function M.btw(chat, question)
  require("agent.highlights").define()
  local fill = open(question)
  fill("…")
  ask(chat, { text = question, staged = false }, function(text, problem)
    fill(text or problem or "")
  end)
end

--- The buffer in which git wants a message: the current one, else one that is shown.
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

--- Above what git and the user have written there.
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

--- A message for what is staged: into the commit's buffer, else into a window. It never commits.
---@param chat agent.Chat
---@param words? string  what matters
function M.commit(chat, words)
  require("agent.highlights").define()
  local buffer = commit_buffer()
  local fill = not buffer and open("Commit message") or nil
  if fill then
    fill("…")
  else
    say.info("writing the message …")
  end
  ask(chat, { text = vim.trim("/commit " .. (words or "")), staged = true }, function(text, problem)
    text = text and vim.trim(text:gsub("^```[^\n]*\n", ""):gsub("\n```%s*$", ""))
    if fill then
      return fill(text or problem or "")
    elseif not text then
      return say.error(problem or "no message came")
    elseif buffer and vim.api.nvim_buf_is_valid(buffer) then
      insert(buffer, text)
      say.info("the message is there: look at it before you commit")
    end
  end)
end

return M
