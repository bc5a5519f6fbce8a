-- A source for blink.cmp that completes mentions. Its `module` in the option `sources.providers`.
-- Shape: blink.cmp.Source, in lua/blink/cmp/sources/lib/types.lua of Saghen/blink.cmp.
local complete = require("agent.chat.complete")

local M = {}

function M.new()
  complete.leave_menu()
  return setmetatable({}, { __index = M })
end

---@return boolean
function M.enabled()
  return vim.bo.filetype == "agent-input"
end

---@return string[]
function M.get_trigger_characters()
  return { "@", "#", "/" }
end

---@param context { bufnr: integer, line: string, cursor: integer[] }  row from 1, column in bytes from 0
---@param callback fun(response: table)
function M:get_completions(context, callback)
  local row, column = unpack(context.cursor)
  complete.ask(context.bufnr, context.line:sub(1, column), row - 1, function(list)
    callback({ items = list.items, is_incomplete_forward = true, is_incomplete_backward = true })
  end)
end

return M
