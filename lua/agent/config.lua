-- One schema: every option with its type, default and help text. It validates, and the help is checked against it.
local M = {}

---@class agent.Option
---@field name string
---@field type string          Lua types joined by "|", "integer", "list" and "map" among them
---@field default any
---@field one_of? string[]
---@field min? number
---@field max? number
---@field doc string

---@type agent.Option[]
M.schema = {
  {
    name = "provider",
    type = "string|nil",
    doc = "The model's provider. Without it: the only one in providers, a local Ollama, or the first key that is set.",
  },
  { name = "model", type = "string|nil", doc = "Name of the model, as the provider knows it." },
  {
    name = "providers",
    type = "map",
    default = {},
    doc = "Providers of your own, or changes to known ones: wire, base_url, api_key, headers.",
  },
  { name = "root", type = "string|nil", doc = "Folder of the project. Without it: nearest .git, manifest or cwd." },
  {
    name = "roots",
    type = "list",
    default = {},
    doc = "Other folders that belong to the work, absolute or relative to the project.",
  },
  {
    name = "max_iterations",
    type = "integer",
    default = 25,
    min = 1,
    max = 1000,
    doc = "Requests to the model in one turn; then it asks whether to go on.",
  },
  { name = "max_output_tokens", type = "integer|nil", min = 1, doc = "Tokens of one answer at most." },
  { name = "context_window", type = "integer|nil", min = 1, doc = "Tokens of the conversation at most." },
  {
    name = "temperature",
    type = "number|nil",
    default = 0.1,
    min = 0,
    max = 2,
    doc = "Left out where a model refuses it.",
  },
  {
    name = "request_timeout",
    type = "number",
    default = 300,
    min = 1,
    doc = "Seconds of silence before a request fails.",
  },
  {
    name = "vision",
    type = "boolean|nil",
    doc = "Whether the model sees images. Without it: as Ollama says, or by the model's name.",
  },
  {
    name = "max_tokens_per_turn",
    type = "integer|nil",
    min = 1,
    doc = "Tokens of one turn; over this it waits and asks.",
  },
  {
    name = "max_cost_per_session",
    type = "number|nil",
    min = 0,
    doc = "Money of a conversation; over this it waits and asks. See prices.",
  },
  {
    name = "max_cost_per_day",
    type = "number|nil",
    min = 0,
    doc = "Money of all conversations of a project in a day; over this it waits and asks.",
  },
  {
    name = "prices",
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
    type = "list",
    default = {
      "**/.env",
      "**/.env.*",
      "**/*.pem",
      "**/*.key",
      "**/id_rsa*",
      "**/id_ed25519*",
      "**/id_ecdsa*",
      "**/.ssh/**",
      "**/.netrc",
      "**/.npmrc",
      "**/.pypirc",
    },
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
    name = "allow_safe_commands",
    type = "boolean",
    default = true,
    doc = "Commands that only look (ls, git status) run unasked, inside a sandbox only.",
  },
  {
    name = "command_write",
    type = "list",
    default = {},
    doc = "Folders outside of the project that commands may write.",
  },
  {
    name = "command_environment",
    type = "list",
    default = {},
    doc = "Names of variables that commands get beside PATH, HOME, USER, LANG, LC_* and TZ.",
  },
  { name = "tools_off", type = "list", default = {}, doc = "Names of tools that the model is not offered." },
  { name = "title", type = "boolean", default = true, doc = "Ask the model for a title after the first turn." },
  {
    name = "save_unsaved",
    type = "boolean",
    default = false,
    doc = "Save a buffer with unsaved changes after an edit was merged into it.",
  },
  {
    name = "sandbox",
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
  { name = "deno", type = "list", default = { "deno" }, doc = "Command that starts Deno, 2.8 or newer." },
  {
    name = "state_dir",
    type = "string|nil",
    doc = "Folder for what is kept between sessions. Without it: stdpath('state')/agent.",
  },
  {
    name = "layout",
    type = "string",
    default = "float",
    one_of = { "float", "right", "left", "bottom", "tab", "current" },
    doc = "Where the chat opens.",
  },
  {
    name = "width",
    type = "number|nil",
    doc = "Width of the chat: columns, or a share of the screen. Without it: 0.8 for a float, 0.4 for a split.",
  },
  {
    name = "height",
    type = "number|nil",
    doc = "Height of the chat: lines, or a share of the screen. Without it: 0.8 for a float, 0.4 for a split.",
  },
  { name = "input_height", type = "integer", default = 3, min = 1, doc = "Lines of the input." },
  {
    name = "approval_focus",
    type = "string",
    default = "auto",
    one_of = { "auto", "always", "never" },
    doc = "Whether an approval takes the cursor. auto: only from an idle chat.",
  },
  { name = "notify", type = "boolean", default = true, doc = "vim.notify when a turn ends while the chat is hidden." },
}

--- Globs, in order, the last match wins; true may be written without asking.
M.safe_to_write = {
  { "**/*", true },
  { "**/.env*", false },
  { "**/*.pem", false },
  { "**/*.key", false },
  { "**/id_*", false },
  { "**/.ssh/**", false },
  { "**/.netrc", false },
  { "**/.npmrc", false },
  { "**/.pypirc", false },
  { "**/.git", false },
  { "**/.git/**", false },
  { "**/.github/workflows/**", false },
  { "**/.envrc", false },
  { "**/.nvim.lua", false },
  { "**/.nvimrc", false },
  { "**/.exrc", false },
  { "**/.vscode/**", false },
  { "**/package-lock.json", false },
  { "**/yarn.lock", false },
  { "**/pnpm-lock.yaml", false },
  { "**/deno.lock", false },
  { "**/Cargo.lock", false },
  { "**/poetry.lock", false },
  { "**/uv.lock", false },
  { "**/Gemfile.lock", false },
  { "**/composer.lock", false },
  { "**/go.sum", false },
  { "**/AGENTS.md", false },
  { "**/CLAUDE.md", false },
  { "**/.cursorrules", false },
  { "**/.github/copilot-instructions.md", false },
}

---@type table<string, any>?
local given
--- The mistakes were shown.
local told = false

---@param value any
---@param name string a type of the schema
---@return boolean
local function is_a(value, name)
  if name == "integer" then
    return type(value) == "number" and value % 1 == 0
  elseif name == "list" then
    return vim.islist(value)
  elseif name == "map" then
    return type(value) == "table" and (vim.tbl_isempty(value) or not vim.islist(value))
  end
  return type(value) == name
end

--- What an option takes, in words: "a whole number from 1 to 1000", "a string or nil".
---@param option agent.Option
---@return string
local function wanted(option)
  if option.one_of then
    return "one of " .. table.concat(option.one_of, ", ")
  end
  local range = option.max and (" from %d to %d"):format(option.min, option.max)
    or option.min and (" of at least %d"):format(option.min)
    or ""
  local words = {
    integer = "a whole number" .. range,
    number = "a number" .. range,
    string = "a string",
    boolean = "true or false",
    list = "a list",
    map = "a table with names",
  }
  return (option.type:gsub("%a+", words):gsub("|", " or "))
end

---@param option agent.Option
---@param value any
---@return string? problem
local function check(option, value)
  local fits = vim.iter(vim.gsplit(option.type, "|", { plain = true })):any(function(name)
    return is_a(value, name)
  end)
  if fits and value ~= nil then
    fits = not (option.one_of and not vim.list_contains(option.one_of, value))
      and not (option.min and value < option.min)
      and not (option.max and value > option.max)
  end
  if fits then
    return nil
  end
  local given_as = vim.inspect(value, { newline = "", indent = "" })
  return ("%s must be %s, not %s"):format(option.name, wanted(option), given_as)
end

--- What is wrong with these options, a line each; empty if nothing is.
---@param options table
---@return string[]
function M.problems(options)
  local problems = vim.g.agent ~= nil and type(vim.g.agent) ~= "table" and { "vim.g.agent must be a table" } or {}
  local known = {}
  for _, option in ipairs(M.schema) do
    known[option.name] = true
    local value = options[option.name]
    if value ~= nil then
      table.insert(problems, check(option, value))
    end
  end
  for name in pairs(options) do
    if not known[name] then
      table.insert(problems, ("unknown option %s"):format(tostring(name)))
    end
  end
  for _, pair in ipairs(vim.islist(options.safe_to_write) and options.safe_to_write or {}) do
    if type(pair) ~= "table" or type(pair[1]) ~= "string" or type(pair[2]) ~= "boolean" then
      table.insert(problems, ("safe_to_write must hold { glob, boolean }, not %s"):format(vim.inspect(pair)))
    end
  end
  table.sort(problems)
  return problems
end

--- Says in one line what is wrong with the options in force, once for each that were set.
function M.tell()
  local problems = M.current_problems()
  if problems[1] and not told then
    local more = #problems > 1 and (" (and %d more, see :checkhealth agent)"):format(#problems - 1) or ""
    -- Later: Neovim waits three seconds before it begins to insert while a message is on the screen.
    vim.schedule(function()
      vim.notify("agent: " .. problems[1] .. more, vim.log.levels.ERROR)
    end)
  end
  told = true
end

--- Options of the user, over vim.g.agent, over the defaults. Wrong ones are left at their defaults.
---@param options? table
function M.set(options)
  given = vim.tbl_extend("force", type(vim.g.agent) == "table" and vim.g.agent or {}, options or {})
  told = false
end

--- What is wrong with the options in force.
---@return string[]
function M.current_problems()
  if not given then
    M.set()
  end
  return M.problems(given)
end

---@return table<string, any>
function M.get()
  if not given then
    M.set()
  end
  local result = {}
  for _, option in ipairs(M.schema) do
    local value = given[option.name]
    if value == nil or check(option, value) then
      value = option.default
    end
    result[option.name] = value
  end
  result.state_dir = result.state_dir or vim.fs.joinpath(vim.fn.stdpath("state"), "agent")
  return result
end

--- The part that the supervisor and the engine use, in their shape.
---@return table
function M.for_supervisor()
  local options = M.get()
  local sent = {}
  for _, name in ipairs({
    "provider",
    "model",
    "providers",
    "roots",
    "max_iterations",
    "max_output_tokens",
    "context_window",
    "temperature",
    "request_timeout",
    "vision",
    "deny_read",
    "sandbox",
    "deno",
    "state_dir",
    "allow_safe_commands",
    "command_write",
    "command_environment",
    "tools_off",
    "title",
    "max_tokens_per_turn",
    "max_cost_per_session",
    "max_cost_per_day",
    "prices",
  }) do
    sent[name] = options[name]
  end
  sent.rules = { allow = options.allow, ask = options.ask, deny = options.deny }
  sent.socket = vim.v.servername ~= "" and vim.v.servername or nil
  sent.safe_to_write = {}
  for _, pair in ipairs(vim.list_extend(vim.deepcopy(M.safe_to_write), options.safe_to_write)) do
    if type(pair) == "table" then
      table.insert(sent.safe_to_write, { glob = pair[1], safe = pair[2] })
    end
  end
  return sent
end

return M
