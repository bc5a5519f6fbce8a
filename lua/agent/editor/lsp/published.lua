--- Finds the text version of a server's published diagnostics. Neovim keeps diagnostics without their version, so this
--- module listens to publications on their way to Neovim's own handler.
local task = require("agent.editor.lsp.task")

local M = {}

local METHOD = "textDocument/publishDiagnostics"

--- Milliseconds for a server to publish diagnostics of a text, from the time of the text.
M.limit_ms = 3000
--- Milliseconds for the first publication about a file, if a caller wants its diagnostics.
M.first_ms = 5000

--- Servers without versions often publish twice: syntax first, types later. So it waits for silence, half as long as
--- the first publication took, within these limits. Types of a file that was never checked take longest: then the
--- slowest first publication counts.
local SETTLE_MIN_MS, SETTLE_MAX_MS = 200, 1500
--- The least limit for a clean file, see `limit`.
local SHORT_MS = 1000

---@class agent.lsp.Word
---@field version integer  of the buffer's text
---@field exact boolean    the server named the version
---@field at integer       uv.now()
---@field count integer    publications about the buffer so far

---@class agent.lsp.Speaker
---@field words table<integer, agent.lsp.Word>  by buffer
---@field latency? integer  time of its last first publication about a text
---@field slowest integer  the longest latency so far
---@field heard boolean    it has published diagnostics
---@field misses integer   waits without a publication
---@field patience integer  misses after which a silent server counts as one that never publishes

---@type table<integer, agent.lsp.Speaker>
local speakers = {}

---@type table<integer, { version: integer, at: integer }>
local texts = {}

---@type fun()[]
local waiting = {}

--- The version for servers; `changedtick` also changes without an edit.
---@param buf integer
---@return integer
local function version_of(buf)
  return vim.lsp.util.buf_versions[buf]
end

--- The time of the buffer's present text, as far as known.
---@param buf integer
---@return { version: integer, at: integer }
local function text_of(buf)
  local version = version_of(buf)
  if not texts[buf] or texts[buf].version ~= version then
    texts[buf] = { version = version, at = vim.uv.now() }
  end
  return texts[buf]
end

---@param speaker agent.lsp.Speaker
---@param params lsp.PublishDiagnosticsParams
local function hear(speaker, params)
  local path = vim.uri_to_fname(params.uri)
  local buf = vim.fn.bufexists(path) == 1 and vim.fn.bufadd(path) or nil
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local text, earlier = texts[buf], speaker.words[buf]
  local word = {
    version = params.version or version_of(buf),
    exact = params.version ~= nil,
    at = vim.uv.now(),
    count = (earlier and earlier.count or 0) + 1,
  }
  if text and text.version == word.version and not (earlier and earlier.version >= word.version) then
    speaker.latency = word.at - text.at
    speaker.slowest = math.max(speaker.slowest, speaker.latency)
  end
  speaker.words[buf], speaker.heard = word, true
  local wake = waiting
  waiting = {}
  for _, finish in ipairs(wake) do
    finish()
  end
end

--- Listens to a client from here on.
---@param client vim.lsp.Client
---@return agent.lsp.Speaker
local function speaker_of(client)
  local speaker = speakers[client.id]
  if speaker then
    return speaker
  end
  speaker = { words = {}, heard = false, misses = 0, patience = 1, slowest = 0 }
  speakers[client.id] = speaker
  local handlers = client.handlers
  -- A table of its own: clients may share their configuration's.
  client.handlers = setmetatable({
    [METHOD] = function(err, params, ctx, ...)
      local handler = handlers[METHOD] or vim.lsp.handlers[METHOD]
      local kept, problem = pcall(handler, err, params, ctx, ...)
      if params and params.uri then
        hear(speaker, params)
      end
      if not kept then
        error(problem, 0)
      end
    end,
  }, { __index = handlers, __newindex = handlers })
  return speaker
end

--- The limit of a wait. Many servers publish only differences, so an edit that keeps a file clean gets silence: for a
--- clean file the limit is a few times the server's last latency.
---@param speaker agent.lsp.Speaker
---@param client vim.lsp.Client
---@param buf integer
---@return integer
local function limit(speaker, client, buf)
  local namespace = vim.lsp.diagnostic.get_namespace(client.id)
  if not speaker.latency or next(vim.diagnostic.count(buf, { namespace = namespace })) then
    return M.limit_ms
  end
  return math.min(M.limit_ms, math.max(SHORT_MS, 3 * speaker.latency))
end

---@param speaker agent.lsp.Speaker
---@param word agent.lsp.Word
---@return integer
local function settle(speaker, word)
  local latency = word.count == 1 and speaker.slowest or speaker.latency or 0
  return math.min(SETTLE_MAX_MS, math.max(SETTLE_MIN_MS, math.floor(latency / 2)))
end

--- The freshness of a server's diagnostics of a buffer: current, late or unknown.
---@alias agent.lsp.Freshness "current"|"late"|"unknown"

--- In a task: waits until the client has published diagnostics of the present text, or for the limit.
---@param client vim.lsp.Client
---@param buf integer
---@param patient boolean waits for the whole limit
---@return agent.lsp.Freshness
function M.wait(client, buf, patient)
  local speaker, text = speaker_of(client), text_of(buf)
  local allowed = not patient and limit(speaker, client, buf) or speaker.words[buf] and M.limit_ms or M.first_ms
  local stop = text.at + allowed
  while true do
    local word, now = speaker.words[buf], vim.uv.now()
    local current = word ~= nil and word.version >= text.version
    if current and (word.exact or now - word.at >= settle(speaker, word)) then
      return "current"
    elseif not speaker.heard and speaker.misses >= speaker.patience then
      -- It never publishes, so it does not wait.
      return "current"
    elseif now >= stop then
      speaker.misses = speaker.misses + (current and 0 or 1)
      return current and "current" or word and "late" or "unknown"
    end
    task.await(function(finish)
      waiting[#waiting + 1] = finish
    end, math.min(stop, current and word.at + settle(speaker, word) or stop) - now)
  end
end

--- Called after a change of the text: servers get it at once, and their time begins.
---@param client vim.lsp.Client
---@param buf integer
function M.flush(client, buf)
  text_of(buf)
  pcall(function()
    -- Neovim delays changes for 150 ms and has no public function to send them earlier.
    require("vim.lsp._changetracking").flush(client, buf)
  end)
end

--- Diagnostics from before count as about the present text.
---@param client vim.lsp.Client
local function meet(client)
  local speaker = speaker_of(client)
  -- Its files may have been clean, so it has stayed silent.
  speaker.patience = 3
  for buf in pairs(client.attached_buffers) do
    speaker.words[buf] = { version = version_of(buf), exact = true, at = vim.uv.now(), count = 2 }
  end
end

local group = vim.api.nvim_create_augroup("agent.editor.lsp.published", {})

vim.api.nvim_create_autocmd("LspAttach", {
  group = group,
  desc = "agent: listen to what the server publishes",
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client then
      speaker_of(client)
    end
  end,
})

vim.api.nvim_create_autocmd("LspDetach", {
  group = group,
  desc = "agent: attached again, the server has yet to speak",
  callback = function(event)
    local speaker = speakers[event.data.client_id]
    if speaker then
      speaker.words[event.buf] = nil
    end
  end,
})

vim.api.nvim_create_autocmd("BufUnload", {
  group = group,
  desc = "agent: forget what was said about the text",
  callback = function(event)
    texts[event.buf] = nil
    for id, speaker in pairs(speakers) do
      speaker.words[event.buf] = nil
      if not vim.lsp.get_client_by_id(id) then
        speakers[id] = nil
      end
    end
  end,
})

if require("agent.ui.lsp").is_loaded() then
  for _, client in ipairs(require("agent.server").others()) do
    meet(client)
  end
end

return M
