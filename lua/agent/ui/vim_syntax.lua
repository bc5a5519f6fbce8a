-- Highlights code with Vim's syntax files, for languages without a tree-sitter parser. A hidden buffer for each
-- filetype takes the code; the groups of each line are read once and kept. No filetype is set, so no plugin starts.
local languages = require("agent.ui.languages")
local scratch = require("agent.ui.scratch")

local M = {}

---@alias agent.CodeSpan { [1]: integer, [2]: integer, [3]: string } bytes from 0, the last one exclusive; group

--- Lines of a block that are highlighted, and bytes of such a line.
local MOST_LINES, MOST_BYTES = 2000, 500

--- Work at once, and the pause before the next one.
local SLICE_MS, PAUSE_MS = 2, 4

--- A block that takes more CPU time stays plain from there. On a busy machine little work lasts long.
local MOST_MS = 2000

--- Hidden buffers.
local MOST_BUFFERS = 8

---@class agent.SyntaxBuffer
---@field number integer
---@field filetype string
---@field lines string[]  its text

--- The most recent one last.
---@type agent.SyntaxBuffer[]
local buffers = {}

--- A block of code, which may grow at its end.
---@class agent.SyntaxBlock
---@field filetype string
---@field on_more? fun(first: integer, last: integer)  called after lines were highlighted later
---@field lines string[]
---@field spans_of table<integer, agent.CodeSpan[]>
---@field done integer    lines with current spans
---@field wanted integer  lines that a caller waits for
---@field spent number    milliseconds of CPU time
---@field waits boolean   it is in the queue
local SyntaxBlock = {}
SyntaxBlock.__index = SyntaxBlock

--- The group of a syntax ID, or "" if it has no look.
---@type table<integer, string>
local group_of = setmetatable({ [0] = "" }, {
  __index = function(groups, id)
    local look = vim.api.nvim_get_hl(0, { id = id, create = false })
    -- Text of this group is invisible in some schemes, and code must not hide.
    local is_ignored = vim.fn.synIDtrans(id) == vim.fn.synIDtrans(vim.fn.hlID("Ignore"))
    groups[id] = next(look) and not is_ignored and vim.fn.synIDattr(id, "name") or ""
    return groups[id]
  end,
})

--- The spans of a line of the current buffer.
---@param row integer from 1
---@param line string
---@return agent.CodeSpan[]
local function read_line(row, line)
  local spans, group, from, to = {}, "", 0, 0
  local syn_id, last_id = vim.fn.synID, 0
  for column = 1, #line do
    local byte = line:byte(column)
    local is_blank, continues = byte <= 32, byte >= 0x80 and byte < 0xC0
    local id = (is_blank or continues) and last_id or syn_id(row, column, 1)
    if id ~= last_id then
      last_id = id
      if group_of[id] ~= group then
        table.insert(spans, group ~= "" and { from, to, group } or nil)
        group, from = group_of[id], column - 1
      end
    end
    -- Blanks belong to a span only inside of it.
    to = is_blank and to or column
  end
  table.insert(spans, group ~= "" and { from, to, group } or nil)
  return spans
end

--- Sources the syntax of a buffer again if `:syntax` has cleared it.
---@param buffer agent.SyntaxBuffer
local function load(buffer)
  local names = assert(languages.syntaxes(buffer.filetype))
  vim.api.nvim_buf_call(buffer.number, function()
    vim.cmd.syntax("clear")
    vim.b.current_syntax = nil
    for _, name in ipairs(names) do
      local files = { ("syntax/%s.vim"):format(name), ("syntax/%s.lua"):format(name) }
      vim.list_extend(files, { ("syntax/%s/*.vim"):format(name), ("syntax/%s/*.lua"):format(name) })
      vim.cmd({
        cmd = "runtime",
        args = files,
        bang = true,
        magic = { file = false, bar = false },
        mods = { noautocmd = true, emsg_silent = true },
      })
    end
    -- A string or a comment may begin far above.
    vim.cmd.syntax("sync fromstart")
    vim.b.current_syntax = vim.b.current_syntax or buffer.filetype
  end)
end

---@param buffer? agent.SyntaxBuffer
---@return boolean
local function is_ready(buffer)
  return buffer ~= nil
    and vim.api.nvim_buf_is_loaded(buffer.number)
    and vim.b[buffer.number].current_syntax ~= nil
end

---@param filetype string
---@return agent.SyntaxBuffer?
local function find_buffer(filetype)
  for index, buffer in ipairs(buffers) do
    if buffer.filetype == filetype then
      table.insert(buffers, table.remove(buffers, index))
      return buffer
    end
  end
end

--- A buffer with the syntax of a filetype, which may have been another's.
---@param filetype string
---@return agent.SyntaxBuffer
local function buffer_for(filetype)
  local buffer = find_buffer(filetype)
  if is_ready(buffer) then
    return buffer
  elseif not buffer then
    buffer = #buffers >= MOST_BUFFERS and table.remove(buffers, 1) or { number = -1, lines = {} }
    buffer.filetype = filetype
    table.insert(buffers, buffer)
  end
  if not vim.api.nvim_buf_is_loaded(buffer.number) then
    buffer.number, buffer.lines = scratch(nil, "hide"), {}
    vim.bo[buffer.number].undolevels = -1
  end
  load(buffer)
  return buffer
end

--- The first lines that two lists share.
---@param one string[]
---@param other string[]
---@return integer count
local function shared_lines(one, other)
  local count = 0
  while one[count + 1] ~= nil and one[count + 1] == other[count + 1] do
    count = count + 1
  end
  return count
end

--- Writes code into a hidden buffer.
---@param buffer agent.SyntaxBuffer
---@param lines string[]
local function write(buffer, lines)
  local shared = shared_lines(buffer.lines, lines)
  if shared < #lines or shared < #buffer.lines then
    local rest = vim.list_slice(lines, shared + 1)
    vim.api.nvim_buf_set_lines(buffer.number, shared, -1, false, rest)
    buffer.lines = vim.list_extend(vim.list_slice(buffer.lines, 1, shared), rest)
  end
end

--- Highlights lines until the time is over, but at least one.
---@param block agent.SyntaxBlock
local function advance(block)
  local start, cpu = vim.uv.hrtime(), os.clock()
  local buffer = buffer_for(block.filetype)
  write(buffer, block.lines)
  vim.api.nvim_buf_call(buffer.number, function()
    repeat
      block.done = block.done + 1
      block.spans_of[block.done] = read_line(block.done, block.lines[block.done])
    until block.done >= block.wanted or vim.uv.hrtime() - start > SLICE_MS * 1e6
  end)
  block.spent = block.spent + (os.clock() - cpu) * 1000
end

---@param block agent.SyntaxBlock
---@return boolean
local function has_work(block)
  return block.done < block.wanted and block.spent < MOST_MS and M.is_on()
end

---@type agent.SyntaxBlock[]
local queue = {}

--- One slice of the first block in the queue.
local function work()
  local block = queue[1]
  local first = block.done + 1
  if has_work(block) and not pcall(advance, block) then
    block.spent = MOST_MS
  end
  if not has_work(block) then
    table.remove(queue, 1)
    block.waits = false
  end
  if #queue > 0 then
    vim.defer_fn(work, PAUSE_MS)
  end
  if block.on_more and block.done >= first then
    block.on_more(first, block.done)
  end
end

---@param block agent.SyntaxBlock
local function enqueue(block)
  if block.waits or not has_work(block) then
    return
  end
  block.waits = true
  table.insert(queue, block)
  if #queue == 1 then
    vim.defer_fn(work, 0)
  end
end

--- Deletes the hidden buffers. They come back when they are needed.
function M.close()
  for _, buffer in ipairs(buffers) do
    pcall(vim.api.nvim_buf_delete, buffer.number, { force = true })
  end
  buffers = {}
end

--- False after `:syntax off`.
---@return boolean
function M.is_on()
  return vim.g.syntax_on ~= nil
end

--- Opens a block of code.
---@param filetype string
---@param on_more? fun(first: integer, last: integer) called outside of a redraw, after these lines were highlighted
---@return agent.SyntaxBlock? block nil if no syntax file exists for the filetype
function M.open(filetype, on_more)
  if languages.syntaxes(filetype) then
    local block = { filetype = filetype, on_more = on_more, lines = {}, spans_of = {} }
    block.done, block.wanted, block.spent, block.waits = 0, 0, 0, false
    return setmetatable(block, SyntaxBlock)
  end
end

--- The line as far as it is highlighted.
---@param line string
---@return string
local function short(line)
  return #line > MOST_BYTES and "" or line
end

--- Takes the present lines of the block. Spans of lines before the first change stay.
---@param lines string[]
function SyntaxBlock:set(lines)
  local taken = vim.tbl_map(short, vim.list_slice(lines, 1, MOST_LINES))
  self.done = math.min(self.done, shared_lines(self.lines, taken))
  self.lines = taken
  self.wanted = math.min(self.wanted, #taken)
end

--- Takes a line that is complete, after the present ones.
---@param line string
function SyntaxBlock:append(line)
  if #self.lines < MOST_LINES then
    table.insert(self.lines, short(line))
  end
end

--- Highlights lines at once as far as two milliseconds reach, and the rest soon. It must not be called in a redraw.
---@param last integer line that is wanted
---@return integer done lines that are highlighted
function SyntaxBlock:work(last)
  self.wanted = math.min(math.max(self.wanted, last), #self.lines)
  -- The first use of a syntax takes longer.
  if has_work(self) and is_ready(find_buffer(self.filetype)) and not pcall(advance, self) then
    self.spent = MOST_MS
  end
  enqueue(self)
  return math.min(self.done, last)
end

--- The spans of lines, as far as they are known. The others follow soon; `on_more` tells. A redraw may call this.
---@param first integer from 1
---@param last integer
---@return table<integer, agent.CodeSpan[]> spans by line
function SyntaxBlock:spans(first, last)
  self.wanted = math.min(math.max(self.wanted, last), #self.lines)
  enqueue(self)
  local spans = {}
  for line = first, M.is_on() and math.min(last, self.done) or 0 do
    spans[line] = self.spans_of[line]
  end
  return spans
end

return M
