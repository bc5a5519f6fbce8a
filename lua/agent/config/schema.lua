-- One schema: every option with its type, default and help text. `deno task docs` writes them into the help.
local M = {}

---@class agent.Option
---@field name string
---@field type string          Lua types joined by "|", "integer", "list" and "map" among them
---@field default any
---@field one_of? string[]
---@field min? number
---@field max? number
---@field doc string
---@field sent? true  to the supervisor, as it is; it passes on what the engine knows of

M.oldest_neovim = "0.12"

--- The same as in protocol/version.ts.
M.oldest_deno = "2.8"

--- What a key in a buffer with hunks does → the key.
M.review_keys = {
  next = "]r",
  previous = "[r",
  comment = "grm",
  keep = "grk",
  undo = "gru",
  keep_file = "grK",
  undo_file = "grU",
  keep_all = "gr+",
  undo_all = "gr-",
}

---@type agent.Option[]
M.options = {
  {
    name = "provider",
    sent = true,
    type = "string|nil",
    doc = "The model's provider. Without it: the only one in providers, a local Ollama, or the first key that is set.",
  },
  { name = "model", sent = true, type = "string|nil", doc = "Name of the model, as the provider knows it." },
  {
    name = "providers",
    sent = true,
    type = "map",
    default = {},
    doc = "Providers of your own, or changes to known ones: wire, base_url, api_key, headers.",
  },
  { name = "root", type = "string|nil", doc = "Folder of the project. Without it: nearest .git, manifest or cwd." },
  {
    name = "roots",
    sent = true,
    type = "list",
    default = {},
    doc = "Other folders that belong to the work, absolute or relative to the project.",
  },
  {
    name = "max_iterations",
    sent = true,
    type = "integer",
    default = 25,
    min = 1,
    max = 1000,
    doc = "Requests to the model in one turn; then it asks whether to go on.",
  },
  { name = "max_output_tokens", sent = true, type = "integer|nil", min = 1, doc = "Tokens of one answer at most." },
  { name = "context_window", sent = true, type = "integer|nil", min = 1, doc = "Tokens of the session at most." },
  {
    name = "temperature",
    sent = true,
    type = "number|nil",
    default = 0.1,
    min = 0,
    max = 2,
    doc = "Left out where a model refuses it.",
  },
  {
    name = "request_timeout",
    sent = true,
    type = "number",
    default = 300,
    min = 1,
    doc = "Seconds of silence before a request fails.",
  },
  {
    name = "vision",
    sent = true,
    type = "boolean|nil",
    doc = "Whether the model sees images. Without it: as Ollama says, or by the model's name.",
  },
  {
    name = "native_tools",
    sent = true,
    type = "boolean|nil",
    doc = "Whether the model has tool calls of its own. Without it: as Ollama or the server says, or as answers show.",
  },
  {
    name = "max_tokens_per_turn",
    sent = true,
    type = "integer|nil",
    min = 1,
    doc = "Tokens of one turn; over this it waits and asks.",
  },
  {
    name = "max_cost_per_session",
    sent = true,
    type = "number|nil",
    min = 0,
    doc = "Money of a session; over this it waits and asks. See prices.",
  },
  {
    name = "max_cost_per_day",
    sent = true,
    type = "number|nil",
    min = 0,
    doc = "Money of all sessions of a project in a day; over this it waits and asks.",
  },
  {
    name = "prices",
    sent = true,
    type = "map",
    default = {},
    doc = "Dollars per million tokens by model: input, output, cached_read, cached_write.",
  },
  {
    name = "safe_to_write",
    type = "list",
    default = {},
    doc = "Pairs { glob, boolean }, added to the built-in ones; the last match wins. true: written without asking.",
  },
  {
    name = "deny_read",
    sent = true,
    type = "list",
    doc = "Globs of files that the model may not see. Replaces the default.",
  },
  {
    name = "allow",
    type = "list",
    default = {},
    doc = 'Rules that answer for you: "run(npm test *)", "write(docs/**)", "network(npm install *)".',
  },
  { name = "ask", type = "list", default = {}, doc = "Rules that make the agent ask; stronger than allow." },
  { name = "deny", type = "list", default = {}, doc = "Rules that forbid; stronger than ask and allow." },
  {
    name = "commands",
    sent = true,
    type = "string",
    default = "look",
    one_of = { "look", "project", "ask" },
    doc = "look: commands run unasked, inside a sandbox only, and before anything that they change is kept you are asked."
      .. " project: what touches nothing sensitive is kept unasked. ask: every command asks.",
  },
  {
    name = "command_read",
    sent = true,
    type = "list",
    default = {},
    doc = "Folders and files outside of the project that commands see, such as \"~/.config/mise\".",
  },
  {
    name = "command_write",
    sent = true,
    type = "list",
    default = {},
    doc = "Folders outside of the project that commands may write.",
  },
  {
    name = "command_environment",
    sent = true,
    type = "list",
    default = {},
    doc = "Names of variables that commands get beside PATH, HOME, USER, LANG, LC_* and TZ.",
  },
  {
    name = "lsp_start",
    sent = true,
    type = "string",
    default = "ask",
    one_of = { "ask", "always", "never" },
    doc = "Whether a tool may start a language server that is not running: it runs outside of the sandbox.",
  },
  { name = "tools_off", sent = true, type = "list", default = {}, doc = "Names of tools that the model is not offered." },
  {
    name = "edit_form",
    sent = true,
    type = "string|nil",
    one_of = { "replace", "whole", "patch" },
    doc = "How the model edits files. replace: it names the text. whole: it writes the file anew. patch: it writes a patch."
      .. " Without it: by the model's name, whole for small ones.",
  },
  {
    name = "effort",
    sent = true,
    type = "string|nil",
    one_of = { "none", "low", "medium", "high", "max" },
    doc = "How much the model thinks before it answers, unless |:Agent-effort| says otherwise. Without it: as the provider"
      .. " has it.",
  },
  {
    name = "git_branch",
    sent = true,
    type = "string|nil",
    doc = 'Each new session gets a git branch whose name begins so, such as "agent/". Without it: none does.',
  },
  { name = "title", sent = true, type = "boolean", default = true, doc = "Ask the model for a title after the first turn." },
  {
    name = "summary_model",
    sent = true,
    type = "string|nil",
    doc = "A model of the same provider that writes the summaries of long sessions. Without it: the session's own.",
  },
  {
    name = "explore_model",
    sent = true,
    type = "string|nil",
    doc = "A model of the same provider for mode explore, such as a small and fast one. Without it: the session's own.",
  },
  {
    name = "mode",
    sent = true,
    type = "string",
    default = "agent",
    doc = "Mode that new sessions begin in: agent, ask, plan, auto or another one of |agent-modes|.",
  },
  {
    name = "keep_sessions_days",
    sent = true,
    type = "integer|nil",
    min = 1,
    doc = "Days without a message after which a session is deleted. Without it: never.",
  },
  {
    name = "save_unsaved",
    type = "boolean",
    default = false,
    doc = "Save a buffer with unsaved changes after an edit was merged into it.",
  },
  {
    name = "sandbox",
    sent = true,
    type = "string",
    default = "auto",
    one_of = { "auto", "off" },
    doc = "auto: bubblewrap where it works. off: Deno's permissions alone.",
  },
  {
    name = "host",
    type = "string",
    default = "auto",
    one_of = { "auto", "denops", "standalone" },
    doc = "Where the supervisor runs. auto: in denops.vim if it is there.",
  },
  {
    name = "deno",
    sent = true,
    type = "list",
    default = { "deno" },
    doc = ("Command that starts Deno, %s or newer."):format(M.oldest_deno),
  },
  {
    name = "state_dir",
    sent = true,
    type = "string|nil",
    doc = "Folder for what is kept between sessions. Without it: stdpath('state')/agent.",
  },
  {
    name = "layout",
    type = "string",
    default = "float",
    one_of = { "float", "right", "left", "bottom", "tab", "current", "auto" },
    doc = "Where the chat opens. auto: right from 120 columns on, else at the bottom from 30 lines on, else a float.",
  },
  {
    name = "width",
    type = "number|nil",
    doc = "Width of the chat: columns, or a share of the screen. Without it: 0.8 for a float, but 60 columns if there are so"
      .. " many, 0.4 for a split.",
  },
  {
    name = "height",
    type = "number|nil",
    doc = "Height of the chat: lines, or a share of the screen. Without it: 0.8 for a float, but 17 lines if there are"
      .. " so many, 0.4 for a split.",
  },
  {
    name = "attach",
    type = "list",
    default = { "file", "diagnostics", "buffers", "terminal" },
    doc = "What goes along with each message by itself: the file and line you look at, the number of diagnostics, the"
      .. " names of other open files, the end of a terminal in view.",
  },
  {
    name = "input_height",
    type = "integer",
    default = 3,
    min = 1,
    doc = "Lines of the input, fewer in a chat of under 17; it grows to a third of the chat.",
  },
  {
    name = "approval",
    type = "string",
    default = "window",
    one_of = { "window", "select" },
    doc = "How an approval is answered. window: by keys of its window. select: in a list of vim.ui.select().",
  },
  {
    name = "approval_focus",
    type = "string",
    default = "auto",
    one_of = { "auto", "always", "never" },
    doc = "Whether an approval takes the cursor. auto: only from an idle chat.",
  },
  {
    name = "review_keys",
    type = "map|boolean",
    default = M.review_keys,
    doc = "Keys of buffers with hunks; those that are not named stay, an empty one is not mapped. false: no keys.",
  },
  {
    name = "review_advance",
    type = "boolean",
    default = false,
    doc = "Keeping or undoing a hunk goes on to the next one of the file.",
  },
  {
    name = "chat_width",
    type = "integer",
    default = 100,
    min = 20,
    doc = "Columns of the chat at most, as a float or beside your windows, unless width says otherwise.",
  },
  {
    name = "show_diffs",
    type = "string",
    default = "folded",
    one_of = { "folded", "open" },
    doc = "Whether the diff of an edit is shown under its line by itself. folded: once <Tab> opens it.",
  },
  {
    name = "spinner",
    type = "list|boolean",
    default = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" },
    doc = "Frames of the sign of life where something waits, each one column wide. {}: seconds alone. false: neither.",
  },
  {
    name = "notify_with",
    type = "string",
    default = "message",
    one_of = { "message", "bell", "osc9" },
    doc = "What else notify does, also while another window than the terminal has the focus. bell: the terminal's bell."
      .. " osc9: a notification of the desktop, where the terminal knows OSC 9.",
  },
  {
    name = "code_actions",
    type = "boolean",
    default = true,
    doc = "Code actions of hunks, approvals and diagnostics in your buffers, see |agent-code-actions|.",
  },
  { name = "notify", type = "boolean", default = true, doc = "vim.notify when a turn ends while the chat is hidden." },
}

--- Options of earlier versions, and what became of them.
---@type table<string, { name: string, value: fun(value: any): any }>
M.renamed = {
  allow_safe_commands = {
    name = "commands",
    sent = true,
    value = function(value)
      return value == false and "ask" or "look"
    end,
  },
}

---@type table<string, table>?
local lists

--- The built-in lists of files: `deny_read`, globs, and `safe_to_write`, rows with glob, safe and reason. The engine
--- has them from the same file. It is read when it is first needed, not at startup.
---@return table<string, table>
function M.lists()
  if not lists then
    local file = assert(io.open(vim.fs.joinpath(require("agent.config.scripts")(), "policy", "defaults.json")))
    lists = vim.json.decode(file:read("*a"))
    file:close()
  end
  return lists
end

for _, option in ipairs(M.options) do
  if option.name == "deny_read" then
    setmetatable(option, {
      __index = function(_, key)
        return key == "default" and M.lists().deny_read or nil
      end,
    })
  end
end

return M
