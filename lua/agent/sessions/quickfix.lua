-- Hits as a quickfix list. The buffer of an entry is never read: instead of it, the session opens at its turn.
local rows = require("agent.sessions.rows")

local M = {}

--- Name of an entry's buffer → function that shows its session.
---@type table<string, fun()>
local openers = {}

--- Restores the previous buffer, or closes a window that was opened for the entry.
---@param buffer integer
local function give_back(buffer)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local before = vim.api.nvim_win_call(window, function()
      return vim.fn.bufnr("#")
    end)
    if before > 0 and before ~= buffer and vim.api.nvim_buf_is_valid(before) then
      vim.api.nvim_win_set_buf(window, before)
    elseif not pcall(vim.api.nvim_win_close, window, true) then
      vim.api.nvim_win_set_buf(window, vim.api.nvim_create_buf(true, false))
    end
  end
end

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = vim.api.nvim_create_augroup("agent.sessions", {}),
  pattern = "agent://session/*",
  callback = function(event)
    vim.bo[event.buf].buftype = "nofile"
    -- The next jump must read it again.
    vim.bo[event.buf].bufhidden = "unload"
    vim.bo[event.buf].buflisted = false
    -- Later, after the jump.
    vim.schedule(function()
      give_back(event.buf)
      if openers[event.match] then
        openers[event.match]()
      end
    end)
  end,
})

--- Fills the list and opens it.
---@param hits table[] see session_search in protocol/requests.ts
---@param words string
---@param chat? agent.Chat steps aside if it would cover the list
---@param show fun(hit: table)
function M.fill(hits, words, chat, show)
  openers = {}
  local items = {}
  for _, hit in ipairs(hits) do
    local name = ("agent://session/%s/%d"):format(hit.sessionId, hit.turn)
    openers[name] = function()
      show(hit)
    end
    local data = { session = hit.sessionId, turn = hit.turn }
    local text = ("%s: %s"):format(hit.role, hit.text)
    table.insert(items, { filename = name, module = rows.title(hit.title), text = text, user_data = data, valid = 1 })
  end
  vim.fn.setqflist({}, " ", { title = "Agent: " .. words, items = items })
  if chat then
    chat:step_aside()
  end
  require("agent.ui.quickfix")()
end

return M
