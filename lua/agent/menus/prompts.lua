-- Prompt templates that are sub-commands too, and the attachments that only Neovim knows.
local find = require("agent.reload.find")

local M = {}

--- Their names.
M.names = { "explain", "fix", "tests", "docs" }

--- Diagnostics of the range, else of the cursor's line, else of the buffer.
---@param window integer the window that the user came from
---@param range? { first: integer, last: integer }
---@return agent.Attachment[]
function M.diagnostics(window, range)
  local buffer = vim.api.nvim_win_get_buf(window)
  if not find.is_file_buffer(buffer) then
    return {}
  end
  local all = vim.diagnostic.get(buffer)
  local function within(first, last)
    return vim.tbl_filter(function(one)
      return one.lnum + 1 <= last and (one.end_lnum or one.lnum) + 1 >= first
    end, all)
  end
  local line = vim.api.nvim_win_get_cursor(window)[1]
  local found = within(range and range.first or line, range and range.last or line)
  if #found == 0 and not range then
    found = all
  end
  if #found == 0 then
    return {}
  end
  local path = find.origin(buffer)
  local places = vim.tbl_map(function(one)
    local kind = (vim.diagnostic.severity[one.severity] or ""):lower()
    return { path = path, line = one.lnum + 1, text = ("%s %s"):format(kind, one.message) }
  end, vim.list_slice(found, 1, 1000))
  local label = ("%s to fix"):format(require("agent.ui.format").plural(#places, "diagnostic"))
  return { { type = "places", label = label, places = places } }
end

--- The attachments that the called prompt adds to a message.
---@param message string
---@param window integer the window that the user came from
---@param selected? agent.Attachment
---@return agent.Attachment[]
function M.attachments(message, window, selected)
  if not message:find("^/fix%f[%s%z]") then
    return {}
  end
  return M.diagnostics(window, selected and selected.first and { first = selected.first, last = selected.last } or nil)
end

return M
