-- Automatic attachments of the next message, and the line above the input that lists them.
local client = require("agent.client")
local config = require("agent.config")
local followed = require("agent.chat.followed")
local find = require("agent.reload.find")
local format = require("agent.ui.format")
local attachment = require("agent.context.attachment")
local surroundings = require("agent.editor.surroundings")
local terminals = require("agent.editor.terminals")
local window = require("agent.chat.window")

---@class agent.Attachments
---@field chat agent.Chat
---@field switched table<string, boolean>  attachments that the user has switched on or off in this chat, by name
---@field readable table<string, boolean>  whether the model may have a file freely; false until the answer comes
---@field outputs table<string, integer>  the terminal of each failed command's output, by label
---@field covered? { text: string, label: string }  a terminal's end that an output has brought
---@field sent table<string, agent.SentText>  the newest text that was sent of a file, by path
local Attachments = {}
Attachments.__index = Attachments

---@param chat agent.Chat
---@return agent.Attachments
function Attachments.new(chat)
  return setmetatable({ chat = chat, switched = {}, readable = {}, outputs = {}, sent = {} }, Attachments)
end

---@class agent.SentText
---@field tick integer  changedtick of its buffer
---@field label string  of the message's attachment
---@field lines? agent.LineRange

---@class agent.AttachmentChoice
---@field name string   as in the option `attach`
---@field label string  "src/app.ts:42"
---@field on boolean
---@field selection? agent.Attachment

---@param chat agent.Chat
---@param name string
---@return boolean
local function is_on(chat, name)
  local switched = chat.attachments.switched[name]
  if switched ~= nil then
    return switched
  end
  return vim.list_contains(config.get().attach, name)
end

---@param chat agent.Chat
---@param path string
---@return string
local function name_of(chat, path)
  local root = chat.timeline.root
  if root and vim.startswith(path, root .. "/") then
    return path:sub(#root + 2)
  end
  return vim.fn.fnamemodify(path, ":.")
end

--- Whether a file belongs to the chat's project, or to the folders of the option `roots`.
---@param path string without links
---@return boolean
function Attachments:has_file(path)
  local root = self.chat.timeline.root
  if not root then
    return false
  elseif vim.startswith(path, root .. "/") then
    return true
  end
  return find.is_inside(
    path,
    vim.tbl_map(function(folder)
      folder = vim.fs.normalize(folder)
      return find.real(vim.fn.isabsolutepath(folder) == 1 and folder or vim.fs.joinpath(root, folder))
    end, config.get().roots)
  )
end

---@param selection agent.Attachment
---@return string "src/app.ts L6–8"
function Attachments:label_of(selection)
  return attachment.label(selection, selection.path and name_of(self.chat, selection.path))
end

--- False if no tool of the next turn can read a file.
---@return boolean
function Attachments:has_tools()
  local line = self.chat.timeline
  return line.has_tools ~= false and line.mode_has_tools ~= false
end

--- True if the text of the file that the user looks at is sent.
---@param path string
---@return boolean
function Attachments:has_text(path)
  if self:has_tools() then
    return false
  elseif self.readable[path] == nil then
    self.readable[path] = false
    local action = { type = "readable", chat = self.chat.id, session = self.chat.timeline.session, path = path }
    client.ask(vim.tbl_extend("error", action, self.chat:place()), function(update)
      self.readable[path] = update ~= nil and update.readable
      self:show()
    end)
  end
  return self.readable[path]
end

--- True if a message of this session has brought this attachment.
---@param chat agent.Chat
---@param label string
---@return boolean
local function was_given(chat, label)
  return vim.iter(chat.timeline.blocks):any(function(block)
    return block.kind == "user" and vim.list_contains(block.attachments or {}, label)
  end)
end

--- The text of the active file that is sent: the same as before while the cursor is in it and it is unchanged.
---@param current agent.ActiveFile
---@return agent.SentText
function Attachments:text_of(current)
  local buffer, sent = find.buffers(current.path)[1], self.sent[current.path]
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  if sent and sent.tick == tick then
    local lines = sent.lines or { first = 1, last = current.line }
    if current.line >= lines.first and current.line <= lines.last then
      return sent
    end
  end
  local lines, label = surroundings.excerpt(buffer, current.line), name_of(self.chat, current.path)
  if lines then
    label = ("%s L%d–%d of %d"):format(label, lines.first, lines.last, vim.api.nvim_buf_line_count(buffer))
  end
  return { tick = tick, label = label, lines = lines }
end

--- The label of the active file, with the text that goes along.
---@param current agent.ActiveFile
---@return string "src/app.ts:42", "src/app.ts:42 with text", "src/app.ts:42 with L1–200", "src/app.ts:42 text sent"
function Attachments:active_label(current)
  local label = ("%s:%d"):format(name_of(self.chat, current.path), current.line)
  if not current.text then
    return label
  end
  local text = self:text_of(current)
  current.lines = text.lines
  local what = text.lines and ("L%d–%d"):format(text.lines.first, text.lines.last) or "text"
  local is_known = text == self.sent[current.path] and was_given(self.chat, text.label)
  return is_known and ("%s %s sent"):format(label, what) or ("%s with %s"):format(label, what)
end

--- The output of a failed command that brings the end of a terminal, or has brought it.
---@param terminal agent.TerminalEnd
---@return string? label
function Attachments:output_in(terminal)
  for _, one in ipairs(self.chat.selections.all) do
    if one.output and self.outputs[one.label] == terminal.buffer then
      return one.label
    end
  end
  return self.covered and self.covered.text == terminal.text and self.covered.label or nil
end

--- All possible attachments, in the order of the line.
---@return agent.AttachmentChoice[]
---@return agent.Surroundings
function Attachments:list()
  local now = surroundings.get(self.chat:back(), function(path)
    return self:has_file(path)
  end)
  local list = {}
  local function add(name, label)
    table.insert(list, { name = name, label = label, on = is_on(self.chat, name) })
  end
  if now.current then
    now.current.text = self:has_text(now.current.path) or nil
    add("file", self:active_label(now.current))
  end
  local diagnostics = now.errors + now.warnings
  if diagnostics > 0 then
    add("diagnostics", format.plural(diagnostics, "diagnostic"))
  end
  now.buffers = vim.tbl_filter(function(buffer)
    return not now.current or buffer.path ~= now.current.path
  end, now.buffers)
  if #now.buffers > 0 then
    add("buffers", format.plural(#now.buffers, "other file"))
  end
  if now.terminal and not self:output_in(now.terminal) then
    add("terminal", "terminal")
  end
  followed.refresh(self.chat.selections.all)
  for _, selection in ipairs(self.chat.selections.all) do
    table.insert(list, { name = "selection", label = self:label_of(selection), on = true, selection = selection })
  end
  return list, now
end

--- The attachments of a message that is sent now.
---@param text string
---@return agent.Surroundings
---@return agent.Attachment[]
function Attachments:for_message(text)
  local _, now = self:list()
  if not is_on(self.chat, "file") then
    now.current = nil
  elseif now.current and now.current.text then
    self.sent[now.current.path] = self:text_of(now.current)
  end
  if not is_on(self.chat, "buffers") then
    now.buffers = {}
  end
  if not is_on(self.chat, "diagnostics") then
    now.errors, now.warnings = nil, nil
  end
  local terminal = is_on(self.chat, "terminal") and now.terminal or nil
  local output = terminal and self:output_in(terminal)
  if terminal and output then
    self.covered = { text = terminal.text, label = output }
    -- Without it, the model would read that no terminal is visible.
    terminal.text = ("(its end is in: %s)"):format(output)
  end
  now.terminal = terminal and { command = terminal.command, text = terminal.text }
  now.servers = require("agent.editor.lsp.clients").may_serve({ self.chat.timeline.root })
  local list = attachment.of(text, self.chat:back())
  local chosen = self.chat.selections.all
  vim.list_extend(list, vim.deepcopy(chosen))
  return now, vim.list_extend(list, require("agent.menus.prompts").attachments(text, self.chat:back(), chosen[#chosen]))
end

--- Lists the attachments above the input, and offers the output of a failed command.
function Attachments:show()
  if not self.chat.windows or not vim.api.nvim_win_is_valid(self.chat.windows.input) then
    return
  end
  local labels = {}
  for _, one in ipairs((self:list())) do
    table.insert(labels, one.on and one.label or nil)
  end
  self.chat.windows.attached, self.chat.windows.failed = labels, terminals.failed()
  window.hint(self.chat.windows)
end

--- Shows the line again if updates have changed it: other tools, or a message that has brought the file's text.
---@param updates table[]
---@param had_tools boolean before them
function Attachments:follow(updates, had_tools)
  local has_tools = self:has_tools()
  local is_given = not has_tools and vim.iter(updates):any(function(update)
    return update.type == "turn"
  end)
  if has_tools ~= had_tools or is_given then
    self:show()
  end
end

--- Adds the output of a failed command, if it is offered.
---@return boolean added
function Attachments:add_failed()
  local output, terminal = terminals.take()
  if output then
    self.outputs[output.label] = terminal
    self.chat.selections:add(output)
  end
  return output ~= nil
end

--- Adds the output that is offered, else asks which attachment to switch on or off.
function Attachments:choose()
  if self:add_failed() then
    return
  end
  local list = self:list()
  vim.ui.select(list, {
    prompt = "Goes along with a message (choose one to switch it)",
    format_item = function(one)
      return ("%s %s"):format(one.on and "on " or "off", one.label)
    end,
  }, function(one)
    if one and one.selection then
      self.chat.selections:drop(attachment.label(one.selection))
    elseif one then
      self.switched[one.name] = not one.on
    end
    self:show()
  end)
end

return Attachments
