-- Sub-commands that list something to choose from, or to read.

---@type agent.Action[]
return {
  {
    name = "mode",
    plug = "AgentMode",
    args = "[name]",
    takes = "mode",
    doc = "Choose how the agent works from the next message on: ask, plan, review …",
    run = function(chats, name)
      require("agent.menus.modes").choose(chats.get(), name)
    end,
  },
  {
    name = "effort",
    plug = "AgentEffort",
    args = "[level]",
    takes = "effort",
    is_strict = true,
    doc = "Choose how much the model thinks, from the next message on.",
    run = function(chats, level)
      require("agent.menus.effort").choose(chats.get(), level)
    end,
  },
  {
    name = "model",
    plug = "AgentModel",
    args = "[name]",
    takes = "model",
    doc = "Choose the session's model from the provider's list.",
    run = function(chats, name)
      require("agent.menus.models").choose(chats.get(), name)
    end,
  },
  {
    name = "options",
    plug = "AgentOptions",
    doc = "Set options that another agent offers.",
    run = function(chats)
      require("agent.menus.agent_options").choose(chats.get())
    end,
  },
  {
    name = "provider",
    plug = "AgentProvider",
    args = "[provider]",
    takes = "provider",
    doc = "Switch to another provider, or to another agent, after the running turn.",
    run = function(chats, words)
      require("agent.menus.models").choose_provider(chats.get(), words)
    end,
  },
  {
    name = "start",
    plug = "AgentStart",
    doc = "Carry out the plan in mode agent.",
    run = function(chats)
      require("agent.menus.modes").start(chats.get())
    end,
  },
  {
    name = "agents",
    plug = "AgentAgents",
    doc = "List the session's sub-agents; read one's log, or stop it.",
    run = function(chats)
      require("agent.menus.agents").choose(chats.get())
    end,
  },
  {
    name = "jobs",
    plug = "AgentJobs",
    doc = "List the background commands; read one's output, or stop it.",
    run = function(chats)
      require("agent.menus.jobs").choose(chats.get())
    end,
  },
  {
    name = "mcp",
    plug = "AgentMcp",
    doc = "List the MCP servers; read what one offers, start or stop it.",
    run = function(chats)
      require("agent.menus.mcp").choose(chats.get())
    end,
  },
  {
    name = "skills",
    plug = "AgentSkills",
    doc = "List the skills; read, approve or open one, or switch it off.",
    run = function(chats)
      require("agent.menus.skills").choose(chats.get())
    end,
  },
  {
    name = "hooks",
    plug = "AgentHooks",
    doc = "List the hooks with their last result; approve or refuse one.",
    run = function(chats)
      require("agent.menus.hooks").choose(chats.get())
    end,
  },
  {
    name = "index",
    args = "[what]",
    words = { "rebuild", "delete" },
    is_strict = true,
    plug = "AgentIndex",
    doc = "Show the state of the index for searches by meaning; build, rebuild or delete it.",
    run = function(chats, what)
      require("agent.menus.index").show(chats.get(), what)
    end,
  },
  {
    name = "permissions",
    args = "[level]",
    words = require("agent.menus.permissions").names(),
    is_strict = true,
    doc = "Choose what this session may do unasked, until its chat closes.",
    run = function(chats, level)
      require("agent.menus.permissions").choose(chats.get(), level)
    end,
  },
  {
    name = "rules",
    args = "[suggest]",
    words = { "suggest" },
    is_strict = true,
    doc = "List the rules and their sources; choose one to remove it. Or suggest rules.",
    run = function(chats, what)
      if what then
        return require("agent.menus.rule_proposals").open(chats.get())
      end
      require("agent.menus.answers").rules(chats.get())
    end,
  },
  {
    name = "tools",
    doc = "Switch tools on and off for this session.",
    run = function(chats, _, options)
      require("agent.menus.answers").tools(chats.get(), options.toggle)
    end,
  },
  {
    name = "log",
    doc = "Show every approval and who gave it.",
    run = function(chats)
      require("agent.menus.answers").log(chats.get())
    end,
  },
  {
    name = "context",
    doc = "Show what the model receives, part by part, with sizes.",
    run = function(chats)
      require("agent.menus.answers").context(chats.get())
    end,
  },
  {
    name = "trace",
    args = "[file]",
    takes = "file",
    doc = "Write the last turn's requests and answers to a file, without secrets.",
    run = function(chats, file, options)
      require("agent.menus.trace").write(chats.get(), file, options.bang)
    end,
  },
  {
    name = "usage",
    doc = "Show tokens, time and money by turn, session, day and model.",
    run = function(chats)
      require("agent.menus.answers").usage(chats.get())
    end,
  },
  {
    name = "login",
    args = "[copilot]",
    words = { "copilot" },
    doc = "Log in at the session's other agent, otherwise to GitHub Copilot.",
    run = function(chats, provider)
      local chat = chats.get()
      if not provider and require("agent.menus.agent_options").is_for(chat) then
        return require("agent.menus.agent_login").choose(chat)
      end
      require("agent.menus.login").login(chat, provider or "copilot")
    end,
  },
  {
    name = "logout",
    args = "[copilot]",
    words = { "copilot" },
    doc = "Delete the login to GitHub Copilot.",
    run = function(chats, provider)
      require("agent.menus.login").logout(chats.get(), provider or "copilot")
    end,
  },
}
