-- Compares the files of an approval: one tab page shows both versions of a file, and keys go to the other files.
local format = require("agent.ui.format")
local hint = require("agent.ui.hint")
local page = require("agent.ui.page")
local scratch = require("agent.ui.scratch")

local M = {}

--- Fills the current window with one version of a file.
---@param file agent.FileDiff
---@param name "before"|"after"
---@param bar string
---@return integer buffer
local function fill(file, name, bar)
  local path = format.one_line(file.path or "")
  local buffer = scratch(("%s-%s"):format(vim.fs.basename(path), name))
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(file[name] or "", "\n"))
  vim.bo[buffer].modifiable = false
  vim.api.nvim_win_set_buf(0, buffer)
  vim.wo[0][0].winbar = "%#AgentHint#" .. bar:gsub("%%", "%%%%")
  require("agent.deep").set_filetype(buffer, vim.filetype.match({ filename = path }) or "")
  page.closes(buffer, "the diff")
  vim.cmd.diffthis()
  return buffer
end

--- Shows a file in the tab page, and maps the keys to the files beside it.
---@param files agent.FileDiff[]
---@param at integer
local function show(files, at)
  vim.cmd.only({ mods = { silent = true } })
  local file, half = files[at], math.floor((vim.o.columns - 1) / 2)
  local path = format.cut_start(format.one_line(file.path or ""), math.max(1, half - #"  · before "))
  local left = fill(file, "before", (" %s · before "):format(path))
  vim.cmd("rightbelow vsplit")
  local words = { "after", "q back" }
  if #files > 1 then
    vim.list_extend(words, { ("%d of %d"):format(at, #files), "<Tab> next" })
  end
  local right = fill(file, "after", hint.one_line(words, half))
  for key, step in pairs(#files > 1 and { ["<Tab>"] = 1, ["<S-Tab>"] = -1 } or {}) do
    local desc = ("Agent: compare the %s file"):format(step > 0 and "next" or "previous")
    for _, buffer in ipairs({ left, right }) do
      vim.keymap.set("n", key, function()
        show(files, (at + step - 1) % #files + 1)
      end, { buffer = buffer, nowait = true, desc = desc })
    end
  end
end

---@param files agent.FileDiff[]
---@param at integer the one to show first
function M.open(files, at)
  vim.cmd("tab split")
  vim.t.agent_diff = true
  show(files, at)
end

return M
