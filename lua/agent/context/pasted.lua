-- Mentions of pages in pasted text. A page that the user mentions is fetched without a question, and somebody else may have
-- written what the user pastes: a log, an issue.
local say = require("agent.ui.say")

local M = {}

local PAGE = "()(@[hH][tT][tT][pP][sS]?://)"

--- Makes mentions of pages plain text.
---@param text string
---@return string
function M.plain(text)
  return (text:gsub(PAGE, "\\%2"))
end

---@param buffer integer
---@return boolean
local function is_undone(buffer)
  local tree = vim.fn.undotree(buffer)
  return tree.seq_cur ~= tree.seq_last
end

---@param buffer integer
---@param first { [1]: integer, [2]: integer } row and column from 0
---@param last { [1]: integer, [2]: integer } exclusive
local function escape(buffer, first, last)
  local is_here, lines = pcall(vim.api.nvim_buf_get_text, buffer, first[1], first[2], last[1], last[2], {})
  if not is_here or is_undone(buffer) or not vim.bo[buffer].modifiable then
    return
  end
  local count = 0
  for at, line in ipairs(lines) do
    local shift = at == 1 and first[2] or 0
    for column in line:gmatch(PAGE) do
      local row, from = first[1] + at - 1, shift + column - 1
      pcall(vim.api.nvim_buf_call, buffer, function()
        vim.cmd.undojoin({ mods = { emsg_silent = true } })
      end)
      vim.api.nvim_buf_set_text(buffer, row, from, row, from, { "\\" })
      shift, count = shift + 1, count + 1
    end
  end
  if count > 0 then
    say.info('to attach the page of the pasted address, remove the "\\" before it')
  end
end

--- Pasted mentions of an input that are not plain yet, by buffer: a text cannot be changed while it changes.
local pending = {} ---@type table<integer, fun()[]>

--- Does it now, because the text is about to be sent.
---@param buffer integer of an input
function M.settle(buffer)
  local works = pending[buffer] or {}
  pending[buffer] = nil
  for _, work in ipairs(works) do
    work()
  end
end

--- Puts a "\" before each mention of a page whose "@" was not typed.
---@param buffer integer of an input
---@param is_own fun(): boolean whether we write
function M.watch(buffer, is_own)
  local namespace = vim.api.nvim_create_namespace("agent.pasted." .. buffer)
  -- Keys that the user has pressed and that are not in the text yet.
  local keys = 0
  vim.api.nvim_create_autocmd({ "InsertEnter", "InsertLeave" }, {
    buffer = buffer,
    callback = function(event)
      keys = 0
      local begins = event.event == "InsertEnter"
      vim.on_key(begins and function(_, typed)
        if typed and typed:find("@", 1, true) then
          keys = keys + 1
        end
      end or nil, namespace)
    end,
  })
  vim.api.nvim_buf_attach(buffer, false, {
    on_bytes = function(_, _, _, row, column, _, _, _, _, rows, columns)
      -- The user chooses what a menu inserts.
      if is_own() or vim.fn.pumvisible() == 1 then
        return
      end
      local last = { row + rows, rows == 0 and column + columns or columns }
      local is_here, lines = pcall(vim.api.nvim_buf_get_text, buffer, row, column, last[1], last[2], {})
      local text = is_here and table.concat(lines, "\n") or ""
      local typed = keys
      keys = math.max(0, keys - select(2, text:gsub("@", "")))
      if select(2, text:gsub(PAGE, "")) > typed then
        pending[buffer] = pending[buffer] or {}
        table.insert(pending[buffer], function()
          escape(buffer, { row, column }, last)
        end)
        vim.schedule(function()
          M.settle(buffer)
        end)
      end
    end,
    on_detach = function()
      pending[buffer] = nil
      vim.on_key(nil, namespace)
    end,
  })
end

return M
