local T = ...
local eq, pure = T.eq, T.pure
local merge = require("agent.reload.merge")

local function chars(text)
  return text == "" and {} or vim.split(text, "")
end

local function merged(base, ours, theirs)
  local result = merge.merge3(chars(base), chars(ours), chars(theirs))
  return table.concat(result.lines), #result.conflicts, result.conflicts
end

local function patch(old, hunks, new)
  local out, next_old = {}, 1
  for _, h in ipairs(hunks) do
    vim.list_extend(out, old, next_old, h.start - 1)
    vim.list_extend(out, new, h.new_start, h.new_start + h.new_count - 1)
    next_old = h.start + h.count
  end
  return vim.list_extend(out, old, next_old, #old)
end

pure("merge: hunks of insertion, deletion, change", function()
  eq(merge.hunks(chars("abc"), chars("aXbc")), { { start = 2, count = 0, new_start = 2, new_count = 1 } })
  eq(merge.hunks(chars("abc"), chars("ac")), { { start = 2, count = 1, new_start = 2, new_count = 0 } })
  eq(merge.hunks(chars("abc"), chars("aBc")), { { start = 2, count = 1, new_start = 2, new_count = 1 } })
  eq(merge.hunks({}, chars("a")), { { start = 1, count = 0, new_start = 1, new_count = 1 } })
  eq(merge.hunks(chars("a"), {}), { { start = 1, count = 1, new_start = 1, new_count = 0 } })
  eq(merge.hunks({ "" }, {}), { { start = 1, count = 1, new_start = 1, new_count = 0 } })
  eq(merge.hunks(chars("abcdef"), chars("XbcdeY")), {
    { start = 1, count = 1, new_start = 1, new_count = 1 },
    { start = 6, count = 1, new_start = 6, new_count = 1 },
  })
  eq(merge.hunks(chars("abc"), chars("abc")), {})
end)

pure("merge: both sides apply where they do not touch", function()
  eq({ merged("abcdef", "Xbcdef", "abcdeY") }, { "XbcdeY", 0, {} })
  eq({ merged("abcdef", "abcdefG", "aef") }, { "aefG", 0, {} })
  eq({ merged("abc", "abc", "") }, { "", 0, {} })
  eq({ merged("abc", "aXbc", "abcY") }, { "aXbcY", 0, {} })
end)

pure("merge: the same change on both sides is applied once", function()
  eq({ merged("abc", "aXc", "aXc") }, { "aXc", 0, {} })
  eq({ merged("abc", "ac", "ac") }, { "ac", 0, {} })
  eq({ merged("", "new", "new") }, { "new", 0, {} })
  eq({ merged("abcdefgh", "aXcdefgh", "aXcdefgY") }, { "aXcdefgY", 0, {} })
end)

pure("merge: overlapping changes conflict and ours stays", function()
  local lines, n, conflicts = merged("abc", "aXc", "aYc")
  eq({ lines, n }, { "aXc", 1 })
  eq(conflicts[1], { base_start = 2, base_count = 1, ours_lines = { "X" }, theirs_lines = { "Y" }, ours_start = 2, start = 2 })
  eq({ merged("abcdefg", "abXdefg", "aYYYefZ") }, { "abXdefZ", 1, { { base_start = 2, base_count = 3, ours_lines = { "b", "X", "d" }, theirs_lines = { "Y", "Y", "Y" }, ours_start = 2, start = 2 } } })
  eq({ select(1, merged("", "a", "b")) }, { "a", 1, { { base_start = 1, base_count = 0, ours_lines = { "a" }, theirs_lines = { "b" }, ours_start = 1, start = 1 } } })
end)

pure("merge: touching changes conflict, as in git", function()
  eq({ select(2, merged("abcd", "aXcd", "abYd")) }, { 1, { { base_start = 2, base_count = 2, ours_lines = { "X", "c" }, theirs_lines = { "b", "Y" }, ours_start = 2, start = 2 } } })
  eq(select(2, merged("abcd", "aXbcd", "aYcd")), 1)
  eq(select(2, merged("abcd", "Xbcd", "abYd")), 0)
end)

pure("merge: random texts, against git merge-file", function()
  local dir = vim.fn.tempname()
  vim.fn.mkdir(dir, "p")
  math.randomseed(7)
  local function mutate(lines)
    local out = vim.deepcopy(lines)
    for _ = 1, math.random(0, 4) do
      local at, what = math.random(1, #out + 1), math.random(3)
      if what == 1 then
        table.insert(out, at, "n" .. math.random(99))
      elseif at <= #out and what == 2 then
        table.remove(out, at)
      elseif at <= #out then
        out[at] = "c" .. math.random(99)
      end
    end
    return out
  end
  local clean, compared, stricter = 0, 0, 0
  for _ = 1, T.trials do
    local base = {}
    for i = 1, math.random(0, 14) do
      base[i] = "l" .. math.random(30)
    end
    local ours, theirs = mutate(base), mutate(base)
    eq(patch(ours, merge.hunks(ours, theirs), theirs), theirs, "hunks give the new text")
    for name, lines in pairs({ base = base, ours = ours, theirs = theirs }) do
      vim.fn.writefile(lines, dir .. "/" .. name)
    end
    local result = merge.merge3(base, ours, theirs)
    local out = vim.fn.system({ "git", "merge-file", "-p", "-q", dir .. "/ours", dir .. "/base", dir .. "/theirs" })
    local git_conflicts = vim.v.shell_error
    if git_conflicts == 0 and #result.conflicts == 0 then
      compared = compared + 1
      eq(T.joined(result.lines), out, "as git")
    elseif git_conflicts > 0 then
      eq(#result.conflicts > 0, true, "git sees a conflict: " .. vim.inspect({ base, ours, theirs }))
    else
      stricter = stricter + 1
    end
    clean = clean + (#result.conflicts == 0 and 1 or 0)
  end
  vim.fn.delete(dir, "rf")
  assert(clean > T.trials / 5 and clean < T.trials * 0.96, "the sample has both kinds: " .. clean)
  assert(compared > T.trials / 5, "git agreed in " .. compared)
  assert(stricter <= T.trials / 50, "stricter than git in " .. stricter)
end)

pure("merge: much unlike text is compared in a time that grows as it does", function()
  T.assert_linear(function(size)
    local a, b = {}, {}
    for i = 1, size do
      a[i] = "x" .. (i * 7919 % 1000) .. string.rep("y", 30)
      b[i] = "x" .. (i * 104729 % 1000) .. string.rep("y", 30)
    end
    eq(patch(a, merge.hunks(a, b), b), b)
  end, 10000)
end)
