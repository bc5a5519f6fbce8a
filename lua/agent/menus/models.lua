-- Chooses the model and the provider. The lists come from the supervisor.
local agent_options = require("agent.menus.agent_options")
local client = require("agent.client")
local config = require("agent.config")
local say = require("agent.ui.say")

local M = {}

--- Known providers, the same as in protocol/providers.ts.
M.providers = {
  "ollama",
  "anthropic",
  "openai",
  "openrouter",
  "groq",
  "deepseek",
  "mistral",
  "xai",
  "gemini",
  "copilot",
  "llama.cpp",
  "lmstudio",
  "vllm",
}

--- Known agents that speak ACP, the same as in protocol/options/foreign_agents.ts.
M.agents = { "claude", "codex", "gemini", "opencode", "qwen", "kimi", "copilot" }

--- Leaves the choice to the options.
local DEFAULT = "default"
--- Before the name of an agent, because some providers have the same name.
local AGENT = "agent"
--- Columns of a name in a menu; a longer name shifts its description.
local WIDEST = 40

---@class agent.Offer
---@field name string
---@field text string   what is known of it
---@field ready? boolean  of a provider

--- Names of the last list, by provider; "" is the session's provider.
---@type table<string, string[]>
local listed = {}
--- Requests that are running, by provider.
---@type table<string, true>
local asking = {}

---@param chat agent.Chat
---@return table
local function where(chat)
  return vim.tbl_extend("error", { chat = chat.id, session = chat.timeline.session }, chat:place())
end

--- The details that fit.
---@param chat agent.Chat
---@param problem string
local function tell(chat, problem)
  if chat:is_visible() then
    chat:apply({ { type = "notice", severity = "error", text = problem } })
  else
    say.error(problem)
  end
end

---@param chat agent.Chat
---@param provider? string  default: the session's
---@param done fun(update: table)
---@param failed fun(problem: string)
local function ask_models(chat, provider, done, failed)
  local action = { type = "models", provider = provider }
  client.ask(vim.tbl_extend("error", where(chat), action), function(update, problem)
    problem = problem or update.problem
    if problem then
      return failed(problem)
    end
    listed[provider or ""] = vim.tbl_map(function(model)
      return model.name
    end, update.models)
    done(update)
  end)
end

--- One line of a menu for each: the name and its known facts.
---@param offers agent.Offer[]
---@param now string
---@return fun(offer: agent.Offer): string
local function lines(offers, now)
  local width = 0
  for _, offer in ipairs(offers) do
    local columns = vim.api.nvim_strwidth(offer.name)
    width = columns <= WIDEST and math.max(width, columns) or width
  end
  return function(offer)
    local room = (" "):rep(width - vim.api.nvim_strwidth(offer.name))
    return vim.trim(("%s %s%s  %s"):format(offer.name == now and "*" or "-", offer.name, room, offer.text))
  end
end

---@param chat agent.Chat
---@param provider? string  default: the session's
---@param chosen fun(name?: string) nil without a choice
local function menu(chat, provider, chosen)
  ask_models(chat, provider, function(update)
    local now = update.current ~= "" and (" (now %s)"):format(update.current) or ""
    vim.ui.select(update.models, {
      prompt = ("Model of %s%s"):format(update.provider, now),
      format_item = lines(update.models, update.current),
    }, function(model)
      chosen(model and model.name)
    end)
  end, function(problem)
    tell(chat, problem)
    chosen()
  end)
end

--- Sets the model from the next request on. An update reports the result.
---@param chat agent.Chat
---@param name? string asked for unless told
function M.choose(chat, name)
  ---@param model? string
  local function set(model)
    return model and chat.phases:act("model", function(opened)
      client.send(vim.tbl_extend("error", where(opened), { type = "model", model = model }))
    end)
  end
  if name then
    return set(name == DEFAULT and "" or name)
  end
  if not agent_options.is_for(chat) then
    return menu(chat, nil, set)
  end
  -- An agent tells them in its session.
  chat.phases:act("model", function(opened)
    menu(opened, nil, set)
  end)
end

---@class agent.ModelSource
---@field provider string  "" for that of the options
---@field agent? string  another agent instead
---@field model? string

---@param chat agent.Chat
---@param opening agent.Opening ends once the session has this provider, or has failed to get it
---@param source agent.ModelSource
local function switch(chat, opening, source)
  local action = vim.tbl_extend("error", { type = "provider" }, source)
  client.ask(vim.tbl_extend("error", where(chat), action), function(update, problem)
    if update and update["end"] == "model" then
      opening.is_bound = false
      return menu(chat, source.provider, function(chosen)
        if not chosen then
          return chat.phases:end_opening(opening, true)
        end
        opening.is_bound = true
        switch(chat, opening, vim.tbl_extend("force", source, { model = chosen }))
      end)
    end
    chat.phases:end_opening(opening, not update or update["end"] == "failed")
    if not update then
      say.error(problem)
    end
  end)
end

---@param chat agent.Chat
---@param words string  "NAME", "NAME MODEL", "agent NAME"
local function set_provider(chat, words)
  local agent, name, model = nil, words:match("^(%S+)%s*(%S*)$")
  if vim.startswith(words, AGENT .. " ") then
    agent, model = words:match("^%S+%s+(%S+)%s*(%S*)$")
    name = DEFAULT
  end
  local source = { provider = name == DEFAULT and "" or name, agent = agent, model = model ~= "" and model or nil }
  chat.phases:act("provider", function(opened)
    switch(opened, opened.phases:begin_opening(true), source)
  end)
end

--- Changes the provider after the running turn.
---@param chat agent.Chat
---@param words? string  a provider or "agent" and an agent, and optionally a model; nil asks
function M.choose_provider(chat, words)
  local text = vim.trim(words or "")
  if text ~= "" and text ~= AGENT then
    return set_provider(chat, text)
  end
  client.ask(vim.tbl_extend("error", where(chat), { type = "providers" }), function(update, problem)
    if not update then
      return say.error(problem)
    end
    vim.ui.select(update.providers, {
      prompt = ("Provider (now %s)"):format(update.current),
      format_item = lines(update.providers, update.current),
    }, function(provider)
      if provider and not provider.ready then
        tell(chat, ("%s is not ready: %s"):format(provider.name, provider.text))
      elseif provider then
        set_provider(chat, provider.name)
      end
    end)
  end)
end

---@return string[]
local function provider_names()
  local names = vim.tbl_keys(config.get().providers)
  table.sort(names)
  for _, name in ipairs(M.providers) do
    if not vim.list_contains(names, name) then
      table.insert(names, name)
    end
  end
  return names
end

--- The user's own first.
---@return string[]
function M.agent_names()
  local names = vim.tbl_keys(config.get().agents)
  table.sort(names)
  return vim.list_extend(
    names,
    vim.tbl_filter(function(name)
      return not vim.list_contains(names, name)
    end, M.agents)
  )
end

---@param name string
---@return boolean
function M.is_provider(name)
  return name == DEFAULT or name == AGENT or vim.list_contains(provider_names(), name)
end

--- The names of the last list; requests a new one for the next time.
---@param provider? string  default: the current chat's
---@return string[]
local function model_names(provider)
  local chat, key = require("agent.menus.current").chat(), provider or ""
  -- The completion of a word starts no agent.
  local may_ask = chat and (provider or not agent_options.is_for(chat))
  if chat and may_ask and not asking[key] then
    asking[key] = true
    local function over()
      asking[key] = nil
    end
    ask_models(chat, provider, over, over)
  end
  return listed[key] or {}
end

---@param names string[]
---@param lead string
---@return string[]
local function beginning(names, lead)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

---@param lead string
---@return string[]
function M.complete(lead)
  return beginning(vim.list_extend({ DEFAULT }, model_names()), lead)
end

---@param lead string
---@param rest string text after the sub-command
---@return string[]
function M.complete_provider(lead, rest)
  local provider = rest:match("^(%S+)%s")
  if provider == AGENT then
    return rest:find("^%S+%s+%S+%s") and {} or beginning(M.agent_names(), lead)
  elseif provider then
    return beginning(model_names(provider), lead)
  end
  return beginning(vim.list_extend({ DEFAULT, AGENT }, provider_names()), lead)
end

return M
