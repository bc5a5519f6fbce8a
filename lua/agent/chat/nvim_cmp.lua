-- A source for nvim-cmp that completes mentions. For cmp.register_source("agent", …).
-- Shape: lua/cmp/source.lua of hrsh7th/nvim-cmp.
local complete = require("agent.chat.complete")

local M = {}

function M.new()
  complete.leave_menu()
  return setmetatable({}, { __index = M })
end

---@return boolean
function M:is_available()
  return vim.bo.filetype == "agent-input"
end

---@return string[]
function M:get_trigger_characters()
  return { "@", "#", "/" }
end

---@return string
function M:get_keyword_pattern()
  return [[\%(@"[^"]*\|[@#/]\S*\)]]
end

---@return string for the columns in the answer
function M:get_position_encoding_kind()
  return "utf-8"
end

---@param params { context: { bufnr: integer, cursor_before_line: string, cursor: { row: integer } } }  row from 1
---@param callback fun(response: lsp.CompletionList)
function M:complete(params, callback)
  local context = params.context
  complete.ask(context.bufnr, context.cursor_before_line, context.cursor.row - 1, callback)
end

return M
