-- Text to read in a tab page; q closes it.
local hint = require("agent.ui.hint")
local prose = require("agent.ui.prose")
local scratch = require("agent.ui.scratch")
local winbar = require("agent.ui.winbar")

local M = {}

--- Closes the tab page, and goes back to the one that the user came from.
function M.close()
  if #vim.api.nvim_list_tabpages() > 1 then
    local usual = vim.o.tabclose
    vim.o.tabclose = "uselast"
    vim.cmd("silent! tabclose")
    vim.o.tabclose = usual
    return
  end
  -- The user has closed all others.
  vim.cmd("silent! only")
  if vim.bo.buftype ~= "" or not vim.bo.modified then
    vim.cmd.enew()
  end
end

--- Maps `q` in this buffer, even if a map of the user begins with it.
---@param buffer integer
---@param what string name of the page, for the key's description
function M.closes(buffer, what)
  vim.keymap.set("n", "q", M.close, { buffer = buffer, nowait = true, desc = "Agent: close " .. what })
end

--- Collects the lines of a page with their highlights.
---@return string[] lines
---@return table<integer, { [1]: integer, [2]: integer, [3]: string }[]> spans by line, from 1: the first byte, the byte
--- after the last one, the highlight group
---@return fun(text: string|table, group?: string) add adds a line: a text, or chunks as those of virtual text
function M.lines()
  local lines, spans = {}, {}
  return lines, spans, function(text, group)
    local line, of_line = "", {}
    for _, chunk in ipairs(type(text) == "table" and text or { { text, group } }) do
      local begin = #line
      line = line .. chunk[1]
      if chunk[2] and #line > begin then
        table.insert(of_line, { begin, #line, chunk[2] })
      end
    end
    table.insert(lines, (line:gsub("%s+$", "")))
    spans[#lines] = of_line
  end
end

---@param buffer integer
---@param namespace integer
---@param lines string[]
---@param spans table<integer, table[]>
---@param above? integer lines above them
function M.highlight(buffer, namespace, lines, spans, above)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for line, of_line in pairs(spans) do
    for _, span in ipairs(of_line) do
      local first, last, group = unpack(span)
      local mark = { end_col = math.min(last, #lines[line]), hl_group = group }
      vim.api.nvim_buf_set_extmark(buffer, namespace, (above or 0) + line - 1, math.min(first, mark.end_col), mark)
    end
  end
end

---@param lines string[]
---@param what string name of the page, for the key's description and the buffer's name
---@param keys? string[] keys besides q, each with a space and its action
---@return integer buffer
function M.open(lines, what, keys)
  local buffer = scratch((what:gsub("^the ", "")))
  vim.cmd.stopinsert()
  vim.cmd("tab split")
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  local window = vim.api.nvim_get_current_win()
  prose.style(window)
  local words = vim.list_extend(vim.list_slice(keys or {}), { "q close" })
  winbar.set(window, "%#AgentHint#" .. hint.one_line(words, vim.api.nvim_win_get_width(window)))
  M.closes(buffer, what)
  return buffer
end

return M
