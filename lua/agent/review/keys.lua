--- Keys in buffers with hunks, mapped with the first hunk. After the last hunk a user's map of the same keys comes
--- back. Other keys stay mapped while the buffer is loaded, because Vim's own `gr` replaces a character.
local api = vim.api
local config = require("agent.config")
local schema = require("agent.config.schema")
local track = require("agent.review.track")

local M = {}

--- Names of the keys in the option, in order.
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

---@class agent.review.KeyMap
---@field mode string
---@field lhs string
---@field action { name: string, doc: string }
---@field before table<string, any>|false the user's map of the buffer

--- Our maps by buffer.
local mapped = {} ---@type table<integer, agent.review.KeyMap[]>
--- Runs an action by its name.
---@type fun(name: string)
local run

--- Buffers that have hunks.
local in_review = {} ---@type table<integer, true>

--- Name of an action → its keys.
---@return table<string, string>
function M.wanted()
  local keys = {}
  local option = config.get().review.keys
  if option == false then
    return keys
  end
  for name, lhs in pairs(vim.tbl_extend("force", schema.default("review.keys"), type(option) == "table" and option or {})) do
    if type(lhs) == "string" and lhs ~= "" then
      keys[name] = lhs
    end
  end
  return keys
end

--- The user's buffer-local map of these keys.
---@param mode string
---@param lhs string
---@return table<string, any>|false
function M.local_map(mode, lhs)
  local map = vim.fn.maparg(lhs, mode, false, true)
  return map.buffer == 1 and map or false
end

---@param buf integer
---@param mode string
---@param lhs string
---@param action { name: string, doc: string }
local function set(buf, mode, lhs, action)
  vim.keymap.set(mode, lhs, function()
    run(action.name)
  end, { buffer = buf, desc = "Agent: " .. action.doc })
end

--- Maps one action in a buffer of the plugin.
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

--- True if our map is active. The user may have mapped the keys meanwhile.
---@param mode string
---@param lhs string
---@return boolean
local function is_ours(mode, lhs)
  local now = M.local_map(mode, lhs)
  return now ~= false and vim.startswith(now.desc or "", "Agent: ")
end

---@param buf integer
local function add(buf)
  if in_review[buf] then
    return
  end
  in_review[buf] = true
  local maps = mapped[buf] or {}
  mapped[buf] = maps
  api.nvim_buf_call(buf, function()
    local keys = M.wanted()
    for _, action in ipairs(M.actions) do
      local lhs = keys[action.name]
      for _, mode in ipairs(lhs and (action.modes or { "n" }) or {}) do
        if not is_ours(mode, lhs) then
          table.insert(maps, { mode = mode, lhs = lhs, action = action, before = M.local_map(mode, lhs) })
          set(buf, mode, lhs, action)
        end
      end
    end
  end)
end

--- Removes our maps.
---@param buf integer
---@param stays? fun(map: agent.review.KeyMap): boolean called without our map
local function remove(buf, stays)
  in_review[buf] = nil
  local maps = mapped[buf] or {}
  mapped[buf] = {}
  api.nvim_buf_call(buf, function()
    for _, map in ipairs(maps) do
      if is_ours(map.mode, map.lhs) then
        vim.keymap.del(map.mode, map.lhs, { buffer = buf })
        if map.before then
          vim.fn.mapset(map.before)
        elseif stays and stays(map) then
          set(buf, map.mode, map.lhs, map.action)
          table.insert(mapped[buf], map)
        end
      end
    end
  end)
end

---@param map agent.review.KeyMap
---@return boolean
local function has_no_other(map)
  return vim.fn.mapcheck(map.lhs, map.mode) == ""
end

---@param it agent.review.Tracked
local function follow(it)
  local is_loaded = api.nvim_buf_is_loaded(it.buf)
  if #it.hunks > 0 and is_loaded then
    add(it.buf)
  elseif in_review[it.buf] and is_loaded then
    remove(it.buf, has_no_other)
  end
end

--- Maps the keys in buffers with hunks from here on.
---@param run_action fun(name: string)
function M.start(run_action)
  run = run_action
  track.listen(follow)
end

api.nvim_create_autocmd("BufUnload", {
  group = api.nvim_create_augroup("agent.review.keys", { clear = true }),
  desc = "agent: take the keys of a review away",
  -- `:edit` unloads the buffer and loads it again at once.
  callback = vim.schedule_wrap(function(event)
    if api.nvim_buf_is_loaded(event.buf) then
      return
    end
    if mapped[event.buf] and api.nvim_buf_is_valid(event.buf) then
      remove(event.buf)
    end
    mapped[event.buf], in_review[event.buf] = nil, nil
  end),
})

return M
