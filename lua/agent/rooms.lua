-- The modules that the first message loads, in steps: each step loads one of them, and what it requires.
local M = {}

--- The modules that the first drawing needs.
M.first = {
  "agent.timeline.lines",
  "agent.timeline",
  "agent.chat.announce",
  "agent.chat.window",
  "agent.chat.attachments",
  "agent.chat.drafts",
  "agent.chat.complete",
  "agent.chat.input.buffer",
  "agent.chat.navigation",
  "agent.chat.queue",
  "agent.chat.draw.status",
  "agent.ui.highlights",
  "agent.ui.diff_syntax",
  "agent.chat.transcript",
  "agent.chat.chat",
  "agent.chat",
  "agent.menus.effort",
  "agent.menus.prompts",
  "agent.command",
}

--- The modules that updates of the supervisor, files and other actions need.
M.rest = {
  "agent.reload.codec",
  "agent.reload.merge",
  "agent.reload.disk",
  "agent.editor.lsp.edit",
  "agent.editor.lsp.actions",
  "agent.editor.lsp",
  "agent.reload.follow",
  "agent.reload",
  "agent.reload.spool",
  "agent.editor.view",
  "agent.approval.window",
  "agent.approval",
  "agent.review.files",
  "agent.review.comments",
  "agent.review",
  "agent.in_place.fix",
}

return M
