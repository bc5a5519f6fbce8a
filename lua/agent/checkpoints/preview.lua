-- Previews a restore: a diff in a tab page, to agree to or close.
local say = require("agent.ui.say")
local scratch = require("agent.ui.scratch")

local M = {}

local NAME = "preview"

local NOTHING = {
  conflict = "stays as it is: the same lines were changed since",
  skipped = "stays as it is",
}

---@param root? string
---@param path string
---@return string
function M.short(root, path)
  local prefix = (root or "") .. "/"
  return vim.startswith(path, prefix) and path:sub(#prefix + 1) or path
end

---@param file table see PreviewFile in protocol/requests.ts
---@param root? string
---@return string[]
local function file_lines(file, root)
  local name = M.short(root, file.path)
  local reason = NOTHING[file.outcome]
  if reason then
    local detail = file.text and not file.text:find("\n") and (": " .. file.text) or ""
    return { ("# %s %s%s"):format(name, reason, file.outcome == "skipped" and detail or "") }
  end
  local lines = {
    "--- " .. (file.kind == "created" and "/dev/null" or M.short(root, file.from or file.path)),
    "+++ " .. (file.kind == "deleted" and "/dev/null" or name),
  }
  if file.opaque then
    table.insert(lines, "# not text: restored as it was")
    return lines
  end
  local text = vim.text.diff(file.now or "", file["then"] or "", { result_type = "unified", ctxlen = 3 }) --[[@as string]]
  if text ~= "" then
    vim.list_extend(lines, vim.split(text:gsub("\n$", ""), "\n"))
  end
  return lines
end

--- Names may contain anything.
---@param line string
---@return string
local function one_line(line)
  return (line:gsub("[\n\r]", " "))
end

---@param turn integer
---@param files table[]
---@param root? string
---@param restore fun()
function M.show(turn, files, root, restore)
  if #files == 0 then
    return say.info(("all files are as they were before turn %d"):format(turn))
  end
  local lines = { ("# Back to before turn %d. <CR> restores, q closes."):format(turn) }
  for _, file in ipairs(files) do
    vim.list_extend(lines, { "" })
    vim.list_extend(lines, vim.tbl_map(one_line, file_lines(file, root)))
  end
  local old = vim.fn.bufnr("^agent://" .. NAME .. "$")
  if old ~= -1 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buffer = scratch(NAME)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  vim.cmd("tab split")
  vim.api.nvim_win_set_buf(0, buffer)
  vim.bo[buffer].filetype = "diff"
  local function close()
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
  vim.keymap.set("n", "q", close, { buffer = buffer, nowait = true, desc = "Agent: close the preview" })
  vim.keymap.set("n", "<CR>", function()
    close()
    restore()
  end, { buffer = buffer, nowait = true, desc = "Agent: restore these files" })
end

return M
