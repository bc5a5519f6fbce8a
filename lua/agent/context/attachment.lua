-- Attachments that only Neovim knows, see protocol/given.ts. The engine reads files.
local find = require("agent.reload.find")
local format = require("agent.ui.format")

local M = {}

---@alias agent.Attachment table see protocol/given.ts

--- Attached lines of a terminal.
local TERMINAL_LINES = 200
--- Limits: entries of a list, lines and bytes of a text.
local MOST_PLACES, MOST_LINES, MOST_BYTES = 1000, 50000, 500000

--- Pasted images, by number.
---@type string[] in base64
local images = {}

---@param first integer
---@param last integer
---@return string "L2", "L2–3"
local function range(first, last)
  return last > first and ("L%d–%d"):format(first, last) or ("L%d"):format(first)
end

---@param buffer integer
---@param first integer from 1
---@param last integer
---@return string
local function text_of(buffer, first, last)
  last = math.min(last, first + MOST_LINES - 1)
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, first - 1, last, false), "\n")
  if #text > MOST_BYTES then
    -- Keeps characters whole.
    text = text:sub(1, MOST_BYTES + vim.str_utf_start(text, MOST_BYTES + 1)):gsub("[\192-\255]$", "")
  end
  return text
end

--- The selected lines of a buffer.
---@param buffer integer
---@param first integer from 1
---@param last integer
---@return agent.Attachment
function M.selection(buffer, first, last)
  last = math.min(last, vim.api.nvim_buf_line_count(buffer))
  local text = text_of(buffer, first, last)
  if not find.is_file_buffer(buffer) then
    local label = ("an unnamed buffer %s"):format(range(first, last))
    return { type = "text", label = label, text = text, selected = true }
  end
  local path = find.origin(buffer)
  return { type = "file", path = path, first = first, last = last, selected = true, text = text }
end

--- The label of a selection.
---@param selection agent.Attachment
---@param name? string  of its file; default: the path
---@return string "src/app.ts L6–8"
function M.label(selection, name)
  return selection.label or ("%s %s"):format(name or selection.path, range(selection.first, selection.last))
end

---@param buffer integer
---@return agent.Attachment?
local function of_buffer(buffer)
  if find.is_file_buffer(buffer) then
    return { type = "file", path = find.origin(buffer) }
  end
  local text = text_of(buffer, 1, vim.api.nvim_buf_line_count(buffer))
  return text ~= "" and { type = "text", label = "an unnamed buffer", text = text } or nil
end

---@param buffer integer
---@return string? path
local function path_of(buffer)
  return find.is_file_buffer(buffer) and find.origin(buffer) or nil
end

--- Attachments by word. @param window the window that the user came from
---@type table<string, fun(window: integer): agent.Attachment[]>
local words = {}

function words.buffer(window)
  return { of_buffer(vim.api.nvim_win_get_buf(window)) }
end

function words.buffers()
  local buffers = vim.tbl_filter(find.is_file_buffer, vim.api.nvim_list_bufs())
  return vim.tbl_map(
    of_buffer,
    vim.tbl_filter(function(buffer)
      return vim.bo[buffer].buflisted
    end, buffers)
  )
end

function words.selection(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  local first = vim.api.nvim_buf_get_mark(buffer, "<")[1]
  local last = vim.api.nvim_buf_get_mark(buffer, ">")[1]
  return first > 0 and last >= first and { M.selection(buffer, first, last) } or {}
end

function words.diagnostics()
  local found = vim.diagnostic.get()
  table.sort(found, function(a, b)
    if a.severity ~= b.severity then
      return a.severity < b.severity
    end
    return a.bufnr ~= b.bufnr and a.bufnr < b.bufnr or a.bufnr == b.bufnr and a.lnum < b.lnum
  end)
  local places = {}
  for _, one in ipairs(vim.list_slice(found, 1, MOST_PLACES)) do
    local path = path_of(one.bufnr)
    if path then
      local kind = (vim.diagnostic.severity[one.severity] or ""):lower()
      table.insert(places, { path = path, line = one.lnum + 1, text = ("%s %s"):format(kind, one.message) })
    end
  end
  return #places > 0 and { { type = "places", label = format.plural(#places, "diagnostic"), places = places } } or {}
end

function words.quickfix()
  local places = {}
  for _, one in ipairs(vim.list_slice(vim.fn.getqflist(), 1, MOST_PLACES)) do
    local is_placed = one.bufnr > 0 and vim.api.nvim_buf_is_valid(one.bufnr)
    local name = is_placed and vim.api.nvim_buf_get_name(one.bufnr) or ""
    table.insert(places, {
      path = name ~= "" and find.real(name) or nil,
      line = one.lnum > 0 and one.lnum or nil,
      text = one.text,
    })
  end
  local label = ("quickfix, %s"):format(format.plural(#places, "entry", "entries"))
  return #places > 0 and { { type = "places", label = label, places = places } } or {}
end

--- The last lines of the terminal that was used last.
function words.terminal()
  local terminals = vim.tbl_filter(function(info)
    return vim.bo[info.bufnr].buftype == "terminal"
  end, vim.fn.getbufinfo({ bufloaded = 1 }))
  table.sort(terminals, function(a, b)
    return a.lastused ~= b.lastused and a.lastused > b.lastused or a.lastused == b.lastused and a.bufnr > b.bufnr
  end)
  if not terminals[1] then
    return {}
  end
  local lines = vim.api.nvim_buf_get_lines(terminals[1].bufnr, 0, -1, false)
  while #lines > 0 and vim.trim(lines[#lines]) == "" do
    table.remove(lines)
  end
  lines = vim.list_slice(lines, math.max(1, #lines - TERMINAL_LINES + 1))
  if #lines == 0 then
    return {}
  end
  local label = ("terminal, last %s"):format(format.plural(#lines, "line"))
  return { { type = "text", label = label, text = table.concat(lines, "\n") } }
end

--- The words for attachments of Neovim.
---@return string[]
function M.words()
  local names = vim.tbl_keys(words)
  table.sort(names)
  return names
end

--- Keeps an image for the message that mentions it.
---@param base64 string
---@return string word that mentions it, with its "@"
function M.keep_image(base64)
  table.insert(images, base64)
  return ("@image:%d"):format(#images)
end

--- The attachments that a message may mention. The engine decides which words are mentions.
---@param message string
---@param window integer the window that the user came from
---@return agent.Attachment[]
function M.of(message, window)
  local all, seen = {}, {}
  for word in message:gmatch("@(%l+)") do
    if words[word] and not seen[word] then
      seen[word] = true
      for _, attachment in ipairs(words[word](window)) do
        table.insert(all, vim.tbl_extend("force", attachment, { mention = word }))
      end
    end
  end
  for number in message:gmatch("@image:(%d+)") do
    local data = images[tonumber(number)]
    if data and not seen[number] then
      seen[number] = true
      table.insert(all, { type = "image", mention = "image:" .. number, label = "image " .. number, data = data })
    end
  end
  return all
end

return M
