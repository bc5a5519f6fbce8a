-- Moves in a transcript: to files, turns and code.
local beside = require("agent.chat.beside")
local client = require("agent.client")
local fences = require("agent.timeline.fences")
local find = require("agent.reload.find")
local lines = require("agent.timeline.lines")
local say = require("agent.ui.say")
local targets = require("agent.timeline.targets")
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

--- The call or thought at the cursor, also one in a run or below another call.
---@return agent.Block?
---@return integer? index of the block that has it
---@return integer? row of the call's output
function Navigation:block_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local renderer = self.chat.transcript.renderer
  local index, owner = renderer:block_at(row), renderer:owner_at(row)
  if owner then
    return owner.block, index, owner.row
  end
  return index and self.chat.timeline.blocks[index], index
end

---@param block? agent.Block
---@return boolean
local function can_open(block)
  return block ~= nil
    and (
      block.kind == "thought"
      or block.calls ~= nil
      or block.output ~= nil
      or block.children ~= nil
      or lines.left_out(block) > 0
    )
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

--- The changed files under the cursor: one of a turn's list, or all of them on the list's header.
---@return table[]? files see ShownFile in protocol/ui.ts
function Navigation:files_at_cursor()
  local block, index = self:block_at_cursor()
  if not block or block.kind ~= "files" then
    return
  end
  local at = vim.api.nvim_win_get_cursor(0)[1] - 1 - self.chat.transcript.renderer:row(index)
  local _, headers = lines.lines(block)
  -- The last line may stand for files that are left out.
  return at == 0 and block.files or headers[at + 1] and { block.files[at] } or nil
end

---@param verb "keep"|"undo"
---@param files table[] of the list under the cursor
function Navigation:review(verb, files)
  local chat, list = self.chat, self:block_at_cursor() --[[@as agent.Block]]
  chat.peers.review(verb, {
    chat = chat,
    files = files,
    session = chat.timeline.session,
    show = function(paths, state)
      if not chat.is_closed then
        chat:apply({ { type = "review", turn = list.files_of, paths = paths, state = state } })
      end
    end,
  })
end

--- Undoes the call, or the unreviewed changes of the files, under the cursor.
function Navigation:undo()
  local files = self:files_at_cursor()
  if files then
    return self:review("undo", files)
  end
  local block, index = self:block_at_cursor()
  -- A thought under a call is part of it.
  local call = block and block.kind == "thought" and self.chat.timeline.blocks[index] or block
  if call and call.kind == "run" then
    return say.info("nothing to undo: these calls only read")
  elseif call and call.kind == "tool" then
    return self.chat.peers.undo({ chat = self.chat, ids = ids_of(call, {}), title = call.title })
  end
  say.info("nothing to undo under the cursor: go to a call or a changed file")
end

--- Keeps the changes of the files under the cursor.
function Navigation:keep()
  local files = self:files_at_cursor()
  if files then
    return self:review("keep", files)
  end
  say.info("nothing to keep under the cursor: go to a changed file")
end

function Navigation:toggle_block()
  if vim.api.nvim_get_current_buf() ~= self.chat.transcript.buffer then
    return
  end
  local block, index = self:block_at_cursor()
  local whole = index and self.chat.timeline.blocks[index]
  -- A closed block shows the calls below it without their output.
  if whole and not (whole.expanded and can_open(block)) then
    block = whole
  end
  if can_open(block) then
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
      local path = vim.fs.joinpath(self:root(), name or label)
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

---@param path string
---@return boolean
local function exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- The file or folder of a name in a call's output: in the project, or in another root with one of the call's files.
---@param target agent.Target
---@param locations agent.Location[]
---@param root string
---@return string? path  may be missing if the target has an absolute one
---@return integer? line
local function resolve(target, locations, root)
  local name = vim.fs.normalize(target.path, { expand_env = false })
  local is_absolute = vim.startswith(name, "/") or name:find("^%a:/")
  local path = is_absolute and name or vim.fs.joinpath(target.folder or root, name)
  if is_absolute or exists(path) then
    local location = vim.iter(locations):find(function(one)
      return one.path == path
    end)
    return path, target.line or location and location.line
  end
  for _, location in ipairs(locations) do
    if vim.endswith(location.path, "/" .. name) and exists(location.path) then
      return location.path, target.line or location.line
    end
    -- Files of another root have its name before theirs.
    local above = (location.path .. "/"):match("^(.-/)" .. vim.pesc(name:match("^[^/]+")) .. "/")
    if above and exists(above .. name) then
      return above .. name, target.line
    end
  end
end

--- The file or folder that the line of a call names.
---@param block agent.Block
---@param row? integer of its output
---@return string? path
---@return integer? line
function Navigation:target_of(block, row)
  local target = targets.target(block, row)
  if not target then
    return
  end
  local path, line = resolve(target, block.locations or {}, self:root())
  -- Without a result, a search has only the folder that it searched.
  if path and not row and block.what == "search" and vim.fn.isdirectory(path) == 1 then
    return
  end
  return path, line
end

---@return string
function Navigation:root()
  return self.chat.timeline.root or vim.fn.getcwd()
end

--- The file or folder that the line under the cursor names, or else the text under the cursor.
---@return string? path
---@return integer? line
function Navigation:file_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local block, index, output_row = self:block_at_cursor()
  if block and block.kind == "tool" then
    local path, line = self:target_of(block, output_row)
    if path then
      return path, line
    end
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
  local path = vim.fs.joinpath(self:root(), name or word)
  if vim.fn.filereadable(path) == 1 then
    return path, tonumber(line)
  end
end

--- Goes to a line, or to the last one. A line that is not visible, or at the window's edge, comes to its centre.
---@param line integer
local function go_to(line)
  local first, last, all = vim.fn.line("w0"), vim.fn.line("w$"), vim.fn.line("$")
  line = math.min(line, all)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd("normal! zv")
  if line <= first and first > 1 or line >= last and last < all then
    vim.cmd("normal! zz")
  end
end

--- Opens a file or a folder in the current window.
---@param path string
---@param line? integer
local function open(path, line)
  if find.origin(0) == find.real(path) then
    -- `:edit` would read it again, or fail because of unsaved changes.
    vim.cmd("normal! m'")
  else
    vim.cmd.edit(vim.fn.fnameescape(vim.fn.fnamemodify(path, ":.")))
  end
  if line then
    go_to(line)
  end
end

function Navigation:goto_file()
  local path, line = self:file_at_cursor()
  if not path then
    return say.info("no file under the cursor")
  elseif vim.fn.filereadable(path) == 0 and vim.fn.isdirectory(path) == 0 then
    return say.warn(("cannot open %s: it is not there, or may not be read"):format(vim.fn.fnamemodify(path, ":~:.")))
  end
  beside.go(self.chat)
  open(path, line)
end

--- Whether the line under the cursor leads to a file. The own lines of searches and listings open their results.
---@return boolean
function Navigation:is_at_target()
  local block, _, row = self:block_at_cursor()
  if not block or block.kind ~= "tool" or not row and (block.what == "search" or targets.is_listing(block)) then
    return false
  end
  local path = self:target_of(block, row)
  return path ~= nil and exists(path)
end

function Navigation:enter()
  local waits = self.chat.queue:at_cursor()
  if waits then
    return self.chat.queue:take_back(waits, "edit")
  end
  if self:is_at_target() or not self:toggle_block() then
    self:goto_file()
  end
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

local NO_CODE = "no code block under the cursor"

--- The fenced block around the cursor.
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
    return nil
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

--- Previews the code block around the cursor as a change of its file. Elsewhere it adds the output that is offered.
function Navigation:apply_code()
  local block = self:code_at_cursor()
  if block then
    require("agent.in_place.apply").show(block, self:root(), self.chat:back(), function()
      self:count_use(block, "applied")
    end)
  elseif not self.chat.attachments:add_failed() then
    say.info(NO_CODE)
  end
end

--- Yanks the fenced block around the cursor.
function Navigation:yank_code()
  local block = self:code_at_cursor()
  if not block then
    return say.info(NO_CODE)
  end
  local code = block.code
  vim.fn.setreg(vim.v.register, code, "l")
  self:count_use(block, "copied")
  say.info(("yanked %d %s"):format(#code, #code == 1 and "line" or "lines"))
end

return Navigation
