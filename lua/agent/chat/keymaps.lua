-- The keys of the chat's buffers. Other buffers get none.
local popup = require("agent.ui.popup")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.keys")

---@class agent.Key
---@field keys string
---@field modes string
---@field where "both"|"transcript"|"input"
---@field action string  method of the chat, or "part.method" of a part of it, see chat/chat.lua
---@field doc string
---@field hint? string    one word for the input's window, in the modes below
---@field hint_in? string modes
---@field running? string  the word while a turn runs, if it differs

---@type agent.Key[]
M.keys = {
  {
    keys = "<CR>",
    modes = "n",
    where = "input",
    action = "submit",
    doc = "send",
    hint = "send",
    running = "queue",
    hint_in = "n",
  },
  {
    keys = "<C-s>",
    modes = "ni",
    where = "input",
    action = "submit",
    doc = "send",
    hint = "send",
    running = "queue",
    hint_in = "i",
  },
  {
    keys = "<M-CR>",
    modes = "ni",
    where = "input",
    action = "queue.submit_now",
    doc = "steer the running turn",
    running = "steer",
    hint_in = "i",
  },
  {
    keys = "g<CR>",
    modes = "n",
    where = "input",
    action = "queue.submit_now",
    doc = "the same, for terminals without <M-CR>",
    running = "steer",
    hint_in = "n",
  },
  { keys = "gz", modes = "n", where = "both", action = "queue.pause", doc = "pause or resume the turn" },
  { keys = "gm", modes = "n", where = "input", action = "queue.choose", doc = "list the waiting messages" },
  { keys = "dd", modes = "n", where = "transcript", action = "queue.drop", doc = "remove a waiting message" },
  { keys = "<M-r>", modes = "ni", where = "input", action = "answer_approval", doc = "reject the request with this reason" },
  { keys = "<C-p>", modes = "ni", where = "input", action = "earlier", doc = "earlier message" },
  { keys = "<C-n>", modes = "ni", where = "input", action = "later", doc = "later message" },
  { keys = "<S-Tab>", modes = "ni", where = "input", action = "next_mode", doc = "the next mode" },
  { keys = "gM", modes = "n", where = "both", action = "choose_model", doc = "choose the model" },
  {
    keys = "gP",
    modes = "n",
    where = "both",
    action = "choose_permissions",
    doc = "choose what the session may do unasked",
  },
  { keys = "gs", modes = "n", where = "both", action = "start_plan", doc = "carry out the plan" },
  {
    keys = "ga",
    modes = "n",
    where = "input",
    action = "attachments.choose",
    doc = "add a failed command, else switch context",
  },
  { keys = "K", modes = "n", where = "input", action = "selections.show", doc = "show the selected lines" },
  {
    keys = "<BS>",
    modes = "n",
    where = "input",
    action = "selections.drop",
    doc = "remove the last selected lines or the offer",
  },
  { keys = "gp", modes = "n", where = "input", action = "paste", doc = "attach the clipboard's image" },
  { keys = "<C-c>", modes = "ni", where = "both", action = "stop", doc = "stop the turn", hint = "stop", hint_in = "ni" },
  {
    keys = "q",
    modes = "n",
    where = "both",
    action = "hide",
    doc = "hide the chat; the turn continues",
    hint = "hide",
    hint_in = "n",
  },
  {
    keys = "<Tab>",
    modes = "n",
    where = "both",
    action = "navigation.tab",
    doc = "go to the approval, or open or close a block",
  },
  { keys = "<C-w>k", modes = "n", where = "input", action = "moves.to_transcript", doc = "go to the transcript" },
  { keys = "<C-w>j", modes = "n", where = "transcript", action = "moves.to_input", doc = "go to the input" },
  { keys = "<PageUp>", modes = "ni", where = "input", action = "moves.page_up", doc = "scroll the transcript up" },
  { keys = "<PageDown>", modes = "ni", where = "input", action = "moves.page_down", doc = "scroll the transcript down" },
  { keys = "<C-u>", modes = "n", where = "input", action = "moves.half_page_up", doc = "scroll half a window up" },
  { keys = "<C-d>", modes = "n", where = "input", action = "moves.half_page_down", doc = "scroll half a window down" },
  {
    keys = "<CR>",
    modes = "n",
    where = "transcript",
    action = "navigation.enter",
    doc = "open the file, or open or close a block",
  },
  { keys = "gf", modes = "n", where = "transcript", action = "navigation.goto_file", doc = "open the file at its line" },
  { keys = "]]", modes = "n", where = "transcript", action = "navigation.next_turn", doc = "your next message" },
  { keys = "[[", modes = "n", where = "transcript", action = "navigation.previous_turn", doc = "your previous message" },
  { keys = "gy", modes = "n", where = "transcript", action = "navigation.yank_code", doc = "yank the code block" },
  {
    keys = "ga",
    modes = "n",
    where = "transcript",
    action = "navigation.apply_code",
    doc = "apply the code block, or add a failed command",
  },
  {
    keys = "gru",
    modes = "n",
    where = "transcript",
    action = "navigation.undo",
    doc = "undo the call, or the changed files",
  },
  { keys = "grk", modes = "n", where = "transcript", action = "navigation.keep", doc = "keep the changed files" },
  { keys = "gl", modes = "n", where = "both", action = "plan.show", doc = "show the plan" },
  { keys = "i", modes = "n", where = "transcript", action = "focus_input", doc = "go to the input" },
  { keys = "g?", modes = "n", where = "both", action = "show_keys", doc = "show these keys", hint = "keys", hint_in = "n" },
}

---@param chat agent.Chat
---@param where "transcript"|"input"
---@param buffer integer
function M.map(chat, where, buffer)
  for _, key in ipairs(M.keys) do
    if key.where == where or key.where == "both" then
      local part, method = key.action:match("^(%l+)%.(.+)$")
      local options = {
        noremap = true,
        nowait = true,
        desc = "Agent: " .. key.doc,
        callback = function()
          local owner = part and chat[part] or chat
          owner[method or key.action](owner)
        end,
      }
      for mode in key.modes:gmatch(".") do
        -- vim.keymap.set() takes ten times as long: 60 keys would delay the first drawing.
        vim.api.nvim_buf_set_keymap(buffer, mode, key.keys, "", options)
      end
    end
  end
end

--- Hints for the input's window.
---@param mode "n"|"i"
---@param is_running boolean a turn runs
---@return string[]
function M.hints(mode, is_running)
  local hints = {}
  for _, key in ipairs(M.keys) do
    local word = is_running and key.running or key.hint
    if word and key.hint_in:find(mode) then
      table.insert(hints, ("%s %s"):format(key.keys, word))
    end
  end
  return hints
end

--- Headings of the popup.
local WHERE = { { "both", "In both windows" }, { "input", "In the input" }, { "transcript", "In the transcript" } }

--- Shows the keys in a popup.
function M.show()
  local lines, headings = {}, {}
  for _, group in ipairs(WHERE) do
    table.insert(lines, group[2])
    headings[#lines] = group[2]
    for _, key in ipairs(M.keys) do
      if key.where == group[1] then
        table.insert(lines, ("%-10s  %s"):format(key.keys, key.doc))
      end
    end
  end
  local buffer = popup.open(lines, "Keys", " q close ", { "g?" })
  for line, heading in pairs(headings) do
    vim.api.nvim_buf_set_extmark(buffer, namespace, line - 1, 0, { end_col = #heading, hl_group = "AgentTitle" })
  end
end

return M
