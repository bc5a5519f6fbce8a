-- What goes along with the next message by itself, and the line above the input that says so. Methods of the chat.
local config = require("agent.config")
local followed = require("agent.chat.followed")
local find = require("agent.reload.find")
local given = require("agent.context.given")
local shown = require("agent.editor.shown")
local window = require("agent.chat.window")

---@class agent.Chat
---@field switched? table<string, boolean>  what the user has switched in this chat, by name
local M = {}

---@class agent.Attached
---@field name string   as in the option `attach`
---@field label string  "src/app.ts:42"
---@field on boolean
---@field selection? agent.Given

---@param chat agent.Chat
---@param name string
---@return boolean
local function is_on(chat, name)
  local switched = chat.switched and chat.switched[name]
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

---@param count integer
---@param one string
---@param many string
---@return string
local function counted(count, one, many)
  return ("%d %s"):format(count, count == 1 and one or many)
end

--- Whether a file belongs to the chat's project, or to the folders of the option `roots`.
---@param path string without links
---@return boolean
function M:has_file(path)
  local root = self.timeline.root
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

---@param selection agent.Given
---@return string "src/app.ts L6–8"
function M:selection_label(selection)
  return given.label(selection, selection.path and name_of(self, selection.path))
end

--- Everything that there is, in the order of the line.
---@return agent.Attached[]
---@return agent.Shown
function M:attachable()
  local now = shown.get(self:back(), function(path)
    return self:has_file(path)
  end)
  local list = {}
  local function add(name, label)
    table.insert(list, { name = name, label = label, on = is_on(self, name) })
  end
  if now.current then
    add("file", ("%s:%d"):format(name_of(self, now.current.path), now.current.line))
  end
  local diagnostics = now.errors + now.warnings
  if diagnostics > 0 then
    add("diagnostics", counted(diagnostics, "diagnostic", "diagnostics"))
  end
  now.buffers = vim.tbl_filter(function(buffer)
    return not now.current or buffer.path ~= now.current.path
  end, now.buffers)
  if #now.buffers > 0 then
    add("buffers", counted(#now.buffers, "other file", "other files"))
  end
  if now.terminal then
    add("terminal", "terminal")
  end
  followed.refresh(self.selections or {})
  for _, selection in ipairs(self.selections or {}) do
    table.insert(list, { name = "selection", label = self:selection_label(selection), on = true, selection = selection })
  end
  return list, now
end

--- What a message sent now takes along.
---@param text string
---@return agent.Shown
---@return agent.Given[]
function M:attached(text)
  local _, now = self:attachable()
  if not is_on(self, "file") then
    now.current = nil
  end
  if not is_on(self, "buffers") then
    now.buffers = {}
  end
  if not is_on(self, "diagnostics") then
    now.errors, now.warnings = nil, nil
  end
  if not is_on(self, "terminal") then
    now.terminal = nil
  end
  now.servers = require("agent.editor.lsp.clients").may_serve({ self.timeline.root })
  local list = given.of(text, self:back())
  local chosen = self.selections or {}
  vim.list_extend(list, vim.deepcopy(chosen))
  return now, vim.list_extend(list, require("agent.menus.prompts").given(text, self:back(), chosen[#chosen]))
end

--- Says above the input what goes along.
function M:show_attached()
  if not self.windows or not vim.api.nvim_win_is_valid(self.windows.input) then
    return
  end
  local labels = {}
  for _, one in ipairs((self:attachable())) do
    table.insert(labels, one.on and one.label or nil)
  end
  self.windows.attached = labels
  window.hint(self.windows)
end

--- Asks what is to be left out of the line above the input, or to be in it again.
function M:attach()
  local list = self:attachable()
  vim.ui.select(list, {
    prompt = "Goes along with a message (choose one to switch it)",
    format_item = function(one)
      return ("%s %s"):format(one.on and "on " or "off", one.label)
    end,
  }, function(one)
    if one and one.selection then
      self:drop_selection(given.label(one.selection))
    elseif one then
      self.switched = self.switched or {}
      self.switched[one.name] = not one.on
    end
    self:show_attached()
  end)
end

return M
