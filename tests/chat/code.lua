--- Colours of code by Vim's syntax files, without a screen: nvim --headless --clean -l code.lua
local here = vim.fs.dirname(vim.fs.normalize(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")))
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(here)))
local checks = dofile(here .. "/checks.lua")
local languages = require("agent.ui.languages")
local vim_syntax = require("agent.ui.vim_syntax")

local test, eq = checks.test, checks.eq

vim.cmd("syntax enable")

--- The longest wait, in milliseconds.
local LIMIT = 60000

--- The groups of a block once all of its lines have theirs: for each line the texts with their group, as "text=group".
local function groups(block, lines)
  local spans
  block:set(lines)
  assert(vim.wait(LIMIT, function()
    spans = block:spans(1, #lines)
    return #spans == #lines
  end, 5))
  return vim.tbl_map(function(line)
    return vim.tbl_map(function(span)
      return lines[line]:sub(span[1] + 1, span[2]) .. "=" .. span[3]
    end, spans[line])
  end, vim.fn.range(1, #lines))
end

local function groups_of(filetype, ...)
  return groups(assert(vim_syntax.open(filetype)), { ... })
end

--- Python whose colours depend on the lines above.
local function python(functions)
  local lines = {}
  for at = 1, functions do
    vim.list_extend(lines, {
      ("def name_%d(value: int) -> str:"):format(at),
      '    """A text of',
      "    two lines: if, not.",
      '    """',
      ("    return f'{value} of %d'  # the end"):format(at),
    })
  end
  return lines
end

test("on a busy machine, where little work lasts long, no line stays plain", function()
  local usual, late = vim.uv.hrtime, 0
  vim.uv.hrtime = function()
    late = late + 3e9
    return usual() + late
  end
  local all = groups_of("python", "x = 'one'", "# two", "if 'three': pass")
  vim.uv.hrtime = usual
  eq({ #all[1] > 0, #all[2] > 0, #all[3] > 0 }, { true, true, true })
end)

test("names at fences are filetypes with a syntax file, however they are written", function()
  for info, filetype in pairs({
    js = "javascript",
    ts = "typescript",
    tsx = "typescriptreact",
    sh = "sh",
    console = "sh",
    ["c++"] = "cpp",
    ["C#"] = "cs",
    h = "cpp",
    py = "python",
    yml = "yaml",
    rs = "rust",
    rb = "ruby",
    tf = "terraform",
    Dockerfile = "dockerfile",
    makefile = "make",
    ["{.python}"] = "python",
    ["{ .python .numberLines }"] = "python",
    ["{r, echo=FALSE}"] = "r",
    ['lua title="a.lua"'] = "lua",
    ["rust,ignore"] = "rust",
    [" js{1,3}"] = "javascript",
    ["python:src/main.py"] = "python",
  }) do
    eq(languages.of_fence(info), filetype, info)
    assert(languages.syntaxes(filetype), filetype)
  end
  eq(languages.of_fence(""), nil)
  eq(languages.of_fence("no-such-language"), nil)
  eq(languages.syntaxes("no-such-language"), nil)
  eq(languages.syntaxes("python.no-such-language"), { "python" })
end)

test("a name at a fence opens no window, runs no command and switches nothing off", function()
  local windows = #vim.api.nvim_list_wins()
  for _, info in ipairs({
    "nosyntax",
    "NoSyntax",
    "hitest",
    "colortest",
    "2html",
    "manual",
    "syntax",
    "../nosyntax",
    "lua/../nosyntax",
    "python|let g:command_ran = 1",
    "python\nlet g:command_ran = 1",
    "`let g:command_ran = 1`",
    "=execute('let g:command_ran = 1')",
    "$VIMRUNTIME/syntax/nosyntax",
    "*",
  }) do
    local filetype = languages.of_fence(info)
    local block = filetype and vim_syntax.open(filetype)
    if block then
      groups(block, { "if x: pass" })
    end
    eq(vim_syntax.open(info), nil, info)
  end
  eq({ vim.g.syntax_on, vim.g.command_ran, #vim.api.nvim_list_wins() }, { 1, nil, windows })
end)

test("code has the groups of its syntax, also in a text of several lines and beside wide letters", function()
  eq(groups_of("python", 'def f(x):  # "é"', '    return """if', "é  if", '  """ + x'), {
    { "def=pythonStatement", "f=pythonFunction", '# "é"=pythonComment' },
    { "return=pythonStatement", '"""=pythonTripleQuotes', "if=pythonString" },
    { "é  if=pythonString" },
    { '"""=pythonTripleQuotes' },
  })
  eq(groups_of("sh", "# one", "if true; then")[1], { "# one=shComment" })
end)

test("a block that grows has the colours of the whole one; a change in it colours the lines below anew", function()
  local whole, block = python(6), assert(vim_syntax.open("python"))
  local lines = {}
  for at = 1, #whole do
    lines[at] = whole[at]:sub(1, 7)
    block:set(lines)
    block:spans(1, at)
    lines[at] = whole[at]
    if at % 4 == 0 then
      groups(block, lines)
    end
  end
  eq(groups(block, lines), groups_of("python", unpack(whole)))
  local appended = assert(vim_syntax.open("python"))
  for at, line in ipairs(whole) do
    appended:append(line)
    appended:work(at)
  end
  eq(groups(appended, whole), groups(block, lines))
  lines[4] = '    no longer the end of it"""'
  local changed = groups(block, lines)
  eq(changed, groups_of("python", unpack(lines)))
  eq(changed[4], { "no longer the end of it=pythonString", '"""=pythonTripleQuotes' })
  eq(groups(block, vim.list_slice(lines, 1, 2)), vim.list_slice(changed, 1, 2))
end)

test("a large block is coloured in slices, from its first line, and each of them is reported", function()
  groups_of("python", "pass")
  local lines, reports = python(300), {}
  local block = assert(vim_syntax.open("python", function(first, last)
    table.insert(reports, { first, last })
  end))
  block:set(lines)
  local done = block:work(#lines)
  assert(done > 0 and done < #lines, "all at once: " .. done)
  eq(#block:spans(1, #lines), done)
  assert(vim.wait(LIMIT, function()
    return #reports > 0 and reports[#reports][2] == #lines
  end, 5))
  eq(reports[1][1], done + 1)
  for at = 2, #reports do
    eq(reports[at][1], reports[at - 1][2] + 1)
  end
  eq(#block:spans(1, #lines), #lines)
  -- More than this is plain.
  local huge = python(2000)
  block:set(huge)
  block:work(#huge)
  assert(vim.wait(LIMIT, function()
    return #block:spans(1, #huge) == 2000
  end, 5))
end)

test("a line that is very long is plain, and the lines below it are not", function()
  local long = 'x = "' .. ("if "):rep(400)
  eq(groups_of("python", "pass", long, "pass"), { { "pass=pythonStatement" }, {}, { "pass=pythonStatement" } })
end)

test("the hidden buffer starts no plugin and no parser, reads no modeline, and is in no list of buffers", function()
  local events, parsers = {}, 0
  local group = vim.api.nvim_create_augroup("test", {})
  vim.api.nvim_create_autocmd({ "FileType", "Syntax", "BufEnter", "BufRead", "WinEnter" }, {
    group = group,
    callback = function(event)
      table.insert(events, event.event)
    end,
  })
  local add = vim.treesitter.language.add
  vim.treesitter.language.add = function(...)
    parsers = parsers + 1
    return add(...)
  end
  local before = vim.api.nvim_list_bufs()
  local current = { vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win() }
  -- Neovim has a parser of it.
  eq(groups_of("c", "// vim: set ft=python tw=40:", "int x;")[2], { "int=cType" })
  vim.api.nvim_del_augroup_by_id(group)
  vim.treesitter.language.add = add
  eq({ events, parsers }, { {}, 0 })
  eq({ vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win() }, current)
  local hidden = vim.tbl_filter(function(buffer)
    return not vim.list_contains(before, buffer)
  end, vim.api.nvim_list_bufs())
  eq(#hidden, 1)
  local options = vim.bo[hidden[1]]
  eq({ options.filetype, options.buflisted, options.buftype, options.bufhidden }, { "", false, "nofile", "hide" })
  eq({ options.swapfile, options.undolevels, options.modeline, options.textwidth }, { false, -1, false, 0 })
  eq({ vim.treesitter.highlighter.active[hidden[1]], #vim.lsp.get_clients() }, { nil, 0 })
end)

test("many languages share a few buffers, also after the user has wiped them", function()
  local names = { "python", "sh", "ruby", "rust", "go", "java", "css", "sql", "perl", "awk", "tcl", "ada", "python" }
  for _, name in ipairs(names) do
    groups_of(name, "if x")
  end
  local hidden = vim.tbl_filter(function(buffer)
    return vim.bo[buffer].buftype == "nofile" and not vim.bo[buffer].buflisted
  end, vim.api.nvim_list_bufs())
  assert(#hidden < #names, #hidden .. " buffers")
  vim.cmd("silent! bwipeout! " .. table.concat(hidden, " "))
  eq(groups_of("python", "pass"), { { "pass=pythonStatement" } })
end)

test("text of a group that schemes make invisible keeps its colour", function()
  vim.api.nvim_set_hl(0, "pythonComment", { link = "Ignore" })
  package.loaded["agent.ui.vim_syntax"] = nil
  local block = require("agent.ui.vim_syntax").open("python")
  eq(groups(block, { "pass # no" }), { { "pass=pythonStatement" } })
  vim.api.nvim_set_hl(0, "pythonComment", { link = "Comment" })
end)

test("without the user's syntax highlighting nothing is coloured, and with it again all is", function()
  local block, lines = assert(vim_syntax.open("python")), { "pass" }
  groups(block, lines)
  vim.cmd("syntax off")
  eq(block:spans(1, 1), {})
  block:append("pass")
  eq(block:work(2), 1)
  vim.cmd("syntax on")
  eq(groups_of("python", "if x: pass"), { { "if=pythonConditional", "pass=pythonStatement" } })
end)

checks.finish()
