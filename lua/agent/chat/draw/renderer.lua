-- Draws blocks into a buffer: appends new ones, and later rewrites only their changes. The rest of the buffer stays
-- untouched, so a long session costs no more than a short one.
local columns = require("agent.chat.draw.columns")
local marks = require("agent.chat.draw.marks")
local text = require("agent.timeline.lines")

---@class agent.Drawn
---@field block agent.Block
---@field lines string[]     as in the buffer, without the empty one before
---@field headers agent.Headers
---@field owners agent.Owners
---@field gap integer        empty lines before the block
---@field taken integer      drawn bytes of the text; text blocks only
---@field is_prose boolean      markdown of the model
---@field markdown? agent.MarkdownText  its structure, once it was in view
---@field cuts integer[]      lines from 1 at which markdown.lua may begin to parse

---@class agent.Renderer
---@field buffer integer
---@field drawn agent.Drawn[]
---@field total integer lines in the buffer
---@field head integer  lines above the first block, about older messages
---@field width? integer  columns of text for which it was drawn
---@field near? { index: integer, row: integer }  the last block that was looked up, and its first line
---@field on_prose? fun()  called once, with the first prose
local Renderer = {}
Renderer.__index = Renderer

local OLDER = "Older messages: scroll up"

---@param buffer integer
---@param on_prose fun()
---@return agent.Renderer
function Renderer.new(buffer, on_prose)
  return setmetatable({ buffer = buffer, drawn = {}, total = 0, head = 0, on_prose = on_prose }, Renderer)
end

--- First line of a block's own text, from 0. It counts from the end, where most changes are, or from the last block
--- that was looked up: all of a long turn may change at once.
---@param index integer
---@return integer
function Renderer:row(index)
  local at, row = #self.drawn + 1, self.total
  if self.near and math.abs(self.near.index - index) < at - index then
    at, row = self.near.index, self.near.row
  end
  while at > index do
    at = at - 1
    row = row - #self.drawn[at].lines - (self.drawn[at + 1] and self.drawn[at + 1].gap or 0)
  end
  while at < index do
    row = row + #self.drawn[at].lines + self.drawn[at + 1].gap
    at = at + 1
  end
  self.near = { index = index, row = row }
  return row
end

--- The lines of a block, as in the buffer.
---@param index integer
---@return string[]
function Renderer:lines(index)
  return self.drawn[index].lines
end

--- Each block's index and first line, in order.
---@return fun(): integer?, integer?
function Renderer:rows()
  local index, row = 0, self.head
  return function()
    local before = self.drawn[index]
    index = index + 1
    local drawn = self.drawn[index]
    if drawn then
      row = row + (before and #before.lines + drawn.gap or 0)
      return index, row
    end
  end
end

--- The block of a line in the buffer.
---@param row integer from 0
---@return integer? index
function Renderer:block_at(row)
  local start = self.total
  for index = #self.drawn, 1, -1 do
    start = start - #self.drawn[index].lines
    if row >= start then
      return index
    end
    start = start - self.drawn[index].gap
  end
end

--- The call or the thought of a line in the buffer, within its block.
---@param row integer from 0
---@return agent.Owner?
function Renderer:owner_at(row)
  local index = self:block_at(row)
  return index and self.drawn[index].owners[row - self:row(index) + 1]
end

--- The markdown pieces of these rows: a block of prose each, or less where cuts are known.
---@param first integer from 0
---@param last integer
---@return { [1]: integer, [2]: integer }[] pieces rows, the last one exclusive
function Renderer:prose(first, last)
  local pieces = {}
  local from, to = self:block_at(first) or 1, self:block_at(last) or #self.drawn
  for index = from, to do
    local drawn = self.drawn[index]
    if drawn and drawn.is_prose and #drawn.lines > 0 then
      local row = self:row(index)
      local begins, ends = row, row + #drawn.lines
      for _, cut in ipairs(drawn.cuts) do
        local at = row + cut - 1
        begins = at <= first and at or begins
        ends = at > last and math.min(ends, at) or ends
      end
      table.insert(pieces, { begins, ends })
    end
  end
  return pieces
end

--- Notes where a markdown block begins. The growing end of a text gets no cut.
---@param row integer from 0
function Renderer:cut(row)
  local index = self:block_at(row)
  local drawn = self.drawn[index]
  local line = drawn and row - self:row(index) + 1
  local is_new = drawn and line > (drawn.cuts[#drawn.cuts] or 1) and line < #drawn.lines - 1
  -- A document may begin with metadata between such lines.
  if is_new and not drawn.lines[line]:find("^[-+]") then
    table.insert(drawn.cuts, line)
  end
end

---@param block agent.Block
---@return boolean
local function is_short(block)
  return block.kind == "tool" or block.kind == "thought" or block.kind == "run"
end

--- The visible block above.
---@param blocks agent.Block[]
---@param index integer
---@return agent.Block?
local function above(blocks, index)
  repeat
    index = index - 1
  until not (blocks[index] and blocks[index].kind == "moved")
  return blocks[index]
end

--- Empty lines between a block and the one before it.
---@param before? agent.Block
---@param block agent.Block
---@return integer
local function gap_between(before, block)
  local is_close = before == nil or block.kind == "moved" or (is_short(block) and is_short(before))
  return is_close and 0 or 1
end

---@param block agent.Block
---@param gap integer
---@return agent.Drawn
local function drawn_of(block, gap)
  local lines, headers, owners = text.lines(block)
  return {
    block = block,
    lines = lines,
    headers = headers,
    owners = owners,
    gap = gap,
    taken = #block.text,
    is_prose = block.kind == "text",
    cuts = {},
  }
end

--- Calls `on_prose` if this is the first prose.
---@param block agent.Block
function Renderer:note_prose(block)
  local on_prose = self.on_prose
  if on_prose and block.kind == "text" then
    self.on_prose = nil
    on_prose()
  end
end

---@param index integer
---@param row integer of its first line
function Renderer:mark(index, row)
  self:note_prose(self.drawn[index].block)
  marks.draw(self.buffer, self.drawn[index], row, self.width)
end

---@param index integer
---@param block agent.Block
---@param before? agent.Block
function Renderer:append(index, block, before)
  local drawn = drawn_of(block, gap_between(before, block))
  local lines = drawn.lines
  local written = drawn.gap == 1 and vim.list_extend({ "" }, lines) or lines
  -- A buffer always has a line: the first block replaces the empty one.
  vim.api.nvim_buf_set_lines(self.buffer, self.total == 0 and 0 or -1, -1, false, written)
  self.drawn[index] = drawn
  self.total = self.total + #written
  self:mark(index, self.total - #lines)
end

--- Redraws what looks different now that a text has grown or ended.
---@param drawn agent.Drawn
---@param row integer of its first line
function Renderer:update_prose(drawn, row)
  if drawn.markdown then
    require("agent.markdown.painter").update(self.buffer, drawn, row)
  end
end

--- Appends the new part of a growing text.
---@param index integer
---@param block agent.Block
function Renderer:extend(index, block)
  local drawn = self.drawn[index]
  if drawn.taken == #block.text then
    return self:update_prose(drawn, self:row(index))
  end
  local added = vim.split(block.text:sub(drawn.taken + 1), "\n")
  drawn.taken = #block.text
  local last = #drawn.lines
  local row = self:row(index) + last - 1
  local column = #drawn.lines[last]
  vim.api.nvim_buf_set_text(self.buffer, row, column, row, column, added)
  drawn.lines[last] = drawn.lines[last] .. added[1]
  for at = 2, #added do
    table.insert(drawn.lines, added[at])
  end
  self.total = self.total + #added - 1
  self:update_prose(drawn, row - last + 1)
end

---@param index integer
---@param block agent.Block
function Renderer:replace(index, block)
  local drawn = self.drawn[index]
  local lines, headers, owners = text.lines(block)
  local row = self:row(index)
  drawn.block, drawn.taken, drawn.is_prose = block, #block.text, block.kind == "text"
  drawn.headers, drawn.owners = headers, owners
  if not vim.deep_equal(lines, drawn.lines) then
    -- Marks of removed lines would move to the next block.
    marks.clear(self.buffer, row, row + #drawn.lines)
    vim.api.nvim_buf_set_lines(self.buffer, row, row + #drawn.lines, false, lines)
    self.total = self.total + #lines - #drawn.lines
    drawn.lines, drawn.cuts = lines, {}
  end
  self:mark(index, row)
  self:update_prose(drawn, row)
end

--- Removes the lines of a block that has moved into another one.
---@param index integer
---@param blocks agent.Block[]
function Renderer:remove(index, blocks)
  local drawn, row = self.drawn[index], self:row(index)
  local first, last = row - drawn.gap, row + #drawn.lines
  self.near = nil
  self.drawn[index] = drawn_of(blocks[index], 0)
  local next_one, next_block = self.drawn[index + 1], blocks[index + 1]
  if next_one and next_one.gap == 1 and gap_between(above(blocks, index), next_block) == 0 then
    next_one.gap, last = 0, last + 1
  end
  -- Otherwise the marks would move to the next line.
  marks.clear(self.buffer, first, last)
  vim.api.nvim_buf_set_lines(self.buffer, first, last, false, {})
  self.total = self.total - (last - first)
end

--- Aligns the columns and the numbers of turns anew if the width of the text has changed.
function Renderer:fit()
  local width = columns.width(self.buffer) or self.width
  if width == self.width then
    return
  end
  self.width = width
  for index, row in self:rows() do
    local drawn = self.drawn[index]
    if drawn.block.turn then
      self:mark(index, row)
    elseif next(drawn.headers) then
      columns.draw(self.buffer, drawn.lines, drawn.headers, row, width)
    end
  end
end

--- Draws the blocks with these indexes.
---@param blocks agent.Block[]
---@param changed table<integer, true>
function Renderer:draw(blocks, changed)
  self:fit()
  local indexes = vim.tbl_keys(changed)
  table.sort(indexes)
  vim.bo[self.buffer].modifiable = true
  for _, index in ipairs(indexes) do
    local block = blocks[index]
    if not self.drawn[index] then
      self:append(index, block, above(blocks, index))
    elseif block.kind == "moved" then
      self:remove(index, blocks)
    elseif block.kind == "text" and not block.is_rewritten then
      self:extend(index, block)
    else
      self:replace(index, block)
    end
  end
  vim.bo[self.buffer].modifiable = false
  vim.bo[self.buffer].modified = false
end

function Renderer:clear()
  self.drawn, self.total, self.head, self.near = {}, 0, 0, nil
  vim.bo[self.buffer].modifiable = true
  marks.clear(self.buffer, 0, -1)
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, false, {})
  vim.bo[self.buffer].modifiable = false
end

--- The view of each window on the buffer.
---@return table<integer, vim.fn.winsaveview.ret>
function Renderer:views()
  local views = {}
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
  end
  return views
end

--- Restores the views after lines were added above them.
---@param views table<integer, vim.fn.winsaveview.ret>
---@param head integer lines above the first block before
---@param added integer
function Renderer:keep_views(views, head, added)
  for window, view in pairs(views) do
    -- Moves from a removed line to the first remaining one.
    view.lnum = math.max(view.lnum, head + 1) + added
    view.topline = math.max(1, view.topline + added)
    vim.api.nvim_win_call(window, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- The lines of the first blocks, with the gap to the next one; notes the blocks as drawn.
---@param blocks agent.Block[]
---@param count integer
---@return string[] lines
---@return integer next_one index of the next one
function Renderer:lines_before(blocks, count)
  local lines, drawn = {}, {}
  for index = 1, count do
    local block = blocks[index]
    drawn[index] = drawn_of(block, gap_between(above(blocks, index), block))
    vim.list_extend(lines, drawn[index].gap == 1 and { "" } or {})
    vim.list_extend(lines, drawn[index].lines)
  end
  local first = 1
  while self.drawn[first + 1] and blocks[count + first].kind == "moved" do
    first = first + 1
  end
  local next_one = self.drawn[first]
  if next_one and count > 0 then
    next_one.gap = gap_between(above(blocks, count + first), blocks[count + first])
    vim.list_extend(lines, next_one.gap == 1 and { "" } or {})
  end
  self.drawn = vim.list_extend(drawn, self.drawn)
  return lines, count + first
end

--- Draws the first `count` blocks above the present ones. View and cursor of each window stay at their text.
---@param blocks agent.Block[]
---@param count integer
---@param more boolean older blocks are not loaded yet
function Renderer:prepend(blocks, count, more)
  self:fit()
  local views = self:views()
  local was_empty, head = self.total == 0, self.head
  local lines = more and { OLDER, "" } or {}
  self.head = #lines
  local before, next_one = self:lines_before(blocks, count)
  vim.list_extend(lines, before)
  local added = #lines - head
  self.total, self.near = self.total + added, nil
  vim.bo[self.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(self.buffer, 0, was_empty and -1 or head, false, lines)
  vim.bo[self.buffer].modifiable = false
  vim.bo[self.buffer].modified = false
  -- Marks of the former first line may have stayed at the first line.
  marks.clear(self.buffer, 0, #lines)
  if more then
    marks.mark(self.buffer, 0, 0, #OLDER, "AgentHint")
  end
  for index, row in self:rows() do
    if index > next_one then
      break
    end
    self:mark(index, row)
  end
  if not was_empty then
    self:keep_views(views, head, added)
  end
end

return Renderer
