-- A language server inside of Neovim: offers code actions in the user's buffers, and completion in the input. It is
-- attached only where it has something to offer, and stops with the last buffer.
local config = require("agent.config")
local lsp = require("agent.ui.lsp")

local M = {}

--- Its name among the clients.
local NAME = "agent"
local COMMAND = "agent.run"

---@class agent.Offer
---@field title string
---@field kind string  of a code action
---@field run fun()

---@class agent.Offering
---@field holds fun(buffer: integer): boolean                            whether it may have an offer in the buffer
---@field offers fun(buffer: integer, range: lsp.Range): agent.Offer[]  rows from 0, columns in bytes

---@alias agent.Ask fun(buffer: integer, line: string, row: integer, done: fun(list: lsp.CompletionList))

---@type agent.Offering[]
local offerings = {}
--- By buffer.
---@type table<integer, agent.Ask>
local completes = {}
--- The last offers, by the number in their code action.
---@type table<integer, fun()>
local runs = {}
local last_run = 0
--- Called when another plugin shows the menu.
---@type fun()?
local on_menu

local CAPABILITIES = {
  positionEncoding = "utf-8",
  codeActionProvider = true,
  completionProvider = { triggerCharacters = { "@", "#", "/" } },
}

--- Offerings that may have an offer in a buffer.
---@param buffer integer
---@return agent.Offering[]
local function holding(buffer)
  return vim.tbl_filter(function(offering)
    return offering.holds(buffer)
  end, config.get().ui.code_actions and offerings or {})
end

---@param params lsp.CodeActionParams
---@return lsp.CodeAction[]
local function code_actions(params)
  local buffer = vim.uri_to_bufnr(params.textDocument.uri)
  local actions = {}
  runs = {}
  for _, offering in ipairs(holding(buffer)) do
    for _, offer in ipairs(offering.offers(buffer, params.range)) do
      last_run = last_run + 1
      runs[last_run] = offer.run
      local command = { title = offer.title, command = COMMAND, arguments = { last_run } }
      table.insert(actions, { title = offer.title, kind = offer.kind, command = command })
    end
  end
  return actions
end

---@type lsp.CompletionList
local NONE = { isIncomplete = false, items = {} }

---@param params lsp.CompletionParams
---@param answer fun(result: fun(): lsp.CompletionList)
local function complete(params, answer)
  local buffer = vim.uri_to_bufnr(params.textDocument.uri)
  local row, column = params.position.line, params.position.character
  local function text()
    local lines = vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_lines(buffer, row, row + 1, false) or {}
    return lines[1] and lines[1]:sub(1, column)
  end
  local before = text()
  if not (completes[buffer] and before) then
    return answer(function()
      return NONE
    end)
  end
  local kind = params.context and params.context.triggerKind
  if on_menu and kind == vim.lsp.protocol.CompletionTriggerKind.TriggerCharacter then
    on_menu()
  end
  completes[buffer](buffer, before, row, function(list)
    -- Some clients would show the menu in the emptied input.
    answer(function()
      return text() == before and list or NONE
    end)
  end)
end

---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
local function server(dispatchers)
  local is_closing, last = false, 0
  local function request(method, params, callback)
    last = last + 1
    local function answer_with(result)
      vim.schedule(function()
        callback(nil, result())
      end)
    end
    local function answer(result)
      answer_with(function()
        return result
      end)
    end
    if method == "initialize" then
      answer({ capabilities = CAPABILITIES, serverInfo = { name = NAME } })
    elseif method == "textDocument/codeAction" then
      answer(code_actions(params))
    elseif method == "textDocument/completion" then
      complete(params, answer_with)
    else
      answer(vim.NIL)
    end
    return true, last
  end
  local function close()
    if not is_closing then
      is_closing = true
      dispatchers.on_exit(0, 0)
    end
  end
  return {
    request = request,
    notify = function(method)
      if method == "exit" then
        close()
      end
      return true
    end,
    is_closing = function()
      return is_closing
    end,
    terminate = close,
  }
end

--- All other language clients, see vim.lsp.get_clients.
---@param filter? vim.lsp.get_clients.Filter
---@return vim.lsp.Client[]
function M.others(filter)
  return vim.tbl_filter(function(client)
    return client.name ~= NAME
  end, lsp.clients(filter))
end

---@return vim.lsp.Client?
local function client()
  return lsp.clients({ name = NAME })[1]
end

---@param buffer integer
---@return boolean
local function is_wanted(buffer)
  return completes[buffer] ~= nil or #holding(buffer) > 0
end

---@param buffer integer
local function attach(buffer)
  if not pcall(require, "vim.lsp") then
    return
  end
  vim.lsp.start({
    name = NAME,
    cmd = server,
    commands = {
      [COMMAND] = function(command)
        local run = runs[command.arguments[1]]
        if run then
          run()
        end
      end,
    },
  }, {
    bufnr = buffer,
    silent = true,
    reuse_client = function(running)
      return running.name == NAME
    end,
  })
end

--- Detaches. Neovim resets its options for a server only when the server stops.
---@param buffer integer
---@param running vim.lsp.Client
local function detach(buffer, running)
  vim.lsp.buf_detach_client(buffer, running.id)
  local is_alone = #vim.lsp.get_clients({ bufnr = buffer }) == 0
  if is_alone and vim.bo[buffer].omnifunc == "v:lua.vim.lsp.omnifunc" then
    vim.bo[buffer].omnifunc = ""
  end
end

--- Attaches to the buffer, or detaches, by its offers.
---@param buffer integer
function M.refresh(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local running = client()
  local is_attached = running ~= nil and running.attached_buffers[buffer] ~= nil
  local wanted = is_wanted(buffer)
  if wanted and not is_attached then
    attach(buffer)
  elseif is_attached and not wanted then
    detach(buffer, running)
    if not next(running.attached_buffers) then
      running:stop()
    end
  end
end

---@param offering agent.Offering
function M.offer(offering)
  table.insert(offerings, offering)
end

--- Completes in a buffer, from the first Insert mode on.
---@param buffer integer
---@param ask agent.Ask
---@param taken fun()  another plugin shows the menu
function M.complete(buffer, ask, taken)
  on_menu = taken
  vim.api.nvim_create_autocmd("InsertEnter", {
    buffer = buffer,
    once = true,
    callback = vim.schedule_wrap(function()
      completes[buffer] = ask
      M.refresh(buffer)
    end),
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    once = true,
    callback = function()
      completes[buffer] = nil
    end,
  })
end

return M
