-- Highlights the lines of blocks with extmarks.
local diff_syntax = require("agent.chat.draw.diff_syntax")
local text = require("agent.timeline.lines")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.chat")

local STATUS_GROUPS = {
  pending = "AgentToolRunning",
  in_progress = "AgentToolRunning",
  waiting = "AgentToolWaiting",
  completed = "AgentToolDone",
  failed = "AgentToolFailed",
  stopped = "AgentToolWaiting",
}
--- Status by icon.
local STATUS_OF = { [text.icons.completed] = "completed", [text.icons.in_progress] = "in_progress" }
local SEVERITY_GROUPS = { info = "AgentNotice", warning = "AgentWarning", error = "AgentError" }

--- Group by the first character after the indent.
local DIFF_GROUPS = { ["+"] = "AgentDiffAdd", ["-"] = "AgentDiffDelete", ["@"] = "AgentHint" }

---@param buffer integer
---@param first integer
---@param last integer exclusive
function M.clear(buffer, first, last)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, first, last)
end

--- Marks override the markdown highlighting: a file name with underscores is not emphasis.
---@param buffer integer
---@param row integer
---@param from integer
---@param to integer
---@param group string
function M.mark(buffer, row, from, to, group)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, from, {
    end_col = to,
    hl_group = group,
    priority = 200,
    spell = false,
  })
end

--- "+3" and "−1" at the end of a tool's line.
---@param buffer integer
---@param row integer
---@param line string
local function mark_counts(buffer, row, line)
  for _, mark in ipairs(text.count_marks(line)) do
    M.mark(buffer, row, unpack(mark))
  end
end

---@param buffer integer
---@param block agent.Block
---@param lines string[] of the block, as in the buffer
---@param row integer of the first one
function M.draw(buffer, block, lines, row)
  M.clear(buffer, row, row + #lines)
  if block.kind == "text" then
    return
  elseif block.is_diff and block.expanded then
    diff_syntax.draw(buffer, namespace, block, lines, row)
  end
  local has_labels = block.kind == "user" and #text.labels(block) > 0
  for offset, line in ipairs(lines) do
    local at = row + offset - 1
    if block.kind == "user" then
      M.mark(buffer, at, 0, #line, has_labels and offset == #lines and "AgentHint" or "AgentUser")
      vim.api.nvim_buf_set_extmark(buffer, namespace, at, 0, {
        virt_text = { { offset == 1 and "❯ " or "  ", "AgentUser" } },
        virt_text_pos = "inline",
        right_gravity = false,
      })
    elseif block.kind == "notice" then
      M.mark(buffer, at, 0, #line, SEVERITY_GROUPS[block.severity])
    elseif block.kind == "files" then
      M.mark(buffer, at, 0, #line, "AgentTool")
      mark_counts(buffer, at, line)
    elseif block.kind == "thought" or block.kind == "plan" then
      M.mark(buffer, at, 0, #line, "AgentThought")
    else
      M.mark(buffer, at, 0, #line, offset > 1 and block.is_diff and DIFF_GROUPS[line:sub(3, 3)] or "AgentTool")
      local call = block.kind == "run" and line:match("^  (%S+) ")
      local status = offset == 1 and block.status or call and STATUS_OF[call]
      if status then
        local indent = offset == 1 and 0 or 2
        M.mark(buffer, at, indent, indent + #(text.icons[status] or "…"), STATUS_GROUPS[status])
        mark_counts(buffer, at, line)
      end
    end
  end
end

return M
