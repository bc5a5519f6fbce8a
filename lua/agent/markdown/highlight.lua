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

--- Footnotes by their number.
local FOOTNOTE = '((shortcut_link (link_text) @_n) @markup.link (#eq? @_n "^%d") (#set! @markup.link conceal "%s"))\n'
local ENTITY = '((entity_reference) @character.special (#eq? @character.special "&%s;") (#set! conceal "%s"))\n'

---@return string query
local function hides()
  local patterns = { HIDES }
  for number, sign in ipairs({ "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" }) do
    table.insert(patterns, FOOTNOTE:format(number, sign))
  end
  for name, sign in pairs(inline.ENTITIES) do
    table.insert(patterns, ENTITY:format(name, sign == '"' and '\\"' or sign))
  end
  return table.concat(patterns)
end

--- Replaces the highlighter of a buffer.
---@param buffer integer
---@param parser vim.treesitter.LanguageTree of markdown
---@param hides_marks boolean
return function(buffer, parser, hides_marks)
  local queries = { markdown = shows_all("markdown"), markdown_inline = shows_all("markdown_inline") }
  queries.markdown_inline = queries.markdown_inline .. (hides_marks and hides() or "")
  local function highlight()
    vim.treesitter.highlighter.new(parser, { queries = queries })
  end
  local seen = { markdown = true, markdown_inline = true }
  local function see(language)
    local query, hidden = shows_all(language)
    if hidden > 0 and vim.api.nvim_buf_is_valid(buffer) then
      queries[language] = query
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
