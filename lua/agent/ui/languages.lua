-- Languages of code: the filetype by the name at a code block, the tree-sitter parser and the syntax files of a filetype.
local M = {}

--- Names at code blocks that are neither a filetype nor the extension of a file.
local ALIASES = {
  ["c#"] = "cs",
  ["c++"] = "cpp",
  ["objective-c"] = "objc",
  ["shell-session"] = "sh",
  batch = "dosbatch",
  cmd = "dosbatch",
  console = "sh",
  csharp = "cs",
  docker = "dockerfile",
  golang = "go",
  latex = "tex",
  node = "javascript",
  powershell = "ps1",
  pwsh = "ps1",
  pycon = "python",
  python3 = "python",
  shell = "sh",
  shellsession = "sh",
  terminal = "sh",
  -- Vim has a syntax of TinyFugue by this name.
  tf = "terraform",
  viml = "vim",
  vimscript = "vim",
}

--- Files in `syntax` folders that are no syntaxes. Some open windows, or switch the user's highlighting off.
local NOT_SYNTAXES = {
  ["2html"] = true,
  colortest = true,
  hitest = true,
  manual = true,
  nosyntax = true,
  syncolor = true,
  synload = true,
  syntax = true,
}

--- Parts of names that a file may have. They reach `:runtime`.
local SAFE = "^[%w_+-]+$"

--- Syntax files and filetypes that were looked up, with the 'runtimepath' of these look-ups.
local syntaxes, filetypes, path = {}, {}, nil

local function forget_other_path()
  if path ~= vim.o.runtimepath then
    syntaxes, filetypes, path = {}, {}, vim.o.runtimepath
  end
end

---@param name string
---@return boolean
local function has_file(name)
  local is_safe = name:find(SAFE) ~= nil and not NOT_SYNTAXES[name:lower()]
  return is_safe and #vim.api.nvim_get_runtime_file(("syntax/%s.vim"):format(name), false) > 0
    or is_safe and #vim.api.nvim_get_runtime_file(("syntax/%s.lua"):format(name), false) > 0
end

--- The syntaxes of a filetype, which are more than one if it has dots. All are in 'runtimepath'.
---@param filetype string
---@return string[]? names nil if it has none
function M.syntaxes(filetype)
  forget_other_path()
  if syntaxes[filetype] == nil then
    local names = vim.tbl_filter(has_file, vim.split(filetype, ".", { plain = true, trimempty = true }))
    syntaxes[filetype] = #names > 0 and names
  end
  return syntaxes[filetype] or nil
end

---@param name string in lower case
---@return string?
local function find_filetype(name)
  local alias = ALIASES[name]
  if alias or not name:find(SAFE) or NOT_SYNTAXES[name] then
    return alias
  elseif M.syntaxes(name) then
    return name
  end
  -- Detection may be the user's own.
  local ok, filetype = pcall(vim.filetype.match, { filename = "file." .. name })
  if not ok or not filetype then
    ok, filetype = pcall(vim.filetype.match, { filename = name })
  end
  return ok and filetype or nil
end

--- The filetype of a code block by the text after its fence, as "js", "c++", "{.python}", "rust,ignore" or
--- `lua title="x"`.
---@param info string
---@return string? filetype
function M.of_fence(info)
  forget_other_path()
  local name = info:match("^%s*{?%s*%.?([%w_+#-]+)")
  name = name and name:lower()
  if name and filetypes[name] == nil then
    filetypes[name] = find_filetype(name) or false
  end
  return name and filetypes[name] or nil
end

--- True if Neovim's markdown highlighter colours a code block: a parser has the name after its fence.
--- Source: `resolve_lang` in runtime/lua/vim/treesitter/languagetree.lua of Neovim 0.12.
---@param info string
---@return boolean
function M.is_injected(info)
  local name = (info:match("^[%s{}]*([^%s{}]*)") or ""):lower():gsub("%-", "_")
  return vim.iter({ name, vim.treesitter.language.get_lang(name) }):any(function(language)
    return language:find("^[%w_]+$") ~= nil
      and #vim.api.nvim_get_runtime_file(("parser/%s.*"):format(language), false) > 0
  end)
end

--- The tree-sitter language of a filetype, if a parser and a query for its highlights are installed.
---@param filetype string
---@return string?
function M.parser(filetype)
  local language = vim.treesitter.language.get_lang(filetype)
  local ok, has_parser = pcall(vim.treesitter.language.add, language or "")
  local has_query = ok and has_parser and #vim.treesitter.query.get_files(language, "highlights") > 0
  return has_query and language or nil
end

return M
