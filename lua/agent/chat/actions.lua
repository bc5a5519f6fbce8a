-- Sub-commands about chats and messages.
local say = require("agent.ui.say")

---@param chats agent.Chats
---@param _? string
---@param options agent.ActionOptions
local function open(chats, _, options)
  chats.get():show(options.context)
end

---@param chats agent.Chats
---@param text? string  without one the input is sent
---@param options agent.ActionOptions
local function send(chats, text, options)
  local chat, context = chats.get(), options.context
  if not text and not context then
    return chat:submit()
  end
  text = text or chat.input:take()
  if not text then
    return open(chats, nil, options)
  end
  local typed = options.typed and type(context) ~= "string"
  if type(context) == "string" then
    text = text .. "\n\n" .. context
  elseif context then
    chat.selections:add(context)
  end
  if options.open ~= false then
    chat:open()
  end
  if options.steer then
    return chat.queue:steer(text, typed)
  end
  chat:send(text, { typed = typed })
end

--- A prompt that is a sub-command too: the text is its subject.
---@param name string
local function prompt(name)
  return function(chats, text, options)
    local message = vim.trim(("/%s %s"):format(name, text or ""))
    send(chats, message, { context = options.context, open = not options.bang, typed = options.typed })
  end
end

---@type agent.Action[]
return {
  {
    name = "open",
    plug = "AgentOpen",
    doc = "Open the chat and focus its input.",
    starts = "always",
    run = open,
  },
  {
    name = "toggle",
    plug = "AgentToggle",
    doc = "Open or hide the chat. Hiding does not stop a turn.",
    run = function(chats, _, options)
      local chat = chats.get()
      if chat:is_visible() and not options.context then
        return chat:hide()
      end
      require("agent.client").start(require("agent.projects").place())
      chat:show(options.context)
    end,
  },
  {
    name = "new",
    plug = "AgentNew",
    args = "[agent|--worktree]",
    takes = "new_chat",
    doc = "Start a new chat, with another agent if you name one.",
    starts = "always",
    run = function(chats, where, options)
      local name = where and where:match("^%-%-worktree%s*(.*)$")
      if name then
        return require("agent.worktrees").new(chats, name)
      end
      local stays_normal = chats.stays_normal()
      local chat = chats.new()
      if where then
        chat:change_agent(where)
      end
      chat:show(options.context, stays_normal)
    end,
  },
  {
    name = "worktree",
    args = "[task]",
    takes = "worktree_task",
    is_strict = true,
    doc = "Go to a git worktree of the project, merge its changes, or remove it.",
    starts = "always",
    run = function(chats, task)
      local verb, name = (task or ""):match("^(%S+)%s*(.*)$")
      local worktrees = require("agent.worktrees")
      if not verb then
        return worktrees.choose(chats)
      elseif verb ~= "merge" and verb ~= "remove" then
        return say.error('worktree takes nothing, or "merge" or "remove" and perhaps a name')
      end
      worktrees[verb](chats, name)
    end,
  },
  {
    name = "chats",
    plug = "AgentChats",
    doc = "Choose a chat of this Neovim and open it.",
    run = function(chats)
      local stays_normal = chats.stays_normal()
      -- Some pickers copy the items. A chat refers to itself.
      local rows = vim.tbl_map(function(chat)
        return { id = chat.id, label = chat.status:label() }
      end, chats.list())
      if #rows == 0 then
        return say.warn("no chats yet: :Agent opens one")
      end
      vim.ui.select(rows, {
        prompt = "Chats",
        format_item = function(row)
          return row.label
        end,
      }, function(row)
        local chat = row and chats.get(row.id)
        if chat then
          require("agent.worktrees").go(chat.timeline.root)
          chats.switch(chat)
          -- Later: Neovim waits three seconds before it begins to insert while the list is on the screen.
          vim.schedule(function()
            chat:show(nil, stays_normal)
          end)
        end
      end)
    end,
  },
  {
    name = "remember",
    args = "{text}",
    takes = "text",
    doc = "Add a line to the project's rules; with !, to your rules for all projects.",
    starts = "with_text",
    run = function(chats, text, options)
      text = vim.trim((text or ""):gsub("%s+", " "))
      local rest = text:match("^%-%-global%s+(.*)$")
      if (rest or text) == "" or text == "--global" then
        return say.error("nothing to remember: say what")
      end
      local chat = chats.get()
      chat:open()
      if rest or options.bang then
        local action = { type = "remember", chat = chat.id, text = rest or text, session = chat.timeline.session }
        return require("agent.client").send(vim.tbl_extend("error", action, chat:place()))
      end
      chat:send("Remember: " .. text, { remember = text })
    end,
  },
  {
    name = "stop",
    plug = "AgentStop",
    doc = "Stop the turn at once. Received output is kept.",
    run = function(chats)
      local chat, in_place = chats.get(), require("agent.in_place")
      if in_place.stop() then
        return
      elseif chat.phases:current() == "ready" and not in_place.stop_all() then
        say.info("no turn is running")
      end
      chat:stop()
    end,
  },
  {
    name = "send",
    plug = "AgentSend",
    args = "[text]",
    takes = "text",
    doc = "Send the text, or the input's text.",
    starts = "with_text",
    run = send,
  },
  {
    name = "explain",
    args = "[what]",
    takes = "phrase",
    doc = "Explain the lines of the range, or the function at the cursor.",
    starts = "always",
    run = prompt("explain"),
  },
  {
    name = "fix",
    args = "[what]",
    takes = "phrase",
    doc = "Fix the problems that diagnostics report.",
    starts = "always",
    run = prompt("fix"),
  },
  {
    name = "tests",
    args = "[what]",
    takes = "phrase",
    doc = "Write tests for the code.",
    starts = "always",
    run = prompt("tests"),
  },
  {
    name = "docs",
    args = "[what]",
    takes = "phrase",
    doc = "Document the code.",
    starts = "always",
    run = prompt("docs"),
  },
  {
    name = "btw",
    args = "{text}",
    takes = "text",
    doc = "Ask a side question. A small window shows the answer; no session stores it.",
    starts = "with_text",
    run = function(chats, question)
      if not question or vim.trim(question) == "" then
        return say.error("nothing to ask: write the question behind btw")
      end
      require("agent.aside").btw(chats.get(), question)
    end,
  },
  {
    name = "commit",
    args = "[what]",
    takes = "phrase",
    doc = "Write a commit message for the staged changes.",
    starts = "always",
    run = function(chats, words)
      require("agent.aside").commit(chats.get(), words)
    end,
  },
  {
    name = "queue",
    plug = "AgentQueue",
    doc = "List the waiting messages; choose one to edit it in the input.",
    run = function(chats)
      chats.get().queue:choose()
    end,
  },
  {
    name = "pause",
    plug = "AgentPause",
    doc = "Pause the turn before its next step, or resume it.",
    run = function(chats)
      chats.get().queue:pause()
    end,
  },
  {
    name = "paste",
    plug = "AgentPaste",
    doc = "Attach the clipboard's image to the message.",
    run = function(chats)
      chats.get():paste()
    end,
  },
}
