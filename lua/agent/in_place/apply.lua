-- Applies a code block of the model to a file's buffer: first as a diff, then as one unsaved change.
local diffs = require("agent.in_place.apply_diff")
local find = require("agent.reload.find")
local page = require("agent.ui.page")
local say = require("agent.ui.say")

local M = {}

---@param root string
---@param name? string
---@return string? path of a readable file
local function file_of(root, name)
  local path = name and name ~= "" and vim.fs.normalize(vim.fs.joinpath(root, name))
  if path and vim.startswith(path, root .. "/") and vim.fn.filereadable(path) == 1 then
    return path
  end
end

--- The file that a block names: after its fence, in its first line, or in the line above it.
---@param block agent.CodeBlock
---@param root string
---@return string?
local function file_by_name(block, root)
  for _, line in ipairs({ block.info, block.above, block.code[1] or "" }) do
    for word in line:gmatch("[^%s`*\"'=:,()<>#]+") do
      local path = word:find("[./]") and file_of(root, word)
      if path then
        return path
      end
    end
  end
end

---@param lines string[]
---@param wanted string
---@param from integer
---@param near? integer  prefers the place nearest to this line
---@return integer?
local function at(lines, wanted, from, near)
  local best
  for index = from, #lines do
    if vim.trim(lines[index]) == vim.trim(wanted) then
      if not best or math.abs(index - (near or from)) < math.abs(best - (near or from)) then
        best = index
      end
    end
  end
  return best
end

--- Pure. Replaces the file's lines from the first to the last line of the block; else inserts it after the cursor.
---@param lines string[]
---@param code string[]
---@param cursor integer from 1
---@return string[]
function M.merged(lines, code, cursor)
  local filled = vim.tbl_filter(function(line)
    return vim.trim(line) ~= ""
  end, code)
  local first = filled[1] and at(lines, filled[1], 1, cursor)
  local last = first and at(lines, filled[#filled], first + math.min(#filled - 1, 1))
  local indent = ""
  if first and last then
    indent = code[1]:find("^%s") and "" or lines[first]:match("^%s*")
  else
    first, last = cursor + 1, cursor
  end
  local result = vim.list_slice(lines, 1, first - 1)
  for _, line in ipairs(code) do
    table.insert(result, line == "" and "" or indent .. line)
  end
  return vim.list_extend(result, lines, last + 1)
end

--- Writes the differences as one undo step.
---@param buffer integer
---@param before string[]
---@param after string[]
local function put(buffer, before, after)
  local from, to = 1, 0
  while before[from] and before[from] == after[from] do
    from = from + 1
  end
  while #before - to >= from and #after - to >= from and before[#before - to] == after[#after - to] do
    to = to + 1
  end
  local lines = vim.list_slice(after, from, #after - to)
  require("agent.deep").stop(buffer, lines)
  vim.api.nvim_buf_set_lines(buffer, from - 1, #before - to, false, lines)
end

---@class agent.CodeBlock
---@field code string[]
---@field info string   behind the fence
---@field above string  the nonempty line above it
---@field turn? integer of its answer

--- Shows the diff, and applies it once the user agrees.
---@param block agent.CodeBlock
---@param root string of the project
---@param window integer the window that the user came from
---@param applied fun() called once it is applied
---@return boolean is_visible
function M.show(block, root, window, applied)
  local is_diff = diffs.is_diff(block.info, block.code)
  local files = is_diff and diffs.files(block.code) or {}
  if #files > 1 then
    say.error("the diff is of several files: ask for one block for each")
    return false
  elseif files[1] and not file_of(root, files[1]) then
    say.error(("the diff is of %s, which is not there"):format(files[1]))
    return false
  end
  local path = file_of(root, files[1]) or file_by_name(block, root)
  local came_from = vim.api.nvim_win_get_buf(window)
  local buffer = path and vim.fn.bufadd(path) or came_from
  if not path and not find.is_file_buffer(buffer) then
    say.error("the block names no file: open the one that it is for first")
    return false
  end
  vim.fn.bufload(buffer)
  vim.bo[buffer].buflisted = true
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local cursor = buffer == came_from and vim.api.nvim_win_get_cursor(window)[1] or #before
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":~:.")
  local after, problem = M.merged(before, block.code, cursor), nil
  if is_diff then
    after, problem = diffs.patched(before, block.code, cursor)
  end
  if not after then
    say.error(("cannot apply the diff to %s: %s"):format(name, problem))
    return false
  end
  local old, new = table.concat(before, "\n") .. "\n", table.concat(after, "\n") .. "\n"
  local text = vim.text.diff(old, new, { result_type = "unified", ctxlen = 3 }) --[[@as string]]
  if text == "" then
    say.info(("%s has this code already"):format(name))
    return false
  end
  local lines = { "# " .. name, "--- " .. name, "+++ " .. name }
  local buffer_of_diff = page.open(vim.list_extend(lines, vim.split(vim.trim(text), "\n")), "the diff", { "<CR> apply" })
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  vim.bo[buffer_of_diff].filetype = "diff"
  vim.keymap.set("n", "<CR>", function()
    page.close()
    local now = vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    if not now or not vim.deep_equal(now, before) then
      return say.warn("the file was changed meanwhile: apply the block again")
    elseif not vim.bo[buffer].modifiable then
      return say.error(("%s is not modifiable"):format(name))
    end
    put(buffer, before, after)
    applied()
    say.info(("applied to %s; :write saves it"):format(name))
  end, { buffer = buffer_of_diff, nowait = true, desc = "Agent: apply the block" })
  return true
end

return M
