-- Highlights markdown with Neovim's highlighter, which hides the marks of prose and shows code literally.
local inline = require("agent.markdown.inline")

--- Neovim's query for a language without its concealing. A line to conceal would make each change redraw the whole
--- window, and code is shown literally.
---@param language string
---@return string query
---@return integer count of concealing patterns
local function shows_all(language)
  local texts = vim.tbl_map(function(path)
    return table.concat(vim.fn.readfile(path), "\n")
  end, vim.treesitter.query.get_files(language, "highlights"))
  return table.concat(texts, "\n"):gsub("%(#set!%s[^()]*conceal[^()]*%)", "")
end

--- Concealed parts of prose, except in the cursor's line. Underscores stay: they may belong to a name. Long addresses
--- stay: Neovim wraps a line as if nothing were concealed, and would leave a gap.
local HIDES = [[
((emphasis_delimiter) @conceal (#eq? @conceal "*") (#set! conceal ""))
((emphasis_delimiter) @conceal (#eq? @conceal "~") (#set! conceal ""))
((code_span) @agent.code (#set! priority 110))
((backslash_escape) @conceal (#offset! @conceal 0 0 0 -1) (#set! conceal ""))
(code_span (code_span_delimiter) @conceal (#set! conceal ""))
(inline_link "[" @conceal "]" @conceal "(" @conceal (link_destination) @conceal @_to ")" @conceal
  (#match? @_to "^.{1,40}$") (#set! conceal ""))
(image "!" @conceal "[" @conceal "]" @conceal "(" @conceal (link_destination) @conceal @_to ")" @conceal
  (#match? @_to "^.{1,40}$") (#set! conceal ""))
]]

--- Footnotes by their number, and characters by their name. One pattern each: the time to parse a query grows with the
--- number of its patterns.
local SIGNS = [[
((shortcut_link) @markup.link (#any-of? @markup.link %s) (#agent-sign! @markup.link))
((entity_reference) @character.special (#any-of? @character.special %s) (#agent-sign! @character.special))
]]

--- The sign for each text that is replaced by one.
---@type table<string, string>
local signs = {}
for number, sign in ipairs({ "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" }) do
  signs[("[^%d]"):format(number)] = sign
end
for name, sign in pairs(inline.ENTITIES) do
  signs[("&%s;"):format(name)] = sign
end

---@return string query
local function hides()
  local footnotes, entities = {}, {}
  for text in vim.spairs(signs) do
    table.insert(text:find("^%[") and footnotes or entities, ('"%s"'):format(text))
  end
  return HIDES .. SIGNS:format(table.concat(footnotes, " "), table.concat(entities, " "))
end

--- Shows a sign in place of a text.
local function add_sign()
  vim.treesitter.query.add_directive("agent-sign!", function(match, _, source, directive, metadata)
    local id = directive[2]
    for _, node in ipairs(match[id] or {}) do
      local conceal = signs[vim.treesitter.get_node_text(node, source)]
      metadata[id] = vim.tbl_extend("force", metadata[id] or {}, { conceal = conceal })
    end
  end, { force = true })
end

--- The queries of a transcript.
---@type table<boolean, table<string, string>>
local queries_of = {}

---@param hides_marks boolean
---@return table<string, string> by language
local function queries(hides_marks)
  if not queries_of[hides_marks] then
    add_sign()
    queries_of[hides_marks] = {
      markdown = shows_all("markdown"),
      markdown_inline = shows_all("markdown_inline") .. (hides_marks and hides() or ""),
    }
  end
  return vim.deepcopy(queries_of[hides_marks])
end

local M = {}

--- The steps before the first highlighter: reading each of Neovim's queries takes a while. Without Neovim's parser
--- they stop.
---@param hides_marks boolean
---@return agent.Step[]
function M.steps(hides_marks)
  ---@param language string
  local function parse(language)
    vim.treesitter.query.parse(language, queries(hides_marks)[language])
  end
  return {
    "vim.treesitter",
    "vim.treesitter.highlighter",
    function()
      return (pcall(vim.treesitter.query.get, "markdown", "injections"))
    end,
    function()
      return (pcall(parse, "markdown"))
    end,
    function()
      return (pcall(parse, "markdown_inline"))
    end,
  }
end

--- Replaces the highlighter of a buffer.
---@param buffer integer
---@param parser vim.treesitter.LanguageTree of markdown
---@param hides_marks boolean
function M.start(buffer, parser, hides_marks)
  local own = queries(hides_marks)
  local function highlight()
    vim.treesitter.highlighter.new(parser, { queries = own })
  end
  local seen = { markdown = true, markdown_inline = true }
  local function see(language)
    local query, hidden = shows_all(language)
    if hidden > 0 and vim.api.nvim_buf_is_valid(buffer) then
      own[language] = query
      highlight()
    end
  end
  -- Code uses the queries of its language, which may conceal quotes.
  parser:register_cbs({
    on_child_added = function(child)
      local language = child:lang()
      if not seen[language] then
        seen[language] = true
        vim.schedule_wrap(see)(language)
      end
    end,
  }, true)
  highlight()
end

return M
