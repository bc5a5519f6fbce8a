-- Shows the next request to the model, part by part, in a tab page.
local bars = require("agent.ui.bars")
local format = require("agent.ui.format")
local page = require("agent.ui.page")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.context")

--- Each group with its title, its character in the bar and the highlight group of that. Groups that differ most between
--- sessions come first; a request has them in the opposite order. The characters have the same width, whatever
--- 'ambiwidth' is.
---@type { [1]: string, [2]: string, [3]: string, [4]: string }[]
local GROUPS = {
  { "messages", "Messages", "█", "AgentUser" },
  { "files", "Files", "▓", "AgentAdded" },
  { "results", "Tool results", "▒", "AgentNotice" },
  { "rules", "Files of rules", "≡", "AgentWarning" },
  { "system", "Prompt", "═", "AgentTool" },
  { "tools", "Tools", "×", "AgentThought" },
}

--- The mark in the bar where old entries are folded.
local LIMIT = "│"

--- Named parts of a group: the largest, and more of those that the user can drop.
local MOST_PARTS = 12
local MOST_CHOICES = 50

--- Most and fewest columns of a name, and of the text after it.
local WIDEST_NAME, NARROWEST_NAME, FIGURES = 44, 12, 23

---@param name string
---@param tokens number
---@param percentage string
---@param width integer columns
---@return string
local function row(name, tokens, percentage, width)
  local room = math.max(NARROWEST_NAME, math.min(WIDEST_NAME, width - FIGURES))
  name = format.cut(format.one_line(name), room - 1)
  local pad = (" "):rep(room - vim.api.nvim_strwidth(name))
  return ("%s%s%8s%6s"):format(name, pad, format.count(math.ceil(tokens)), percentage)
end

---@param parts table[]
---@return number
local function sum(parts)
  return vim.iter(parts):fold(0, function(all, part)
    return all + part.tokens
  end)
end

--- The categories of the window in the order of the request, then what is free.
---@param context table
---@return { title: string, character: string, group: string, tokens: number }[]
local function categories(context)
  local list = {}
  for index = #GROUPS, 1, -1 do
    local name, title, character, group = unpack(GROUPS[index])
    local parts = vim.tbl_filter(function(part)
      return part.group == name
    end, context.parts)
    table.insert(list, { title = title, character = character, group = group, tokens = sum(parts) })
  end
  local free = math.max(0, (context.window or 0) - sum(context.parts))
  table.insert(list, { title = "Free", character = bars.EMPTY, group = "AgentHint", tokens = free })
  return vim.tbl_filter(function(category)
    return category.tokens > 0
  end, list)
end

--- The bar of the window: a cell of each category at least, and the mark, which hides none.
---@param list table[] categories
---@param limit? number tokens at the mark
---@param width integer columns
---@return { [1]: string, [2]: string }[] chunks one for each cell
local function window_bar(list, limit, width)
  local values = vim.tbl_map(function(category)
    return category.tokens
  end, list)
  local counts = bars.split(values, bars.cells(width) - (limit and 1 or 0))
  local chunks, used, sent = {}, 0, 0
  for index, category in ipairs(list) do
    for _ = 1, counts[index] do
      table.insert(chunks, { category.character, category.group })
    end
    if category.character ~= bars.EMPTY then
      used, sent = used + counts[index], sent + category.tokens
    end
  end
  if limit then
    local place = math.floor(#chunks * math.min(1, limit / sum(list)) + 0.5)
    -- Small categories are wider than their share, so the rounded place may be on the wrong side of their end.
    place = sent > limit and math.min(place, used) or math.max(place, used)
    table.insert(chunks, place + 1, { LIMIT, "AgentToolWaiting" })
  end
  return chunks
end

--- The bar with a legend.
---@param context table
---@param width integer
---@param add fun(text: string|table, group?: string)
local function add_window(context, width, add)
  local list = categories(context)
  add(window_bar(list, context.folds_above, width))
  local percentages = bars.percentages(vim.tbl_map(function(category)
    return category.tokens
  end, list))
  for index, category in ipairs(list) do
    local text = row(category.character .. " " .. category.title, category.tokens, percentages[index], width)
    add({ { category.character, category.group }, { text:sub(#category.character + 1) } })
  end
  local limit = context.folds_above
  if limit then
    local text = row(LIMIT .. " Compacts above", limit, bars.percentage(limit, context.window), width)
    add({ { LIMIT, "AgentToolWaiting" }, { text:sub(#LIMIT + 1) } })
  end
end

---@param part table
---@return string
local function mark(part)
  return part.state and "  " .. part.state or part.next and "  next" or ""
end

--- A group's parts, the largest first.
---@param title string
---@param character string
---@param parts table[]
---@param all number tokens of the request
---@param width integer
---@param add fun(text: string|table, group?: string, part?: table)
local function add_parts(title, character, parts, all, width, add)
  local function text(name, tokens)
    return row(name, tokens, bars.percentage(tokens, all), width)
  end
  add(text(character .. " " .. title, sum(parts)), "AgentTitle")
  table.sort(parts, function(a, b)
    return a.characters ~= b.characters and a.characters > b.characters
      or a.characters == b.characters and a.name < b.name
  end)
  local most = parts[1].id and MOST_CHOICES or MOST_PARTS
  for _, part in ipairs(vim.list_slice(parts, 1, most)) do
    local size = part.bytes and (" (%d bytes)"):format(part.bytes) or ""
    add(text("  " .. part.name .. size, part.tokens) .. mark(part), nil, part)
  end
  local rest = vim.list_slice(parts, most + 1)
  if #rest > 0 then
    add(text(("  %d more"):format(#rest), sum(rest)), "AgentHint")
  end
  add("")
end

--- The lines of the page, their highlights, and the parts of some.
---@param context table the answer to the request `context`
---@param width integer columns
---@return string[] lines
---@return table<integer, table[]> spans by line, see ui/page.lua
---@return table<integer, table> parts by line
function M.lines(context, width)
  local lines, spans, add_line = page.lines()
  local parts_at = {}
  local function add(text, group, part)
    add_line(text, group)
    parts_at[#lines] = part
  end
  local characters = vim.iter(context.parts):fold(0, function(all, part)
    return all + part.characters
  end)
  for index, part in ipairs(context.parts) do
    part.at = index - 1
    part.tokens = context.tokens * part.characters / math.max(1, characters)
  end
  local window = context.window and (" of %s"):format(format.count(context.window)) or ""
  add(("The next request sends about %s%s tokens."):format(format.count(context.tokens), window), "AgentTitle")
  add_window(context, width, add)
  if context.window_from then
    add(("The context window is %d tokens (%s)."):format(context.window, format.one_line(context.window_from)), "AgentHint")
  end
  add("")
  add("The parts, in percent of the request:", "AgentHint")
  for _, group in ipairs(GROUPS) do
    local parts = vim.tbl_filter(function(part)
      return part.group == group[1]
    end, context.parts)
    if #parts > 0 then
      add_parts(group[2], group[3], parts, context.tokens, width, add)
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
  add("<CR> shows a part as it is sent.", "AgentHint")
  add("d drops a file, a result or rules, p pins it, each again takes that back.", "AgentHint")
  add("next: it becomes a line first when the window fills up; never what is pinned.", "AgentHint")
  return lines, spans, parts_at
end

--- Shows a part as it is sent in a tab page.
---@param part table
---@param text string
local function show_part(part, text)
  local name = format.one_line(part.name):gsub("%%", "%%%%")
  local buffer = page.open(vim.split(text, "\n"), "the part", { name })
  local is_json = part.group == "tools"
  if is_json or part.group ~= "files" and part.group ~= "results" then
    require("agent.deep").set_filetype(buffer, is_json and "json" or "markdown")
  end
end

--- Shows the answer to the request `context` in a tab page.
---@param context table
---@param change fun(change: table, done: fun(context: table)) changes a part and requests the context again
---@param read fun(part: table, done: fun(text: string)) requests the text of a part
function M.show(context, change, read)
  require("agent.ui.highlights").define()
  local lines, spans, parts_at = M.lines(context, vim.o.columns)
  local buffer = page.open(lines, "the context", { "<CR> read", "d drop", "p pin" })
  local function draw()
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
    vim.bo[buffer].modifiable = false
    page.highlight(buffer, namespace, lines, spans)
  end
  --- Keeps the cursor on its part.
  local function redraw(answer, id)
    if not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    lines, spans, parts_at = M.lines(answer, vim.o.columns)
    draw()
    for line, part in pairs(parts_at) do
      for _, window in ipairs(part.id == id and vim.fn.win_findbuf(buffer) or {}) do
        vim.api.nvim_win_set_cursor(window, { line, 0 })
      end
    end
  end
  local function key(lhs, state, doc)
    vim.keymap.set("n", lhs, function()
      local part = parts_at[vim.api.nvim_win_get_cursor(0)[1]]
      if not (part and part.id) then
        return require("agent.ui.say").info("files, results and rules can be dropped and pinned")
      end
      change({ id = part.id, to = part.state == state and "plain" or state }, function(answer)
        redraw(answer, part.id)
      end)
    end, { buffer = buffer, nowait = true, desc = "Agent: " .. doc })
  end
  vim.keymap.set("n", "<CR>", function()
    local part = parts_at[vim.api.nvim_win_get_cursor(0)[1]]
    if not part then
      return require("agent.ui.say").info("no part is on this line")
    end
    read(part, function(text)
      show_part(part, text)
    end)
  end, { buffer = buffer, nowait = true, desc = "Agent: show this part as it is sent" })
  key("d", "dropped", "drop this part, or bring it back")
  key("p", "pinned", "pin this part, or no longer")
  draw()
end

return M
