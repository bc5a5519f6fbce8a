-- Shows the next request to the model, part by part, in a tab page.
local format = require("agent.ui.format")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.context")

--- Groups that differ most between sessions come first.
---@type { [1]: string, [2]: string }[]
local GROUPS = {
  { "messages", "Messages" },
  { "files", "Files" },
  { "results", "Tool results" },
  { "rules", "Files of rules" },
  { "system", "Prompt" },
  { "tools", "Tools" },
}

--- Bytes of a token in English and code.
local CHARACTERS_A_TOKEN = 4

--- Named parts of a group: the largest, and more of those that the user can drop.
local MOST_PARTS = 12
local MOST_CHOICES = 50

--- Most and fewest columns of a name, and of the text after it.
local WIDEST_NAME, NARROWEST_NAME, FIGURES = 44, 12, 23

---@param characters integer
---@return string
local function tokens(characters)
  return format.count(math.ceil(characters / CHARACTERS_A_TOKEN))
end

---@param name string
---@param characters integer
---@param all integer
---@param width integer columns
---@return string
local function row(name, characters, all, width)
  local room = math.max(NARROWEST_NAME, math.min(WIDEST_NAME, width - FIGURES))
  name = format.cut(format.one_line(name), room - 1)
  local pad = (" "):rep(room - vim.api.nvim_strwidth(name))
  return ("%s%s%8s%5.0f%%"):format(name, pad, tokens(characters), 100 * characters / math.max(1, all))
end

---@param part table
---@return string
local function mark(part)
  return part.state and "  " .. part.state or part.next and "  next" or ""
end

--- The lines of the page, the highlight group of some, and the parts of some.
---@param context table the answer to the request `context`
---@return string[] lines, table<integer, string> groups by line, from 1
---@return table<integer, table> parts by line: those that can be dropped and pinned
function M.lines(context)
  local lines, groups, choices = {}, {}, {}
  local width = vim.o.columns
  local function add(text, group)
    table.insert(lines, text)
    groups[#lines] = group
  end
  local function sum(parts)
    return vim.iter(parts):fold(0, function(all, part)
      return all + part.characters
    end)
  end
  local all = sum(context.parts)
  local window = context.window and (" of %s"):format(format.count(context.window)) or ""
  add(("The next request sends about %s%s tokens."):format(tokens(all), window), "AgentTitle")
  if context.window_from then
    add(("The context window is %d tokens (%s)."):format(context.window, format.one_line(context.window_from)), "AgentHint")
  end
  add("")
  for _, group in ipairs(GROUPS) do
    local parts = vim.tbl_filter(function(part)
      return part.group == group[1]
    end, context.parts)
    if #parts > 0 then
      add(row(group[2], sum(parts), all, width), "AgentTitle")
      table.sort(parts, function(a, b)
        return a.characters ~= b.characters and a.characters > b.characters
          or a.characters == b.characters and a.name < b.name
      end)
      local most = parts[1].id and MOST_CHOICES or MOST_PARTS
      for _, part in ipairs(vim.list_slice(parts, 1, most)) do
        local size = part.bytes and (" (%d bytes)"):format(part.bytes) or ""
        add(row("  " .. part.name .. size, part.characters, all, width) .. mark(part))
        choices[#lines] = part.id and part or nil
      end
      local rest = vim.list_slice(parts, most + 1)
      if #rest > 0 then
        add(row(("  %d more"):format(#rest), sum(rest), all, width), "AgentHint")
      end
      add("")
    end
  end
  local broken = context.broken
  if broken then
    local kept = 100 * broken.kept / math.max(1, broken.sent)
    add(("A request did not begin as the one before: %s."):format(format.one_line(broken.reason)), "AgentTitle")
    local cost = broken.cost and (", some %s more"):format(format.money(broken.cost)) or ""
    add(("It differed from %s on; %.0f%% could come from the cache%s."):format(format.one_line(broken.where), kept, cost))
  else
    add("Each request began as the one before.", "AgentHint")
  end
  add("")
  add("d drops a file, a result or rules, p pins it, each again takes that back.", "AgentHint")
  add("next: it becomes a line first when the window fills up; never what is pinned.", "AgentHint")
  return lines, groups, choices
end

--- Shows the answer to the request `context` in a tab page.
---@param context table
---@param change fun(change: table, done: fun(context: table)) changes a part and requests the context again
function M.show(context, change)
  require("agent.ui.highlights").define()
  local lines, groups, choices = M.lines(context)
  local buffer = require("agent.ui.page").open(lines, "the context", { "d drop", "p pin" })
  local function draw()
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
    vim.bo[buffer].modifiable = false
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    for line, group in pairs(groups) do
      vim.api.nvim_buf_set_extmark(buffer, namespace, line - 1, 0, { end_col = #lines[line], hl_group = group })
    end
  end
  --- Keeps the cursor on its part.
  local function redraw(answer, id)
    if not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    lines, groups, choices = M.lines(answer)
    draw()
    for line, part in pairs(choices) do
      for _, window in ipairs(part.id == id and vim.fn.win_findbuf(buffer) or {}) do
        vim.api.nvim_win_set_cursor(window, { line, 0 })
      end
    end
  end
  local function key(lhs, state, doc)
    vim.keymap.set("n", lhs, function()
      local part = choices[vim.api.nvim_win_get_cursor(0)[1]]
      if not part then
        return require("agent.ui.say").info("files, results and rules can be dropped and pinned")
      end
      change({ id = part.id, to = part.state == state and "plain" or state }, function(answer)
        redraw(answer, part.id)
      end)
    end, { buffer = buffer, nowait = true, desc = "Agent: " .. doc })
  end
  key("d", "dropped", "drop this part, or bring it back")
  key("p", "pinned", "pin this part, or no longer")
  draw()
end

return M
