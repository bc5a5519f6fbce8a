-- The sub-command that edits lines in place.

---@param chats agent.Chats
---@param wish? string  nil asks
---@param options agent.ActionOptions  without a range: the cursor's line or fold
local function edit(chats, wish, options)
  local line = vim.fn.line(".")
  local range = options.range or { first = line, last = line }
  if not options.range and vim.fn.foldclosed(line) > 0 then
    range = { first = vim.fn.foldclosed(line), last = vim.fn.foldclosedend(line) }
  end
  local in_place, operator = require("agent.in_place"), require("agent.in_place.edit_operator")
  local buffer, is_operator = vim.api.nvim_get_current_buf(), operator.take_running()
  if not in_place.can_edit(buffer) then
    return
  end
  local function begin(text)
    text = vim.trim(text or "")
    if text == "" or not in_place.edit(chats, buffer, range, text) then
      return
    elseif is_operator then
      operator.remember(text)
    elseif vim.api.nvim_get_current_buf() == buffer then
      operator.teach(text, range.last - range.first + 1)
    end
  end
  if wish and vim.trim(wish) ~= "" then
    return begin(wish)
  end
  vim.ui.input({ prompt = "Edit: " }, begin)
end

---@type agent.Action[]
return {
  {
    name = "edit",
    args = "{text}",
    takes = "text",
    ranged = true,
    doc = "Edit the lines of the range in place, as the text says.",
    starts = "with_text",
    run = edit,
  },
}
