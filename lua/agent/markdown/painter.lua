-- Draws the markdown of a transcript at each redraw: marks for the lines in view, which no buffer keeps. The text stays.
local below = require("agent.markdown.below")
local code = require("agent.markdown.code")
local config = require("agent.config")
local structure = require("agent.markdown.structure")
local table_view = require("agent.markdown.table")
local wrap = require("agent.markdown.wrap")

local M = {}

local namespace = vim.api.nvim_create_namespace("agent.markdown")

--- Priorities above tree-sitter's highlights of blocks, above those of code, and above those of words.
local UNDER, SYNTAX, OVER = 91, 105, 150

--- Code is plain where nothing else highlights it.
local CODE = { "Normal", "AgentCodeBlock" }

local BULLETS = { "•", "◦", "▪" }
local TASKS = { open = "☐", done = "☑" }

--- Plugins that draw markdown, by the beginning of their namespaces.
local OTHERS = { ["render-markdown"] = "render-markdown", markview = "markview" }

--- Of each buffer.
---@type table<integer, agent.Renderer>
local renderers = {}

--- The window that Neovim draws now, and the block of the last line.
---@class agent.MarkdownPage
---@field renderer agent.Renderer
---@field buffer integer
---@field wraps boolean    its lines continue where wrap.lua says
---@field can_place boolean  lines may stand below a row
---@field width integer   columns of text
---@field cursor integer  the row that shows its source, from 0; -1 for none
---@field index integer
---@field first integer   row of the block's first line
---@field last integer    of the line after it
---@field text? agent.MarkdownText  of prose
local page

--- A table with lines below its rows.
---@class agent.TallTable
---@field buffer integer
---@field table agent.MarkdownTable
---@field view agent.TableView
---@field width integer  its columns
---@field drawn agent.Drawn  the block that contains it

--- Those without their lines, found in this redraw.
---@type agent.TallTable[]
local tall = {}

--- True if another plugin has drawn in the buffer.
---@param buffer integer
---@return boolean
local function is_drawn_by_others(buffer)
  for module, prefix in pairs(OTHERS) do
    for name, id in pairs(package.loaded[module] and vim.api.nvim_get_namespaces() or {}) do
      if vim.startswith(name, prefix) and #vim.api.nvim_buf_get_extmarks(buffer, id, 0, -1, { limit = 1 }) > 0 then
        return true
      end
    end
  end
  return false
end

--- The structure of a block, up to its present end.
---@param drawn agent.Drawn
---@return agent.MarkdownText
local function text_of(drawn)
  local text = drawn.markdown
  if not text or text.lines ~= drawn.lines then
    text = structure.new(drawn.lines)
    drawn.markdown = text
  end
  structure.read(text, drawn.block.status == "open")
  return text
end

---@param renderer agent.Renderer
---@param drawn agent.Drawn
---@return integer?
local function index_of(renderer, drawn)
  return vim.iter(ipairs(renderer.drawn)):find(function(_, one)
    return one == drawn
  end)
end

--- Finds the block of a row.
---@param row integer
---@return boolean is_prose
local function go_to(row)
  if row < page.first or row >= page.last then
    local index = page.renderer:block_at(row)
    local drawn = index and page.renderer.drawn[index]
    page.first = drawn and page.renderer:row(index) or row
    page.last = drawn and page.first + #drawn.lines or row + 1
    page.index, page.text = index or 0, drawn and drawn.is_prose and text_of(drawn) or nil
  end
  -- The empty row below a block belongs to none.
  return page.text ~= nil and row >= page.first and row < page.last
end

---@param row integer
---@param from integer
---@param options vim.api.keyset.set_extmark
local function mark(row, from, options)
  options.ephemeral, options.strict = true, false
  vim.api.nvim_buf_set_extmark(page.buffer, namespace, row, from, options)
end

---@param row integer
---@param from integer
---@param to integer
---@param sign string
---@param group? string
local function conceal(row, from, to, sign, group)
  mark(row, from, { end_col = to, conceal = sign, hl_group = group, priority = OVER })
end

--- Text over a line, unless the line shows its source.
---@param row integer
---@param from integer
---@param pieces agent.Piece[]
---@param repeats? boolean in each of its screen lines
---@param stays? boolean also where the cursor is
local function cover(row, from, pieces, repeats, stays)
  if row ~= page.cursor or stays then
    mark(row, from, { virt_text = pieces, virt_text_pos = "overlay", virt_text_repeat_linebreak = repeats })
  end
end

---@param row integer
---@param item agent.MarkdownLine
---@param line string
local function code_background(row, item, line)
  local indent = item.block.indent
  for at, group in ipairs(CODE) do
    local options = { end_row = row + 1, end_col = 0, hl_group = group, hl_eol = true, priority = UNDER + at }
    mark(row, math.min(indent, #line), options)
  end
  local blank = line:sub(indent + 1):match("^ *")
  local before = page.wraps and math.min(wrap.indent(line, page.width) - indent, #blank) or 0
  if before > 0 and vim.api.nvim_strwidth(line) > page.width then
    -- Neovim draws no background before the text of continued lines.
    local fill = { { (" "):rep(before), "AgentCodeBlock" } }
    mark(row, 0, { virt_text = fill, virt_text_win_col = indent, virt_text_repeat_linebreak = true })
  end
end

--- Lays out a table; nil if the window is too narrow, or if continued rows would begin at another column.
---@param found agent.MarkdownTable
---@param width integer
---@return agent.TableView?
local function lay_out(found, width)
  local indent = #found.rows[1]:match("^%s*")
  local view = table_view.draw(found.rows, width - indent)
  for index, row in ipairs(view and found.rows or {}) do
    local starts = wrap.starts(row, width)
    if #row:match("^%s*") ~= indent or wrap.indent(row, width) ~= indent then
      return
    end
    starts[1], view.starts[index] = indent, starts
    view.is_tall = view.is_tall or #view.rows[index] > #starts
    view.wraps = view.wraps or #starts > 1
  end
  return view
end

--- The lines of each row of a table in this window.
---@param found agent.MarkdownTable
---@return agent.TableView|false
local function view_of(found)
  local width = page.width
  if found.views[width] == nil then
    found.views[width] = lay_out(found, width) or false
  end
  local view = found.views[width]
  return view and (page.wraps or not view.wraps) and view or false
end

local DRAW = {}

---@param row integer
---@param item agent.MarkdownLine
---@param line string
function DRAW.text(row, item, line)
  for at, column in ipairs(item.quotes or {}) do
    -- Where continued lines begin at the bar, it would cover their text.
    local repeats = at == 1 and page.wraps and column < wrap.indent(line, page.width)
    cover(row, column, { { "▎", "AgentQuote" } }, repeats)
  end
  if item.quotes then
    mark(row, 0, { end_col = #line, hl_group = "AgentQuote", priority = UNDER })
  end
  if item.task then
    conceal(row, item.bullet, item.bullet + 3, TASKS[item.task], "AgentBullet")
    conceal(row, item.bullet + 3, item.bullet + 5, "")
  elseif item.bullet then
    conceal(row, item.bullet, item.bullet + 1, BULLETS[math.min(item.depth, #BULLETS)], "AgentBullet")
  end
end

function DRAW.heading(row, item, line)
  conceal(row, 0, item.from, "")
  mark(row, 0, { end_col = #line, hl_group = "AgentHeading" .. math.min(item.level, 3), priority = OVER })
end

function DRAW.rule(row)
  cover(row, 0, { { ("─"):rep(page.width), "AgentTable" } })
end

function DRAW.fence(row, item, line)
  code_background(row, item, line)
  local from = item.block.indent
  local label, width = item.block.language, vim.api.nvim_strwidth(line) - from
  local room = math.max(0, width - vim.api.nvim_strwidth(label))
  cover(row, from, { { label .. (" "):rep(room), { "AgentCodeBlock", "AgentCodeLabel" } } })
end

function DRAW.close(row, item, line)
  code_background(row, item, line)
  cover(row, item.block.indent, { { (" "):rep(#line - item.block.indent), "AgentCodeBlock" } })
end

--- Makes a function that redraws lines of a code block.
---@param block agent.CodeBlock
---@return fun(first: integer, last: integer)
local function redraws(block)
  local renderer, buffer, drawn = page.renderer, page.buffer, page.renderer.drawn[page.index]
  return function(first, last)
    local index = renderers[buffer] == renderer and index_of(renderer, drawn)
    if index then
      local row = renderer:row(index) + block.first
      vim.api.nvim__redraw({ buf = buffer, range = { row + first - 1, row + last } })
    end
  end
end

function DRAW.code(row, item, line)
  code_background(row, item, line)
  local spans, column = code.spans(page.text, item.block, row - page.first + 1, function()
    return redraws(item.block)
  end)
  for _, span in ipairs(spans) do
    mark(row, column + span[1], { end_col = column + span[2], hl_group = span[3], priority = SYNTAX })
  end
end

function DRAW.row(row, item)
  local found = item.table
  found.is_seen = true
  local view = found.is_whole and view_of(found)
  if not view then
    return
  elseif view.is_tall and not page.can_place then
    return
  elseif view.is_tall and not view.is_placed then
    local drawn = page.renderer.drawn[page.index]
    table.insert(tall, { buffer = page.buffer, table = found, view = view, width = page.width, drawn = drawn })
  end
  local lines = view.rows[item.index]
  for at, start in ipairs(view.starts[item.index]) do
    local width, pieces = 0, vim.list_slice(lines[at] or {})
    for _, piece in ipairs(pieces) do
      width = width + vim.api.nvim_strwidth(piece[1])
    end
    table.insert(pieces, { (" "):rep(page.width - view.starts[item.index][1] - width) })
    -- The lines below a tall row stay, so its source would be a second copy.
    cover(row, start, pieces, false, view.is_tall)
  end
end

--- Places the lines that a tall table needs.
---@param one agent.TallTable
local function place(one)
  local renderer = renderers[one.buffer]
  local index = renderer and index_of(renderer, one.drawn)
  if index and not one.view.is_placed and below.can_place(one.buffer) then
    below.place(one.buffer, one.view, one.width, renderer:row(index) + one.table.first - 1)
  end
end

---@param row integer
local function draw(row)
  if go_to(row) then
    local at = row - page.first + 1
    local item = structure.at(page.text, at)
    DRAW[item.kind](row, item, page.text.lines[at])
  end
end

--- True if the window still has the options of ui/prose.lua that decide where lines continue.
---@param win integer
---@return boolean
local function wraps_as_prose(win)
  local options = vim.wo[win]
  return options.wrap and options.linebreak and options.breakindent and options.showbreak == "NONE"
end

vim.api.nvim_set_decoration_provider(namespace, {
  on_win = function(_, win, buffer, first)
    local renderer = renderers[buffer]
    local draws = renderer and vim.wo[win].conceallevel > 0 and M.draws(buffer)
    local info = vim.fn.getwininfo(win)[1]
    local width = info.width - info.textoff
    local can_place = draws and below.can_place(buffer)
    if renderer and below.is_stale(buffer, can_place and width or nil) then
      vim.schedule_wrap(below.clear)(buffer)
    end
    if not draws then
      return false
    end
    local is_current = win == vim.api.nvim_get_current_win()
    page = {
      renderer = renderer,
      buffer = buffer,
      can_place = can_place,
      width = width,
      wraps = wraps_as_prose(win),
      cursor = is_current and vim.api.nvim_win_get_cursor(win)[1] - 1 or -1,
      index = 0,
      first = first,
      last = first,
    }
  end,
  on_line = function(_, _, buffer, row)
    local ok, problem = true, nil
    if renderers[buffer] then
      ok, problem = xpcall(draw, debug.traceback, row)
    end
    if not ok then
      -- Neovim would ask for a key at each redraw.
      renderers[buffer] = nil
      vim.schedule_wrap(require("agent.ui.say").bug)(problem)
    end
  end,
  on_end = function()
    local found = tall
    if #found > 0 then
      tall = {}
      vim.schedule(function()
        vim.iter(found):each(place)
      end)
    end
  end,
})

--- True if the option and other plugins let us draw.
---@param buffer integer
---@return boolean
function M.draws(buffer)
  local option = config.get().ui.markdown
  return option == true or option == "auto" and not is_drawn_by_others(buffer)
end

--- Draws the prose of a buffer's renderer.
---@param buffer integer
---@param renderer agent.Renderer
function M.attach(buffer, renderer)
  renderers[buffer] = renderer
  vim.api.nvim_create_autocmd("BufUnload", {
    buffer = buffer,
    once = true,
    callback = function()
      renderers[buffer] = nil
      vim.schedule_wrap(below.clear)(buffer)
    end,
  })
end

--- Redraws lines that look different now that the text has grown or ended: the last one, a table that is whole, and
--- code that is complete.
---@param buffer integer
---@param drawn agent.Drawn
---@param row integer of its first line
function M.update(buffer, drawn, row)
  local text = drawn.markdown
  if not text or text.lines ~= drawn.lines then
    return
  end
  local last, found, block = #drawn.lines, text.table, text.block
  text_of(drawn)
  local coloured = code.update(text, block)
  local has_ended = #text.items == last
  local first = found and found.is_whole and found.is_seen and found.first or has_ended and last or coloured
  if first then
    first = math.min(first, coloured or first)
    vim.api.nvim__redraw({ buf = buffer, range = { row + first - 1, row + last } })
  end
end

return M
