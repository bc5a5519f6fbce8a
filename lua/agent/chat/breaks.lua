-- Breaks between paragraphs, `---`, as lines across the window.
local fences = require("agent.timeline.fences")

local M = {}

local LINE = ("─"):rep(200)

---@param lines string[]
---@param at integer
---@return boolean
local function is_break(lines, at)
  local marks = lines[at]:gsub("%s", "")
  local is_rule = #marks >= 3 and marks:find("^[-*_]") and marks == marks:sub(1, 1):rep(#marks)
  -- Below a text it makes a heading of that.
  local stands_alone = (lines[at - 1] or ""):find("^%s*$") or (lines[at - 1] or ""):find("^%s*[`~]")
  return is_rule and stands_alone ~= nil and not fences.around(lines, at)
end

--- Draws those of a text, from a line on; the last line may go on.
---@param buffer integer
---@param namespace integer
---@param lines string[] of the text
---@param row integer of the first one
---@param from integer
function M.draw(buffer, namespace, lines, row, from)
  for at = from, #lines - 1 do
    if is_break(lines, at) then
      vim.api.nvim_buf_set_extmark(buffer, namespace, row + at - 1, 0, {
        virt_text = { { LINE, "AgentHint" } },
        virt_text_pos = "overlay",
        invalidate = true,
      })
    end
  end
end

return M
