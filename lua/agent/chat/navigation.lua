-- Moves in a transcript: to files, turns and code.
local beside = require("agent.chat.beside")
local client = require("agent.client")
local fences = require("agent.timeline.fences")
local lines = require("agent.timeline.lines")
local say = require("agent.ui.say")
local timeline = require("agent.timeline")

---@class agent.Navigation
---@field chat agent.Chat
local Navigation = {}
Navigation.__index = Navigation

---@param chat agent.Chat
---@return agent.Navigation
function Navigation.new(chat)
  return setmetatable({ chat = chat }, Navigation)
end

function Navigation:tab()
  if self.chat.peers.focus_approval() then
    return
  end
  self:toggle_block()
end

--- The block of a line; in a run of calls, the call.
---@param row integer from 0
---@return agent.Block?
---@return integer? index of the block
function Navigation:block_at(row)
  local index = self.chat.transcript.renderer:block_at(row)
  local block = index and self.chat.timeline.blocks[index]
  if not block or block.kind ~= "run" then
    return block, index
  end
  local _, calls = lines.run_lines(block)
  return calls[row - self.chat.transcript.renderer:row(index) + 1] or block, index
end

--- The call of a line, which may stand under another call.
---@param row integer from 0
---@return agent.Block?
function Navigation:call_at(row)
  local block, index = self:block_at(row)
  if block and block.kind == "tool" then
    return lines.calls_under(block)[row - self.chat.transcript.renderer:row(index)] or block
  end
end

--- The ids of a call and of the calls under it.
---@param call agent.Block
---@param ids string[] gets them
---@return string[] ids
local function ids_of(call, ids)
  table.insert(ids, call.kind == "tool" and call.id or nil)
  for _, child in ipairs(call.children or {}) do
    ids_of(child, ids)
  end
  return ids
end

--- The changed files of a line: one of a turn's list, or all of them on the list's header.
---@param row integer from 0
---@return table[]? files see ShownFile in protocol/ui.ts
function Navigation:files_at(row)
  local block, index = self:block_at(row)
  if not block or block.kind ~= "files" then
    return
  end
  local at = row - self.chat.transcript.renderer:row(index)
  local _, headers = lines.lines(block)
  -- The last line may stand for files that are left out.
  return at == 0 and block.files or headers[at + 1] and { block.files[at] } or nil
end

---@param verb "keep"|"undo"
---@param files table[]
function Navigation:review(verb, files)
  self.chat.peers.review(verb, { files = files, session = self.chat.timeline.session })
end

--- Undoes the call, or the unreviewed changes of the files, under the cursor.
function Navigation:undo()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local files, call = self:files_at(row), self:call_at(row)
  if files then
    return self:review("undo", files)
  elseif call then
    return self.chat.peers.undo({ chat = self.chat, ids = ids_of(call, {}), title = call.title })
  end
  say.info("nothing to undo under the cursor: go to a call or a changed file")
end

--- Keeps the changes of the files under the cursor.
function Navigation:keep()
  local files = self:files_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  if files then
    return self:review("keep", files)
  end
  say.info("nothing to keep under the cursor: go to a changed file")
end

function Navigation:toggle_block()
  if vim.api.nvim_get_current_buf() ~= self.chat.transcript.buffer then
    return
  end
  local block, index = self:block_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
  local opens = block and (
    block.kind == "thought"
    or block.calls
    or block.output
    or block.children
    or lines.left_out(block) > 0
  )
  if opens then
    block.expanded = not block.expanded
    self.chat.transcript.renderer:draw(self.chat.timeline.blocks, { [index] = true })
    return true
  end
end

--- The file under the cursor in a line of attachments.
---@param block agent.Block
---@return string? path
---@return integer? line
function Navigation:attachment_at_cursor(block)
  local column, at = vim.api.nvim_win_get_cursor(0)[2], #"▸ "
  for _, label in ipairs(lines.labels(block)) do
    at = at + #label + #" · "
    if column < at then
      local name, line = label:match("^(.+) L(%d+)")
      local path = vim.fs.joinpath(self.chat.timeline.root or vim.fn.getcwd(), name or label)
      return vim.fn.filereadable(path) == 1 and path or nil, tonumber(line)
    end
  end
end

--- The target of a link under the cursor: "src/a.ts:12", also for `src/a.ts#L12`.
---@return string?
local function link_at_cursor()
  local column = vim.api.nvim_win_get_cursor(0)[2] + 1
  for first, target, last in vim.api.nvim_get_current_line():gmatch("()%[[^%]]*%]%(([^%s)]+)%)()") do
    if column >= first and column < last then
      return (target:gsub("^%./", ""):gsub("#L(%d+).*$", ":%1"))
    end
  end
end

--- The file that the text under the cursor names, in the project. A line of a tool call has a path of its own.
---@return string? path
---@return integer? line
function Navigation:file_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local block, index = self:block_at(row)
  -- Results of a search name files of their own.
  local names_its_own = block and not (block.what == "search" and block.expanded)
  if block and block.kind == "tool" and block.path and names_its_own then
    return block.path, nil
  elseif block and block.kind == "files" then
    local file = block.files[row - self.chat.transcript.renderer:row(index)]
    return file and file.path
  end
  local renderer = self.chat.transcript.renderer
  if block and block.attachments and row == renderer:row(index) + #renderer:lines(index) - 1 then
    return self:attachment_at_cursor(block)
  end
  local word = link_at_cursor() or vim.fn.expand("<cWORD>"):gsub("^[`'\"(%[]+", ""):gsub("[`'\"),.;%]]+$", "")
  local name, line = word:match("^(.-):(%d+)")
  local path = vim.fs.joinpath(self.chat.timeline.root or vim.fn.getcwd(), name or word)
  if vim.fn.filereadable(path) == 1 then
    return path, tonumber(line)
  end
end

function Navigation:goto_file()
  local path, line = self:file_at_cursor()
  if not path then
    return say.info("no file under the cursor")
  elseif vim.fn.filereadable(path) == 0 then
    return say.warn(("cannot open %s: it is not there, or may not be read"):format(vim.fn.fnamemodify(path, ":~:.")))
  end
  beside.go(self.chat)
  vim.cmd.edit(vim.fn.fnameescape(path))
  if line then
    pcall(vim.api.nvim_win_set_cursor, 0, { line, 0 })
  end
end

function Navigation:enter()
  local waits = self.chat.queue:at_cursor()
  if waits then
    return self.chat.queue:take_back(waits, "edit")
  end
  if self:toggle_block() then
    return
  end
  self:goto_file()
end

---@param step integer
function Navigation:turn(step)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local target
  for index, at in self.chat.transcript.renderer:rows() do
    local is_users = self.chat.timeline.blocks[index].kind == "user"
    if is_users and step > 0 and at > row then
      target = at
      break
    elseif is_users and step < 0 and at < row then
      target = at
    end
  end
  -- The line that loads older messages is above the first message.
  if not target and step < 0 and self.chat.history.older then
    target = 0
  end
  if target then
    vim.api.nvim_win_set_cursor(0, { target + 1, 0 })
  end
end

function Navigation:next_turn()
  self:turn(1)
end

function Navigation:previous_turn()
  self:turn(-1)
end

--- The fenced block around the cursor. Reports if there is none.
---@return agent.CodeBlock?
function Navigation:code_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local renderer = self.chat.transcript.renderer
  local index = renderer:block_at(row)
  local text = index and renderer:lines(index)
  local code, fence = nil, nil
  if text then
    code, fence = fences.around(text, row - renderer:row(index) + 1)
  end
  if not code then
    return say.info("no code block under the cursor")
  end
  local above = fence - 1
  while above > 1 and vim.trim(text[above]) == "" do
    above = above - 1
  end
  local turn = timeline.turn_of(self.chat.timeline, index)
  return { code = code, info = text[fence]:match("[`~]+(.*)$"), above = text[above] or "", turn = turn }
end

--- Counts the use of a code block in `:Agent usage`.
---@param block agent.CodeBlock
---@param use "copied"|"applied"
function Navigation:count_use(block, use)
  local session = self.chat.timeline.session
  if session and block.turn then
    local params = { sessionId = session, turn = block.turn, use = use }
    -- Another agent does not count.
    client.request(self.chat, "code_used", params, function() end)
  end
end

--- Previews the code block around the cursor as a change of its file.
function Navigation:apply_code()
  local block = self:code_at_cursor()
  if block then
    local root = self.chat.timeline.root or vim.fn.getcwd()
    require("agent.in_place.apply").show(block, root, self.chat:back(), function()
      self:count_use(block, "applied")
    end)
  end
end

--- Yanks the fenced block around the cursor.
function Navigation:yank_code()
  local block = self:code_at_cursor()
  if not block then
    return
  end
  local code = block.code
  vim.fn.setreg(vim.v.register, code, "l")
  self:count_use(block, "copied")
  say.info(("yanked %d %s"):format(#code, #code == 1 and "line" or "lines"))
end

return Navigation
