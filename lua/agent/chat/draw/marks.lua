-- Highlights the lines of blocks with extmarks.
local columns = require("agent.chat.draw.columns")
local diff_syntax = require("agent.chat.draw.diff_syntax")
local text = require("agent.timeline.lines")
local wrap = require("agent.markdown.wrap")

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
local STEP_GROUPS = { [text.STEPS.in_progress] = "AgentToolRunning", [text.STEPS.completed] = "AgentToolDone" }
local SEVERITY_GROUPS = { info = "AgentNotice", warning = "AgentWarning", error = "AgentError" }

--- Group by the first character after the indent.
local DIFF_GROUPS = { ["+"] = "AgentDiffAdd", ["-"] = "AgentDiffDelete", ["@"] = "AgentHint" }

---@param buffer integer
---@param first integer
---@param last integer exclusive
function M.clear(buffer, first, last)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, first, last)
  columns.clear(buffer, first, last)
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

--- A background over the whole line, also after its text.
---@param buffer integer
---@param row integer
---@param group string
local function fill(buffer, row, group)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, { line_hl_group = group })
end

--- Text before a line that is not part of the buffer.
---@param buffer integer
---@param row integer
---@param sign string
---@param group string
local function prefix(buffer, row, sign, group)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
    virt_text = { { sign, group } },
    virt_text_pos = "inline",
    right_gravity = false,
  })
end

--- Free columns between a message and the number of its turn. The seconds of a turn that waits have room there.
local GAP = 12

--- Before a message.
local SIGN = "❯ "

--- Text at the right of a row.
---@param buffer integer
---@param row integer
---@param label string
---@param position "right_align"|"eol_right_align"
local function right(buffer, row, label, position)
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, {
    virt_text = { { label, "AgentHint" } },
    virt_text_pos = position,
    hl_mode = "combine",
  })
end

--- The number of the turn, which `:Agent undo` and others take: at the right of a message's first line, else of its last
--- row, else below.
---@param buffer integer
---@param turn integer
---@param lines string[] of the message
---@param row integer of the first one
---@param width integer
local function number(buffer, turn, lines, row, width)
  local label = ("turn %d "):format(turn)
  local room, last = width - GAP - #label, SIGN .. lines[#lines]
  local starts = wrap.starts(last, width)
  if vim.api.nvim_strwidth(lines[1]) <= room then
    return right(buffer, row, label, "right_align")
  elseif vim.api.nvim_strwidth(last:sub(starts[#starts] + 1)) <= room then
    return right(buffer, row + #lines - 1, label, "eol_right_align")
  end
  vim.api.nvim_buf_set_extmark(buffer, namespace, row + #lines - 1, 0, {
    virt_lines = { { { (" "):rep(width - #label) .. label, { "AgentUserLine", "AgentHint" } } } },
  })
end

---@param buffer integer
---@param block agent.Block
---@param lines string[]
---@param row integer of the first one
---@param width? integer
local function draw_message(buffer, block, lines, row, width)
  local labels, note = #text.labels(block) > 0 and #lines or nil, text.note(block)
  for offset, line in ipairs(lines) do
    local at = row + offset - 1
    M.mark(buffer, at, 0, #line, offset == labels and "AgentHint" or "AgentUser")
    if note ~= "" and vim.endswith(line, note) then
      M.mark(buffer, at, #line - #note, #line, "AgentHint")
    end
    fill(buffer, at, "AgentUserLine")
    prefix(buffer, at, offset == 1 and SIGN or "  ", "AgentUser")
  end
  if block.turn and width then
    number(buffer, block.turn, lines, row, width)
  end
end

--- A step of the plan. The current one is not dim.
---@param buffer integer
---@param row integer
---@param line string
local function draw_step(buffer, row, line)
  local sign = line:match("^%S+") or ""
  local group = STEP_GROUPS[sign]
  if sign ~= text.STEPS.in_progress then
    M.mark(buffer, row, 0, #line, "AgentThought")
  end
  if group then
    M.mark(buffer, row, 0, #sign, group)
  end
end

--- The line of a call: dim, with a sign in the colour of its status. A line that waits for the user stands out.
---@param buffer integer
---@param row integer
---@param line string
---@param header agent.Header
local function draw_header(buffer, row, line, header)
  if header.status == "waiting" then
    M.mark(buffer, row, header.indent, #line, "AgentWaiting")
    return fill(buffer, row, "AgentWaiting")
  end
  M.mark(buffer, row, 0, #line, "AgentTool")
  mark_counts(buffer, row, line)
  if header.status then
    local sign = text.icons[header.status] or "…"
    M.mark(buffer, row, header.indent, header.indent + #sign, STATUS_GROUPS[header.status])
  end
end

--- The group of a row in an open diff, also of a call below another one.
---@param line string
---@param owner? agent.Owner
---@return string?
local function diff_group(line, owner)
  local is_row = owner and owner.row and owner.block.is_diff
  return is_row and DIFF_GROUPS[line:sub(owner.indent + 1, owner.indent + 1)] or nil
end

---@param buffer integer
---@param drawn agent.Drawn
---@param row integer of its first line
---@param width? integer columns of text, if known
function M.draw(buffer, drawn, row, width)
  local block, lines, headers = drawn.block, drawn.lines, drawn.headers
  M.clear(buffer, row, row + #lines)
  if block.kind == "text" then
    return
  elseif block.kind == "user" then
    return draw_message(buffer, block, lines, row, width)
  elseif block.is_diff and block.expanded then
    diff_syntax.draw(buffer, namespace, block, lines, row)
  end
  for offset, line in ipairs(lines) do
    local at = row + offset - 1
    local diff = diff_group(line, drawn.owners[offset])
    if headers[offset] then
      draw_header(buffer, at, line, headers[offset])
    elseif diff then
      -- A line's own group would hide the colours of its language.
      vim.api.nvim_buf_set_extmark(buffer, namespace, at, 0, {
        end_row = at + 1,
        hl_group = diff,
        hl_eol = true,
        priority = 200,
        spell = false,
        strict = false,
      })
    elseif block.kind == "notice" then
      M.mark(buffer, at, 0, #line, SEVERITY_GROUPS[block.severity])
    elseif block.kind == "plan" then
      draw_step(buffer, at, line)
    elseif block.kind == "thought" then
      M.mark(buffer, at, 0, #line, "AgentThought")
    else
      M.mark(buffer, at, 0, #line, "AgentTool")
    end
  end
  if block.kind == "thought" then
    prefix(buffer, row, block.expanded and "▾ " or "▸ ", "AgentThought")
  end
  if width then
    columns.draw(buffer, lines, headers, row, width)
  end
end

return M
