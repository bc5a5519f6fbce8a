-- Completes mentions in a message: "@" for files, buffers, symbols and words, "#" for tools and their sets, and "/" at the
-- beginning for all that slash.lua lists. It works by 'completefunc' and while typing. Lists that are not known yet are
-- requested and shown later.
local client = require("agent.client")
local find = require("agent.reload.find")
local format = require("agent.ui.format")
local attachment = require("agent.context.attachment")
local matching = require("agent.chat.complete.matching")
local server = require("agent.server")
local slash = require("agent.chat.complete.slash")

local M = {}

--- Rows of the menu.
local MOST = 50
--- Milliseconds after which a list is requested again.
local FRESH = 10000

--- Milliseconds that another menu waits for a list.
local PATIENCE = 500

--- True if another plugin or a language client shows the menu.
local is_left = false

--- Callbacks that wait for a list, by buffer.
---@type table<integer, fun()>
local waiting = {}

--- Descriptions of the words, besides those of attachment.lua.
local WORDS = { "diff", "https://", "session", "symbol:" }

--- Sets of tools, the same as in protocol/modes.ts.
M.tool_sets = { "look", "edits" }

---@class agent.Known
---@field list string[]
---@field since integer  when the request was sent, in milliseconds
---@field is_new boolean  no answer has come yet

--- By chat and kind.
---@type table<string, agent.Known>
local known = {}

--- The start of the mention before the cursor.
---@param line string before the cursor
---@return integer? column from 0
---@return string? lead with its first character
local function lead_of(line)
  -- At the beginning of a message it calls a prompt.
  if line:find("^/[%w_.:-]*$") and vim.api.nvim_win_get_cursor(0)[1] == 1 then
    return 0, line
  end
  local at, lead = line:match('^.*()(@"[^"]*)$')
  if not at then
    at, lead = line:match("^.-()([@#]%S*)$")
    -- The last one that begins a word.
    local from = line:match("^.*[%s%(%[{]()[@#]%S*$")
    if from then
      at, lead = from, line:sub(from)
    end
  end
  if at and (at == 1 or line:sub(at - 1, at - 1):find("[%s%(%[{<\"',;:]")) then
    return at - 1, lead
  end
end

---@return integer? column from 0
---@return string? lead
local function lead_here()
  local column = vim.api.nvim_win_get_cursor(0)[2]
  return lead_of(vim.api.nvim_get_current_line():sub(1, column))
end

--- Shows a list that has come, if the same mention is still being typed.
---@param buffer integer
local function show_again(buffer)
  if vim.api.nvim_get_current_buf() == buffer and vim.api.nvim_get_mode().mode:find("^i") then
    M.show()
  end
end

--- The known list; requests it if it is unknown or old.
---@param chat agent.Chat
---@param kind string
---@param ask fun(done: fun(list: any[]))
---@return any[]
local function known_of(chat, kind, ask)
  local key = ("%d %s"):format(chat.id, kind)
  local entry = known[key]
  if not entry or vim.uv.now() - entry.since > FRESH then
    entry = { list = entry and entry.list or {}, since = vim.uv.now(), is_new = entry == nil }
    known[key] = entry
    local buffer = chat.input.buffer
    ask(function(list)
      local is_news = not vim.deep_equal(entry.list, list)
      entry.list, entry.is_new = list, false
      if waiting[buffer] then
        waiting[buffer]()
      elseif is_news then
        show_again(buffer)
      end
    end)
  end
  return entry.list
end

---@param chat agent.Chat
---@param type "files"|"tools"|"prompts"
---@param done fun(update: table)
local function ask(chat, type, done)
  local action = { type = type, chat = chat.id, session = chat.timeline.session }
  client.ask(vim.tbl_extend("error", action, chat:place()), function(update)
    if update then
      done(update)
    end
  end)
end

---@param chat agent.Chat
---@return string[]
local function files(chat)
  return known_of(chat, "files", function(done)
    ask(chat, "files", function(update)
      done(update.paths)
    end)
  end)
end

---@param chat agent.Chat
---@return string[]
local function tools(chat)
  return known_of(chat, "tools", function(done)
    ask(chat, "tools", function(update)
      local on = vim.tbl_filter(function(tool)
        return tool.on
      end, update.tools)
      done(vim.tbl_map(function(tool)
        return tool.name
      end, on))
    end)
  end)
end

---@param chat agent.Chat
---@return agent.Callable[]
local function prompts(chat)
  return known_of(chat, "prompts", function(done)
    ask(chat, "prompts", function(update)
      done(update.prompts)
    end)
  end)
end

---@param symbols table[] DocumentSymbol or SymbolInformation
---@param names table<string, true>
local function add_names(symbols, names)
  for _, symbol in ipairs(symbols) do
    names[symbol.name] = true
    add_names(symbol.children or {}, names)
  end
end

--- Symbols of open buffers, from their language servers.
---@param chat agent.Chat
---@return string[]
local function symbols(chat)
  return known_of(chat, "symbols", function(done)
    local names, is_asked = {}, false
    for _, buffer in ipairs(vim.tbl_filter(find.is_file_buffer, vim.api.nvim_list_bufs())) do
      for _, symbol_server in ipairs(server.others({ bufnr = buffer, method = "textDocument/documentSymbol" })) do
        is_asked = true
        local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
        symbol_server:request("textDocument/documentSymbol", params, function(_, result)
          add_names(type(result) == "table" and result or {}, names)
          local list = vim.tbl_keys(names)
          table.sort(list)
          done(list)
        end, buffer)
      end
    end
    if not is_asked then
      done({})
    end
  end)
end

--- Names of open files, as in the project's list.
---@param chat agent.Chat
---@return string[]
local function open_files(chat)
  local root = chat.timeline.root
  local names = {}
  for _, buffer in ipairs(vim.tbl_filter(find.is_file_buffer, vim.api.nvim_list_bufs())) do
    local path = find.origin(buffer)
    if root and vim.startswith(path, root .. "/") then
      table.insert(names, path:sub(#root + 2))
    elseif not root then
      table.insert(names, vim.fn.fnamemodify(path, ":."))
    end
  end
  return vim.tbl_filter(function(name)
    return vim.fn.isabsolutepath(name) == 0
  end, names)
end

--- The end of a name, as far as it fits beside the menu's notes.
---@param text string
---@return string
local function shortened(text)
  return format.cut_start(text, math.max(10, math.min(60, vim.api.nvim_win_get_width(0) - 12)))
end

---@param mark string
---@param name string
---@param note? string
---@return table item of the menu
local function item(mark, name, note)
  local word = mark .. (name:find("%s") and ('"%s"'):format(name) or name)
  return { word = word, abbr = shortened(word), menu = note or "", dup = 0 }
end

---@param chat agent.Chat
---@param base string the text after "@"
---@return table[]
local function mentions(chat, base)
  local symbol = base:match("^symbol:(.*)$")
  if symbol then
    return vim.tbl_map(function(name)
      return item("@symbol:", name, "symbol")
    end, matching.best(symbols(chat), symbol, MOST))
  end
  base = base:gsub('"', "")
  local items, seen = {}, {}
  local function add(names, note)
    for _, name in ipairs(names) do
      if not seen[name] and #items < MOST then
        seen[name] = true
        table.insert(items, item("@", name, note))
      end
    end
  end
  local words = vim.list_extend(attachment.words(), WORDS)
  table.sort(words)
  add(
    vim.tbl_filter(function(word)
      return vim.startswith(word, base)
    end, words),
    "word"
  )
  add(matching.best(open_files(chat), base, MOST), "open")
  add(matching.best(files(chat), base, MOST), "file")
  return items
end

---@param chat agent.Chat
---@param lead string
---@return table[] items of the menu
local function items_of(chat, lead)
  if vim.startswith(lead, "/") then
    return slash.items(chat, prompts(chat), lead)
  end
  if vim.startswith(lead, "#") then
    local items = {}
    for _, kind in ipairs({ { "tool set", M.tool_sets }, { "tool", tools(chat) } }) do
      for _, name in ipairs(matching.best(kind[2], lead:sub(2), MOST)) do
        table.insert(items, item("#", name, kind[1]))
      end
    end
    return items
  end
  return mentions(chat, lead:sub(2))
end

--- By the buffer of the input.
---@type table<integer, agent.Chat>
local chats = setmetatable({}, { __mode = "v" })

--- Called by 'completefunc'.
---@param find_start 0|1
---@param base string
---@return integer|table[]
function M.func(find_start, base)
  if find_start == 1 then
    return lead_here() or -3
  end
  local chat = chats[vim.api.nvim_get_current_buf()]
  return chat and items_of(chat, base) or {}
end

--- Leaves the menu to another plugin.
function M.leave_menu()
  is_left = true
end

--- True if a quote follows the cursor in this line. A plugin that writes pairs has added it, and a name in quotes ends
--- with its own.
---@param line string
---@param column integer bytes before the cursor
---@return boolean
local function has_quote_after(line, column)
  return line:sub(column + 1, column + 1) == '"'
end

--- Completes for another menu, in the shape of a language server's answer. The answer for a mention is incomplete, so
--- that the next letter asks again. Outside of a mention only its first character does.
---@param buffer integer
---@param line string        up to the cursor
---@param row integer        of it, from 0
---@param done fun(list: lsp.CompletionList)  called once; columns are bytes
function M.ask(buffer, line, row, done)
  local column, lead = lead_of(line)
  local chat = column and chats[buffer]
  if not chat then
    return done({ isIncomplete = false, items = {} })
  end
  local is_answered = false
  local function answer()
    if is_answered then
      return
    end
    is_answered, waiting[buffer] = true, nil
    local whole = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ""
    local last = #line + (lead:find('^@"') and has_quote_after(whole, #line) and 1 or 0)
    local range = { start = { line = row, character = column }, ["end"] = { line = row, character = last } }
    local items = {}
    for index, one in ipairs(items_of(chat, lead --[[@as string]])) do
      items[index] = {
        label = one.word,
        -- The items are matched and in order already.
        filterText = lead,
        sortText = ("%03d"):format(index),
        detail = one.menu,
        kind = vim.lsp.protocol.CompletionItemKind[one.menu == "word" and "Keyword" or "File"],
        textEdit = { newText = one.word, range = range },
      }
    end
    done({ isIncomplete = true, items = items })
  end
  items_of(chat, lead --[[@as string]])
  local is_asked = vim.iter(known):any(function(key, entry)
    return entry.is_new and vim.startswith(key, chat.id .. " ")
  end)
  if not is_asked then
    return answer()
  end
  waiting[buffer] = answer
  vim.defer_fn(answer, PATIENCE)
end

--- Shows the menu for the mention before the cursor.
function M.show()
  local column, lead = lead_here()
  local chat = column and chats[vim.api.nvim_get_current_buf()]
  if not chat then
    return
  end
  local items = items_of(chat, lead --[[@as string]])
  -- A complete word needs no menu over the next line.
  local is_done = #items == 1 and items[1].word == lead
  vim.fn.complete(column + 1, is_done and {} or items)
end

--- Removes the second closing quote after a name in quotes.
local function drop_quote()
  local word = (vim.v.completed_item or {}).word or ""
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  local is_ours = word:find('^@".*"$') and vim.endswith(line:sub(1, column), word)
  if is_ours and has_quote_after(line, column) then
    vim.api.nvim_buf_set_text(0, row - 1, column, row - 1, column + 1, {})
  end
end

--- Completes in the buffer of the input.
---@param buffer integer
---@param chat agent.Chat
function M.attach(buffer, chat)
  chats[buffer] = chat
  server.complete(buffer, M.ask, M.leave_menu)
  vim.bo[buffer].completefunc = "v:lua.require'agent.chat.complete'.func"
  -- Typed text stays until the user chooses an item.
  vim.bo[buffer].completeopt = "menuone,noinsert,noselect"
  vim.api.nvim_create_autocmd("CompleteDone", { buffer = buffer, callback = drop_quote })
  vim.api.nvim_create_autocmd({ "TextChangedI", "TextChangedP" }, {
    buffer = buffer,
    callback = function()
      local is_chosen = vim.fn.complete_info({ "selected" }).selected >= 0
      if not (is_chosen or is_left) then
        M.show()
      end
    end,
  })
  -- Other plugins type keys to open their menu, which may come behind the key that sends the message.
  vim.api.nvim_create_autocmd("CompleteChanged", {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      local is_here = vim.api.nvim_get_current_buf() == buffer and vim.fn.pumvisible() == 1
      if is_here and chat.input:is_empty() then
        vim.fn.complete(1, {})
      end
    end),
  })
end

return M
