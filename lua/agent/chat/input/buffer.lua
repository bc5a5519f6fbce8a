-- Makes the buffer of the input.
local buffers = require("agent.chat.buffers")
local complete = require("agent.chat.complete")
local input = require("agent.chat.input")
local keymaps = require("agent.chat.keymaps")
local pasted = require("agent.context.pasted")
local scratch = require("agent.ui.scratch")
local window = require("agent.chat.window")

local M = {}

---@return integer buffer
local function new_buffer()
  local buffer = scratch(nil, "hide")
  -- `:write` sends.
  vim.bo[buffer].buftype = "acwrite"
  vim.bo[buffer].filetype = "agent-input"
  return buffer
end

---@param chat agent.Chat
---@param buffer integer of the input when it changed
local function on_change(chat, buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  vim.bo[buffer].modified = false
  window.grow(chat.windows)
  chat.drafts:keep()
  chat.peers.input_changed()
end

--- Makes the input of a chat, also after its buffer is lost.
---@param chat agent.Chat
function M.make(chat)
  local old = chat.input
  local buffer = new_buffer()
  chat.input = input.new(buffer)
  if old then
    chat.input:set(old.lost)
    chat.input.id = old.id
    vim.bo[buffer].modified = false
  end
  buffers.replace(old and old.buffer, buffer)
  pasted.watch(buffer, function()
    return chat.input.is_writing == true
  end)
  keymaps.map(chat, "input", buffer)
  complete.attach(buffer, chat)
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      -- A write from an autocommand of the user's does not send.
      local _, autocommands = vim.fn.expand("<stack>"):gsub(" Autocommands for ", "")
      if autocommands == 1 then
        chat:submit()
      end
    end,
  })
  local modes = { InsertEnter = "i", InsertLeave = "n", BufLeave = "n" }
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertEnter", "InsertLeave", "BufLeave" }, {
    buffer = buffer,
    callback = function(event)
      if event.event == "BufEnter" then
        chat.attachments:show()
      end
      window.hint(chat.windows, modes[event.event])
    end,
  })
  buffers.when_lost(buffer, function()
    chat.input.lost = chat.input:text()
    vim.schedule(function()
      chat:revive()
    end)
  end, function()
    -- At once: it would cover the text.
    chat.queue:show_placeholder()
    -- Unsent text does not block `:qall`, and `:wall` does not send it.
    vim.bo[buffer].modified = false
    vim.schedule(function()
      on_change(chat, buffer)
    end)
  end)
  chat.queue:show_placeholder()
end

return M
