-- Sub-commands about stored sessions.
---@type agent.Action[]
return {
  {
    name = "sessions",
    plug = "AgentSessions",
    args = "[word]",
    takes = "phrase",
    doc = "List the stored sessions, or search in them.",
    run = function(chats, words, options)
      local sessions = require("agent.sessions")
      if not words or vim.trim(words) == "" then
        return sessions.list(chats)
      end
      sessions.search(chats, words, options.bang)
    end,
  },
  {
    name = "resume",
    plug = "AgentResume",
    args = "[word]",
    takes = "phrase",
    doc = "Open the newest session, or the newest one with this word in its title.",
    run = function(chats, word)
      require("agent.sessions").resume(chats, word)
    end,
  },
  {
    name = "fork",
    group = "session",
    plug = "AgentFork",
    doc = "Continue with a copy of the session, from the turn at the cursor.",
    run = function(chats)
      require("agent.sessions").fork(chats)
    end,
  },
  {
    name = "handoff",
    args = "{agent} [what]",
    takes = "handoff",
    doc = "Compose a message that hands the work over to another agent, in a chat with it.",
    starts = "always",
    run = function(chats, words)
      require("agent.sessions.handoff").run(chats, words)
    end,
  },
  {
    name = "rename",
    group = "session",
    args = '["title"]',
    takes = "quoted",
    doc = "Change the session's title.",
    run = function(chats, title)
      require("agent.sessions").rename(chats, title)
    end,
  },
  {
    name = "compact",
    plug = "AgentCompact",
    args = "[focus|undo]",
    takes = "focus",
    doc = "Compact the session to free the model's context window, or undo that.",
    run = function(chats, focus)
      require("agent.sessions").compact(chats, focus)
    end,
  },
  {
    name = "archive",
    group = "session",
    doc = "Archive the session, or unarchive it.",
    run = function(chats)
      require("agent.sessions").archive(chats)
    end,
  },
  {
    name = "delete",
    group = "session",
    doc = "Delete the session after a confirmation.",
    run = function(chats)
      require("agent.sessions").delete(chats)
    end,
  },
  {
    name = "export",
    group = "session",
    args = "[file]",
    takes = "file",
    doc = "Export the session as Markdown, JSON or a recording.",
    run = function(chats, file, options)
      require("agent.sessions").export(chats, file, options.bang)
    end,
  },
}
