-- Pure: markdown within a line, as pieces of text with their highlight groups, the strongest last.
local M = {}

---@alias agent.Piece { [1]: string, [2]: string[] }  text, and its groups; a text "\n" ends a line

--- Nested marks of one piece.
local DEEPEST = 4

--- Characters by the name of their entity.
M.ENTITIES = {
  amp = "&",
  lt = "<",
  gt = ">",
  quot = '"',
  apos = "'",
  nbsp = " ",
  ensp = " ",
  emsp = " ",
  copy = "©",
  reg = "®",
  trade = "™",
  hellip = "…",
  mdash = "—",
  ndash = "–",
  bull = "•",
  middot = "·",
  laquo = "«",
  raquo = "»",
  lsquo = "‘",
  rsquo = "’",
  ldquo = "“",
  rdquo = "”",
  times = "×",
  divide = "÷",
  plusmn = "±",
  deg = "°",
  micro = "µ",
  larr = "←",
  uarr = "↑",
  rarr = "→",
  darr = "↓",
  harr = "↔",
  le = "≤",
  ge = "≥",
  ne = "≠",
  infin = "∞",
  euro = "€",
  sect = "§",
  para = "¶",
  check = "✓",
  cross = "✗",
}

--- Marks around emphasis, the longest first, with their groups.
local MARKS = {
  { "**", "@markup.strong" },
  { "__", "@markup.strong" },
  { "~~", "@markup.strikethrough" },
  { "*", "@markup.italic" },
  { "_", "@markup.italic" },
}

---@param pieces agent.Piece[]
---@param text string
---@param groups string[]
local function add(pieces, text, groups)
  local last = pieces[#pieces]
  if last and last[2] == groups and text ~= "\n" and last[1] ~= "\n" then
    last[1] = last[1] .. text
  elseif text ~= "" then
    table.insert(pieces, { text, groups })
  end
end

---@param text string
---@param at integer of a backtick
---@return string? code
---@return integer? next_one
local function code_at(text, at)
  local marks = text:match("^`+", at)
  local from = at + #marks
  local start, stop = text:find(marks, from, true)
  if start then
    local code = text:sub(from, start - 1)
    return code:match("^ (.*%S.*) $") or code, stop + 1
  end
end

--- The text between marks, if they may open here and are closed.
---@param text string
---@param at integer
---@param marks string
---@return string? inner
local function between(text, at, marks)
  local from = at + #marks
  -- A name with underscores is not emphasis.
  local is_word = marks:sub(1, 1) == "_" and text:sub(at - 1, at - 1):find("%w") ~= nil
  if is_word or text:find("^[%s" .. marks:sub(1, 1) .. "]", from) then
    return
  end
  local stop = text:find(marks, from, true)
  local ends_word = stop and (marks:sub(1, 1) ~= "_" or not text:find("^%w", stop + #marks))
  local inner = stop and text:sub(from, stop - 1) or ""
  return ends_word and inner:find("%S$") and inner or nil
end

--- Adds the pieces that begin at a sign.
---@param pieces agent.Piece[]
---@param text string
---@param at integer
---@param groups string[]
---@param depth integer
---@return integer? next_one  nil: the sign is plain text
local function special(pieces, text, at, groups, depth)
  local sign = text:sub(at, at)
  local function with(group)
    return vim.list_extend(vim.list_slice(groups), { group })
  end
  if sign == "\\" then
    local escaped = text:match("^%p", at + 1)
    add(pieces, escaped or "", groups)
    return escaped and at + 2
  elseif sign == "`" then
    local code, next_one = code_at(text, at)
    add(pieces, code or "", with("AgentCode"))
    return next_one
  elseif sign == "<" then
    local _, stop = text:find("^<[bB][rR]%s*/?>", at)
    add(pieces, stop and "\n" or "", groups)
    return stop and stop + 1
  elseif sign == "&" then
    local name, next_one = text:match("^&(%a+);()", at)
    add(pieces, M.ENTITIES[name] or "", groups)
    return M.ENTITIES[name] and next_one
  elseif sign == "[" or sign == "!" then
    local label, next_one = text:match("^!?%[([^%[%]]+)%]%([^%s()]*%)()", at)
    vim.list_extend(pieces, label and M.pieces(label, with("@markup.link.label"), depth + 1) or {})
    return next_one
  end
  for _, mark in ipairs(MARKS) do
    local inner = vim.startswith(text:sub(at, at + 1), mark[1]) and between(text, at, mark[1])
    if inner then
      vim.list_extend(pieces, M.pieces(inner, with(mark[2]), depth + 1))
      return at + #inner + 2 * #mark[1]
    end
  end
end

---@param text string
---@param groups? string[]
---@param depth? integer
---@return agent.Piece[]
function M.pieces(text, groups, depth)
  local pieces, at = {}, 1
  groups, depth = groups or {}, depth or 1
  while at <= #text do
    local sign = depth <= DEEPEST and text:find("[\\`*_~%[!<&]", at) or #text + 1
    add(pieces, text:sub(at, sign - 1), groups)
    at = sign
    if at <= #text then
      local next_one = special(pieces, text, at, groups, depth)
      if not next_one then
        add(pieces, text:sub(at, at), groups)
        next_one = at + 1
      end
      at = next_one
    end
  end
  return pieces
end

return M
