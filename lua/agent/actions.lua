-- What a user can tell the agent to do: one row here, one function of the same name in init.lua.
-- Sub-commands, <Plug> maps and the help are made from, or checked against, this table.

---@class agent.Action
---@field name string      sub-command of :Agent and function in require("agent")
---@field plug? string     name of the <Plug> map
---@field args? string     arguments of the sub-command, as the help shows them
---@field words? string[]   all that its arguments can be
---@field takes? string     what they look like, see arguments.lua; other text is a message that begins with the name
---@field plugs? table<string, string>  further <Plug> maps, each with the argument that it gives
---@field answers? boolean  its text is an argument only while something waits for an answer
---@field doc string

---@type agent.Action[]
return {
  { name = "open", plug = "AgentOpen", doc = "Open the chat and go to its input." },
  { name = "toggle", plug = "AgentToggle", doc = "Open the chat, or hide it. Hiding does not stop a turn." },
  { name = "new", plug = "AgentNew", doc = "Begin a new chat." },
  { name = "chats", plug = "AgentChats", doc = "Choose a chat of this Neovim, and open it." },
  { name = "sessions", plug = "AgentSessions", doc = "Choose a stored session of this project, and open it." },
  {
    name = "resume",
    plug = "AgentResume",
    args = "[word]",
    takes = "phrase",
    doc = "Open the newest session, or the newest one with the word in its title.",
  },
  { name = "fork", plug = "AgentFork", doc = "Go on with a copy of the session, from the cursor's turn." },
  { name = "rename", args = '["title"]', takes = "quoted", doc = "Give the session another title." },
  {
    name = "compact",
    plug = "AgentCompact",
    args = "[focus|undo]",
    takes = "phrase",
    doc = "Fold what is old, so that the model's window has room; or take that back.",
  },
  {
    name = "remember",
    args = "{text}",
    takes = "text",
    doc = "Write a line into the project's rules; with ! into yours, for all projects.",
  },
  { name = "archive", doc = "Archive the session, or bring it back." },
  { name = "delete", doc = "Delete the session, after a question." },
  { name = "search", args = "{words}", takes = "phrase", doc = "Find words in all sessions of the project." },
  {
    name = "export",
    args = "[file]",
    takes = "file",
    doc = "Write the session as markdown or JSON.",
  },
  {
    name = "mode",
    plug = "AgentMode",
    args = "[name]",
    takes = "mode",
    doc = "Choose how the agent works, from the next message on: ask, plan, review …",
  },
  {
    name = "effort",
    plug = "AgentEffort",
    args = "[level]",
    takes = "effort",
    doc = "Choose how much the model thinks before it answers, from the next message on.",
  },
  {
    name = "model",
    plug = "AgentModel",
    args = "[name]",
    takes = "model",
    doc = "Choose the session's model among those that the provider lists.",
  },
  {
    name = "provider",
    plug = "AgentProvider",
    args = "[provider]",
    takes = "provider",
    doc = "Go on with another provider, after the turn that runs.",
  },
  { name = "start", plug = "AgentStart", doc = "Carry the plan out, in mode agent." },
  { name = "stop", plug = "AgentStop", doc = "Stop the turn at once. What came is kept." },
  {
    name = "send",
    plug = "AgentSend",
    args = "[text]",
    takes = "text",
    doc = "Send the text, or what stands in the input.",
  },
  { name = "paste", plug = "AgentPaste", doc = "Put the image of the clipboard into the message." },
  { name = "approval", plug = "AgentApproval", doc = "Go to the approval that waits." },
  {
    name = "approve",
    plug = "AgentApprove",
    args = "[session|always]",
    words = { "session", "always" },
    doc = "Allow what waits: once, for this session, or by a rule.",
  },
  {
    name = "reject",
    plug = "AgentReject",
    args = "[reason]",
    takes = "text",
    answers = true,
    doc = "Reject what waits; the agent is told the reason.",
  },
  {
    name = "undo",
    plug = "AgentUndo",
    args = "[turn]",
    takes = "number",
    doc = "Take back what the newest turn, or this one, has done to files.",
  },
  { name = "redo", plug = "AgentRedo", doc = "Do again what was taken back last." },
  {
    name = "restore",
    plug = "AgentRestore",
    args = "[turn]",
    takes = "number",
    doc = "Choose a turn, look, and make all files what they were before it.",
  },
  { name = "changes", plug = "AgentChanges", doc = "List the files that the session has changed." },
  {
    name = "review",
    plug = "AgentReview",
    args = "[action] [scope]",
    words = {
      "next",
      "previous",
      "keep",
      "keep hunk",
      "keep file",
      "keep all",
      "undo",
      "undo hunk",
      "undo file",
      "undo all",
      "diff",
    },
    plugs = {
      AgentReviewNext = "next",
      AgentReviewPrevious = "previous",
      AgentReviewKeep = "keep",
      AgentReviewUndo = "undo",
      AgentReviewKeepFile = "keep file",
      AgentReviewUndoFile = "undo file",
      AgentReviewKeepAll = "keep all",
      AgentReviewUndoAll = "undo all",
      AgentReviewDiff = "diff",
    },
    doc = "List what is to be reviewed in the quickfix list, or do what a key of a buffer with hunks does.",
  },
  {
    name = "keep",
    args = "[scope]",
    words = { "hunk", "file", "all" },
    doc = "Keep the hunk at the cursor, all hunks of the file, or all there are.",
  },
  { name = "why", plug = "AgentWhy", doc = "Open the chat at the turn that wrote the line at the cursor." },
  {
    name = "agents",
    plug = "AgentAgents",
    doc = "List the session's sub-agents; read what one has done, or stop it.",
  },
  {
    name = "jobs",
    plug = "AgentJobs",
    doc = "List the commands in the background; read what one prints, or stop it.",
  },
  { name = "rules", doc = "List the rules with where each came from; choosing one removes it." },
  { name = "tools", doc = "Switch tools on and off for this session." },
  { name = "log", doc = "Show every approval with the rule that gave it." },
  { name = "context", doc = "Show what the model is sent, part by part with sizes." },
  { name = "usage", doc = "Show tokens, time and money by turn, session, day and model." },
  {
    name = "login",
    args = "[copilot]",
    words = { "copilot" },
    doc = "Log in to GitHub Copilot, with a code for its page.",
  },
  {
    name = "logout",
    args = "[copilot]",
    words = { "copilot" },
    doc = "Forget the login to GitHub Copilot.",
  },
  { name = "health", doc = "Run :checkhealth agent." },
}
