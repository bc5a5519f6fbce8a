-- Draws breaks between paragraphs (`---`) as lines across the window.
local fences = require("agent.timeline.fences")

local M = {}

local LINE = ("─"):rep(200)

--- Longer texts are drawn without lines: each new line would need a search for code.
local MOST_LINES = 5000

---@param lines string[]
---@param at integer
---@return boolean
local function is_rule(lines, at)
  if not lines[at]:find("^%s*[-*_]") then
    return false
  end
  local marks = lines[at]:gsub("%s", "")
  local is_line = #marks >= 3 and marks == marks:sub(1, 1):rep(#marks)
  -- Below a line of text it makes a heading.
  local stands_alone = (lines[at - 1] or ""):find("^%s*$") or (lines[at - 1] or ""):find("^%s*[`~]")
  return is_line and stands_alone ~= nil
end

--- Draws the breaks of a text from a line on. The last line may be incomplete.
---@param buffer integer
---@param namespace integer
---@param lines string[] of the text
---@param row integer of the first one
---@param from integer
function M.draw(buffer, namespace, lines, row, from)
  if #lines > MOST_LINES then
    return
  end
  local code
  for at = from, #lines - 1 do
    if is_rule(lines, at) then
      code = code or fences.code(lines)
      if not code[at] then
        vim.api.nvim_buf_set_extmark(buffer, namespace, row + at - 1, 0, {
          virt_text = { { LINE, "AgentHint" } },
          virt_text_pos = "overlay",
          invalidate = true,
        })
      end
    end
  end
end

return M
