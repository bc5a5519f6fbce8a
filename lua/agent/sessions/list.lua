-- The stored sessions in a tab page: a list with filters, and a preview of the session at the cursor.
local hint = require("agent.ui.hint")
local rows = require("agent.sessions.rows")
local scratch = require("agent.ui.scratch")
local winbar = require("agent.ui.winbar")

local M = {}

---@class agent.SessionActions
---@field rows fun(done: fun(rows: agent.ListedRow[], root?: string))  the present rows
---@field ask fun(row: table, name: string, params: table, done: fun(result: table))  sends a request to its engine
---@field read fun(row: table, from: integer, done: fun(text?: string, problem?: string))  reads its text from a turn on
---@field open fun(row: table)
---@field fork fun(row: table)
---@field rename fun(row: table, title: string, done: fun())
---@field delete fun(row: table, done: fun())

local namespace = vim.api.nvim_create_namespace("agent.sessions")

--- Columns from which the preview is beside the list.
local WIDE = 120
--- Turns and lines of the preview.
local TURNS, LINES = 2, 400
--- Milliseconds until engines have written their last events.
local WRITTEN_MS = 400

local GROUPS = {
  running = "AgentToolRunning",
  waiting = "AgentToolWaiting",
  done = "AgentToolDone",
  failed = "AgentToolFailed",
}

---@class agent.SessionList
---@field can agent.SessionActions
---@field all agent.ListedRow[]
---@field rows agent.ListedRow[]
---@field root? string          of this project
---@field filter agent.SessionFilter
---@field is_filtered? boolean   the user has chosen the filter
---@field found? string         searched words: the rows are hits
---@field buffer integer
---@field preview integer       buffer
---@field asking? boolean       a request for the preview is running
---@field waiting? boolean      the preview must be read again
---@field previewed? table      row of the preview
local List = {}
List.__index = List

--- Sessions of this project, or of all projects if it has none; archived ones if there are no others.
---@param all agent.ListedRow[]
---@param root? string
---@return agent.SessionFilter
local function first_filter(all, root)
  local filters = { { root = root }, { root = root, state = "archived" }, {}, { state = "archived" } }
  return vim.iter(filters):find(function(filter)
    return vim.iter(all):any(function(row)
      return rows.fits(row, filter)
    end)
  end)
end

---@param window integer
---@return agent.ListedRow?
function List:row(window)
  return self.rows[vim.api.nvim_win_get_cursor(window)[1]]
end

---@return integer? window
function List:window()
  return vim.fn.win_findbuf(self.buffer)[1]
end

---@param buffer integer
---@param lines string[]
local function write(buffer, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
end

--- The title: the filter and the number of rows.
---@return string
function List:heading()
  if self.found then
    return ("Found %s · %d"):format(self.found, #self.rows)
  end
  local filter = self.filter
  local parts = { filter.root and "Sessions of this project" or "Sessions of all projects", tostring(#self.rows) }
  table.insert(parts, filter.state)
  table.insert(parts, filter.word and ('"%s"'):format(filter.word))
  return table.concat(parts, " · ")
end

---@param width integer
---@return string[]
function List:lines(width)
  local lines = {}
  for _, row in ipairs(self.rows) do
    local text = row.hit and rows.hit(row.hit) or rows.line(row, not self.filter.root, width)
    table.insert(lines, (text:gsub("%c", " ")))
  end
  if #lines == 0 then
    lines[1] = "None here. P shows all projects, s other states."
  end
  return lines
end

function List:draw()
  local window = self:window()
  if not window then
    return
  end
  local before = self:row(window)
  self.rows = vim.tbl_filter(function(row)
    return row.hit ~= nil and rows.fits_hit(row, self.filter) or row.hit == nil and rows.fits(row, self.filter)
  end, self.all)
  write(self.buffer, self:lines(vim.api.nvim_win_get_width(window)))
  vim.api.nvim_buf_clear_namespace(self.buffer, namespace, 0, -1)
  for at, row in ipairs(self.rows) do
    local group = not row.hit and GROUPS[rows.state(row)]
    if group then
      vim.api.nvim_buf_set_extmark(self.buffer, namespace, at - 1, 0, { end_col = 1, hl_group = group })
    end
    if before and row.sessionId == before.sessionId and row.turn == before.turn then
      vim.api.nvim_win_set_cursor(window, { at, 0 })
    end
  end
  local heading = (" " .. self:heading()):gsub("%%", "%%%%"):gsub("%c", " ")
  winbar.set(window, "%#AgentTitle#" .. heading)
  self:show_preview()
end

--- Facts of the row that need no engine.
---@param row agent.ListedRow
---@return string[]
local function facts(row)
  return {
    rows.title(row.title),
    "",
    vim.fn.fnamemodify(row.root, ":~"),
    ("%s · %s"):format(rows.when(row.updated), rows.state(row)),
    "",
    "It is of another project: <CR> opens it there.",
  }
end

--- Sends one request at a time, so that fast moves through the list end at the last row.
function List:show_preview()
  local window = self:window()
  local row = window and self:row(window)
  -- The user may have closed its window.
  if self.asking or not vim.api.nvim_buf_is_valid(self.preview) or vim.deep_equal(row, self.previewed) then
    return
  end
  self.previewed = row
  if not row then
    return write(self.preview, {})
  end
  if row.root and row.root ~= self.root then
    return write(self.preview, facts(row))
  end
  self.asking = true
  local function draw(lines)
    self.asking = nil
    if not vim.api.nvim_buf_is_valid(self.preview) then
      return
    end
    if vim.deep_equal(self.previewed, row) then
      write(self.preview, lines)
      for _, win in ipairs(vim.fn.win_findbuf(self.preview)) do
        -- The last turns; for a hit its turn.
        vim.api.nvim_win_set_cursor(win, { row.turn and 1 or #lines, 0 })
      end
    end
    self:show_preview()
  end
  local from = row.turn or math.max(1, row.turns - TURNS + 1)
  self.can.read(row, from, function(text, problem)
    -- The session may have been deleted since the list was read.
    local lines = vim.split(vim.trim(text or problem), "\n")
    draw(vim.list_slice(lines, row.turn and 1 or math.max(1, #lines - LINES), row.turn and LINES or #lines))
  end)
end

function List:refresh()
  if self.found then
    return
  end
  self.can.rows(function(all, root)
    self.all, self.root = all, root
    if not self.is_filtered and not self.filter.root then
      -- The engine may have written the first session of this project just now.
      self.filter = first_filter(all, root) or self.filter
    end
    if self:window() then
      self:draw()
    end
  end)
end

--- Later, when engines have written their last events.
function List:refresh_soon()
  if self.waiting then
    return
  end
  self.waiting = true
  vim.defer_fn(function()
    self.waiting = nil
    if vim.api.nvim_buf_is_valid(self.buffer) then
      self:refresh()
    end
  end, WRITTEN_MS)
end

function List:close()
  local window = self:window()
  if window then
    vim.api.nvim_set_current_win(window)
    vim.cmd.tabclose()
  end
end

function List:choose_state()
  local choices = { "all but archived" }
  vim.list_extend(choices, rows.STATES)
  vim.ui.select(choices, {
    prompt = "Show",
    format_item = function(state)
      local filter = vim.tbl_extend("force", {}, self.filter, { state = state })
      filter.state = vim.list_contains(rows.STATES, state) and state or nil
      local count = #vim.tbl_filter(function(row)
        return rows.fits(row, filter)
      end, self.all)
      return ("%s (%d)"):format(state, count)
    end,
  }, function(state)
    if state then
      self.is_filtered = true
      self.filter.state = vim.list_contains(rows.STATES, state) and state or nil
      self:draw()
    end
  end)
end

--- Keys with hints and actions; the most used first.
---@type { [1]: string, [2]: string, [3]: fun(list: agent.SessionList, row?: agent.ListedRow), of_row?: true, doc: string }[]
M.keys = {
  {
    "<CR>",
    "open",
    doc = "open it, in its own project",
    function(list, row)
      list:close()
      list.can.open(row)
    end,
    of_row = true,
  },
  {
    "/",
    "filter",
    doc = "filter by a word in the title or project name",
    function(list)
      vim.ui.input({ prompt = "Only with: ", default = list.filter.word }, function(word)
        if word then
          list.is_filtered = true
          list.filter.word = vim.trim(word) ~= "" and vim.trim(word) or nil
          list:draw()
        end
      end)
    end,
  },
  {
    "s",
    "state",
    doc = "filter by state; the only way to see archived sessions",
    function(list)
      if not list.found then
        list:choose_state()
      end
    end,
  },
  {
    "P",
    "projects",
    doc = "switch between all projects and this one",
    function(list)
      if not list.found then
        list.is_filtered = true
        list.filter.root = not list.filter.root and list.root or nil
        list:draw()
      end
    end,
  },
  {
    "f",
    "fork",
    doc = "continue with a copy",
    function(list, row)
      list:close()
      list.can.fork(row)
    end,
    of_row = true,
  },
  {
    "r",
    "rename",
    doc = "change the title",
    function(list, row)
      vim.ui.input({ prompt = "Title: ", default = row.title }, function(title)
        if title and vim.trim(title) ~= "" then
          list.can.rename(row, title, function()
            list:refresh()
          end)
        end
      end)
    end,
    of_row = true,
  },
  {
    "a",
    "archive",
    doc = "archive or unarchive it",
    function(list, row)
      list.can.ask(row, "session_archive", { archived = not row.archived }, function()
        list:refresh()
      end)
    end,
    of_row = true,
  },
  {
    "d",
    "delete",
    doc = "delete it after a confirmation",
    function(list, row)
      list.can.delete(row, function()
        list:refresh()
      end)
    end,
    of_row = true,
  },
  {
    "R",
    "reload",
    doc = "reload the list",
    function(list)
      list:refresh()
    end,
  },
  {
    "q",
    "close",
    doc = "close the list",
    function(list)
      list:close()
    end,
  },
}

---@param list agent.SessionList
local function map_keys(list)
  for _, key in ipairs(M.keys) do
    vim.keymap.set("n", key[1], function()
      local row = list:row(0)
      if row or not key.of_row then
        key[3](list, row)
      end
    end, { buffer = list.buffer, nowait = true, desc = "Agent: " .. key.doc })
  end
end

---@param list agent.SessionList
local function show(list)
  require("agent.ui.highlights").define()
  list.buffer = require("agent.ui.page").open({}, "the sessions")
  vim.bo[list.buffer].filetype = "agent-sessions"
  local window = vim.api.nvim_get_current_win()
  list.preview = scratch("session-preview")
  local wide = vim.o.columns >= WIDE
  local height = math.floor(vim.o.lines / 2) - 2
  local beside = vim.api.nvim_open_win(
    list.preview,
    false,
    wide and { split = "right", win = window } or { split = "below", win = window, height = height }
  )
  require("agent.deep").set_filetype(list.preview, "markdown")
  require("agent.ui.page").closes(list.preview, "the list")
  require("agent.ui.prose").style(beside)
  vim.wo[window][0].wrap, vim.wo[window][0].cursorline = false, true
  local words = vim.tbl_map(function(key)
    return key[1] .. " " .. key[2]
  end, M.keys)
  winbar.set(beside, "%#AgentHint#" .. hint.one_line(words, vim.api.nvim_win_get_width(beside)))
  map_keys(list)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = list.buffer,
    callback = vim.schedule_wrap(function()
      -- The preview closes with the list.
      pcall(vim.api.nvim_buf_delete, list.preview, { force = true })
    end),
  })
  vim.api.nvim_create_autocmd("CursorMoved", {
    buffer = list.buffer,
    callback = function()
      list:show_preview()
    end,
  })
  vim.api.nvim_create_autocmd("WinResized", {
    callback = function()
      if not vim.api.nvim_buf_is_valid(list.buffer) then
        return true
      end
      list:draw()
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = { "AgentTurnStart", "AgentTurnDone", "AgentApprovalRequested", "AgentApprovalAnswered" },
    callback = function()
      if not vim.api.nvim_buf_is_valid(list.buffer) then
        return true
      end
      list:refresh_soon()
    end,
  })
  list:draw()
  list:refresh_soon()
end

---@param all agent.ListedRow[] at least one
---@param root? string
---@param can agent.SessionActions
function M.open(all, root, can)
  show(setmetatable({ can = can, all = all, rows = {}, root = root, filter = first_filter(all, root) }, List))
end

--- Shows hits.
---@param hits table[] see session_search in protocol/requests.ts
---@param words string
---@param can agent.SessionActions
function M.found(hits, words, can)
  local all = vim.tbl_map(function(hit)
    return { sessionId = hit.sessionId, title = hit.title, turn = hit.turn, hit = hit }
  end, hits)
  show(setmetatable({ can = can, all = all, rows = {}, filter = {}, found = words }, List))
end

return M
