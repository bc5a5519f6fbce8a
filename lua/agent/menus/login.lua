-- Logs in at a provider: the user types a code on the provider's page.
local border = require("agent.ui.border")
local client = require("agent.client")
local hint = require("agent.ui.hint")
local on_border = require("agent.ui.on_border")
local say = require("agent.ui.say")
local scratch = require("agent.ui.scratch")

local M = {}

---@type integer?
local window

local KEYS = { "<CR> open the page", "q stop" }

local function close()
  local old = window
  window = nil
  if old and vim.api.nvim_win_is_valid(old) then
    vim.api.nvim_win_close(old, true)
  end
end

--- True if the clipboard has the code.
---@param code string
---@return boolean
local function copy(code)
  return vim.fn.has("clipboard") == 1 and pcall(vim.fn.setreg, "+", code)
end

---@param buffer integer
---@return table config
local function place(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line) + 1)
  end
  width = math.min(width, math.max(20, vim.o.columns - 2))
  return {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - #lines) / 2) - 2),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    width = width,
    height = #lines,
    border = border(),
    style = "minimal",
    zindex = 70,
    title = on_border(" Log in to GitHub Copilot ", "AgentTitle"),
    footer = on_border((hint.footer(KEYS, width)), "AgentHint"),
    footer_pos = "right",
  }
end

---@param login { code: string, url: string }
---@param stop fun()
local function show(login, stop)
  require("agent.ui.highlights").define()
  local buffer = scratch("login")
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, {
    "",
    " Your code: " .. login.code .. (copy(login.code) and "  (copied)" or ""),
    " Enter it at " .. login.url,
    "",
    " Waiting for you to agree there …",
  })
  vim.bo[buffer].modifiable = false
  window = vim.api.nvim_open_win(buffer, true, place(buffer))
  vim.wo[window].wrap = true
  vim.wo[window].winhighlight = "NormalFloat:AgentNormal,FloatBorder:AgentWaitingBorder"
  local function map(key, run, doc)
    vim.keymap.set("n", key, run, { buffer = buffer, nowait = true, desc = "Agent: " .. doc })
  end
  map("<CR>", function()
    local _, problem = vim.ui.open(login.url)
    if problem then
      say.warn(("cannot open a browser: visit %s"):format(login.url))
    end
  end, "open the page of the login")
  for _, key in ipairs({ "q", "<Esc>", "<C-c>" }) do
    map(key, stop, "stop the login")
  end
  -- Closing the window in another way cancels the login too.
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(window),
    once = true,
    callback = function()
      if window then
        window = nil
        stop()
      end
    end,
  })
end

---@param update? { ended: "ok"|"failed"|"stopped", text: string }
---@param problem? string
local function ended(update, problem)
  close()
  local notify = { ok = say.info, stopped = say.warn }
  local tell = update and notify[update.ended] or say.error
  tell(update and update.text or problem)
end

---@param chat agent.Chat
---@param provider string
function M.login(chat, provider)
  close()
  client.ask({ type = "login", chat = chat.id, provider = provider }, function(update, problem)
    if not update or not update.code then
      return ended(update, problem)
    end
    show(update, function()
      client.send({ type = "login_stop", chat = chat.id })
    end)
    client.ask({ type = "login_wait", chat = chat.id }, ended)
  end)
end

---@param chat agent.Chat
---@param provider string
function M.logout(chat, provider)
  client.ask({ type = "logout", chat = chat.id, provider = provider }, ended)
end

return M
