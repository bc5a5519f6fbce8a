--- Keys of buffers with hunks. They come with the first hunk and go with the last, and a map of the user's that
--- had the same keys comes back.
local api = vim.api
local config = require("agent.config")
local schema = require("agent.config.schema")
local track = require("agent.review.track")

local M = {}

--- Names of the keys in the option, in order, and what they do.
M.actions = {
  { name = "next", doc = "next hunk; takes a count" },
  { name = "previous", doc = "previous hunk; takes a count" },
  { name = "comment", doc = "comment on the hunk, or on the selected lines", modes = { "n", "x" } },
  { name = "keep", doc = "keep the hunk" },
  { name = "undo", doc = "undo the hunk" },
  { name = "keep_file", doc = "keep all hunks of the file" },
  { name = "undo_file", doc = "undo all hunks of the file" },
  { name = "keep_all", doc = "keep all hunks of all files" },
  { name = "undo_all", doc = "undo all hunks of all files" },
}

--- Our maps by buffer: what was mapped there before, false if nothing.
local mapped = {} ---@type table<integer, { mode: string, lhs: string, before: table<string, any>|false }[]>

--- Name of an action → its keys.
---@return table<string, string>
function M.wanted()
  local keys = {}
  local option = config.get().review_keys
  if option == false then
    return keys
  end
  for name, lhs in pairs(vim.tbl_extend("force", schema.review_keys, type(option) == "table" and option or {})) do
    if type(lhs) == "string" and lhs ~= "" then
      keys[name] = lhs
    end
  end
  return keys
end

--- The user's map of these keys for this buffer alone.
---@param mode string
---@param lhs string
---@return table<string, any>|false
local function local_map(mode, lhs)
  local map = vim.fn.maparg(lhs, mode, false, true)
  return map.buffer == 1 and map or false
end

---@param buf integer
---@param mode string
---@param lhs string
---@param action { name: string, doc: string }
local function set(buf, mode, lhs, action)
  vim.keymap.set(mode, lhs, function()
    require("agent.review").run(action.name)
  end, { buffer = buf, desc = "Agent: " .. action.doc })
end

--- The keys of one action in a buffer of our own.
---@param buf integer
---@param name string
function M.map(buf, name)
  local lhs = M.wanted()[name]
  for _, action in ipairs(lhs and M.actions or {}) do
    for _, mode in ipairs(action.name == name and (action.modes or { "n" }) or {}) do
      set(buf, mode, lhs, action)
    end
  end
end

---@param buf integer
local function add(buf)
  if mapped[buf] then
    return
  end
  mapped[buf] = {}
  api.nvim_buf_call(buf, function()
    local keys = M.wanted()
    for _, action in ipairs(M.actions) do
      local lhs = keys[action.name]
      for _, mode in ipairs(lhs and (action.modes or { "n" }) or {}) do
        table.insert(mapped[buf], { mode = mode, lhs = lhs, before = local_map(mode, lhs) })
        set(buf, mode, lhs, action)
      end
    end
  end)
end

---@param buf integer
local function remove(buf)
  local maps = mapped[buf]
  mapped[buf] = nil
  if not maps or not api.nvim_buf_is_loaded(buf) then
    return
  end
  api.nvim_buf_call(buf, function()
    for _, map in ipairs(maps) do
      local now = local_map(map.mode, map.lhs)
      -- One that was set meanwhile stays.
      if now and vim.startswith(now.desc or "", "Agent: ") then
        vim.keymap.del(map.mode, map.lhs, { buffer = buf })
        if map.before then
          vim.fn.mapset(map.before)
        end
      end
    end
  end)
end

track.listen(function(it)
  if #it.hunks > 0 and api.nvim_buf_is_loaded(it.buf) then
    add(it.buf)
  else
    remove(it.buf)
  end
end)

return M
