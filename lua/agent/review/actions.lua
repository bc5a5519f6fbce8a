-- Sub-commands of the review.
local say = require("agent.ui.say")

---@param chats agent.Chats
---@param what? string  one of the words of the row below
---@param options agent.ActionOptions  lines for a comment; with a bang, comments steer the turn
local function act(chats, what, options)
  local review = require("agent.review")
  local agent = what and what:match("^by (%S+)$")
  if agent then
    return require("agent.review.by_agent").run(chats, agent)
  end
  local verb, scope = (what or ""):match("^(%l+)%s*(%l*)$")
  if not verb then
    chats.get():step_aside()
    return review.list()
  elseif what == "send" then
    return require("agent.review.comments").send(chats.get(), options.bang)
  end
  local context = options.context
  local range = type(context) == "table" and context.first and context or nil
  if not review.run((scope == "" or scope == "hunk") and verb or verb .. "_" .. scope, range) then
    say.error(("unknown review action: %s"):format(what))
  end
end

---@type agent.Action[]
return {
  {
    name = "review",
    plug = "AgentReview",
    args = "[action] [scope|agent]",
    takes = "review",
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
      "comment",
      "comments",
      "send",
    },
    plugs = {
      { "AgentReviewNext", "next" },
      { "AgentReviewPrevious", "previous" },
      { "AgentReviewKeep", "keep" },
      { "AgentReviewUndo", "undo" },
      { "AgentReviewKeepFile", "keep file" },
      { "AgentReviewUndoFile", "undo file" },
      { "AgentReviewKeepAll", "keep all" },
      { "AgentReviewUndoAll", "undo all" },
      { "AgentReviewDiff", "diff" },
      { "AgentReviewComment", "comment" },
    },
    doc = "List all hunks in the quickfix list, or run a review action.",
    run = act,
  },
  {
    name = "keep",
    unlisted = true,
    args = "[scope]",
    words = { "hunk", "file", "all" },
    doc = "Keep the hunk at the cursor, all hunks of the file, or all hunks.",
    run = function(chats, scope)
      act(chats, "keep " .. (scope or "hunk"), {})
    end,
  },
  {
    name = "why",
    plug = "AgentWhy",
    doc = "Open the chat at the turn that wrote the line at the cursor.",
    run = function(chats)
      require("agent.review.why").show(chats)
    end,
  },
}
