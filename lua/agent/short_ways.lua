-- Short ways to what is often wanted: functions of the public API, each a sub-command, see actions.lua.
local say = require("agent.ui.say")

---@param ready fun(): table the chats
---@param start fun()
---@return table<string, function>
return function(ready, start)
  local M = {}

  -- Prompts that are sub-commands too: the text is what is meant, or what matters.
  for _, name in ipairs(require("agent.menus.prompts").names) do
    ---@param text? string
    ---@param extra? { context?: string|agent.Given, bang?: boolean }
    M[name] = function(text, extra)
      vim.validate("text", text, "string", true)
      local context = extra and extra.context
      local message = vim.trim(("/%s %s"):format(name, text or ""))
      require("agent").send(message, { context = context, open = not (extra and extra.bang) })
    end
  end

  --- Changes lines of the current buffer in place.
  ---@param wish? string what is to become of them; nil asks
  ---@param extra? { range?: { first: integer, last: integer }, by_operator?: boolean } the cursor's line or fold unless told
  function M.edit(wish, extra)
    vim.validate("wish", wish, "string", true)
    extra = extra or {}
    local line = vim.fn.line(".")
    local range = extra.range or { first = line, last = line }
    if not extra.range and vim.fn.foldclosed(line) > 0 then
      range = { first = vim.fn.foldclosed(line), last = vim.fn.foldclosedend(line) }
    end
    local in_place, operator = require("agent.in_place"), require("agent.in_place.edit_operator")
    local buffer = vim.api.nvim_get_current_buf()
    if not in_place.can_edit(buffer) then
      return
    end
    local function edit(wanted)
      wanted = vim.trim(wanted or "")
      if wanted == "" then
        return
      end
      start()
      if in_place.edit(ready(), buffer, range, wanted) then
        if extra.by_operator then
          operator.remember(wanted)
        elseif vim.api.nvim_get_current_buf() == buffer then
          operator.teach(wanted, range.last - range.first + 1)
        end
      end
    end
    if wish and vim.trim(wish) ~= "" then
      return edit(wish)
    end
    vim.ui.input({ prompt = "Edit: " }, edit)
  end

  --- Asks something beside the turn, which goes on.
  ---@param question? string
  function M.btw(question)
    vim.validate("question", question, "string", true)
    if not question or vim.trim(question) == "" then
      return say.error("nothing to ask: write the question behind btw")
    end
    start()
    require("agent.aside").btw(ready().get(), question)
  end

  --- Writes a message for what is staged.
  ---@param what? string what matters
  function M.commit(what)
    vim.validate("what", what, "string", true)
    start()
    require("agent.aside").commit(ready().get(), what)
  end

  --- Goes back to before a turn: the files, and with a copy of the session what was said; the message is in the input.
  ---@param turn? string|integer nil asks
  function M.rewind(turn)
    local chats = ready()
    local chat = chats.get()
    local function back(row)
      require("agent.checkpoints").rewind(chat, row.turn, function()
        return require("agent.sessions").fork_at(chats, chat, row.turn - 1, row.text)
      end)
    end
    local rows = vim.iter(chat.timeline.blocks):rev():filter(function(block)
      return block.kind == "user" and block.turn ~= nil
    end)
    if turn then
      local row = rows:find(function(block)
        return block.turn == tonumber(turn)
      end)
      return row and back(row) or not row and say.error(("the chat shows no turn %s"):format(turn)) or nil
    end
    rows = rows:totable()
    if #rows == 0 then
      return say.info("nothing to go back to: nothing was said yet")
    end
    vim.ui.select(rows, {
      prompt = "Go back to before",
      format_item = function(block)
        return ("%3d  %s"):format(block.turn, vim.fn.strcharpart(block.text:gsub("%c", " "), 0, 60))
      end,
    }, function(row)
      if row then
        back(row)
      end
    end)
  end

  return M
end
